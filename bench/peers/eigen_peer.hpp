#pragma once

#define EIGEN_USE_THREADS
#include <unsupported/Eigen/CXX11/Tensor>

#include <array>
#include <string>

#include "bench/peers/contestant.hpp"

/// Eigen's Tensor as a contestant: contract and, where the order asks for it, shuffle, on its own
/// pool of threads. Batch indices, which contract does not know, are moved to the front and looped
/// over. The types depend on ranks alone; which ranks are instantiated is generated (generate.py).
namespace peers {

struct eigen_threads {
  explicit eigen_threads(int count) : pool(count), device(&pool, count) {}
  Eigen::ThreadPool pool;
  Eigen::ThreadPoolDevice device;
};

/// Where to find what a contraction without batch indices reads and writes.
template <class T> struct eigen_call {
  T const* first;
  T const* second;
  T* result;
  std::vector<std::int64_t> first_extents, second_extents, result_extents;
  std::vector<int> first_axes, second_axes;  // contracted, in pairs
  std::vector<int> order;                    // of the product's axes in the result
};

template <int Rank> Eigen::DSizes<Eigen::Index, Rank> sizes(std::vector<std::int64_t> const& of) {
  Eigen::DSizes<Eigen::Index, Rank> s;
  for (int i = 0; i < Rank; ++i) s[i] = of[static_cast<std::size_t>(i)];
  return s;
}

template <class T, int First, int Second, int Summed, bool Shuffled>
void contract_with_eigen(eigen_call<T> const& c, Eigen::ThreadPoolDevice& device) {
  constexpr int rank = First + Second - 2 * Summed;
  Eigen::TensorMap<Eigen::Tensor<T const, First, Eigen::RowMajor>> const a(
      c.first, sizes<First>(c.first_extents));
  Eigen::TensorMap<Eigen::Tensor<T const, Second, Eigen::RowMajor>> const b(
      c.second, sizes<Second>(c.second_extents));
  Eigen::TensorMap<Eigen::Tensor<T, rank, Eigen::RowMajor>> r(c.result,
                                                              sizes<rank>(c.result_extents));
  Eigen::array<Eigen::IndexPair<int>, Summed> pairs;
  for (std::size_t i = 0; i < Summed; ++i) pairs[i] = {c.first_axes[i], c.second_axes[i]};
  if constexpr (Shuffled) {
    Eigen::array<int, rank> order;
    for (std::size_t i = 0; i < rank; ++i) order[i] = c.order[i];
    r.device(device) = a.contract(b, pairs).shuffle(order);
  } else {
    r.device(device) = a.contract(b, pairs);
  }
}

/// to = from with its axes in another order.
template <class T, int Rank>
void shuffle_with_eigen(T const* from, std::vector<std::int64_t> const& extents,
                        std::vector<int> const& order, T* to, Eigen::ThreadPoolDevice& device) {
  Eigen::array<int, Rank> axes;
  std::vector<std::int64_t> moved;
  for (std::size_t i = 0; i < Rank; ++i) {
    axes[i] = order[i];
    moved.push_back(extents[static_cast<std::size_t>(order[i])]);
  }
  Eigen::TensorMap<Eigen::Tensor<T const, Rank, Eigen::RowMajor>> const x(from,
                                                                          sizes<Rank>(extents));
  Eigen::TensorMap<Eigen::Tensor<T, Rank, Eigen::RowMajor>> y(to, sizes<Rank>(moved));
  y.device(device) = x.shuffle(axes);
}

template <class T> using eigen_function = void (*)(eigen_call<T> const&, Eigen::ThreadPoolDevice&);
/// By `first second summed shuffled`.
template <class T> using eigen_table = std::map<std::array<int, 4>, eigen_function<T>>;

template <class T> void shuffle_any(T const* from, std::vector<std::int64_t> const& extents,
                                    std::vector<int> const& order, T* to,
                                    Eigen::ThreadPoolDevice& device) {
  switch (extents.size()) {
    case 3:
      return shuffle_with_eigen<T, 3>(from, extents, order, to, device);
    case 4:
      return shuffle_with_eigen<T, 4>(from, extents, order, to, device);
    case 5:
      return shuffle_with_eigen<T, 5>(from, extents, order, to, device);
    default:
      throw skipped("a rank that the peer does not shuffle");
  }
}

template <class T> class eigen_contestant : public contestant {
 public:
  eigen_contestant(contraction const& c, eigen_table<T> const& table, eigen_threads& threads)
      : case_(c),
        roles_(c),
        threads_(threads),
        a_(c.count(c.first)),
        b_(c.count(c.second)),
        r_(c.count(c.result)) {
    fill(a_.data(), c.count(c.first), 0);
    fill(b_.data(), c.count(c.second), 1);
    std::string const& batch = roles_.batch;
    auto const without_batch = [&](std::string const& group) {
      std::string left;
      for (char const letter : group)
        if (!has(batch, letter)) left += letter;
      return left;
    };
    first_ = without_batch(c.first);
    second_ = without_batch(c.second);
    result_ = without_batch(c.result);
    // The product's axes are those of the operands in turn: swapped operands may save the shuffle.
    if (roles_.n + roles_.m == result_) {
      swapped_ = true;
      std::swap(first_, second_);
    }
    std::string const product = swapped_ ? roles_.n + roles_.m : roles_.m + roles_.n;
    call_.first_axes = positions(first_, roles_.k);
    call_.second_axes = positions(second_, roles_.k);
    call_.order = positions(product, result_);
    call_.first_extents = extents_of(first_);
    call_.second_extents = extents_of(second_);
    call_.result_extents = extents_of(result_);
    auto const found =
        table.find({static_cast<int>(first_.size()), static_cast<int>(second_.size()),
                    static_cast<int>(roles_.k.size()), product != result_});
    if (found == table.end()) throw skipped("ranks that were not compiled");
    function_ = found->second;
    make_room(c.first, batch + without_batch(c.first), moved_a_);
    make_room(c.second, batch + without_batch(c.second), moved_b_);
    make_room(c.result, batch + result_, moved_r_);
  }

  void run() override {
    T const* a = moved_in(case_.first, a_, moved_a_);
    T const* b = moved_in(case_.second, b_, moved_b_);
    T* const r = moved_r_.empty() ? r_.data() : moved_r_.data();
    std::int64_t const batches = case_.count(roles_.batch);
    for (std::int64_t i = 0; i < batches; ++i) {
      call_.first = (swapped_ ? b : a) + i * case_.count(first_);
      call_.second = (swapped_ ? a : b) + i * case_.count(second_);
      call_.result = r + i * case_.count(result_);
      function_(call_, threads_.device);
    }
    if (moved_r_.empty()) return;
    std::string const from = roles_.batch + result_;
    shuffle_any(static_cast<T const*>(r), extents_of(from), positions(from, case_.result),
                r_.data(), threads_.device);
  }
  std::vector<double> samples() override {
    return samples_of(r_.data(), static_cast<std::int64_t>(r_.size()));
  }
  nlohmann::ordered_json facts() override {
    return {{"version", std::to_string(EIGEN_WORLD_VERSION) + "." +
                            std::to_string(EIGEN_MAJOR_VERSION) + "." +
                            std::to_string(EIGEN_MINOR_VERSION)}};
  }

 private:
  using array = std::vector<T, Eigen::aligned_allocator<T>>;

  std::vector<std::int64_t> extents_of(std::string const& group) const {
    std::vector<std::int64_t> extents;
    for (char const letter : group) extents.push_back(case_.extents.at(letter));
    return extents;
  }
  void make_room(std::string const& group, std::string const& wanted, array& room) const {
    if (group != wanted) room.resize(static_cast<std::size_t>(case_.count(group)));
  }
  T const* moved_in(std::string const& group, array const& from, array& room) const {
    if (room.empty()) return from.data();
    std::string wanted = roles_.batch;
    for (char const letter : group)
      if (!has(roles_.batch, letter)) wanted += letter;
    shuffle_any(from.data(), extents_of(group), positions(group, wanted), room.data(),
                threads_.device);
    return room.data();
  }

  contraction case_;
  index_roles roles_;
  eigen_threads& threads_;
  array a_, b_, r_, moved_a_, moved_b_, moved_r_;
  std::string first_, second_, result_;  // without batch indices, in the order of the call
  bool swapped_ = false;
  eigen_call<T> call_{};
  eigen_function<T> function_ = nullptr;
};

/// The main of the generated program; its first argument: threads.
template <class T> int serve_eigen(eigen_table<T> const& table, int count, char** arguments) {
  eigen_threads threads(count > 1 ? std::stoi(arguments[1]) : 1);
  return serve({{"eigen", [&](contraction const& c) {
                   return contestant_handle(new eigen_contestant<T>(c, table, threads));
                 }}});
}

}  // namespace peers
