#include <ricci/nn/initialize.hpp>

#include <fmt/format.h>

#include <ricci/error/exceptions.hpp>
#include <ricci/nn/dropout.hpp>

namespace ricci::detail {
namespace {

thread_local axes_list given_axes;
thread_local std::int64_t const* given_extents = nullptr;

/// The extent given for an axis or for what it is a prime of, -1 where none is.
std::int64_t extent_given(axis_info const* axis) {
  std::string_view name = axis->view();
  while (!name.empty() && name.back() == '\'') name.remove_suffix(1);
  for (int i = 0; i < given_axes.rank; ++i)
    if (given_axes.axes[i]->view() == name) return given_extents[i];
  return -1;
}

void extents_of(graph::handle const& old, graph::axes_view axes, std::int64_t* extents) {
  for (int i = 0; i < axes.rank; ++i) {
    extents[i] = axes.axes[i]->extent;
    if (extents[i] >= 0) continue;
    if (std::int64_t const given = extent_given(axes.axes[i]); given >= 0) {
      extents[i] = given;
      continue;
    }
    if (!old)
      throw value_error(fmt::format(
          "initialize: the extent of axis `{}` of a parameter is not known: it is dynamic, "
          "assign the parameter first",
          axes.axes[i]->view()));
    extents[i] = graph::extents(old)[i];
  }
}

}  // namespace

graph::handle filled(graph::handle const& old, dtype type, graph::axes_view axes, random::key k,
                     filling how, double a, double b) {
  allocation_role const scope(role::parameter);
  std::int64_t extents[max_rank];
  extents_of(old, axes, extents);
  switch (how) {
    case filling::normal:
      return graph::random_normal(type, axes, extents, k, a, b);
    case filling::truncated_normal:
      return graph::random_truncated_normal(type, axes, extents, k, a, b, a - 2 * b, a + 2 * b);
    case filling::uniform:
      return graph::random_uniform(type, axes, extents, k, a, b);
    case filling::constant:
      break;
  }
  return graph::full(type, axes, extents, a, static_cast<std::int64_t>(a));
}

extents_given_scope::extents_given_scope(axis_info const* const* axes, std::int64_t const* extents,
                                         int count)
    : before_axes_(given_axes), before_extents_(given_extents) {
  for (int i = 0; i < count; ++i)
    if (extents[i] < 0)
      throw shape_error(
          fmt::format("initialize: axis `{}` is given the extent {}", axes[i]->view(), extents[i]));
  given_axes = {axes, count};
  given_extents = extents;
}
extents_given_scope::~extents_given_scope() {
  given_axes = before_axes_;
  given_extents = before_extents_;
}

fans fans_of(graph::handle const& old, graph::axes_view axes, int outputs) {
  std::int64_t extents[max_rank];
  extents_of(old, axes, extents);
  fans f;
  for (int i = 0; i < axes.rank; ++i)
    (i + outputs < axes.rank ? f.in : f.out) *= static_cast<double>(extents[i]);
  return f;
}

}  // namespace ricci::detail

void ricci::nn::detail::check_dropout_rate(double rate) {
  if (!(rate >= 0 && rate < 1))
    throw value_error(fmt::format("dropout: the rate {} is not in [0, 1)", rate));
}
