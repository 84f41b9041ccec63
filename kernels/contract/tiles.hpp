#pragma once

#include <algorithm>
#include <cstdint>

#include <ricci/tensor/storage.hpp>

#include "kernels/contract/elements.hpp"
#include "kernels/parallel/parallel.hpp"

/// Matrix products of tiles that are packed into the cache. Operands may lie in any way: each of m,
/// n and k has tables of offsets, so axes that do not merge cost nothing more.
namespace ricci::kernels::contraction {

template <class Acc> struct tile_shape {
  static constexpr std::int64_t lanes = simd::lanes<Acc>;
  static constexpr std::int64_t n = 2 * lanes;                 // two vectors a row in registers
  static constexpr int m = simd::vector_bytes == 64 ? 12 : 5;  // 24 of 32 registers, 10 of 16
  static constexpr std::int64_t rows = 8 * 12;
  static constexpr std::int64_t columns = 8 * n;
  static constexpr std::int64_t depth = 256;  // a and b of a tile: half of a 1 MiB cache in f64
};

// c[r, lane] (+)= sum over p of a(r, p) * b[p, lane], a(r, p) = a[r * row_step + p * step];
// Rows x two vectors in registers.
template <class Acc, int Rows>
RICCI_ALWAYS_INLINE void multiply_block(std::int64_t depth, Acc const* a, std::int64_t row_step,
                                        std::int64_t step, Acc const* b, Acc* c,
                                        std::int64_t c_step, bool accumulate) {
  using vec = simd::vec<Acc>;
  constexpr int n = simd::lanes<Acc>;
  vec sum[Rows][2];
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r) sum[r][0] = sum[r][1] = vec{};
  for (std::int64_t p = 0; p < depth; ++p) {
    vec const low = simd::load<Acc>(b + p * 2 * n);
    vec const high = simd::load<Acc>(b + p * 2 * n + n);
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
      vec const spread = simd::fill<Acc>(a[r * row_step + p * step]);
      sum[r][0] += spread * low;
      sum[r][1] += spread * high;
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r) {
    Acc* const to = c + r * c_step;
    if (accumulate) {
      sum[r][0] += simd::load<Acc>(static_cast<Acc const*>(to));
      sum[r][1] += simd::load<Acc>(static_cast<Acc const*>(to + n));
    }
    simd::store<Acc>(to, sum[r][0]);
    simd::store<Acc>(to + n, sum[r][1]);
  }
}

// All rows of one panel of b.
template <class Acc> void multiply_panel(std::int64_t rows, std::int64_t depth, Acc const* a,
                                         std::int64_t row_step, std::int64_t step, Acc const* b,
                                         Acc* c, std::int64_t c_step, bool accumulate) {
  constexpr int most = tile_shape<Acc>::m;
  std::int64_t r = 0;
  for (; r + most <= rows; r += most)
    multiply_block<Acc, most>(depth, a + r * row_step, row_step, step, b, c + r * c_step, c_step,
                              accumulate);
  for (; r + 4 <= rows; r += 4)
    multiply_block<Acc, 4>(depth, a + r * row_step, row_step, step, b, c + r * c_step, c_step,
                           accumulate);
  for (; r < rows; ++r)
    multiply_block<Acc, 1>(depth, a + r * row_step, row_step, step, b, c + r * c_step, c_step,
                           accumulate);
}

// The tables of one problem, in memory that the caller gives.
struct offset_tables {
  std::int64_t* a_m;
  std::int64_t* c_m;
  std::int64_t* addend_m[2];
  std::int64_t* b_n;
  std::int64_t* c_n;
  std::int64_t* addend_n[2];
  std::int64_t* a_k;
  std::int64_t* b_k;
  bool unit_a_m, unit_b_n, unit_c_n, unit_addend_n[2], unit_a_k;

  void fill(contraction_problem const& p, std::int64_t m, std::int64_t n, std::int64_t k,
            std::int64_t* memory) {
    for (std::int64_t** table : {&a_m, &c_m, &addend_m[0], &addend_m[1]}) {
      *table = memory;
      memory += m;
    }
    for (std::int64_t** table : {&b_n, &c_n, &addend_n[0], &addend_n[1]}) {
      *table = memory;
      memory += n;
    }
    a_k = memory;
    b_k = memory + k;
    using axis = contraction_axis;
    fill_offsets(p.m, p.ms, &axis::a, a_m);
    fill_offsets(p.m, p.ms, &axis::c, c_m);
    fill_offsets(p.n, p.ns, &axis::b, b_n);
    fill_offsets(p.n, p.ns, &axis::c, c_n);
    fill_offsets(p.k, p.ks, &axis::a, a_k);
    fill_offsets(p.k, p.ks, &axis::b, b_k);
    unit_a_m = is_unit(a_m, m);
    unit_b_n = is_unit(b_n, n);
    unit_c_n = is_unit(c_n, n);
    unit_a_k = is_unit(a_k, k);
    std::int64_t axis::* const strides[2] = {&axis::bias, &axis::residual};
    contraction_addend const* const addends[2] = {&p.bias, &p.residual};
    for (int i = 0; i < 2; ++i) {
      if (addends[i]->data == nullptr) continue;
      fill_offsets(p.m, p.ms, strides[i], addend_m[i]);
      fill_offsets(p.n, p.ns, strides[i], addend_n[i]);
      unit_addend_n[i] = is_unit(addend_n[i], n);
    }
  }
  static std::int64_t size(std::int64_t m, std::int64_t n, std::int64_t k) {
    return 4 * m + 4 * n + 2 * k;
  }
};

