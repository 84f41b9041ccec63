#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <ricci/tensor/storage.hpp>

#include "kernels/contract/elements.hpp"
#include "kernels/parallel/parallel.hpp"

/// Contractions that read each operand once: element by element products, outer products, dot
/// products, products of a matrix and a vector, sums, permuted copies (b = 1).
namespace ricci::kernels::contraction {

inline constexpr std::int64_t row_tile = 512;   // elements of a row of the result
inline constexpr std::int64_t row_chunk = 512;  // places of the last k axis

template <class Acc> class row_contraction {
 public:
  explicit row_contraction(contraction_problem const& problem) : p_(problem), finish_(problem) {
    collect_axes();
    order_k();
    outer_k_ = size_of_axes(k_, ks_ - 1);
    chunks_ = (inner_k_.extent + row_chunk - 1) / row_chunk;
    is_empty_sum_ = outer_k_ == 0 || chunks_ == 0;
    rows_ = size_of_axes(outer_, outers_);
    load_a_ = loader<Acc>(p_.a_type);
    load_b_ = loader<Acc>(p_.b_type);
    bytes_a_ = size_of(p_.a_type);
    bytes_b_ = size_of(p_.b_type);
    std::int64_t const width = std::min(row_tile, inner_.extent);
    if (inners_ > 0) {
      fill_offsets(outer_ + outers_, inners_, &contraction_axis::a, at_a_);
      fill_offsets(outer_ + outers_, inners_, &contraction_axis::b, at_b_);
      fill_offsets(outer_ + outers_, inners_, &contraction_axis::c, at_c_);
      fill_offsets(outer_ + outers_, inners_, &contraction_axis::bias, at_addend_[0]);
      fill_offsets(outer_ + outers_, inners_, &contraction_axis::residual, at_addend_[1]);
    } else {
      for (std::int64_t j = 0; j < width; ++j) {
        at_a_[j] = j * inner_.a;
        at_b_[j] = j * inner_.b;
        at_c_[j] = j * inner_.c;
        at_addend_[0][j] = j * inner_.bias;
        at_addend_[1][j] = j * inner_.residual;
      }
    }
    unit_a_ = is_unit(at_a_, width);
    unit_b_ = is_unit(at_b_, width);
    unit_c_ = is_unit(at_c_, width);
    for (int i = 0; i < 2; ++i) unit_addend_[i] = is_unit(at_addend_[i], width);
    fixed_a_ = std::all_of(at_a_, at_a_ + width, [](std::int64_t at) { return at == 0; });
    fixed_b_ = std::all_of(at_b_, at_b_ + width, [](std::int64_t at) { return at == 0; });
    bool const is_row = (unit_a_ || fixed_a_) && (unit_b_ || fixed_b_);
    bool const is_run = (inner_k_.a | inner_k_.b) == 1;
    is_dot_ = ks_ > 0 && inner_k_.extent > 1 && ((is_run && !is_row) || inner_.extent < 4);
    std::int64_t const depth = std::min(row_chunk, inner_k_.extent);
    for (std::int64_t q = 0; q < depth; ++q) {
      at_a_k_[q] = q * inner_k_.a;
      at_b_k_[q] = q * inner_k_.b;
    }
  }

  // Are the operands read along their cache lines, both or one of them?
  bool reads_lines(bool of_a = true, bool of_b = true) const {
    bool const is_row = (unit_a_ || fixed_a_ || !of_a) && (unit_b_ || fixed_b_ || !of_b) &&
                        (inner_.extent >= 32 || outers_ == 0);
    bool const is_run = is_dot_ && (inner_k_.a | inner_k_.b) == 1 && inner_k_.extent >= 64;
    return is_row || is_run;
  }

  void run() const {
    std::int64_t const tasks = rows_ * tiles_;
    if (tasks == 0) return;
    std::int64_t const depth = outer_k_ * inner_k_.extent;
    // Few and long sums are cut into pieces, whose number depends on their length alone.
    std::int64_t const pieces =
        tasks < 16 ? std::min<std::int64_t>(32, depth / 16384) : std::int64_t{1};
    if (pieces > 1 && !is_empty_sum_) return run_in_pieces(tasks, pieces);
    std::int64_t const work = std::max<std::int64_t>(1, std::min(row_tile, inner_.extent) * depth);
    std::int64_t const grain = std::max<std::int64_t>(1, 32768 / work);
    auto const body = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) run_task(task);
    };
    if (tasks <= grain)
      body(0, tasks);
    else
      parallel_chunks(tasks, grain, body);
  }

 private:
  // The result's axes, slowest first, those that are one in all arrays merged. The last ones whose
  // product is small make a row together.
  void collect_axes() {
    for (auto const& [axes, count] :
         {std::pair{p_.batch, p_.batches}, {p_.m, p_.ms}, {p_.n, p_.ns}})
      for (int i = 0; i < count; ++i) {
        if (axes[i].extent == 1) continue;
        int place = outers_++;
        for (; place > 0 && std::abs(outer_[place - 1].c) < std::abs(axes[i].c); --place)
          outer_[place] = outer_[place - 1];
        outer_[place] = axes[i];
      }
    int last = 0;
    for (int i = 1; i < outers_; ++i) {
      contraction_axis& p = outer_[last];
      contraction_axis const& q = outer_[i];
      bool const joins = p.a == q.extent * q.a && p.b == q.extent * q.b && p.c == q.extent * q.c &&
                         p.bias == q.extent * q.bias && p.residual == q.extent * q.residual;
      std::int64_t const extent = joins ? p.extent * q.extent : q.extent;
      if (!joins) ++last;
      outer_[last] = q;
      outer_[last].extent = extent;
    }
    if (outers_ > 0) outers_ = last + 1;
    if (outers_ > 0) inner_ = outer_[--outers_];
    tiles_ = (inner_.extent + row_tile - 1) / row_tile;
    if (outers_ == 0 || inner_.extent * outer_[outers_ - 1].extent > row_tile) return;
    inners_ = 1;
    while (outers_ > 0 && inner_.extent * outer_[outers_ - 1].extent <= row_tile) {
      inner_.extent *= outer_[--outers_].extent;
      ++inners_;
    }
  }

  // What follows in memory along k comes last.
  void order_k() {
    ks_ = p_.ks;
    std::copy_n(p_.k, ks_, k_);
    int unit = ks_ - 1;
    for (int i = ks_ - 1; i >= 0; --i)
      if (k_[i].extent > 1 && (k_[i].a == 1 || k_[i].b == 1)) {
        unit = i;
        break;
      }
    if (ks_ > 0) {
      std::rotate(k_ + unit, k_ + unit + 1, k_ + ks_);
      inner_k_ = k_[ks_ - 1];
    }
  }

  struct place {
    std::int64_t a, b, c, addend[2];
    std::int64_t width;
  };

  place place_of(std::int64_t task) const {
    std::int64_t const first = task % tiles_ * row_tile;
    std::int64_t row = task / tiles_;
    place at{first * inner_.a,
             first * inner_.b,
             first * inner_.c,
             {first * inner_.bias, first * inner_.residual},
             std::min(row_tile, inner_.extent - first)};
    for (int axis = outers_ - 1; axis >= 0 && row > 0; --axis) {
      contraction_axis const& x = outer_[axis];
      std::int64_t const i = row % x.extent;
      row /= x.extent;
      at.a += i * x.a;
      at.b += i * x.b;
      at.c += i * x.c;
      at.addend[0] += i * x.bias;
      at.addend[1] += i * x.residual;
    }
    return at;
  }

  void run_task(std::int64_t task) const {
    place const at = place_of(task);
    alignas(64) Acc sums[row_tile];
    std::fill_n(sums, (at.width + simd::lanes<Acc> - 1) / simd::lanes<Acc> * simd::lanes<Acc>,
                Acc(0));
    if (!is_empty_sum_) accumulate(at, 0, outer_k_ * chunks_, sums);
    finish(at, sums);
  }

  void finish(place const& at, Acc* sums) const {
    alignas(64) Acc scratch[row_tile];
    positions const addends[2] = {{at_addend_[0], unit_addend_[0]},
                                  {at_addend_[1], unit_addend_[1]}};
    finish_.finish(sums, scratch, at.width, p_.c, at.c, {at_c_, unit_c_}, at.addend, addends);
  }

  void run_in_pieces(std::int64_t tasks, std::int64_t pieces) const {
    storage_handle const partial =
        allocate(tasks * pieces * row_tile * static_cast<std::int64_t>(sizeof(Acc)), role::scratch);
    Acc* const sums = static_cast<Acc*>(partial.data());  // [tasks, pieces, row_tile]
    std::int64_t const items = outer_k_ * chunks_;
    parallel_for(tasks * pieces, [&](std::int64_t i) {
      place const at = place_of(i / pieces);
      std::int64_t const piece = i % pieces;
      Acc* const to = sums + i * row_tile;
      std::fill_n(to, row_tile, Acc(0));
      accumulate(at, piece * items / pieces, (piece + 1) * items / pieces, to);
    });
    for (std::int64_t task = 0; task < tasks; ++task) {
      place const at = place_of(task);
      Acc* const total = sums + task * pieces * row_tile;
      for (std::int64_t piece = 1; piece < pieces; ++piece)
        for (std::int64_t j = 0; j < at.width; ++j) total[j] += total[piece * row_tile + j];
      finish(at, total);
    }
  }

  // sums[j] += the terms of the chunks first ... last - 1 of k, in their order.
  void accumulate(place const& at, std::int64_t first, std::int64_t last, Acc* sums) const {
    for (std::int64_t item = first; item < last; ++item) {
      std::int64_t const chunk = item % chunks_;
      std::int64_t outer = item / chunks_;
      std::int64_t a = at.a + chunk * row_chunk * inner_k_.a;
      std::int64_t b = at.b + chunk * row_chunk * inner_k_.b;
      for (int axis = ks_ - 2; axis >= 0 && outer > 0; --axis) {
        std::int64_t const i = outer % k_[axis].extent;
        outer /= k_[axis].extent;
        a += i * k_[axis].a;
        b += i * k_[axis].b;
      }
      std::int64_t const depth = std::min(row_chunk, inner_k_.extent - chunk * row_chunk);
      if (is_dot_)
        add_dots(a, b, depth, at.width, sums);
      else
        add_rows(a, b, depth, at.width, sums);
    }
  }

  char const* address_a(std::int64_t offset) const {
    return static_cast<char const*>(p_.a) + offset * bytes_a_;
  }
  char const* address_b(std::int64_t offset) const {
    return static_cast<char const*>(p_.b) + offset * bytes_b_;
  }

  // `count` elements as accumulators: where they lie, if they are such, else in `buffer`.
  Acc const* fetch(load_function<Acc> load, dtype type, char const* from,
                   std::int64_t const* offset, bool unit, std::int64_t count, Acc* buffer) const {
    if (unit && type == direct_type) return reinterpret_cast<Acc const*>(from);
    load(buffer, from, offset, unit, count);
    return buffer;
  }

  static constexpr dtype direct_type = std::is_same_v<Acc, double>  ? dtype::f64
                                       : std::is_same_v<Acc, float> ? dtype::f32
                                                                    : dtype::i64;

  void add_rows(std::int64_t a, std::int64_t b, std::int64_t depth, std::int64_t width,
                Acc* __restrict sums) const {
    alignas(64) Acc of_a[row_tile];
    alignas(64) Acc of_b[row_tile];
    bool const fixed_a = fixed_a_;
    bool const fixed_b = fixed_b_;
    if (fixed_a) load_a_(of_a, address_a(a), at_a_k_, inner_k_.a == 1, depth);
    if (fixed_b) load_b_(of_b, address_b(b), at_b_k_, inner_k_.b == 1, depth);
    std::int64_t first = 0;
    // A factor for each row, and rows that need no conversion: four for one pass over the sums.
    if (fixed_a != fixed_b && (fixed_a ? p_.b_type : p_.a_type) == direct_type &&
        (fixed_a ? unit_b_ : unit_a_)) {
      Acc const* const factor = fixed_a ? of_a : of_b;
      std::int64_t const step = fixed_a ? inner_k_.b : inner_k_.a;
      Acc const* row = reinterpret_cast<Acc const*>(fixed_a ? address_b(b) : address_a(a));
      for (; first + 4 <= depth; first += 4, row += 4 * step) {
        Acc const f[4] = {factor[first], factor[first + 1], factor[first + 2], factor[first + 3]};
        for (std::int64_t j = 0; j < width; ++j)
          sums[j] =
              (((sums[j] + f[0] * row[j]) + f[1] * row[step + j]) + f[2] * row[2 * step + j]) +
              f[3] * row[3 * step + j];
      }
    }
    for (std::int64_t q = first; q < depth; ++q) {
      Acc const* const x = fixed_a ? of_a + q
                                   : fetch(load_a_, p_.a_type, address_a(a + q * inner_k_.a), at_a_,
                                           unit_a_, width, of_a);
      Acc const* const y = fixed_b ? of_b + q
                                   : fetch(load_b_, p_.b_type, address_b(b + q * inner_k_.b), at_b_,
                                           unit_b_, width, of_b);
      if (fixed_a && fixed_b) {
        for (std::int64_t j = 0; j < width; ++j) sums[j] += *x * *y;
      } else if (fixed_a || fixed_b) {
        Acc const factor = fixed_a ? *x : *y;
        Acc const* const row = fixed_a ? y : x;
        for (std::int64_t j = 0; j < width; ++j) sums[j] += factor * row[j];
      } else {
        for (std::int64_t j = 0; j < width; ++j) sums[j] += x[j] * y[j];
      }
    }
  }

  void add_dots(std::int64_t a, std::int64_t b, std::int64_t depth, std::int64_t width,
                Acc* sums) const {
    alignas(64) Acc of_a[row_chunk];
    alignas(64) Acc of_b[row_chunk];
    Acc const* x = nullptr;
    Acc const* y = nullptr;
    for (std::int64_t j = 0; j < width; ++j) {
      if (j == 0 || !fixed_a_)
        x = fetch(load_a_, p_.a_type, address_a(a + at_a_[j]), at_a_k_, inner_k_.a == 1, depth,
                  of_a);
      if (j == 0 || !fixed_b_)
        y = fetch(load_b_, p_.b_type, address_b(b + at_b_[j]), at_b_k_, inner_k_.b == 1, depth,
                  of_b);
      sums[j] += dot(x, y, depth);
    }
  }

  static Acc dot(Acc const* x, Acc const* y, std::int64_t depth) {
    using vec = simd::vec<Acc>;
    constexpr int n = simd::lanes<Acc>;
    vec parts[4] = {};
    std::int64_t q = 0;
    for (; q + 4 * n <= depth; q += 4 * n)
      for (int i = 0; i < 4; ++i)
        parts[i] += simd::load<Acc>(x + q + i * n) * simd::load<Acc>(y + q + i * n);
    for (; q + n <= depth; q += n) parts[0] += simd::load<Acc>(x + q) * simd::load<Acc>(y + q);
    Acc sum = simd::sum_lanes<Acc>((parts[0] + parts[1]) + (parts[2] + parts[3]));
    for (; q < depth; ++q) sum += x[q] * y[q];
    return sum;
  }

  contraction_problem const& p_;
  epilogue<Acc> finish_;
  load_function<Acc> load_a_ = nullptr;
  load_function<Acc> load_b_ = nullptr;
  std::int64_t bytes_a_ = 0;
  std::int64_t bytes_b_ = 0;
  contraction_axis outer_[32];  // the result's axes but the last
  int outers_ = 0;
  contraction_axis
      inner_;       // of several axes: the product of their extents, and tables for the rest
  int inners_ = 0;  // how many, behind outer_[outers_]; 0: one, perhaps longer than a row
  contraction_axis k_[32];
  int ks_ = 0;
  contraction_axis inner_k_;
  std::int64_t outer_k_ = 1;
  std::int64_t chunks_ = 1;
  std::int64_t tiles_ = 1;
  std::int64_t rows_ = 1;
  bool is_dot_ = false;
  bool unit_a_ = false, unit_b_ = false, unit_c_ = false;
  bool unit_addend_[2] = {false, false};
  bool fixed_a_ = false, fixed_b_ = false;  // one element for the whole row
  bool is_empty_sum_ = false;
  std::int64_t at_a_[row_tile];
  std::int64_t at_b_[row_tile];
  std::int64_t at_c_[row_tile];
  std::int64_t at_addend_[2][row_tile];
  std::int64_t at_a_k_[row_chunk];
  std::int64_t at_b_k_[row_chunk];
};

}  // namespace ricci::kernels::contraction
