#pragma once

#include "kernels/attention/tile_product.hpp"
#include "kernels/attention/tiles.hpp"
#include "kernels/simd/exp.hpp"

namespace ricci::kernels::tile {

struct backward_operands {
  attention_input const& q;
  attention_input const& k;
  attention_input const& v;
  attention_input const& y;
  attention_input const& dy;
  attention_output const& dq;
  attention_output const& dk;
  attention_output const& dv;
};

/// c[r, 0 ... width) += sum over p of a[r, p] * b[p, ...]: multiply over whole rows of vectors,
/// two at a time; width is a multiple of the vector.
template <class C> void multiply_rows(std::int64_t rows, std::int64_t depth, C const* a,
                                      std::int64_t a_step, C const* b, C* c, std::int64_t width) {
  constexpr int n = simd::lanes<C>;
  std::int64_t col = 0;
  for (; col + 2 * n <= width; col += 2 * n)
    multiply<C, a_layout::rows_by_depth, 2>(rows, depth, a, a_step, b + col, width, c + col, width,
                                            true);
  if (col < width)
    multiply<C, a_layout::rows_by_depth, 1>(rows, depth, a, a_step, b + col, width, c + col, width,
                                            true);
}

/// The gradients of one head, tile by tile. Every sum runs over its blocks in ascending order
/// whichever of the three entries computes it.
template <class C, int Vecs, class T> class backward_head {
 public:
  backward_head(attention_problem const& p, backward_operands const& x, std::int64_t b,
                std::int64_t h, C const* lse)
      : p_(p),
        x_(x),
        q_(head_of<T>(x.q, b, h)),
        k_(head_of<T>(x.k, b, h)),
        v_(head_of<T>(x.v, b, h)),
        y_(head_of<T>(x.y, b, h)),
        dy_(head_of<T>(x.dy, b, h)),
        dq_(head_of<T>(x.dq, b, h)),
        dk_(head_of<T>(x.dk, b, h)),
        dv_(head_of<T>(x.dv, b, h)),
        lse_(lse),
        width_(padded<C>(p.head_dim)),
        room_(room_size()) {}

  /// dq, dk and dv of the whole head.
  void all() {
    scratch<C> const sums(2 * p_.seq_k * width_);
    C* const dk = sums.data();
    C* const dv = dk + p_.seq_k * width_;
    fill_zero(dk, 2 * p_.seq_k * width_);
    for (std::int64_t block = 0; block < blocks_of(p_.seq_q, block_size); ++block) {
      open_queries(block);
      for (std::int64_t first = 0; first < visible_; first += key_block) {
        open_tile(first);
        add_to_queries();
        add_to_keys(dk + first * width_, dv + first * width_);
      }
      close_queries();
    }
    write(p_.seq_k, dk, C(p_.scale), dk_, x_.dk.seq_stride);
    write(p_.seq_k, dv, C(1), dv_, x_.dv.seq_stride);
  }

  /// dq of one block of queries.
  void queries(std::int64_t block) {
    open_queries(block);
    for (std::int64_t first = 0; first < visible_; first += key_block) {
      open_tile(first);
      add_to_queries();
    }
    close_queries();
  }

  /// dk and dv of one block of keys.
  void keys(std::int64_t block) {
    std::int64_t const first = block * key_block;
    std::int64_t const rest = p_.seq_k - first;
    scratch<C> const sums(2 * key_block * width_);
    C* const dk = sums.data();
    C* const dv = dk + key_block * width_;
    fill_zero(dk, 2 * key_block * width_);
    for (std::int64_t i = 0; i < blocks_of(p_.seq_q, block_size); ++i) {
      std::int64_t const end = (i + 1) * block_size;
      if (visible_keys(p_, end < p_.seq_q ? end : p_.seq_q) <= first) continue;
      open_queries(i);
      open_tile(first);
      add_to_keys(dk, dv);
    }
    std::int64_t const rows = rest < key_block ? rest : key_block;
    write(rows, dk, C(p_.scale), dk_ + first * x_.dk.seq_stride, x_.dk.seq_stride);
    write(rows, dv, C(1), dv_ + first * x_.dv.seq_stride, x_.dv.seq_stride);
  }

 private:
  static constexpr int n = simd::lanes<C>;
  static constexpr std::int64_t block_size = query_block<C, Vecs>;
  static constexpr C log2_e = C(1.4426950408889634);

  static void fill_zero(C* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = C(0);
  }

  std::int64_t room_size() const {
    return 5 * width_ * block_size + 2 * key_block * block_size + 2 * key_block * width_;
  }
  // Tiles of the room; block_size is written as queries.
  C* q_lanes() const { return room_.data(); }                        // [width, queries]
  C* dy_lanes() const { return q_lanes() + width_ * block_size; }    // [width, queries]
  C* dq_lanes() const { return dy_lanes() + width_ * block_size; }   // [width, queries]
  C* q_rows() const { return dq_lanes() + width_ * block_size; }     // [queries, width]
  C* dy_rows() const { return q_rows() + width_ * block_size; }      // [queries, width]
  C* weights() const { return dy_rows() + width_ * block_size; }     // [keys, queries]
  C* slopes() const { return weights() + key_block * block_size; }   // [keys, queries]
  C* key_room() const { return slopes() + key_block * block_size; }  // [keys, width]
  C* value_room() const { return key_room() + key_block * width_; }  // [keys, width]

  // Packs q and dy of a block of queries and sums dy . y.
  void open_queries(std::int64_t block) {
    first_query_ = block * block_size;
    std::int64_t const rest = p_.seq_q - first_query_;
    rows_ = rest < block_size ? rest : block_size;
    visible_ = visible_keys(p_, first_query_ + rows_);
    std::int64_t const d = p_.head_dim;
    T const* const q = q_ + first_query_ * x_.q.seq_stride;
    T const* const dy = dy_ + first_query_ * x_.dy.seq_stride;
    T const* const y = y_ + first_query_ * x_.y.seq_stride;
    pack_transposed<C, Vecs>(rows_, d, q, x_.q.seq_stride, C(p_.scale) * log2_e, q_lanes());
    pack_transposed<C, Vecs>(rows_, d, dy, x_.dy.seq_stride, C(1), dy_lanes());
    pack_rows<C>(rows_, d, q, x_.q.seq_stride, q_rows(), width_);
    pack_rows<C>(rows_, d, dy, x_.dy.seq_stride, dy_rows(), width_);
    fill_zero(dq_lanes(), width_ * block_size);
    for (std::int64_t i = 0; i < block_size; ++i) {
      // A lane beyond the queries, or whose query saw no key, gets weights 2^(s - infinity) = 0.
      bool const real = i < rows_ && lse_[first_query_ + i] != -infinity;
      base_[i] = real ? lse_[first_query_ + i] * log2_e : infinity;
      dots_[i] = i < rows_ ? dot(dy_rows() + i * width_, y + i * x_.y.seq_stride) : C(0);
    }
  }

  C dot(C const* dy, T const* y) const {
    vec<C> sum{};
    std::int64_t c = 0;
    for (; c + n <= p_.head_dim; c += n) sum += simd::load<C>(dy + c) * simd::load<C>(y + c);
    if (c < p_.head_dim)
      sum += simd::load<C>(dy + c) * simd::load_first<C>(y + c, p_.head_dim - c, C(0));
    return simd::sum_lanes<C>(sum);
  }

  void close_queries() const {
    C factor[block_size];
    for (C& f : factor) f = C(p_.scale);
    unpack_transposed<C, Vecs>(rows_, p_.head_dim, dq_lanes(), factor,
                               dq_ + first_query_ * x_.dq.seq_stride, x_.dq.seq_stride);
  }

  // Recomputes p (weights) and ds / scale (slopes) of the open queries and a block of keys.
  void open_tile(std::int64_t first) {
    std::int64_t const rest = visible_ - first;
    keys_ = rest < key_block ? rest : key_block;
    k_step_ = x_.k.seq_stride;
    std::int64_t v_step = x_.v.seq_stride;
    std::int64_t const d = p_.head_dim;
    k_tile_ = rows_as<C>(keys_, d, k_ + first * k_step_, k_step_, key_room());
    C const* const v_tile = rows_as<C>(keys_, d, v_ + first * v_step, v_step, value_room());
    multiply<C, a_layout::rows_by_depth, Vecs>(keys_, d, k_tile_, k_step_, q_lanes(), block_size,
                                               weights(), block_size, false);
    if (p_.causal) hide_later_keys<C, Vecs>(p_, first_query_, first, keys_, weights());
    multiply<C, a_layout::rows_by_depth, Vecs>(keys_, d, v_tile, v_step, dy_lanes(), block_size,
                                               slopes(), block_size, false);
    for (int j = 0; j < Vecs; ++j) {
      vec<C> const base = simd::load<C>(base_ + j * n);
      vec<C> const dots = simd::load<C>(dots_ + j * n);
      for (std::int64_t r = 0; r < keys_; ++r) {
        std::int64_t const at = (r * Vecs + j) * n;
        vec<C> const weight = simd::exp2<C>(simd::load<C>(weights() + at) - base);
        simd::store<C>(weights() + at, weight);
        simd::store<C>(slopes() + at, weight * (simd::load<C>(slopes() + at) - dots));
      }
    }
  }

  void add_to_queries() {
    multiply<C, a_layout::depth_by_rows, Vecs>(p_.head_dim, keys_, k_tile_, k_step_, slopes(),
                                               block_size, dq_lanes(), block_size, true);
  }

  void add_to_keys(C* dk, C* dv) const {
    multiply_rows<C>(keys_, rows_, slopes(), block_size, q_rows(), dk, width_);
    multiply_rows<C>(keys_, rows_, weights(), block_size, dy_rows(), dv, width_);
  }

  void write(std::int64_t rows, C const* from, C factor, T* to, std::int64_t to_step) const {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::int64_t c = 0;
      for (; c + n <= p_.head_dim; c += n)
        simd::store<C>(to + i * to_step + c, simd::load<C>(from + i * width_ + c) * factor);
      if (c < p_.head_dim)
        simd::store_first<C>(to + i * to_step + c, simd::load<C>(from + i * width_ + c) * factor,
                             p_.head_dim - c);
    }
  }

  static constexpr C infinity = std::numeric_limits<C>::infinity();

  attention_problem const& p_;
  backward_operands const& x_;
  T const* q_;
  T const* k_;
  T const* v_;
  T const* y_;
  T const* dy_;
  T* dq_;
  T* dk_;
  T* dv_;
  C const* lse_;
  std::int64_t width_;
  scratch<C> room_;
  // The open block of queries and tile.
  std::int64_t first_query_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t visible_ = 0;
  std::int64_t keys_ = 0;
  C const* k_tile_ = nullptr;
  std::int64_t k_step_ = 0;
  C base_[block_size];
  C dots_[block_size];
};

}  // namespace ricci::kernels::tile
