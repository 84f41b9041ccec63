#include <ricci/data/token_file.hpp>
#include <ricci/data/token_windows.hpp>
#include <ricci/error/exceptions.hpp>
#include <ricci/io/npy.hpp>
#include "kernels/random/philox.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace ricci::data {

struct token_file::state {
  io::mapped_file file;
  std::byte const* start = nullptr;  // the first id; not aligned to its type
  dtype type = dtype::u8;
  std::int64_t size = 0;
  std::int64_t vocabulary = 0;
  std::atomic<std::int64_t> touched = 0;  // upper bound of the bytes mapped in since a release

  /// Keeps the resident size near the budget, however many windows are read.
  void account(std::int64_t bytes) {
    if (file.size() <= resident_budget) return;
    // A fault maps the pages around it too, 64 KiB in all; a window can begin and end in two.
    constexpr std::int64_t around = std::int64_t{128} << 10;
    std::int64_t const added = bytes + around;
    std::int64_t const before = touched.fetch_add(added, std::memory_order_relaxed);
    if (before / resident_budget != (before + added) / resident_budget) file.release();
  }
};

namespace {

/// Largest number of ids that the dtype can tell apart, from 0 on.
std::int64_t ids_of(dtype type) {
  if (type == dtype::u8) return 256;
  return type == dtype::u16 ? 65536 : std::int64_t{1} << 31;
}

/// tokens: [count], widened; returns the bitwise or of all, so that one comparison clears them all.
template <class T> std::uint32_t widen(std::byte const* source, std::int64_t count, i32* tokens) {
  std::uint32_t all = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    T id;
    std::memcpy(&id, source + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    tokens[i] = id;
    all |= static_cast<std::uint32_t>(tokens[i]);
  }
  return all;
}

/// floor(bits count / 2^64): a number from 0 to count - 1, each as likely but for count / 2^64.
std::int64_t below(std::int64_t count, std::uint64_t key, std::uint64_t place) {
  auto const words = kernels::philox(
      {{static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), 0, 0}}, key);
  __extension__ using wide = unsigned __int128;
  wide const bits = words.word[0] | static_cast<std::uint64_t>(words.word[1]) << 32;
  return static_cast<std::int64_t>(bits * static_cast<wide>(count) >> 64);
}

}  // namespace

token_file token_file::open(std::string path, std::int64_t vocabulary) {
  if (vocabulary < 1 || vocabulary > ids_of(dtype::i32)) {
    throw value_error(
        fmt::format("token_file: the vocabulary is {}; expected 1 to {}, the number of its ids",
                    vocabulary, ids_of(dtype::i32)));
  }
  auto opened = std::make_shared<state>();
  opened->file = io::mapped_file(std::move(path));
  opened->vocabulary = vocabulary;
  std::string const name = opened->file.path();
  auto const size = static_cast<std::size_t>(opened->file.size());
  if (io::is_npy({opened->file.data(), size})) {
    io::npy_array array = io::read_npy(name);
    if (array.type != dtype::u8 && array.type != dtype::u16 && array.type != dtype::i32) {
      throw io_error(
          fmt::format("token_file: `{}` has dtype {} and token ids are u8, u16 or i32; convert "
                      "it with .astype",
                      name, name_of(array.type)));
    }
    if (array.shape.size() != 1) {
      throw io_error(
          fmt::format("token_file: `{}` has the shape ({}) and token ids stand in one dimension; "
                      "save it with .reshape(-1)",
                      name, fmt::join(array.shape, ", ")));
    }
    opened->start = array.data();
    opened->type = array.type;
    opened->size = array.count;
    opened->file = std::move(array.file);
  } else if (name.ends_with(".npy")) {
    (void)io::read_npy(name);  // throws: it says what is wrong with it
  } else {
    opened->start = opened->file.data();
    opened->size = opened->file.size();
  }
  if (opened->size == 0) {
    throw io_error(fmt::format("token_file: `{}` is empty; give a file with tokens in it", name));
  }
  if (vocabulary > ids_of(opened->type)) {
    throw io_error(fmt::format(
        "token_file: `{}` holds {}, which has room for {} ids, and the vocabulary has {}; save the "
        "tokens as .npy of a wider dtype (i32 holds every vocabulary)",
        name, name_of(opened->type), ids_of(opened->type), vocabulary));
  }
  if (opened->file.size() > resident_budget) opened->file.advise(io::access::random);
  return token_file(std::move(opened));
}

std::string const& token_file::path() const { return state_->file.path(); }
dtype token_file::type() const { return state_->type; }
std::int64_t token_file::vocabulary() const { return state_->vocabulary; }
std::int64_t token_file::size() const { return state_->size; }

