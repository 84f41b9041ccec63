#include "kernels/attention/attention.hpp"

#include "kernels/attention/backward.hpp"
#include "kernels/attention/forward.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/extents.hpp"
#include "kernels/simd/visit_float.hpp"

namespace ricci::kernels {
namespace {

void check(attention_problem const& p, char const* who) {
  checked_count({p.batch, p.heads, p.seq_q, p.head_dim}, who);
  checked_count({p.batch, p.heads, p.seq_k, p.head_dim}, who);
}

// Whether one vector of queries is enough: half the work of two for a short seq_q (decoding).
template <class C> bool is_short(std::int64_t seq_q) { return seq_q <= simd::lanes<C>; }

// 0, last, 1, last - 1, ...: neighbouring tasks of a causal head together cost the same everywhere,
// so any contiguous share of them is a fair one.
std::int64_t interleaved(std::int64_t i, std::int64_t count) {
  return i % 2 == 0 ? i / 2 : count - 1 - i / 2;
}

// Calls body(0), ..., body(count - 1), so many in a row that the pool is not woken for less than
// some ten microseconds of products.
void for_tasks(std::int64_t count, attention_problem const& p, std::int64_t queries,
               std::int64_t keys, function_ref<void(std::int64_t)> body) {
  constexpr double enough = 1 << 19;
  double const products = static_cast<double>(queries) * static_cast<double>(keys + 1) *
                          static_cast<double>(p.head_dim + 1);
  auto const grain = products < enough ? static_cast<std::int64_t>(enough / products) + 1 : 1;
  parallel_chunks(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

template <class T, int Vecs> void run_forward(attention_problem const& p, attention_input const& q,
                                              attention_input const& k, attention_input const& v,
                                              attention_output const& y, void* lse) {
  using C = accumulator_t<T>;
  constexpr std::int64_t queries = tile::query_block<C, Vecs>;
  std::int64_t const blocks = tile::blocks_of(p.seq_q, queries);
  for_tasks(p.batch * p.heads * blocks, p, queries, p.seq_k, [&](std::int64_t task) {
    std::int64_t const head = task / blocks;
    std::int64_t const b = head / p.heads;
    std::int64_t const h = head % p.heads;
    tile::attend_block<C, Vecs, T>(
        p, interleaved(task % blocks, blocks) * queries, tile::head_of<T>(q, b, h), q.seq_stride,
        tile::head_of<T>(k, b, h), k.seq_stride, tile::head_of<T>(v, b, h), v.seq_stride,
        tile::head_of<T>(y, b, h), y.seq_stride, static_cast<C*>(lse) + head * p.seq_q);
  });
}

template <class T, int Vecs> void run_backward(attention_problem const& p,
                                               tile::backward_operands const& operands,
                                               void const* lse) {
  using C = accumulator_t<T>;
  std::int64_t const heads = p.batch * p.heads;
  std::int64_t const query_blocks = tile::blocks_of(p.seq_q, tile::query_block<C, Vecs>);
  std::int64_t const key_blocks = tile::blocks_of(p.seq_k, tile::key_block);
  auto const head_at = [&](std::int64_t head) {
    return tile::backward_head<C, Vecs, T>(p, operands, head / p.heads, head % p.heads,
                                           static_cast<C const*>(lse) + head * p.seq_q);
  };
  // Whole heads need five products a tile, queries and keys apart seven (both recompute p and ds)
  // but fill the threads; each sums the same terms in the same order.
  std::int64_t const pool = threads();
  if (tile::blocks_of(heads, pool) * 5 * pool <= heads * 7 || query_blocks * key_blocks <= 1) {
    for_tasks(heads, p, p.seq_q + 1, p.seq_k, [&](std::int64_t head) { head_at(head).all(); });
    return;
  }
  constexpr std::int64_t queries = tile::query_block<C, Vecs>;
  for_tasks(heads * query_blocks, p, queries, p.seq_k, [&](std::int64_t task) {
    head_at(task / query_blocks).queries(interleaved(task % query_blocks, query_blocks));
  });
  for_tasks(heads * key_blocks, p, p.seq_q + 1, tile::key_block, [&](std::int64_t task) {
    head_at(task / key_blocks).keys(interleaved(task % key_blocks, key_blocks));
  });
}

}  // namespace

void attention(attention_problem const& problem, attention_input const& q, attention_input const& k,
               attention_input const& v, attention_output const& y, void* lse) {
  check(problem, "attention");
  visit_float(problem.type, "attention", [&]<class T>(std::type_identity<T>) {
    if (is_short<accumulator_t<T>>(problem.seq_q))
      run_forward<T, 1>(problem, q, k, v, y, lse);
    else
      run_forward<T, 2>(problem, q, k, v, y, lse);
  });
}

void attention_backward(attention_problem const& problem, attention_input const& q,
                        attention_input const& k, attention_input const& v,
                        attention_input const& y, attention_input const& dy, void const* lse,
                        attention_output const& dq, attention_output const& dk,
                        attention_output const& dv) {
  check(problem, "attention_backward");
  tile::backward_operands const operands{q, k, v, y, dy, dq, dk, dv};
  visit_float(problem.type, "attention_backward", [&]<class T>(std::type_identity<T>) {
    if (is_short<accumulator_t<T>>(problem.seq_q))
      run_backward<T, 1>(problem, operands, lse);
    else
      run_backward<T, 2>(problem, operands, lse);
  });
}

}  // namespace ricci::kernels
