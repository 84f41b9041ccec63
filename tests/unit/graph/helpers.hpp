#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <vector>

#include <ricci/tensor/graph.hpp>

/// What the tests of the graph share: small values, and gradients by central differences.
namespace graph_test {

using namespace ricci;
namespace g = ricci::graph;

struct A : axis<"a"> {};
struct B : axis<"b"> {};
struct C : axis<"c"> {};
struct D : axis<"d"> {};
struct E : axis<"e"> {};

template <class... X> inline g::axes_view axes() { return {detail::axis_list<X...>, sizeof...(X)}; }

/// A packed f64 value of the numbers given.
template <class... X>
g::handle make(std::initializer_list<std::int64_t> extents, std::vector<double> const& numbers) {
  g::handle x = g::make_leaf(dtype::f64, axes<X...>(), extents.begin());
  REQUIRE(g::element_count(x) == static_cast<std::int64_t>(numbers.size()));
  double* const to = static_cast<double*>(g::mutable_data(x));
  for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = numbers[i];
  return x;
}

/// Different numbers, none near an integer or near another.
inline std::vector<double> varied(std::int64_t count, double low = -1.5, double high = 1.5) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  double at = 0.37;
  for (double& n : numbers) {
    at += 0.6180339887498949;
    at -= std::floor(at);
    n = low + (high - low) * at;
  }
  return numbers;
}
template <class... X>
g::handle make(std::initializer_list<std::int64_t> extents, double low = -1.5, double high = 1.5) {
  std::int64_t count = 1;
  for (std::int64_t e : extents) count *= e;
  return make<X...>(extents, varied(count, low, high));
}

/// The elements in row-major order, as f64.
inline std::vector<double> numbers(g::handle const& x) {
  g::handle const y = g::packed(g::convert(x, dtype::f64));
  double const* const from = static_cast<double const*>(g::data(y));
  return {from, from + g::element_count(y)};
}

inline void check_close(std::vector<double> const& got, std::vector<double> const& wanted,
                        double tolerance = 1e-12) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(wanted[i]))
      CHECK(std::isnan(got[i]));
    else
      CHECK(std::abs(got[i] - wanted[i]) <= tolerance * (1 + std::abs(wanted[i])));
  }
}

using function = std::function<g::handle(std::vector<g::handle> const&)>;

/// A weighted sum of all elements, so that every gradient is a different number.
inline g::handle weigh(g::handle const& y) {
  g::axes_view const a = g::axes_of(y);
  g::handle const w = g::make_leaf(dtype::f64, a, g::extents(y));
  std::vector<double> const n = varied(g::element_count(w), 0.3, 1.9);
  for (std::size_t i = 0; i < n.size(); ++i) static_cast<double*>(g::mutable_data(w))[i] = n[i];
  g::handle const both[] = {y, w};
  g::handle const product = g::pointwise("weigh", opcode::multiply, both, 2);
  return g::reduce(g::reduction::sum, product, {nullptr, 0}, (std::uint32_t{1} << a.rank) - 1,
                   dtype::f64);
}

inline double number(g::handle const& x) { return *static_cast<double const*>(g::data(x)); }

/// Gradients of weigh(f(x...)) in every x.
inline std::vector<g::handle> gradients(function const& f, std::vector<g::handle> const& x) {
  g::level const level;
  std::vector<g::handle> leaves;
  for (g::handle const& one : x) leaves.push_back(g::track(one, level));
  g::handle const y = weigh(f(leaves));
  std::vector<g::handle> result(x.size());
  g::backward(y, {}, leaves.data(), static_cast<int>(x.size()), result.data(), level);
  return result;
}

/// Central differences of `value` in every element of x[which].
inline std::vector<double> differences(
    std::function<double(std::vector<g::handle> const&)> const& value,
    std::vector<g::handle> const& x, std::size_t which, double step = 1e-5) {
  std::vector<double> result;
  std::int64_t const count = g::element_count(x[which]);
  for (std::int64_t i = 0; i < count; ++i) {
    double at[2];
    for (int side = 0; side < 2; ++side) {
      std::vector<g::handle> moved = x;
      g::handle const copy = g::make_leaf(dtype::f64, g::axes_of(x[which]), g::extents(x[which]));
      double* const to = static_cast<double*>(g::mutable_data(copy));
      std::vector<double> const from = numbers(x[which]);
      for (std::int64_t k = 0; k < count; ++k) to[k] = from[static_cast<std::size_t>(k)];
      to[i] += side == 0 ? -step : step;
      moved[which] = copy;
      at[side] = value(moved);
    }
    result.push_back((at[1] - at[0]) / (2 * step));
  }
  return result;
}

/// Gradients, and gradients of gradients, against central differences.
inline void check_gradients(function const& f, std::vector<g::handle> const& x, bool second = true,
                            double tolerance = 2e-6) {
  std::vector<g::handle> const got = gradients(f, x);
  auto const value = [&](std::vector<g::handle> const& at) { return number(weigh(f(at))); };
  for (std::size_t which = 0; which < x.size(); ++which) {
    CAPTURE(which);
    check_close(numbers(got[which]), differences(value, x, which), tolerance);
  }
  if (!second) return;
  // The sum of all gradients, weighed, as a function of x: its gradient is of second order.
  function const slope = [&](std::vector<g::handle> const& at) {
    std::vector<g::handle> const first = gradients(f, at);
    g::handle total;
    for (g::handle const& one : first) {
      g::handle const both[] = {total ? total : weigh(one),
                                total ? weigh(one) : g::constant(dtype::f64, 0, 0)};
      total = g::pointwise("sum", opcode::add, both, 2);
    }
    return total;
  };
  std::vector<g::handle> const got_second = gradients(slope, x);
  auto const slope_value = [&](std::vector<g::handle> const& at) {
    return number(weigh(slope(at)));
  };
  for (std::size_t which = 0; which < x.size(); ++which) {
    CAPTURE(which);
    check_close(numbers(got_second[which]), differences(slope_value, x, which), tolerance);
  }
}

/// One pointwise operation.
inline g::handle op_of(opcode op, std::vector<g::handle> const& x) {
  return g::pointwise("test", op, x.data(), static_cast<int>(x.size()));
}
inline g::handle number(double n) { return g::constant(dtype::f64, n, 0); }

}  // namespace graph_test
