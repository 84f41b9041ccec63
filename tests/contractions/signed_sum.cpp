#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "tests/contractions/number.hpp"
#include "tests/contractions/place_blocks.hpp"
#include "tests/contractions/reference.hpp"
#include "tests/contractions/workers.hpp"

namespace ricci::contractions {
namespace {

constexpr std::int64_t longest_block = 4096;
/// Signs of a letter, after which they come again: a prime.
constexpr std::int64_t longest_period = 65521;

/// A random sign for each position of each letter of the result.
class letter_signs {
 public:
  explicit letter_signs(equation const& e) : signs_(256) {
    std::mt19937 draw(7);
    for (letter_axis const& axis : e.letters_of(in_result)) {
      std::vector<float>& own = signs_[static_cast<unsigned char>(axis.letter)];
      std::int64_t const period = std::min(axis.extent, longest_period);
      for (std::int64_t i = 0; i < period; ++i) own.push_back(draw() & 1 ? 1.0f : -1.0f);
      if (axis.extent > period) own.insert(own.end(), longest_block, 1.0f);
      if (axis.extent > period) std::copy_n(own.begin(), longest_block, own.begin() + period);
    }
  }
  /// The axis of a letter, with its signs where they apply.
  loop_axis axis(letter_axis const& letter, std::int64_t stride, std::int64_t partner_stride,
                 bool has_signs) const {
    loop_axis result{letter.extent, {stride, partner_stride}, nullptr, 1};
    if (has_signs && letter.stands_in[in_result]) {
      result.weights = signs_[static_cast<unsigned char>(letter.letter)].data();
      result.period = std::clamp<std::int64_t>(letter.extent, 1, longest_period);
    }
    return result;
  }

 private:
  std::vector<std::vector<float>> signs_;
};

/// Stands where an operand has no partner.
struct no_partner {};

/// sum of x * weights * partner, where there is one, else also the sum of the squares of x.
struct weighted_sum {
  long double sum = 0;
  double squares = 0;

