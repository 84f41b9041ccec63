#include <cstring>

#include <fmt/format.h>

#include <ricci/error/exceptions.hpp>
#include <ricci/expr/create.hpp>
#include <ricci/expr/pattern_call.hpp>
#include <ricci/grad/value_and_grad.hpp>

namespace ricci::detail {

graph::handle copy_into_leaf(dtype type, graph::axes_view axes, std::int64_t const* extents,
                             void const* data, std::int64_t count) {
  std::int64_t expected = 1;
  bool overflows = false;
  for (int i = 0; i < axes.rank; ++i)
    overflows |= __builtin_mul_overflow(expected, extents[i], &expected);
  if (!overflows && expected != count)
    throw shape_error(fmt::format("from: {} values are given for {}, which has {}", count,
                                  shape_text(axes.axes, extents, axes.rank), expected));
  graph::handle const leaf = graph::make_leaf(type, axes, extents);
  if (count > 0)
    std::memcpy(graph::mutable_data(leaf), data, static_cast<std::size_t>(count * size_of(type)));
  return leaf;
}

namespace {
template <class V> [[noreturn]] void refuse_whole(char const* who, V value, dtype type) {
  throw value_error(
      fmt::format("{}: the number {} does not fit {}; write `to<i64>(...)` for a wider tensor", who,
                  value, name_of(type)));
}
}  // namespace

void refuse_number(char const* who, std::int64_t value, dtype type) {
  refuse_whole(who, value, type);
}
void refuse_number(char const* who, std::uint64_t value, dtype type) {
  refuse_whole(who, value, type);
}

void check_given(char const* who, axis_info const* axis, std::int64_t extent) {
  if (extent < 0)
    throw shape_error(fmt::format("{}: axis `{}` is given the extent {}; an extent is not negative",
                                  who, axis->view(), extent));
}

std::string child_name(std::string const& parent, char const* member) {
  return parent.empty() ? std::string(member) : parent + "." + member;
}
std::string child_name(std::string const& parent, std::size_t index) {
  return child_name(parent, std::to_string(index).c_str());
}

tracked_leaves::tracked_leaves(std::vector<leaf> leaves, graph::level const& l) {
  for (leaf const& x : leaves) {
    if (!is_floating(x.type)) continue;
    if (!*x.handle)
      throw value_error(
          fmt::format("value_and_grad: parameter `{}` is empty (initialize the module first)",
                      x.name.empty() ? "x" : x.name));
    *x.handle = graph::track(graph::packed(*x.handle), l);
    handles_.push_back(*x.handle);
  }
}

void tracked_leaves::gradients(graph::handle const& y, graph::handle const& seed,
                               graph::level const& l, std::vector<leaf> const& into) const {
  std::vector<graph::handle> gradients(handles_.size());
  graph::backward(y, seed, handles_.data(), static_cast<int>(handles_.size()), gradients.data(), l);
  std::size_t next = 0;
  for (leaf const& x : into)
    *x.handle = is_floating(x.type) ? std::move(gradients[next++]) : graph::handle();
}

}  // namespace ricci::detail
