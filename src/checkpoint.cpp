#include <ricci/io/checkpoint.hpp>

#include <charconv>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include <ricci/error/exceptions.hpp>
#include <ricci/error/message.hpp>
#include <ricci/io/safetensors.hpp>

namespace ricci::io {
namespace {

using ricci::detail::leaf;

[[noreturn]] void refuse(std::string const& path, std::string const& fact) {
  throw io_error(fmt::format("checkpoint `{}`: {}", path, fact));
}

std::string nearest(std::string const& name, safetensors_file const& file) {
  std::string best;
  int distance = 1 + static_cast<int>(name.size()) / 3;
  for (stored_tensor const& t : file.tensors)
    if (int const d = ricci::detail::edit_distance(name, t.name); d < distance) {
      distance = d;
      best = t.name;
    }
  return best.empty() ? best : fmt::format("; did you mean `{}`?", best);
}

/// The new value of one leaf, checked against its axes.
graph::handle read_leaf(std::string const& path, leaf const& l, std::string const& name, stored_tensor const& t,
                        role memory) {
  if (t.type != l.type)
    refuse(path, fmt::format("tensor `{}` is {}, the module's is {}", name, name_of(t.type), name_of(l.type)));
  if (t.shape.size() != static_cast<std::size_t>(l.axes.rank))
    refuse(path, fmt::format("tensor `{}` has {} axes, the module's has {}", name, t.shape.size(), l.axes.rank));
  for (int i = 0; i < l.axes.rank; ++i) {
    std::int64_t const got = t.shape[static_cast<std::size_t>(i)];
    std::int64_t const expected = l.axes.axes[i]->extent;
    if (expected >= 0 && got != expected)
      refuse(path, fmt::format("axis `{}` of tensor `{}` has extent {}, the module's has {}", l.axes.axes[i]->view(),
                               name, got, expected));
  }
  if (auto const place = find_non_finite(t))
    refuse(path, fmt::format("tensor `{}` is not finite at element {}", name, *place));
  allocation_role const scope(memory);
  graph::handle const value = graph::make_leaf(l.type, l.axes, t.shape.data());
  if (t.bytes > 0) std::memcpy(graph::mutable_data(value), t.data, static_cast<std::size_t>(t.bytes));
  return value;
}

}  // namespace

void save_leaves(std::string const& path, std::vector<leaf_group> const& groups, texts const& metadata) {
  std::vector<graph::handle> kept;
  std::vector<stored_tensor> tensors;
  for (leaf_group const& group : groups)
    for (leaf const& l : group.leaves) {
      std::string const name = group.prefix + (l.name.empty() ? "value" : l.name);
      if (!*l.handle) throw value_error(fmt::format("save: `{}` is empty", name));
      kept.push_back(graph::packed(*l.handle));
      graph::handle const& h = kept.back();
      std::int64_t const* const extents = graph::extents(h);
      tensors.push_back({name, l.type, {extents, extents + l.axes.rank}, graph::data(h),
                         graph::element_count(h) * size_of(l.type)});
    }
  write_safetensors(path, tensors, metadata);
}

texts load_leaves(std::string const& path, std::vector<leaf_group> const& groups, extra_names extra) {
  safetensors_file const file = read_safetensors(path);
  std::set<std::string> asked;
  std::vector<graph::handle> values;
  for (leaf_group const& group : groups)
    for (leaf const& l : group.leaves) {
      std::string const name = group.prefix + (l.name.empty() ? "value" : l.name);
      stored_tensor const* const t = file.find(name);
      if (t == nullptr) refuse(path, fmt::format("tensor `{}` is missing{}", name, nearest(name, file)));
      values.push_back(read_leaf(path, l, name, *t, group.memory));
      asked.insert(name);
    }
  if (extra == extra_names::refuse)
    for (stored_tensor const& t : file.tensors)
      if (!asked.contains(t.name)) refuse(path, fmt::format("tensor `{}` is unknown: the module has none of that name", t.name));
  std::size_t next = 0;
  for (leaf_group const& group : groups)
    for (leaf const& l : group.leaves) *l.handle = std::move(values[next++]);
  return file.metadata;
}

std::int64_t integer_of(texts const& metadata, std::string const& key, std::string const& path) {
  auto const at = metadata.find(key);
  if (at == metadata.end()) refuse(path, fmt::format("the text `{}` is missing", key));
  std::int64_t value = 0;
  std::string const& text = at->second;
  auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size())
    refuse(path, fmt::format("the text `{}` is `{}`, a whole number is expected", key, text));
  return value;
}

}  // namespace ricci::io
