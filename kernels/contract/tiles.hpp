#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <ricci/tensor/storage.hpp>

#include "kernels/contract/boxes.hpp"
#include "kernels/contract/elements.hpp"
#include "kernels/contract/packing.hpp"
#include "kernels/contract/panels.hpp"
#include "kernels/contract/places.hpp"
#include "kernels/contract/tile_memory.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/stream.hpp"

/// Matrix products of tiles that are packed into the cache, straight from operands that lie in any
/// way, and written straight to their places: no array is permuted in memory.
namespace ricci::kernels::contraction {

template <class Acc> class tile_contraction {
 public:
  explicit tile_contraction(contraction_problem const& problem)
      : p_(problem),
        finish_(problem),
        a_(problem.a, problem.a_type,
           is_by_k(problem.k, problem.ks, problem.m, problem.ms, &contraction_axis::a)),
        b_(problem.b, problem.b_type,
           is_by_k(problem.k, problem.ks, problem.n, problem.ns, &contraction_axis::b)),
        k_(size_of_axes(problem.k, problem.ks)),
        batch_(size_of_axes(problem.batch, problem.batches)) {
    std::int64_t const m = size_of_axes(problem.m, problem.ms);
    std::int64_t const n = size_of_axes(problem.n, problem.ns);
    constexpr std::int64_t scale = 8 / sizeof(Acc);  // f32 has room for twice as many
    is_whole_ = k_ <= whole_depth;
    k_box_ = box_of(p_.k, p_.ks, &contraction_axis::a, &contraction_axis::b, a_.is_by_k ? 16 : 0,
                    16, is_whole_ ? k_ : cut_depth);
    depth_ = k_box_.most;
    std::int64_t columns = scale * 128;
    std::int64_t rows = scale * 96;
    if (is_whole_) {
      columns = std::clamp(scale * 32768 / depth_, std::int64_t{shape::columns}, scale * 320);
      rows = std::clamp<std::int64_t>(scale * 16384 / depth_, shape::rows, 240);
    }
    // What lies across an operand that the cache does not hold is read some lines at a time.
    std::int64_t const wide =
        std::clamp<std::int64_t>(scale * 65536 / (shape::columns * depth_), 32, 96);
    bool const a_is_across = !a_.is_by_k && m * k_ * size_of(p_.a_type) > in_cache;
    bool const b_is_across = !b_.is_by_k && n * k_ * size_of(p_.b_type) > in_cache;
    // Few tiles with long sums become more and smaller ones, so that threads can share them.
    for (;; rows > 48 ? rows /= 2 : columns /= 2) {
      n_box_ = box_of(p_.n, p_.ns, &contraction_axis::b, &contraction_axis::c,
                      b_is_across ? wide : 0, shape::columns, std::min(columns, n));
      m_box_ = box_of(p_.m, p_.ms, &contraction_axis::a, &contraction_axis::c,
                      a_is_across ? wide : 0, 1, std::min(rows, m));
      if (is_whole_ || columns <= 2 * shape::columns) break;
      if (batch_ * n_box_.tiles * m_box_.tiles >= 8) break;
    }
    streams_ = batch_ * m * n * size_of(p_.c_type) > least_streamed;
    is_by_result_ = n_box_.is_by_result();
    is_plain_ = finish_.is_plain() && p_.c_type == direct_type<Acc>;
    std::int64_t const tiles = batch_ * n_box_.tiles * m_box_.tiles;
    group_ = is_whole_ ? std::clamp<std::int64_t>(tiles / 32, 1, m_box_.tiles) : 1;
    groups_ = (m_box_.tiles - 1) / group_ + 1;
    tasks_ = batch_ * n_box_.tiles * groups_;
    double const work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k_) *
                        static_cast<double>(batch_) / static_cast<double>(tasks_);
    grain_ =
        std::max<std::int64_t>(static_cast<std::int64_t>(65536 / std::max(work, 1.0)), tasks_ / 64);
    grain_ = std::clamp<std::int64_t>(grain_, 1, tasks_);
    chunks_ = (tasks_ - 1) / grain_ + 1;
  }

