#pragma once

#include <doctest/doctest.h>

#include <ricci/ricci.hpp>

#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <vector>

/// Contractions against nested loops: for the generated tests.
namespace ricci {

/// Small whole and half numbers, other ones for each operand.
template <class T, class... A, class... Given> auto numbers(int operand, Given const&... given) {
  std::int64_t const count = (std::int64_t{1} * ... * given.value);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<double>((i * 7 + operand * 5 + i / 11) % 13 - 6) / 2));
  return from<T, A...>(std::span<T const>(values), given...);
}

/// Compares a result with loops over every index of the equation (`ab,bc->ac`, one letter an index).
void check_contraction(std::string_view equation, std::map<char, std::int64_t> const& extents,
                       std::vector<std::span<f64 const>> const& operands, std::span<f64 const> result);

}  // namespace ricci
