#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include <ricci/tensor/storage.hpp>

#include "kernels/contract/boxes.hpp"
#include "kernels/contract/elements.hpp"
#include "kernels/contract/panels.hpp"
#include "kernels/contract/places.hpp"
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
        load_a_(loader<Acc>(problem.a_type)),
        load_b_(loader<Acc>(problem.b_type)),
        bytes_a_(size_of(problem.a_type)),
        bytes_b_(size_of(problem.b_type)),
        k_(size_of_axes(problem.k, problem.ks)),
        batch_(size_of_axes(problem.batch, problem.batches)) {
    std::int64_t const m = size_of_axes(problem.m, problem.ms);
    std::int64_t const n = size_of_axes(problem.n, problem.ns);
    constexpr std::int64_t scale = 8 / sizeof(Acc);  // f32 has room for twice as many
    is_whole_ = k_ <= whole_depth;
    std::int64_t const a_k = least_stride(p_.k, p_.ks, &contraction_axis::a);
    std::int64_t const b_k = least_stride(p_.k, p_.ks, &contraction_axis::b);
    std::int64_t const a_m = least_stride(p_.m, p_.ms, &contraction_axis::a);
    std::int64_t const b_n = least_stride(p_.n, p_.ns, &contraction_axis::b);
    a_by_k_ = a_k != 0 && (a_m == 0 || a_k < a_m);
    b_by_k_ = b_k != 0 && (b_n == 0 || b_k < b_n);
    k_box_ = box_of(p_.k, p_.ks, &contraction_axis::a, &contraction_axis::b, a_by_k_ ? 16 : 0, 16,
                    is_whole_ ? k_ : cut_depth);
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
    bool const a_is_across = !a_by_k_ && m * k_ * bytes_a_ > in_cache;
    bool const b_is_across = !b_by_k_ && n * k_ * bytes_b_ > in_cache;
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

  // Bytes that run() allocates, for so many threads.
  std::int64_t workspace(int threads) const {
    return std::min<std::int64_t>(threads, chunks_) * slot_bytes();
  }

  void run() {
    int const slots = static_cast<int>(std::min<std::int64_t>(threads(), chunks_));
    storage_handle const memory = allocate(workspace(threads()), role::scratch);
    if (chunks_ == 1) {
      buffers own(*this, static_cast<char*>(memory.data()));
      for (std::int64_t task = 0; task < tasks_; ++task) run_task(task, own);
      return;
    }
    std::atomic<std::uint64_t> taken[16] = {};
    parallel_chunks(tasks_, grain_, [&](std::int64_t begin, std::int64_t end) {
      int const slot = take_slot(taken, slots);
      buffers own(*this, static_cast<char*>(memory.data()) + slot * slot_bytes());
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

  static int take_slot(std::atomic<std::uint64_t>* taken, int slots) {
    for (;;)
      for (int slot = 0; slot < slots; ++slot) {
        std::uint64_t const bit = std::uint64_t{1} << slot % 64;
        if (!(taken[slot / 64].fetch_or(bit) & bit)) return slot;
      }
  }

  static std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64 + 64; }
  static std::int64_t padded_columns(std::int64_t n) {
    return (n + shape::lanes - 1) / shape::lanes * shape::lanes;
  }
  // Rows of c that are kept until they are finished: one panel's, or a tile's where k is cut.
  std::int64_t kept_rows() const {
    return is_whole_ ? std::min<std::int64_t>(shape::rows, m_box_.most) : m_box_.most;
  }
  // Rows that are brought into the result's order before they are stored.
  std::int64_t turned_rows() const { return std::min<std::int64_t>(shape::rows, m_box_.most); }
  std::int64_t buffer_length() const {
    return std::max({padded_columns(n_box_.most), m_box_.most, shape::lanes * depth_});
  }
  std::int64_t slot_bytes() const {
    std::int64_t const size = sizeof(Acc);
    return padded(m_box_.most * depth_ * size) +
           padded(padded_columns(n_box_.most) * depth_ * size) +
           padded(kept_rows() * padded_columns(n_box_.most) * size) +
           padded(padded_columns(n_box_.most) * size) + padded(buffer_length() * size) +
           padded(turned_rows() * padded_columns(n_box_.most) * size) +
           padded(8 * (5 * m_box_.most + 8 * n_box_.most + 4 * depth_));
  }

  // The memory of one thread, and what is packed in it at the moment.
  struct buffers {
    buffers(tile_contraction const& t, char* memory) {
      std::int64_t const columns = padded_columns(t.n_box_.most);
      auto const take = [&](std::int64_t count) {
        Acc* const taken = reinterpret_cast<Acc*>(memory);
        memory += padded(count * static_cast<std::int64_t>(sizeof(Acc)));
        return taken;
      };
      a = take(t.m_box_.most * t.depth_);
      b = take(columns * t.depth_);
      c = take(t.kept_rows() * columns);
      scratch = take(columns);
      buffer = take(t.buffer_length());
      turned = take(t.turned_rows() * columns);
      std::int64_t* numbers = reinterpret_cast<std::int64_t*>(memory);
      auto const take_numbers = [&](std::int64_t count) {
        numbers += count;
        return numbers - count;
      };
      std::int64_t const m = t.m_box_.most;
      std::int64_t const n = t.n_box_.most;
      a_m = {take_numbers(m), take_numbers(m)};
      c_m = take_numbers(m);
      b_n = {take_numbers(n), take_numbers(n)};
      c_n = {take_numbers(n), take_numbers(n)};
      order = take_numbers(n);
      ordered = take_numbers(n);
      for (int i = 0; i < 2; ++i) {
        addend_m[i] = take_numbers(m);
        addend_n[i] = take_numbers(n);
      }
      a_k = {take_numbers(t.depth_), take_numbers(t.depth_)};
      b_k = {take_numbers(t.depth_), take_numbers(t.depth_)};
    }
    Acc* a;        // panels of [depth, rows of the panel]
    Acc* b;        // panels of [depth, columns of the panel]
    Acc* c;        // [kept_rows, columns]
    Acc* scratch;  // [columns]
    Acc* buffer;   // rows on their way into panels
    Acc* turned;   // [turned_rows, columns]
    place_table a_m, b_n, c_n, a_k, b_k;
    std::int64_t* c_m;
    // The columns in the order in which they lie in the result, where that is another one.
    std::int64_t* order;
    std::int64_t* ordered;  // their offsets in the result
    std::int64_t* addend_m[2];
    std::int64_t* addend_n[2];
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
        if (!own.has_b || own.packed_b != at.b) pack_b(at.b, own.depth, own);
        if (!own.has_a || own.packed_a != at.a) pack_a(at.a, own.depth, own);
        multiply(at, own.depth, k > 0, k + 1 == k_box_.tiles, own);
      }
    }
  }

  void multiply(place const& at, std::int64_t depth, bool accumulate, bool is_last,
                buffers& own) const {
    std::int64_t const step = padded_columns(own.columns);
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

  // From place p of k, how far the row lies that is wanted a little later.
  static std::int64_t ahead_of(place_table const& k, std::int64_t p, std::int64_t depth) {
    return k.offset[std::min(p + 2, depth - 1)] - k.offset[p];
  }

  void pack_a(std::int64_t base, std::int64_t depth, buffers& own) const {
    own.has_a = true;
    own.packed_a = base;
    row_panels const panels(own.rows, shape::rows);
    if (a_by_k_) {  // rows of k are transposed into panels
      for (std::int64_t i = 0; i < panels.panels; ++i) {
        int const rows = panels.rows(i);
        Acc* const to = own.a + panels.first(i) * depth;
        for (int first = 0; first < rows; first += shape::lanes) {
          int const count = std::min(shape::lanes, rows - first);
          Acc const* of[shape::lanes];
          for (int r = 0; r < count; ++r)
            of[r] = fetch(load_a_, p_.a_type, p_.a, bytes_a_,
                          base + own.a_m.offset[panels.first(i) + first + r], own.a_k, depth,
                          own.buffer + r * depth);
          transpose_rows<Acc>(of, count, count, depth, to + first, rows);
        }
      }
      return;
    }
    for (std::int64_t p = 0; p < depth; ++p) {
      Acc const* const column = fetch(load_a_, p_.a_type, p_.a, bytes_a_, base + own.a_k.offset[p],
                                      own.a_m, own.rows, own.buffer);
      for (std::int64_t i = 0; i < panels.panels; ++i) {
        std::int64_t const first = panels.first(i);
        int const rows = panels.rows(i);
        copy_row<Acc>(column + first, rows, rows, own.a + first * depth + p * rows);
      }
    }
  }

  void pack_b(std::int64_t base, std::int64_t depth, buffers& own) const {
    own.has_b = true;
    own.packed_b = base;
    std::int64_t const all = padded_columns(own.columns);
    // A panel of two vectors, or of one at the end.
    auto const width_at = [&](std::int64_t j) {
      return std::min<std::int64_t>(shape::columns, all - j / shape::columns * shape::columns);
    };
    if (b_by_k_) {
      for (std::int64_t j = 0; j < all; j += shape::lanes) {
        int const count = static_cast<int>(std::min<std::int64_t>(shape::lanes, own.columns - j));
        Acc const* of[shape::lanes];
        for (int r = 0; r < count; ++r)
          of[r] = fetch(load_b_, p_.b_type, p_.b, bytes_b_, base + own.b_n.offset[j + r], own.b_k,
                        depth, own.buffer + r * depth);
        std::int64_t const panel = j / shape::columns * shape::columns;
        transpose_rows<Acc>(of, count, shape::lanes, depth, own.b + panel * depth + (j - panel),
                            width_at(j));
      }
      return;
    }
    for (std::int64_t p = 0; p < depth; ++p) {
      Acc const* const row = fetch(load_b_, p_.b_type, p_.b, bytes_b_, base + own.b_k.offset[p],
                                   own.b_n, own.columns, own.buffer, ahead_of(own.b_k, p, depth));
      for (std::int64_t j = 0; j < all; j += shape::columns) {
        int const width = static_cast<int>(width_at(j));
        int const count = static_cast<int>(std::min<std::int64_t>(width, own.columns - j));
        copy_row<Acc>(row + j, count, width, own.b + j * depth + p * width);
      }
    }
  }

  contraction_problem const& p_;
  epilogue<Acc> finish_;
  load_function<Acc> load_a_;
  load_function<Acc> load_b_;
  std::int64_t bytes_a_;
  std::int64_t bytes_b_;
  std::int64_t k_;
  std::int64_t batch_;
  bool is_whole_ = true;
  bool is_plain_ = true;  // sums are stored as they are
  std::int64_t depth_ = 1;
  tile_box m_box_, n_box_, k_box_;
  bool is_by_result_ = true;
  bool a_by_k_ = false;  // k is the faster one of the operand
  bool b_by_k_ = false;
  bool streams_ = false;  // the result passes the caches by
  std::int64_t group_ = 1, groups_ = 1, tasks_ = 1, grain_ = 1, chunks_ = 1;
};

}  // namespace ricci::kernels::contraction
