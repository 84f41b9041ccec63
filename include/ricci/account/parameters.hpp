#pragma once

#include <ricci/grad/leaves.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace ricci {

/// One parameter of a module.
struct parameter_facts {
  std::string name;                   // dotted: blocks.3.mlp.up.weight
  dtype type = dtype::f32;
  std::vector<std::string> axes;
  std::vector<std::int64_t> extents;  // as many as axes; none where the parameter is empty
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

/// What parameters(m) returns; prints as a table with a line of totals.
struct parameter_list : std::vector<parameter_facts> {
  using std::vector<parameter_facts>::vector;
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t bytes() const;
};
std::ostream& operator<<(std::ostream& out, parameter_list const& list);

namespace detail {
parameter_list list_parameters(std::vector<leaf> const& leaves);
}

/// Name, dtype, axes, extents and bytes of every leaf of a module, in order of declaration.
template <Module M> parameter_list parameters(M const& m) {
  M held = m;
  return detail::list_parameters(detail::leaves_of(held));
}

}  // namespace ricci
