#include "tests/contractions/check.hpp"

#include <cmath>
#include <string>

namespace ricci {
namespace {

/// Row-major place of one operand's element.
std::int64_t place(std::string_view group, std::map<char, std::int64_t> const& extents,
                   std::map<char, std::int64_t> const& at) {
  std::int64_t result = 0;
  for (char index : group) result = result * extents.at(index) + at.at(index);
  return result;
}

}  // namespace

void check_contraction(std::string_view equation, std::map<char, std::int64_t> const& extents,
                       std::vector<std::span<f64 const>> const& operands, std::span<f64 const> result) {
  std::size_t const arrow = equation.find("->");
  std::string_view const kept = equation.substr(arrow + 2);
  std::vector<std::string_view> groups;
  for (std::string_view rest = equation.substr(0, arrow);;) {
    std::size_t const comma = rest.find(',');
    groups.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  REQUIRE(groups.size() == operands.size());

  std::int64_t count = 1;
  for (char index : kept) count *= extents.at(index);
  REQUIRE(static_cast<std::int64_t>(result.size()) == count);
  std::vector<double> expected(result.size());
  std::vector<double> magnitude(result.size());
  std::map<char, std::int64_t> at;
  for (auto const& [index, extent] : extents) {
    if (extent == 0) return;
    at[index] = 0;
  }
  for (bool more = true; more;) {
    double product = 1;
    for (std::size_t i = 0; i < groups.size(); ++i)
      product *= operands[i][static_cast<std::size_t>(place(groups[i], extents, at))];
    std::size_t const target = static_cast<std::size_t>(place(kept, extents, at));
    expected[target] += product;
    magnitude[target] += std::abs(product);
    more = false;
    for (auto& [index, position] : at) {
      if (++position < extents.at(index)) {
        more = true;
        break;
      }
      position = 0;
    }
  }
  // Quarters of small numbers: every order of summation is exact below 2^53.
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(std::string(equation), " at ", i, ": ", result[i], " instead of ", expected[i]);
    REQUIRE(std::abs(result[i] - expected[i]) <= 1e-14 * magnitude[i]);
  }
}

}  // namespace ricci