  template <class T, class Partner> void add(place_blocks const& blocks,
                                             std::int64_t number_of_block, T const* x,
                                             Partner const* partner) {
    constexpr bool has_partner = !std::is_same_v<Partner, no_partner>;
    place_blocks::block const where = blocks.at(number_of_block);
    std::int64_t const* const offsets = blocks.offsets(0);
    std::int64_t const* const of_partner = blocks.offsets(1);
    float const* const inner = blocks.inner_weights();
    std::int32_t const* const places = blocks.chopped_places();
    x += where.base[0];
    if constexpr (has_partner) partner += where.base[1];
    double sums[lanes] = {};
    double products[lanes] = {};
    auto const step = [&](T element_here, std::int64_t j, int l) {
      double const element = number(element_here);
      double const weighted = element * (inner[j] * where.chopped[places[j]]);
      if constexpr (has_partner) {
        sums[l] += weighted * number(partner[of_partner[j]]);
      } else {
        sums[l] += weighted;
        products[l] += element * element;
      }
    };
    std::int64_t j = 0;
    if (blocks.is_contiguous()) {
      for (; j + lanes <= where.size; j += lanes)
        for (int l = 0; l < lanes; ++l) step(x[j + l], j + l, l);
    } else {
      for (; j + lanes <= where.size; j += lanes)
        for (int l = 0; l < lanes; ++l) step(x[offsets[j + l]], j + l, l);
    }
    for (; j < where.size; ++j) step(x[offsets[j]], j, 0);
    double all = 0;
    for (int l = 0; l < lanes; ++l) {
      all += sums[l];
      squares += products[l];
    }
    sum += static_cast<long double>(all * where.weight);
  }
};

template <class T, class Partner>
weighted_sum sum_of(std::vector<loop_axis> axes, T const* x, Partner const* partner) {
  place_blocks const blocks(std::move(axes), longest_block);
  std::vector<weighted_sum> parts(static_cast<std::size_t>(workers()));
  share(blocks.blocks(), blocks.blocks() > 16, [&](int w, std::int64_t begin, std::int64_t end) {
    weighted_sum part;
    for (std::int64_t i = begin; i < end; ++i) part.add(blocks, i, x, partner);
    parts[static_cast<std::size_t>(w)] = part;
  });
  weighted_sum all;
  for (weighted_sum const& part : parts) {
    all.sum += part.sum;
    all.squares += part.squares;
  }
  return all;
}

/// What the smaller operand meets the larger one with: its sums, with signs, over the letters that
/// it has alone; `stride` is that of a letter in them.
struct signed_sums {
  std::vector<double> values;
  std::int64_t stride[256] = {};
};
template <class T> signed_sums sums_of(equation const& e, tensor_id small, tensor_id large,
                                       T const* x, letter_signs const& signs) {
  signed_sums result;
  std::int64_t count = 1;
  std::vector<letter_axis> const of_large = e.letters_of(large);
  for (std::size_t i = of_large.size(); i-- > 0;) {
    letter_axis const& axis = of_large[i];
    if (!axis.stands_in[small]) continue;
    result.stride[static_cast<unsigned char>(axis.letter)] = count;
    count *= axis.extent;
  }
  std::vector<loop_axis> axes;
  for (letter_axis const& axis : e.letters_of(small))
    axes.push_back(signs.axis(axis, axis.stride[small],
                              result.stride[static_cast<unsigned char>(axis.letter)],
                              !axis.stands_in[large]));
  // One such sum takes in as many elements as the small operand has: they need more than f64's
  // bits.
  std::vector<long double> sums(static_cast<std::size_t>(count));
  place_blocks const blocks(std::move(axes), longest_block);
  for (std::int64_t i = 0; i < blocks.blocks(); ++i) {
    place_blocks::block const where = blocks.at(i);
    for (std::int64_t j = 0; j < where.size; ++j)
      sums[static_cast<std::size_t>(where.base[1] + blocks.offsets(1)[j])] +=
          number(x[where.base[0] + blocks.offsets(0)[j]]) *
          (where.weight * blocks.inner_weights()[j] * where.chopped[blocks.chopped_places()[j]]);
  }
  result.values.assign(sums.begin(), sums.end());
  return result;
}

template <class T> weighted_sum sum_of_products(equation const& e, operands_and_result const& x,
                                                letter_signs const& signs) {
  tensor_id const large = e.elements(in_a) >= e.elements(in_b) ? in_a : in_b;
  tensor_id const small = large == in_a ? in_b : in_a;
  T const* const of_large = static_cast<T const*>(x.data[large]);
  T const* const of_small = static_cast<T const*>(x.data[small]);
  bool has_own = false;
  for (letter_axis const& axis : e.letters_of(small)) has_own |= !axis.stands_in[large];

  signed_sums const sums = has_own ? sums_of(e, small, large, of_small, signs) : signed_sums{};
  std::vector<loop_axis> axes;
  for (letter_axis const& axis : e.letters_of(large)) {
    std::int64_t const stride =
        has_own ? sums.stride[static_cast<unsigned char>(axis.letter)] : axis.stride[small];
    axes.push_back(signs.axis(axis, axis.stride[large], stride, true));
  }
  if (has_own) return sum_of(std::move(axes), of_large, sums.values.data());
  return sum_of(std::move(axes), of_large, of_small);
}

template <class T> sum_findings check(equation const& e, operands_and_result const& x) {
  letter_signs const signs(e);
  weighted_sum const expected = sum_of_products<T>(e, x, signs);
  std::vector<loop_axis> axes;
  for (letter_axis const& axis : e.letters_of(in_result))
    axes.push_back(signs.axis(axis, axis.stride[in_result], 0, true));
  no_partner const* const none = nullptr;
  weighted_sum const found =
      sum_of(std::move(axes), static_cast<T const*>(x.data[in_result]), none);

  sum_findings f;
  f.found = static_cast<double>(found.sum);
  f.expected = static_cast<double>(expected.sum);
  // The elements' errors add up like their signs, at random; |a||b| of numbers in (-1, 1) is 1/3,
  // as the root of the mean square.
  tolerance const allowed = tolerance_of(x.type);
  double const elements = static_cast<double>(e.elements(in_result));
  double const magnitude = static_cast<double>(e.products_an_element()) / 3;
  f.allowed = 4 * (allowed.rounding * std::sqrt(found.squares) +
                   allowed.sums * std::sqrt(elements) * magnitude);
  f.agrees = std::abs(f.found - f.expected) <= f.allowed;
  return f;
}

}  // namespace

sum_findings check_signed_sum(equation const& e, operands_and_result const& x) {
  if (x.type == dtype::f64) return check<f64>(e, x);
  if (x.type == dtype::f32) return check<f32>(e, x);
  return check<bf16>(e, x);
}

}  // namespace ricci::contractions
