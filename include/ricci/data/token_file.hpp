#pragma once

#include <ricci/tensor/dtype.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace ricci::data {

class token_windows;

/// The positions first <= i < last of a token file.
struct token_range {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t size() const { return last - first; }
};

/// A file of token ids, mapped: a one-dimensional .npy of u8, u16 or i32, or any other file as raw
/// bytes, one token a byte.
///   Value   the ids as i32; every id that is read is checked against the vocabulary
///   Memory  the mapping; of a larger file about `resident_budget` stays resident at a time
///   Cost    opening reads the header; copies share the mapping
///   Errors  io_error when opened: the file is missing, empty, damaged, of another dtype or rank,
///   or
///           its dtype cannot hold the vocabulary. index_error when read: a position outside the
///           file, an id outside the vocabulary
class token_file {
 public:
  static constexpr std::int64_t resident_budget = std::int64_t{64} << 20;

  /// Ids from 0 to vocabulary - 1 are legal.
  static token_file open(std::string path, std::int64_t vocabulary);

  [[nodiscard]] std::string const& path() const;
  [[nodiscard]] dtype type() const;
  [[nodiscard]] std::int64_t vocabulary() const;
  /// Number of tokens.
  [[nodiscard]] std::int64_t size() const;

  [[nodiscard]] i32 token(std::int64_t position) const;
  /// tokens: [count], the ids from position first on.
  void read(std::int64_t first, std::int64_t count, i32* tokens) const;
  /// Reads the file once, so that training does not stop in its middle at an id outside the
  /// vocabulary.
  ///   Cost    none where the dtype has no such id     Errors  index_error, naming the first
  void check() const;

  /// The first nine tenths of the file, rounded down.
  [[nodiscard]] token_range train() const;
  /// The rest.
  [[nodiscard]] token_range validation() const;

  /// The windows of `length` tokens within a range; for next-token prediction over T tokens the
  /// length is T + 1.
  ///   Errors  value_error: a length under 1; index_error: a range outside the file; io_error: a
  ///           range shorter than one window
  [[nodiscard]] token_windows windows(token_range range, std::int64_t length) const;

 private:
  struct state;
  explicit token_file(std::shared_ptr<state> shared) : state_(std::move(shared)) {}
  std::shared_ptr<state> state_;
};

}  // namespace ricci::data