template <class Acc> class tile_contraction {
 public:
  explicit tile_contraction(contraction_problem const& problem)
      : p_(problem),
        finish_(problem),
        load_a_(loader<Acc>(problem.a_type)),
        load_b_(loader<Acc>(problem.b_type)),
        bytes_a_(size_of(problem.a_type)),
        bytes_b_(size_of(problem.b_type)),
        m_(size_of_axes(problem.m, problem.ms)),
        n_(size_of_axes(problem.n, problem.ns)),
        k_(size_of_axes(problem.k, problem.ks)),
        batch_(size_of_axes(problem.batch, problem.batches)) {}

  void run() {
    using shape = tile_shape<Acc>;
    if (m_ <= small_extent && n_ <= small_extent && k_ <= small_extent && m_ * n_ * k_ <= 32768 &&
        k_ * round_up(n_) <= small_panel)
      return run_small();
    storage_handle const memory =
        allocate(offset_tables::size(m_, n_, k_) * std::int64_t{8}, role::workspace);
    at_.fill(p_, m_, n_, k_, static_cast<std::int64_t*>(memory.data()));
    std::int64_t const down = (m_ + shape::rows - 1) / shape::rows;
    std::int64_t const across = (n_ + shape::columns - 1) / shape::columns;
    std::int64_t const work = std::min(m_, shape::rows) * std::min(n_, shape::columns) * k_;
    std::int64_t const tasks = batch_ * down * across;
    std::int64_t const grain = std::max<std::int64_t>(1, 65536 / work);
    auto const body = [&](std::int64_t begin, std::int64_t end) {
      buffers const memory_of_task(m_, n_, k_);
      for (std::int64_t task = begin; task < end; ++task)
        run_tile(task / (down * across), task / across % down * shape::rows,
                 task % across * shape::columns, memory_of_task);
    };
    if (tasks <= grain)
      body(0, tasks);
    else
      parallel_chunks(tasks, grain, body);
  }

 private:
  static constexpr std::int64_t small_extent = 256;
  static constexpr std::int64_t small_panel = 4096;

  static std::int64_t round_up(std::int64_t n) {
    return (n + tile_shape<Acc>::n - 1) / tile_shape<Acc>::n * tile_shape<Acc>::n;
  }

  struct place {
    std::int64_t a = 0, b = 0, c = 0, addend[2] = {0, 0};
  };

  struct buffers {
    buffers(std::int64_t m, std::int64_t n, std::int64_t k) {
      using shape = tile_shape<Acc>;
      std::int64_t const rows = std::min(m, shape::rows);
      std::int64_t const columns = round_up(std::min(n, shape::columns));
      std::int64_t const depth = std::min(k, shape::depth);
      memory = allocate(((rows + columns) * depth + (rows + 1) * columns + 3 * 64) *
                            static_cast<std::int64_t>(sizeof(Acc)),
                        role::workspace);
      a = static_cast<Acc*>(memory.data());
      b = a + (rows * depth + 63) / 64 * 64;
      c = b + columns * depth;
      scratch = c + rows * columns;
    }
    storage_handle memory;
    Acc* a;        // [rows, depth] or [depth, rows]
    Acc* b;        // [columns / shape::n, depth, shape::n]
    Acc* c;        // [rows, columns]
    Acc* scratch;  // [columns]
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

  // One tile of c: rows m0 ..., columns n0 ..., all of k.
  void run_tile(std::int64_t item, std::int64_t m0, std::int64_t n0, buffers const& memory) const {
    using shape = tile_shape<Acc>;
    place const at = place_of(item);
    std::int64_t const rows = std::min(shape::rows, m_ - m0);
    std::int64_t const columns = std::min(shape::columns, n_ - n0);
    std::int64_t const padded = round_up(columns);
    for (std::int64_t k0 = 0; k0 < k_; k0 += shape::depth) {
      std::int64_t const depth = std::min(shape::depth, k_ - k0);
      bool const by_rows = at_.unit_a_k || !at_.unit_a_m;
      pack_a(at.a, m0, rows, k0, depth, by_rows, memory.a);
      pack_b(at.b, n0, columns, k0, depth, memory.b);
      for (std::int64_t j = 0; j < padded; j += shape::n)
        multiply_panel<Acc>(rows, depth, memory.a, by_rows ? depth : 1, by_rows ? 1 : rows,
                            memory.b + j * depth, memory.c + j, padded, k0 > 0);
    }
    for (std::int64_t r = 0; r < rows; ++r)
      finish(at, m0 + r, n0, columns, memory.c + r * padded, memory.scratch);
  }

  void finish(place const& at, std::int64_t row, std::int64_t n0, std::int64_t columns, Acc* sums,
              Acc* scratch) const {
    std::int64_t addend_base[2] = {0, 0};
    positions addends[2];
    for (int i = 0; i < 2; ++i) {
      if (finish_.load[i] == nullptr) continue;
      addend_base[i] = at.addend[i] + at_.addend_m[i][row];
      addends[i] = {at_.addend_n[i] + n0, at_.unit_addend_n[i]};
    }
    finish_.finish(sums, scratch, columns, p_.c, at.c + at_.c_m[row], {at_.c_n + n0, at_.unit_c_n},
                   addend_base, addends);
  }

  void pack_a(std::int64_t base, std::int64_t m0, std::int64_t rows, std::int64_t k0,
              std::int64_t depth, bool by_rows, Acc* to) const {
    char const* const a = static_cast<char const*>(p_.a);
    if (by_rows)
      for (std::int64_t r = 0; r < rows; ++r)
        load_a_(to + r * depth, a + (base + at_.a_m[m0 + r]) * bytes_a_, at_.a_k + k0, at_.unit_a_k,
                depth);
    else
      for (std::int64_t p = 0; p < depth; ++p)
        load_a_(to + p * rows, a + (base + at_.a_k[k0 + p]) * bytes_a_, at_.a_m + m0, at_.unit_a_m,
                rows);
  }

  void pack_b(std::int64_t base, std::int64_t n0, std::int64_t columns, std::int64_t k0,
              std::int64_t depth, Acc* to) const {
    constexpr std::int64_t width = tile_shape<Acc>::n;
    char const* const b = static_cast<char const*>(p_.b);
    for (std::int64_t j = 0; j < columns; j += width) {
      std::int64_t const count = std::min(width, columns - j);
      for (std::int64_t p = 0; p < depth; ++p, to += width) {
        load_b_(to, b + (base + at_.b_k[k0 + p]) * bytes_b_, at_.b_n + n0 + j, at_.unit_b_n, count);
        for (std::int64_t i = count; i < width; ++i) to[i] = Acc(0);
      }
    }
  }

  // All in a few tens of kilobytes of the stack: no memory is allocated.
  void run_small() {
    std::int64_t tables[10 * small_extent];
    at_.fill(p_, m_, n_, k_, tables);
    std::int64_t const padded = round_up(n_);
    auto const body = [&](std::int64_t begin, std::int64_t end) {
      alignas(64) Acc of_a[small_rows * small_extent];
      alignas(64) Acc of_b[small_panel];
      alignas(64) Acc of_c[small_rows * small_extent];
      alignas(64) Acc scratch[small_extent];
      for (std::int64_t item = begin; item < end; ++item) {
        place const at = place_of(item);
        pack_b(at.b, 0, n_, 0, k_, of_b);
        for (std::int64_t m0 = 0; m0 < m_; m0 += small_rows) {
          std::int64_t const rows = std::min(small_rows, m_ - m0);
          bool const by_rows = at_.unit_a_k || !at_.unit_a_m;
          pack_a(at.a, m0, rows, 0, k_, by_rows, of_a);
          for (std::int64_t j = 0; j < padded; j += tile_shape<Acc>::n)
            multiply_panel<Acc>(rows, k_, of_a, by_rows ? k_ : 1, by_rows ? 1 : rows, of_b + j * k_,
                                of_c + j, padded, false);
          for (std::int64_t r = 0; r < rows; ++r)
            finish(at, m0 + r, 0, n_, of_c + r * padded, scratch);
        }
      }
    };
    std::int64_t const grain = std::max<std::int64_t>(1, 65536 / (m_ * n_ * k_));
    if (batch_ <= grain)
      body(0, batch_);
    else
      parallel_chunks(batch_, grain, body);
  }

  static constexpr std::int64_t small_rows = 24;

  contraction_problem const& p_;
  epilogue<Acc> finish_;
  load_function<Acc> load_a_;
  load_function<Acc> load_b_;
  std::int64_t bytes_a_;
  std::int64_t bytes_b_;
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t k_;
  std::int64_t batch_;
  offset_tables at_;
};

}  // namespace ricci::kernels::contraction