  void run() {
    tile_extents const most{m_box_.most, n_box_.most, depth_, is_whole_};
    int const slots = static_cast<int>(std::min<std::int64_t>(threads(), chunks_));
    std::int64_t const slot_bytes = tile_memory<Acc>(most, nullptr).bytes;
    storage_handle const memory = allocate(slots * slot_bytes, role::scratch);
    if (chunks_ == 1) {
      buffers own(most, static_cast<char*>(memory.data()));
      for (std::int64_t task = 0; task < tasks_; ++task) run_task(task, own);
      return;
    }
    std::atomic<std::uint64_t> taken[16] = {};
    parallel_chunks(tasks_, grain_, [&](std::int64_t begin, std::int64_t end) {
      int const slot = take_slot(taken, slots);
      buffers own(most, static_cast<char*>(memory.data()) + slot * slot_bytes);
      for (std::int64_t task = begin; task < end; ++task) run_task(task, own);
      finish_streams();
      taken[slot / 64].fetch_and(~(std::uint64_t{1} << slot % 64));
    });
  }

 private:
  using shape = panel_shape<Acc>;
  static constexpr std::int64_t whole_depth = 384;  // k is not cut up to here
  static constexpr std::int64_t cut_depth = 256;
  static constexpr std::int64_t in_cache = std::int64_t{256} << 10;       // bytes of an operand
  static constexpr std::int64_t least_streamed = std::int64_t{32} << 20;  // bytes

  struct place {
    std::int64_t a = 0, b = 0, c = 0, addend[2] = {0, 0};
  };

  // Is k the faster one of an operand's directions?
  static bool is_by_k(contraction_axis const* k, int ks, contraction_axis const* across,
                      int acrosses, std::int64_t contraction_axis::* stride) {
    std::int64_t const along = least_stride(k, ks, stride);
    std::int64_t const other = least_stride(across, acrosses, stride);
    return along != 0 && (other == 0 || along < other);
  }

  static int take_slot(std::atomic<std::uint64_t>* taken, int slots) {
    for (;;)
      for (int slot = 0; slot < slots; ++slot) {
        std::uint64_t const bit = std::uint64_t{1} << slot % 64;
        if (!(taken[slot / 64].fetch_or(bit) & bit)) return slot;
      }
  }

  // The memory of one thread, and what is packed in it at the moment.
  struct buffers : tile_memory<Acc> {
    using tile_memory<Acc>::tile_memory;
    std::int64_t rows = 0, columns = 0, depth = 0;
    tile_place place_m, place_n, place_k;  // what the tables were made for
    place base_m, base_n, base_k;          // where the tiles begin
    // Where k is not cut, panels of the tile before may serve again.
    std::int64_t tile_m = -1, tile_n = -1, tile_k = -1;
    std::int64_t packed_a = -1, packed_b = -1;  // offsets of the batch item
    bool has_a = false, has_b = false;
  };

  place place_of(std::int64_t item) const {
    place at;
    for (int axis = p_.batches - 1; axis >= 0 && item > 0; --axis) {
      contraction_axis const& x = p_.batch[axis];
      std::int64_t const i = item % x.extent;
      item /= x.extent;
      at.a += i * x.a;
      at.b += i * x.b;
      at.c += i * x.c;
      at.addend[0] += i * x.bias;
      at.addend[1] += i * x.residual;
    }
    return at;
  }

  void set_tile_n(std::int64_t tile, buffers& own) const {
    if (own.tile_n == tile) return;
    own.tile_n = tile;
    own.has_b = false;
    tile_place const at(n_box_, tile);
    own.base_n.b = at.base(n_box_, &contraction_axis::b);
    own.base_n.c = at.base(n_box_, &contraction_axis::c);
    own.base_n.addend[0] = at.base(n_box_, &contraction_axis::bias);
    own.base_n.addend[1] = at.base(n_box_, &contraction_axis::residual);
    bool const is_like = at.is_like(own.place_n, n_box_);
    own.place_n = at;
    if (is_like) return;
    own.columns = at.size;
    at.fill(n_box_, &contraction_axis::b, own.b_n.offset);
    own.b_n.find_runs(at.size);
    at.fill(n_box_, &contraction_axis::c, own.c_n.offset);
    if (!is_by_result_) {
      at.fill_order(n_box_, own.order);
      for (std::int64_t j = 0; j < at.size; ++j) own.ordered[j] = own.c_n.offset[own.order[j]];
      std::swap(own.ordered, own.c_n.offset);
    }
    own.c_n.find_runs(at.size);
    if (finish_.load[0]) at.fill(n_box_, &contraction_axis::bias, own.addend_n[0]);
    if (finish_.load[1]) at.fill(n_box_, &contraction_axis::residual, own.addend_n[1]);
  }