i32 token_file::token(std::int64_t position) const {
  i32 id = 0;
  read(position, 1, &id);
  return id;
}

void token_file::read(std::int64_t first, std::int64_t count, i32* tokens) const {
  if (count < 0 || first < 0 || first > size() || count > size() - first) {
    throw index_error(fmt::format(
        "token_file: {} tokens from position {} on are not all in `{}`, which has {}; positions "
        "begin at 0",
        count, first, path(), size()));
  }
  if (count == 0) return;
  std::byte const* const source = state_->start + first * size_of(type());
  std::uint32_t const all = type() == dtype::u8    ? widen<u8>(source, count, tokens)
                            : type() == dtype::u16 ? widen<u16>(source, count, tokens)
                                                   : widen<i32>(source, count, tokens);
  state_->account(count * size_of(type()));
  if (all < vocabulary()) return;  // the or of ids is no smaller than the largest
  for (std::int64_t i = 0; i < count; ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary()) {
      throw index_error(fmt::format(
          "token_file: the token at position {} of `{}` is {}, outside the vocabulary of {} (ids 0 "
          "to {}); check that the file was made with this vocabulary",
          first + i, path(), tokens[i], vocabulary(), vocabulary() - 1));
    }
  }
}

void token_file::check() const {
  if (vocabulary() >= ids_of(type()) && type() != dtype::i32) return;  // an i32 can be negative
  std::vector<i32> part(std::size_t{1} << 14);
  for (std::int64_t first = 0; first < size(); first += std::ssize(part)) {
    read(first, std::min(std::ssize(part), size() - first), part.data());
  }
}

token_range token_file::train() const {
  return {0, size() / 10 * 9 + size() % 10 * 9 / 10};  // floor(0.9 size) without overflow
}

token_range token_file::validation() const { return {train().last, size()}; }

token_windows token_file::windows(token_range range, std::int64_t length) const {
  if (length < 1) {
    throw value_error(fmt::format("token_file: a window of {} tokens; expected 1 or more", length));
  }
  if (range.first < 0 || range.last < range.first || range.last > size()) {
    throw index_error(fmt::format("token_file: the range {} to {} is not within `{}`, which has {}",
                                  range.first, range.last, path(), size()));
  }
  if (range.size() < length) {
    auto const is = [&](token_range part) {
      return part.first == range.first && part.last == range.last;
    };
    throw io_error(fmt::format(
        "token_file: `{}` has {} tokens from position {} to {}{} and one window takes {}; give a "
        "longer file or a shorter sequence",
        path(), range.size(), range.first, range.last,
        is(validation()) ? " (its last tenth, for validation)"
        : is(train())    ? " (its first nine tenths, for training)"
                         : "",
        length));
  }
  return {*this, range, length};
}

std::int64_t token_windows::disjoint_count() const {
  return length_ == 1 ? range_.size() : (range_.size() - 1) / (length_ - 1);
}

void token_windows::read(std::int64_t place, i32* tokens) const {
  if (place < 0 || place >= count()) {
    throw index_error(
        fmt::format("token_windows: window {} of {}; they begin at 0", place, count()));
  }
  file_.read(range_.first + place, length_, tokens);
}

void token_windows::read_disjoint(std::int64_t i, i32* tokens) const {
  if (i < 0 || i >= disjoint_count()) {
    throw index_error(fmt::format("token_windows: disjoint window {} of {}; they begin at 0", i,
                                  disjoint_count()));
  }
  read(i * std::max<std::int64_t>(length_ - 1, 1), tokens);
}

void token_windows::fill_batch(random::key key, std::int64_t n, std::int64_t batch,
                               i32* tokens) const {
  if (n < 0 || batch < 0) {
    throw value_error(
        fmt::format("token_windows: batch number {} of {} windows; both begin at 0", n, batch));
  }
  std::uint64_t const of_batch = key.fold(n).state();
  for (std::int64_t b = 0; b < batch; ++b) {
    read(below(count(), of_batch, static_cast<std::uint64_t>(b)), tokens + b * length_);
  }
}

void token_windows::fill_batch(epoch_sampler const& sampler, std::int64_t step, i32* tokens) const {
  if (sampler.samples() != disjoint_count()) {
    throw value_error(fmt::format(
        "token_windows: the sampler has {} samples and the range has {} disjoint windows; make it "
        "with disjoint_count()",
        sampler.samples(), disjoint_count()));
  }
  std::vector<std::int64_t> samples(static_cast<std::size_t>(sampler.batch()));
  sampler.fill(step, samples);
  for (std::size_t b = 0; b < samples.size(); ++b) {
    read_disjoint(samples[b], tokens + static_cast<std::int64_t>(b) * length_);
  }
}

}  // namespace ricci::data
