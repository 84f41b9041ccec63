#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// An operand [batch, heads, seq, head_dim]: distances in elements, 1 along head_dim.
struct attention_input {
  void const* data;
  std::int64_t batch_stride;
  std::int64_t head_stride;
  std::int64_t seq_stride;
};

/// A result of the same axes; no two of its elements may share an address.
struct attention_output {
  void* data;
  std::int64_t batch_stride;
  std::int64_t head_stride;
  std::int64_t seq_stride;
};

/// What both directions of attention share.
struct attention_problem {
  dtype type;  // of every operand and result: f32, f64, bf16, f16
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t seq_q;
  std::int64_t seq_k;
  std::int64_t head_dim;
  double scale;  // of the products of queries and keys, usually 1 / sqrt(head_dim)
  bool causal;   // query i sees the keys 0 ... i + seq_k - seq_q, otherwise all
};

/// Scaled dot-product attention, one pass over the keys for each block of queries.
///   Axes    q, y: [batch, heads, seq_q, head_dim]; k, v: [batch, heads, seq_k, head_dim]
///           lse: [batch, heads, seq_q], packed
///   Value   y(i) = sum over j of p(i, j) v(j), p(i, .) = softmax over the keys j that i sees of
///           scale q(i) . k(j); lse(i) = log of the sum of their exponentials.
///           A query that sees no key: y = 0, lse = -infinity
///   Dtype   computes and keeps lse in f32 (f64: in f64)
///   Memory  per task 32 queries and 64 keys (f64: 16 and 64); no seq_q x seq_k matrix. Inputs may
///           overlap (stride 0 shares a head)
///   Cost    4 seq_q seq_k head_dim operations a head, half of them when causal
///   Errors  value_error: a dtype that is not one of the four; shape_error: a negative extent, or
///           sizes that do not fit 64 bits
void attention(attention_problem const& problem, attention_input const& q, attention_input const& k,
               attention_input const& v, attention_output const& y, void* lse);

/// The gradients of attention, recomputing p tile by tile from lse.
///   Axes    dq as q, dk and dv as k; y, lse as attention left them; dy as y
///   Value   dv(j) = sum over i of p(i, j) dy(i); ds(i, j) = p(i, j) (dy(i) . v(j) - dy(i) . y(i));
///           dq(i) = scale sum over j of ds(i, j) k(j); dk(j) = scale sum over i of ds(i, j) q(i).
///           A query that saw no key adds nothing
///   Dtype   as attention; one rounding at the end
///   Memory  dq, dk, dv are overwritten; per task 2 seq_k head_dim accumulators
///   Cost    10 seq_q seq_k head_dim operations a head (14 where there are fewer heads than
///           threads), half of them when causal; the same bits at any number of threads
///   Errors  as attention
void attention_backward(attention_problem const& problem, attention_input const& q,
                        attention_input const& k, attention_input const& v,
                        attention_input const& y, attention_input const& dy, void const* lse,
                        attention_output const& dq, attention_output const& dk,
                        attention_output const& dv);

}  // namespace ricci::kernels
