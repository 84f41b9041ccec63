#pragma once

#include <ricci/data/epoch_sampler.hpp>
#include <ricci/data/token_file.hpp>
#include <ricci/tensor/random.hpp>

#include <cstdint>
#include <utility>

namespace ricci::data {

/// The windows of a fixed length within a range of a token file, made by `token_file::windows`.
/// Two ways to draw batches from it: windows that begin anywhere, at random; or the disjoint
/// ones, each once an epoch.
class token_windows {
 public:
  [[nodiscard]] std::int64_t length() const { return length_; }
  [[nodiscard]] token_range range() const { return range_; }
  /// Places where a window can begin: range size - length + 1, at least 1.
  [[nodiscard]] std::int64_t count() const { return range_.size() - length_ + 1; }
  /// Windows that follow each other and share one token, the last of one and the first of the next,
  /// so that every token but the range's first is a target once. Windows of one token share none.
  [[nodiscard]] std::int64_t disjoint_count() const;

  /// Window at a place from 0 to count() - 1; tokens: [length].
  void read(std::int64_t place, i32* tokens) const;
  /// Disjoint window i from 0 to disjoint_count() - 1; tokens: [length].
  void read_disjoint(std::int64_t i, i32* tokens) const;

  /// Batch n of random windows; tokens: [batch, length].
  ///   Value   row b begins at place floor(bits count() / 2^64), bits the first two words of Philox
  ///   at
  ///           counter b under key.fold(n): a pure function of key and n; windows may repeat
  ///   Errors  index_error: an id outside the vocabulary
  void fill_batch(random::key key, std::int64_t n, std::int64_t batch, i32* tokens) const;

  /// The disjoint windows of a step of the sampler; tokens: [sampler.batch(), length].
  ///   Errors  value_error: the sampler has another number of samples than disjoint_count()
  void fill_batch(epoch_sampler const& sampler, std::int64_t step, i32* tokens) const;

 private:
  friend class token_file;
  token_windows(token_file file, token_range range, std::int64_t length)
      : file_(std::move(file)), range_(range), length_(length) {}

  token_file file_;
  token_range range_;
  std::int64_t length_;
};

}  // namespace ricci::data
