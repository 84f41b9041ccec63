#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "kernels/contract/contract.hpp"

/// Which places of several axes form one tile, and where they lie. Private to kernels/contract.
namespace ricci::kernels::contraction {

inline constexpr int max_axes = 32;

using axis_stride = std::int64_t contraction_axis::*;

// Axes, fastest first, cut into blocks; one block of each makes a tile.
struct tile_box {
  contraction_axis const* axes = nullptr;
  std::int8_t number[max_axes];  // of each among `axes`
  std::int64_t block[max_axes];
  std::int8_t by_result[max_axes];  // the axes in the order of the result's strides
  int count = 0;
  std::int64_t tiles = 1;
  std::int64_t most = 1;  // places of the largest tile

  contraction_axis const& axis(int i) const { return axes[number[i]]; }

  // Do places that follow each other in a tile also do so in the result?
  bool is_by_result() const {
    for (int i = 0; i < count; ++i)
      if (by_result[i] != i) return false;
    return true;
  }
};

// One tile: where it begins and how long it is along each axis.
struct tile_place {
  std::int64_t first[max_axes];
  std::int64_t length[max_axes];
  std::int64_t size = 1;

  tile_place() : size(0) {}
  tile_place(tile_box const& box, std::int64_t number) {
    for (int i = 0; i < box.count; ++i) {
      std::int64_t const parts = (box.axis(i).extent - 1) / box.block[i] + 1;
      first[i] = number % parts * box.block[i];
      number /= parts;
      length[i] = std::min(box.block[i], box.axis(i).extent - first[i]);
      size *= length[i];
    }
  }
  // Tiles of the same lengths differ in their base alone.
  bool is_like(tile_place const& other, tile_box const& box) const {
    return size == other.size && std::equal(length, length + box.count, other.length);
  }
  std::int64_t base(tile_box const& box, axis_stride stride) const {
    std::int64_t offset = 0;
    for (int i = 0; i < box.count; ++i) offset += first[i] * (box.axis(i).*stride);
    return offset;
  }
  // offset[i] of the i-th place of the tile, from its base on.
  void fill(tile_box const& box, axis_stride stride, std::int64_t* offset) const {
    offset[0] = 0;
    std::int64_t done = 1;
    for (int i = 0; i < box.count; ++i) repeat(offset, done, length[i], box.axis(i).*stride);
  }
  // order[i]: which place of the tile is the i-th in the order of the result.
  void fill_order(tile_box const& box, std::int64_t* order) const {
    std::int64_t step[max_axes];
    std::int64_t places = 1;
    for (int i = 0; i < box.count; ++i) {
      step[i] = places;
      places *= length[i];
    }
    order[0] = 0;
    std::int64_t done = 1;
    for (int i = 0; i < box.count; ++i)
      repeat(order, done, length[box.by_result[i]], step[box.by_result[i]]);
  }

 private:
  static void repeat(std::int64_t* numbers, std::int64_t& done, std::int64_t times,
                     std::int64_t step) {
    for (std::int64_t at = 1; at < times; ++at)
      for (std::int64_t j = 0; j < done; ++j) numbers[at * done + j] = numbers[j] + at * step;
    done *= times;
  }
};

// The least stride that is not 0, of the axes in one array; 0 where there is none.
inline std::int64_t least_stride(contraction_axis const* axes, int count, axis_stride stride) {
  std::int64_t least = 0;
  for (int i = 0; i < count; ++i) {
    std::int64_t const own = std::abs(axes[i].*stride);
    if (axes[i].extent > 1 && own != 0 && (least == 0 || own < least)) least = own;
  }
  return least;
}

// Blocks whose tiles touch whole cache lines of two arrays: `in_run` places along the fastest axes
// of the first, then `out_run` along those of the second, then the others in the order of the
// second while the tile has no more than `budget` places.
//   in, out  the strides in the two
//   in_run   0: the first array is small, or its fastest axis is not among these
inline tile_box box_of(contraction_axis const* axes, int count, axis_stride in, axis_stride out,
                       std::int64_t in_run, std::int64_t out_run, std::int64_t budget) {
  constexpr std::int64_t line = 16;
  std::int8_t by_in[max_axes];
  std::int8_t by_out[max_axes];
  int used = 0;
  std::int64_t all = 1;
  for (int i = 0; i < count; ++i) {
    if (axes[i].extent == 1) continue;
    by_in[used] = by_out[used] = static_cast<std::int8_t>(i);
    ++used;
    all *= axes[i].extent;
  }
  auto const sort = [](std::int8_t* x, int size, auto stride_of) {
    for (int i = 1; i < size; ++i)
      for (int j = i; j > 0 && stride_of(x[j]) < stride_of(x[j - 1]); --j)
        std::swap(x[j], x[j - 1]);
  };
  sort(by_in, used, [&](int i) { return std::abs(axes[i].*in); });
  sort(by_out, used, [&](int i) { return std::abs(axes[i].*out); });
  if (used > 0 && by_in[0] == by_out[0]) in_run = 0;
  tile_box box;
  box.axes = axes;
  std::uint32_t added = 0;
  bool const is_whole = all <= budget;
  auto const add = [&](std::int8_t axis, std::int64_t room) {
    if (added >> axis & 1) return;
    added |= std::uint32_t{1} << axis;
    std::int64_t const extent = axes[axis].extent;
    std::int64_t block = is_whole ? extent : std::clamp<std::int64_t>(room, 1, extent);
    if (block < extent) {
      std::int64_t const parts = (extent - 1) / block + 1;
      std::int64_t const even = (extent - 1) / parts + 1;
      block = even < line ? even : std::min(extent, (even + line - 1) / line * line);
    }
    box.number[box.count] = axis;
    box.block[box.count++] = block;
    box.most *= block;
    box.tiles *= (extent - 1) / block + 1;
  };
  for (int i = 0; i < used && box.most < in_run; ++i) {
    std::int64_t const room = (in_run - 1) / box.most + 1;
    std::int64_t const extent = axes[by_in[i]].extent;
    if (axes[by_in[i]].*in != 0) add(by_in[i], extent <= 2 * room ? extent : room);
  }
  std::int64_t const wanted = out_run * box.most;
  for (int i = 0; i < used && box.most < wanted; ++i)
    add(by_out[i], std::max((wanted - 1) / box.most + 1, budget / box.most));
  for (int i = 0; i < used; ++i) add(by_out[i], budget / box.most);
  for (int i = 0; i < box.count; ++i) box.by_result[i] = static_cast<std::int8_t>(i);
  sort(box.by_result, box.count, [&](int i) { return std::abs(box.axis(i).*out); });
  return box;
}

}  // namespace ricci::kernels::contraction
