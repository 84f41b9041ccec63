#include <cmath>
#include <random>

#include "tests/contractions/number.hpp"
#include "tests/contractions/place_blocks.hpp"
#include "tests/contractions/reference.hpp"
#include "tests/contractions/workers.hpp"

namespace ricci::contractions {
namespace {

struct expectation {
  double value = 0;
  double magnitude = 0;  // sum of |a||b|
};

/// Sums of products over the letters that the result lacks.
template <class T> class summed_products {
 public:
  summed_products(equation const& e, T const* a, T const* b)
      : a_(a), b_(b), blocks_(axes(e), 4096) {
    if (blocks_.blocks() > 0) first_ = blocks_.at(0);
  }

  /// Of the element whose products begin at a[at_a] * b[at_b].
  expectation operator()(std::int64_t at_a, std::int64_t at_b) const {
    if (blocks_.blocks() == 1) return block(first_, at_a, at_b);
    long double value = 0;
    long double magnitude = 0;
    for (std::int64_t i = 0; i < blocks_.blocks(); ++i) {
      expectation const part = block(blocks_.at(i), at_a, at_b);
      value += part.value;
      magnitude += part.magnitude;
    }
    return {static_cast<double>(value), static_cast<double>(magnitude)};
  }

 private:
  static std::vector<loop_axis> axes(equation const& e) {
    // In the order in memory of the larger operand, so that the other's places may jump.
    bool const a_leads = e.elements(in_a) >= e.elements(in_b);
    std::vector<loop_axis> result;
    for (tensor_id t : {a_leads ? in_b : in_a, a_leads ? in_a : in_b}) {
      bool const is_lead = (t == in_a) == a_leads;
      for (letter_axis const& axis : e.letters_of(t)) {
        bool const is_others = axis.stands_in[a_leads ? in_a : in_b] && !is_lead;
        if (axis.stands_in[in_result] || is_others) continue;
        result.push_back({axis.extent, {axis.stride[in_a], axis.stride[in_b]}, nullptr});
      }
    }
    return result;
  }

  expectation block(place_blocks::block const& where, std::int64_t at_a, std::int64_t at_b) const {
    T const* const a = a_ + at_a + where.base[0];
    T const* const b = b_ + at_b + where.base[1];
    std::int64_t const* const of_a = blocks_.offsets(0);
    std::int64_t const* const of_b = blocks_.offsets(1);
    expectation sum;
    std::int64_t j = 0;
    if (where.size >= 2 * lanes) {
      double value[lanes] = {};
      double magnitude[lanes] = {};
      for (; j + lanes <= where.size; j += lanes)
        for (int l = 0; l < lanes; ++l) {
          double const product = number(a[of_a[j + l]]) * number(b[of_b[j + l]]);
          value[l] += product;
          magnitude[l] += std::abs(product);
        }
      for (int l = 0; l < lanes; ++l) {
        sum.value += value[l];
        sum.magnitude += magnitude[l];
      }
    }
    for (; j < where.size; ++j) {
      double const product = number(a[of_a[j]]) * number(b[of_b[j]]);
      sum.value += product;
      sum.magnitude += std::abs(product);
    }
    return sum;
  }

  T const* a_;
  T const* b_;
  place_blocks blocks_;
  place_blocks::block first_;
};

template <class T> class element_check {
 public:
  element_check(equation const& e, operands_and_result const& x)
      : sum_(e, static_cast<T const*>(x.data[in_a]), static_cast<T const*>(x.data[in_b])),
        result_(static_cast<T const*>(x.data[in_result])),
        blocks_(axes(e), 4096),
        allowed_(tolerance_of(x.type)) {}

  std::int64_t blocks() const { return blocks_.blocks(); }

  /// Every element of some blocks.
  void all(std::int64_t begin, std::int64_t end, element_findings& f) const {
    for (std::int64_t i = begin; i < end; ++i) {
      place_blocks::block const where = blocks_.at(i);
      for (std::int64_t j = 0; j < where.size; ++j) compare(where, j, f);
    }
  }
  /// One element of a block; `any` is a number at random.
  void one(std::int64_t number, std::uint64_t any, element_findings& f) const {
    place_blocks::block const where = blocks_.at(number);
    compare(where, static_cast<std::int64_t>(any % static_cast<std::uint64_t>(where.size)), f);
  }
  void last(element_findings& f) const {
    place_blocks::block const where = blocks_.at(blocks() - 1);
    compare(where, where.size - 1, f);
  }

 private:
  static std::vector<loop_axis> axes(equation const& e) {
    std::vector<loop_axis> result;
    for (letter_axis const& axis : e.letters_of(in_result))
      result.push_back(
          {axis.extent, {axis.stride[in_a], axis.stride[in_b], axis.stride[in_result]}, nullptr});
    return result;
  }

  void compare(place_blocks::block const& where, std::int64_t j, element_findings& f) const {
    std::int64_t const place = where.base[2] + blocks_.offsets(2)[j];
    expectation const e =
        sum_(where.base[0] + blocks_.offsets(0)[j], where.base[1] + blocks_.offsets(1)[j]);
    double const found = number(result_[place]);
    double const allowed = allowed_.rounding * std::abs(e.value) + allowed_.sums * e.magnitude;
    ++f.compared;
    if (std::abs(found - e.value) <= allowed) return;
    if (f.wrong++ == 0) {
      f.first_wrong = place;
      f.found = found;
      f.expected = e.value;
      f.allowed = allowed;
    }
  }

  summed_products<T> sum_;
  T const* result_;
  place_blocks blocks_;
  tolerance allowed_;
};

template <class T>
element_findings check(equation const& e, operands_and_result const& x, std::int64_t most) {
  element_check<T> const elements(e, x);
  std::int64_t const count = e.elements(in_result);
  std::int64_t const compared = std::min(count, most);
  bool const is_worth_threads = compared * (e.products_an_element() + 4) > 200'000;
  std::vector<element_findings> found(static_cast<std::size_t>(workers()));
  if (compared == count) {
    share(elements.blocks(), is_worth_threads, [&](int w, std::int64_t begin, std::int64_t end) {
      elements.all(begin, end, found[static_cast<std::size_t>(w)]);
    });
  } else {
    std::int64_t const blocks = elements.blocks();
    share(compared, is_worth_threads, [&](int w, std::int64_t begin, std::int64_t end) {
      std::mt19937_64 draw(static_cast<std::uint64_t>(begin) + 1);
      for (std::int64_t i = begin; i < end; ++i) {
        element_findings& f = found[static_cast<std::size_t>(w)];
        if (i == 0)
          elements.one(0, 0, f);
        else if (i == 1)
          elements.last(f);
        else
          elements.one(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(blocks)),
                       draw(), f);
      }
    });
  }
  element_findings all;
  for (element_findings const& f : found) {
    if (f.wrong > 0 && all.wrong == 0) {
      all.first_wrong = f.first_wrong;
      all.found = f.found;
      all.expected = f.expected;
      all.allowed = f.allowed;
    }
    all.compared += f.compared;
    all.wrong += f.wrong;
  }
  return all;
}

}  // namespace

element_findings check_elements(equation const& e, operands_and_result const& x,
                                std::int64_t most) {
  if (x.type == dtype::f64) return check<f64>(e, x, most);
  if (x.type == dtype::f32) return check<f32>(e, x, most);
  return check<bf16>(e, x, most);
}

}  // namespace ricci::contractions