  void set_tile_m(std::int64_t tile, buffers& own) const {
    if (own.tile_m == tile) return;
    own.tile_m = tile;
    own.has_a = false;
    tile_place const at(m_box_, tile);
    own.base_m.a = at.base(m_box_, &contraction_axis::a);
    own.base_m.c = at.base(m_box_, &contraction_axis::c);
    own.base_m.addend[0] = at.base(m_box_, &contraction_axis::bias);
    own.base_m.addend[1] = at.base(m_box_, &contraction_axis::residual);
    bool const is_like = at.is_like(own.place_m, m_box_);
    own.place_m = at;
    if (is_like) return;
    own.rows = at.size;
    at.fill(m_box_, &contraction_axis::a, own.a_m.offset);
    own.a_m.find_runs(at.size);
    at.fill(m_box_, &contraction_axis::c, own.c_m);
    if (finish_.load[0]) at.fill(m_box_, &contraction_axis::bias, own.addend_m[0]);
    if (finish_.load[1]) at.fill(m_box_, &contraction_axis::residual, own.addend_m[1]);
  }

  void set_tile_k(std::int64_t tile, buffers& own) const {
    if (own.tile_k == tile) return;
    own.tile_k = tile;
    own.has_a = own.has_b = false;
    tile_place const at(k_box_, tile);
    own.base_k.a = at.base(k_box_, &contraction_axis::a);
    own.base_k.b = at.base(k_box_, &contraction_axis::b);
    bool const is_like = at.is_like(own.place_k, k_box_);
    own.place_k = at;
    if (is_like) return;
    own.depth = at.size;
    at.fill(k_box_, &contraction_axis::a, own.a_k.offset);
    own.a_k.find_runs(at.size);
    at.fill(k_box_, &contraction_axis::b, own.b_k.offset);
    own.b_k.find_runs(at.size);
  }

  // All rows of a group of tiles, the columns of one tile, all of k.
  void run_task(std::int64_t task, buffers& own) const {
    std::int64_t const group = task % groups_;
    std::int64_t const item = task / groups_ / n_box_.tiles;
    place const of_item = place_of(item);
    set_tile_n(task / groups_ % n_box_.tiles, own);
    std::int64_t const end = std::min(m_box_.tiles, (group + 1) * group_);
    for (std::int64_t tile = group * group_; tile < end; ++tile) {
      set_tile_m(tile, own);
      for (std::int64_t k = 0; k < k_box_.tiles; ++k) {
        set_tile_k(k, own);
        place at = of_item;
        at.a += own.base_m.a + own.base_k.a;
        at.b += own.base_n.b + own.base_k.b;
        at.c += own.base_m.c + own.base_n.c;
        for (int i = 0; i < 2; ++i) at.addend[i] += own.base_m.addend[i] + own.base_n.addend[i];
        if (!own.has_b || own.packed_b != at.b) {
          own.has_b = true;
          own.packed_b = at.b;
          pack_panels(b_, at.b, own.b_n, own.b_k, own.depth, column_panels<Acc>(own.columns), own.b,
                      own.buffer);
        }
        if (!own.has_a || own.packed_a != at.a) {
          own.has_a = true;
          own.packed_a = at.a;
          pack_panels(a_, at.a, own.a_m, own.a_k, own.depth, row_panels(own.rows, shape::rows),
                      own.a, own.buffer);
        }
        multiply(at, own.depth, k > 0, k + 1 == k_box_.tiles, own);
      }
    }
  }

