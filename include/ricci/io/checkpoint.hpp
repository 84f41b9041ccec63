#pragma once

#include <ricci/grad/leaves.hpp>

#include <map>
#include <string>
#include <vector>

namespace ricci::io {

/// Leaves that are saved under one prefix: `optimizer.` + their dotted names.
struct leaf_group {
  std::string prefix;
  std::vector<ricci::detail::leaf> leaves;
  role memory = role::parameter;  // what loaded storage counts as
};

/// What loading does with tensors of the file that nothing asked for.
enum class extra_names { refuse, ignore };

using texts = std::map<std::string, std::string>;

/// Writes leaves as one safetensors file, by a temporary, synced and renamed: after a failure and
/// after a kill the previous file is whole. Views are saved by their values.
///   Errors  an empty leaf, a name twice: value_error; writing fails: io_error
void save_leaves(std::string const& path, std::vector<leaf_group> const& groups, texts const& metadata = {});

/// Reads leaves; nothing is assigned unless all of them fit.
///   Errors  io_error, naming the file, the tensor and the fact: the file is damaged, a name is missing
///           or unknown, another dtype, rank or extent, a NaN or an infinity
texts load_leaves(std::string const& path, std::vector<leaf_group> const& groups,
                  extra_names extra = extra_names::refuse);

/// A text of the metadata as an integer.
///   Errors  missing or not a number: io_error
std::int64_t integer_of(texts const& metadata, std::string const& key, std::string const& path);

/// Saves the parameters of a module under their dotted names; Python's safetensors reads the file.
template <Module M> void save(std::string const& path, M const& m, texts const& metadata = {}) {
  M held = m;
  save_leaves(path, {{"", ricci::detail::leaves_of(held)}}, metadata);
}

/// Fills a module from a file; its axes check the shapes, dynamic axes take the file's extents.
template <Module M> texts load(std::string const& path, M& m, extra_names extra = extra_names::refuse) {
  return load_leaves(path, {{"", ricci::detail::leaves_of(m)}}, extra);
}

}  // namespace ricci::io
