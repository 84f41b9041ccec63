// xtensor with xtensor-blas as a contestant: tensordot and, where the order asks for it, transpose.
// Batch indices, which tensordot does not know, are moved to the front and looped over. It runs on
// the BLAS that the system links it with, which has its own threads or none.

#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>

#include "bench/peers/contestant.hpp"

namespace {

using namespace peers;

template <class T> class xtensor_contestant : public contestant {
 public:
  explicit xtensor_contestant(contraction const& c)
      : case_(c), roles_(c), a_(shape_of(c.first)), b_(shape_of(c.second)) {
    fill(a_.data(), c.count(c.first), 0);
    fill(b_.data(), c.count(c.second), 1);
    for (char const letter : c.first)
      if (!has(roles_.batch, letter)) first_ += letter;
    for (char const letter : c.second)
      if (!has(roles_.batch, letter)) second_ += letter;
    for (char const letter : c.result)
      if (!has(roles_.batch, letter)) result_ += letter;
  }

  void run() override {
    auto const axes_a = unsigned_positions(first_, roles_.k);
    auto const axes_b = unsigned_positions(second_, roles_.k);
    if (roles_.batch.empty()) {
      r_ = moved(xt::linalg::tensordot(a_, b_, axes_a, axes_b), roles_.m + roles_.n, case_.result);
      return;
    }
    xt::xarray<T> const a = moved(a_, case_.first, roles_.batch + first_);
    xt::xarray<T> const b = moved(b_, case_.second, roles_.batch + second_);
    xt::xarray<T> r(shape_of(roles_.batch + result_));
    auto const part = [&](auto* from, std::string const& group, std::int64_t i) {
      auto const size = static_cast<std::size_t>(case_.count(group));
      return xt::adapt(from + i * static_cast<std::int64_t>(size), size, xt::no_ownership(),
                       shape_of(group));
    };
    for (std::int64_t i = 0; i < case_.count(roles_.batch); ++i) {
      xt::xarray<T> const product = xt::linalg::tensordot(
          part(a.data(), first_, i), part(b.data(), second_, i), axes_a, axes_b);
      part(r.data(), result_, i) = moved(product, roles_.m + roles_.n, result_);
    }
    r_ = moved(r, roles_.batch + result_, case_.result);
  }
  std::vector<double> samples() override {
    return samples_of(r_.data(), static_cast<std::int64_t>(r_.size()));
  }
  nlohmann::ordered_json facts() override {
    return {{"version", std::to_string(XTENSOR_VERSION_MAJOR) + "." +
                            std::to_string(XTENSOR_VERSION_MINOR) + "." +
                            std::to_string(XTENSOR_VERSION_PATCH)}};
  }

 private:
  std::vector<std::size_t> shape_of(std::string const& group) const {
    std::vector<std::size_t> shape;
    for (char const letter : group)
      shape.push_back(static_cast<std::size_t>(case_.extents.at(letter)));
    return shape;
  }
  static std::vector<std::size_t> unsigned_positions(std::string const& from,
                                                     std::string const& to) {
    std::vector<std::size_t> order;
    for (int const place : positions(from, to)) order.push_back(static_cast<std::size_t>(place));
    return order;
  }
  static xt::xarray<T> moved(xt::xarray<T> x, std::string const& from, std::string const& to) {
    if (from == to) return x;
    return xt::transpose(x, unsigned_positions(from, to));
  }

  contraction case_;
  index_roles roles_;
  xt::xarray<T> a_, b_, r_;
  std::string first_, second_, result_;  // without batch indices
};

}  // namespace

int main() {
  return serve({{"xtensor", [](contraction const& c) {
                   return contestant_handle(new xtensor_contestant<RICCI_PEER_TYPE>(c));
                 }}});
}