  void multiply(place const& at, std::int64_t depth, bool accumulate, bool is_last,
                buffers& own) const {
    std::int64_t const step = own.padded_columns(own.columns);
    row_panels const panels(own.rows, shape::rows);
    bool const is_unit = is_plain_ && is_by_result_ && own.c_n.is_unit(own.columns);
    for (std::int64_t i = 0; i < panels.panels; ++i) {
      std::int64_t const first = panels.first(i);
      int const rows = panels.rows(i);
      Acc const* const a = own.a + first * depth;
      Acc* const kept = is_whole_ ? own.c : own.c + first * step;
      // Whole vectors go straight to the result, where its rows are evenly apart.
      std::int64_t const* const c_m = own.c_m + first;
      std::int64_t const apart = rows > 1 ? c_m[1] - c_m[0] : 0;
      bool is_direct = is_unit;
      for (int r = 1; r < rows; ++r) is_direct = is_direct && c_m[r] - c_m[r - 1] == apart;
      Acc* const result =
          is_direct ? static_cast<Acc*>(p_.c) + at.c + c_m[0] + own.c_n.offset[0] : nullptr;
      std::int64_t stored = 0;
      for (std::int64_t j = 0; j < own.columns; j += shape::columns) {
        int const vectors = j + shape::lanes < own.columns ? 2 : 1;
        bool const is_whole = is_direct && j + vectors * shape::lanes <= own.columns;
        product_of_panels<Acc>(rows, vectors)(depth, a, own.b + j * depth,
                                              is_whole ? result + j : kept + j,
                                              is_whole ? apart : step, accumulate);
        if (is_whole) stored = j + vectors * shape::lanes;
      }
      if (!is_last) continue;
      if (is_plain_ && !is_direct) {
        store_plain(at, first, rows, kept, step, own);
        continue;
      }
      for (int r = 0; r < rows; ++r) {
        if (!is_direct)
          finish(at, first + r, kept + r * step, own);
        else if (stored < own.columns)
          copy_run(kept + r * step + stored, own.columns - stored, result + r * apart + stored);
      }
    }
  }

  // Run by run and row by row, as neighbouring rows often lie side by side in the result.
  void store_plain(place const& at, std::int64_t first, int rows, Acc const* sums,
                   std::int64_t step, buffers const& own) const {
    place_table const& n = own.c_n;
    if (!is_by_result_) {
      for (int r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < own.columns; ++j)
          own.turned[r * step + j] = sums[r * step + own.order[j]];
      sums = own.turned;
    }
    Acc* const c = static_cast<Acc*>(p_.c) + at.c;
    if (!n.has_runs) {
      for (std::int64_t j = 0; j < own.columns; ++j)
        for (int r = 0; r < rows; ++r) c[own.c_m[first + r] + n.offset[j]] = sums[r * step + j];
      return;
    }
    for (std::int64_t j = 0; j < own.columns; j += n.run[j])
      for (int r = 0; r < rows; ++r) {
        Acc* const to = c + own.c_m[first + r] + n.offset[j];
        if (streams_)
          stream_run(reinterpret_cast<char*>(to),
                     reinterpret_cast<char const*>(sums + r * step + j),
                     n.run[j] * static_cast<std::int64_t>(sizeof(Acc)));
        else
          copy_run(sums + r * step + j, n.run[j], to);
      }
  }

  void finish(place const& at, std::int64_t row, Acc* sums, buffers const& own) const {
    std::int64_t base[2] = {0, 0};
    positions addends[2];
    for (int i = 0; i < 2; ++i) {
      if (finish_.load[i] == nullptr) continue;
      base[i] = at.addend[i] + own.addend_m[i][row];
      addends[i] = {own.addend_n[i], false};
    }
    finish_.apply(sums, own.scratch, own.columns, base, addends);
    if (!is_by_result_) {
      for (std::int64_t j = 0; j < own.columns; ++j) own.scratch[j] = sums[own.order[j]];
      sums = own.scratch;
    }
    std::int64_t const c = at.c + own.c_m[row];
    char* const to = static_cast<char*>(p_.c) + c * finish_.bytes_c;
    place_table const& n = own.c_n;
    if (!n.has_runs) return finish_.store(sums, to, n.offset, false, own.columns);
    for (std::int64_t j = 0; j < own.columns; j += n.run[j])
      finish_.store(sums + j, to, n.offset + j, true, n.run[j]);
  }

  contraction_problem const& p_;
  epilogue<Acc> finish_;
  packed_operand<Acc> a_;
  packed_operand<Acc> b_;
  std::int64_t k_;
  std::int64_t batch_;
  bool is_whole_ = true;
  bool is_plain_ = true;  // sums are stored as they are
  std::int64_t depth_ = 1;
  tile_box m_box_, n_box_, k_box_;
  bool is_by_result_ = true;
  bool streams_ = false;  // the result passes the caches by
  std::int64_t group_ = 1, groups_ = 1, tasks_ = 1, grain_ = 1, chunks_ = 1;
};

}  // namespace ricci::kernels::contraction
