#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/contract/elements.hpp"
#include "kernels/contract/panels.hpp"

/// Rows of elements at tables of places. Private to kernels/contract.
namespace ricci::kernels::contraction {

// The dtype whose elements are accumulators as they lie.
template <class Acc> inline constexpr dtype direct_type = std::is_same_v<Acc, double>  ? dtype::f64
                                                          : std::is_same_v<Acc, float> ? dtype::f32
                                                                                       : dtype::i64;

// Offsets of the places of a tile along one direction, and how they follow each other.
struct place_table {
  std::int64_t* offset = nullptr;
  std::int64_t* run = nullptr;  // places from here on whose offsets are consecutive numbers
  bool has_runs = false;        // of four and more on average

  void find_runs(std::int64_t count) {
    std::int64_t runs = 1;
    run[count - 1] = 1;
    for (std::int64_t i = count - 2; i >= 0; --i) {
      bool const follows = offset[i + 1] == offset[i] + 1;
      run[i] = follows ? run[i + 1] + 1 : 1;
      runs += !follows;
    }
    has_runs = count >= 4 * runs;
  }
  bool is_unit(std::int64_t count) const { return run[0] >= count; }
};

template <class Acc> void copy_run(Acc const* from, std::int64_t count, Acc* to) {
  std::int64_t i = 0;
  for (; i + simd::lanes<Acc> <= count; i += simd::lanes<Acc>)
    simd::store<Acc>(to + i, simd::load<Acc>(from + i));
  if (i < count)
    store_lanes<Acc>(to + i, load_lanes<Acc>(from + i, static_cast<int>(count - i)),
                     static_cast<int>(count - i));
}

// `count` elements of an operand at base + the table's offsets, as accumulators: where they lie,
// if they are such and follow each other, else in `buffer`.
template <class Acc> Acc const* fetch(load_function<Acc> load, dtype type, void const* data,
                                      std::int64_t bytes, std::int64_t base,
                                      place_table const& table, std::int64_t count, Acc* buffer,
                                      std::int64_t ahead = 0) {
  bool const is_direct = type == direct_type<Acc>;
  if (is_direct && table.is_unit(count))
    return static_cast<Acc const*>(data) + base + table.offset[0];
  char const* const from = static_cast<char const*>(data) + base * bytes;
  if (!table.has_runs) {
    load(buffer, from, table.offset, false, count);
  } else if (is_direct) {
    Acc const* const direct = static_cast<Acc const*>(data) + base;
    for (std::int64_t i = 0; i < count; i += table.run[i]) {
      __builtin_prefetch(direct + table.offset[i] + ahead);
      copy_run(direct + table.offset[i], table.run[i], buffer + i);
    }
  } else {
    for (std::int64_t i = 0; i < count; i += table.run[i])
      load(buffer + i, from, table.offset + i, true, table.run[i]);
  }
  return buffer;
}

}  // namespace ricci::kernels::contraction
