#include "kernels/attention/attention.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <ricci/error/exceptions.hpp>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace k = ricci::kernels;
using ricci::bf16;
using ricci::dtype;
using ricci::f16;
using std::int64_t;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Values in [-1, 1) that repeat only after 2^32: Knuth's multiplier, TAOCP 2, 3.3.4.
double noise(int64_t i) {
  auto const bits = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i + 1) * 2654435761u);
  return static_cast<double>(bits >> 8) / (1 << 23) - 1.0;
}

template <class T> std::vector<T> values(int64_t count, int64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) x[i] = static_cast<T>(static_cast<float>(noise(seed + i)));
  return x;
}

// [batch, seq, heads, head_dim] in memory, as a model keeps it; or [batch, heads, seq, head_dim].
enum class order { seq_first, heads_first };

template <class Operand> Operand operand_of(k::attention_problem const& p, int64_t seq, order o) {
  int64_t const d = p.head_dim;
  if (o == order::seq_first) return {nullptr, seq * p.heads * d, d, p.heads * d};
  return {nullptr, p.heads * seq * d, seq * d, d};
}

template <class T> struct attention_case {
  using lse_type = ricci::accumulator_t<T>;

  k::attention_problem p;
  order o;
  std::vector<T> q, k, v, y, dy, dq, dk, dv;
  std::vector<lse_type> lse;

  attention_case(k::attention_problem const& problem, order memory) : p(problem), o(memory) {
    int64_t const head = p.batch * p.heads * p.head_dim;
    q = values<T>(head * p.seq_q, 1);
    k = values<T>(head * p.seq_k, 1000003);
    v = values<T>(head * p.seq_k, 2000003);
    dy = values<T>(head * p.seq_q, 3000017);
    y.assign(q.size(), T(9));
    dq.assign(q.size(), T(9));
    dk.assign(k.size(), T(9));
    dv.assign(k.size(), T(9));
    lse.assign(static_cast<std::size_t>(p.batch * p.heads * p.seq_q), lse_type(9));
  }

  k::attention_input in(std::vector<T> const& x, int64_t seq) const {
    auto operand = operand_of<k::attention_input>(p, seq, o);
    operand.data = x.data();
    return operand;
  }
  k::attention_output out(std::vector<T>& x, int64_t seq) const {
    auto operand = operand_of<k::attention_output>(p, seq, o);
    operand.data = x.data();
    return operand;
  }

  void forward() {
    k::attention(p, in(q, p.seq_q), in(k, p.seq_k), in(v, p.seq_k), out(y, p.seq_q), lse.data());
  }
  void backward() {
    k::attention_backward(p, in(q, p.seq_q), in(k, p.seq_k), in(v, p.seq_k), in(y, p.seq_q),
                          in(dy, p.seq_q), lse.data(), out(dq, p.seq_q), out(dk, p.seq_k),
                          out(dv, p.seq_k));
  }

  int64_t at(int64_t b, int64_t h, int64_t i, int64_t seq) const {
    return o == order::seq_first ? ((b * seq + i) * p.heads + h) * p.head_dim
                                 : ((b * p.heads + h) * seq + i) * p.head_dim;
  }
};

struct expected {
  std::vector<double> y, lse, dq, dk, dv;
};

// The definition in f64, with the whole row of weights.
template <class T> expected reference(attention_case<T> const& c) {
  auto const& p = c.p;
  expected e;
  e.y.assign(c.q.size(), 0.0);
  e.dq = e.y;
  e.dk.assign(c.k.size(), 0.0);
  e.dv = e.dk;
  e.lse.assign(c.lse.size(), -infinity);
  auto const dot = [&](auto const& a, int64_t ia, auto const& b, int64_t ib) {
    double sum = 0;
    for (int64_t x = 0; x < p.head_dim; ++x)
      sum += static_cast<double>(a[ia + x]) * static_cast<double>(b[ib + x]);
    return sum;
  };
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.seq_q; ++i) {
        int64_t const qi = c.at(b, h, i, p.seq_q);
        int64_t keys = p.causal ? i + 1 + p.seq_k - p.seq_q : p.seq_k;
        if (keys <= 0) continue;
        std::vector<double> w(static_cast<std::size_t>(keys));
        double top = -infinity, total = 0;
        for (int64_t j = 0; j < keys; ++j) {
          w[j] = p.scale * dot(c.q, qi, c.k, c.at(b, h, j, p.seq_k));
          top = std::max(top, w[j]);
        }
        for (auto& x : w) total += x = std::exp(x - top);
        e.lse[(b * p.heads + h) * p.seq_q + i] = top + std::log(total);
        double slope_mean = 0;
        for (int64_t j = 0; j < keys; ++j) {
          w[j] /= total;
          int64_t const kj = c.at(b, h, j, p.seq_k);
          for (int64_t x = 0; x < p.head_dim; ++x) {
            e.y[qi + x] += w[j] * static_cast<double>(c.v[kj + x]);
            e.dv[kj + x] += w[j] * static_cast<double>(c.dy[qi + x]);
          }
          slope_mean += w[j] * dot(c.dy, qi, c.v, kj);
        }
        for (int64_t j = 0; j < keys; ++j) {
          int64_t const kj = c.at(b, h, j, p.seq_k);
          double const ds = p.scale * w[j] * (dot(c.dy, qi, c.v, kj) - slope_mean);
          for (int64_t x = 0; x < p.head_dim; ++x) {
            e.dq[qi + x] += ds * static_cast<double>(c.k[kj + x]);
            e.dk[kj + x] += ds * static_cast<double>(c.q[qi + x]);
          }
        }
      }
  return e;
}

template <class A>
double largest_error(std::vector<A> const& got, std::vector<double> const& want) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const g = static_cast<double>(got[i]);
    if (g == want[i]) continue;
    double const error = std::abs(g - want[i]) / (1.0 + std::abs(want[i]));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// Rounding of one operand and of the result; f32's and f64's sums of up to 257 terms.
template <class T> constexpr double tolerance = 1e-12;
template <> constexpr double tolerance<float> = 5e-6;
template <> constexpr double tolerance<bf16> = 8e-3;
template <> constexpr double tolerance<f16> = 1e-3;

template <class T> void check(k::attention_problem p, order o = order::seq_first) {
  p.type = ricci::dtype_of<T>;
  attention_case<T> c(p, o);
  expected const e = reference(c);
  INFO("dtype ", std::string(ricci::name_of<T>()), ", seq ", p.seq_q, " x ", p.seq_k, ", d ",
       p.head_dim, p.causal ? ", causal" : "");
  c.forward();
  CHECK(largest_error(c.y, e.y) <= tolerance<T>);
  CHECK(largest_error(c.lse, e.lse) <= (sizeof(T) == 8 ? 1e-12 : 5e-6));
  c.backward();
  // A narrow y enters dy . y rounded, and its error is a term of every ds.
  double const slack = sizeof(T) == 2 ? 4.0 : 1.0;
  CHECK(largest_error(c.dq, e.dq) <= slack * tolerance<T>);
  CHECK(largest_error(c.dk, e.dk) <= slack * tolerance<T>);
  CHECK(largest_error(c.dv, e.dv) <= slack * tolerance<T>);
}

k::attention_problem problem(int64_t batch, int64_t heads, int64_t seq_q, int64_t seq_k, int64_t d,
                             bool causal) {
  return {dtype::f32, batch, heads, seq_q, seq_k, d, 1.0 / std::sqrt(double(d ? d : 1)), causal};
}

template <class A> bool same_bits(std::vector<A> const& a, std::vector<A> const& b) {
  return a.size() == b.size() && same_bytes(a.data(), b.data(), a.size() * sizeof(A));
}

}  // namespace

TEST_CASE("attention and its gradients follow the definition at every size and dtype") {
  int64_t const sizes[][3] = {{1, 1, 1},    {1, 33, 16},  {3, 3, 3},    {15, 17, 5}, {17, 17, 64},
                              {31, 64, 16}, {33, 65, 17}, {64, 130, 8}, {65, 65, 40}};
  for (auto const& s : sizes)
    for (bool const causal : {false, true}) {
      auto const p = problem(2, 3, s[0], s[1], s[2], causal);
      check<float>(p);
      check<double>(p);
      check<bf16>(p, order::heads_first);
      check<f16>(p);
    }
  check<float>(problem(1, 2, 257, 257, 64, true), order::heads_first);
  check<float>(problem(1, 1, 40, 300, 128, true));
}

TEST_CASE("attention with an extent of 0 writes what remains") {
  for (bool const causal : {false, true}) {
    check<float>(problem(2, 2, 0, 5, 8, causal));  // dk and dv are zero
    check<float>(problem(2, 2, 5, 0, 8, causal));  // y and dq are zero, lse -infinity
    check<double>(problem(2, 2, 5, 7, 0, causal));
    check<bf16>(problem(0, 2, 5, 7, 8, causal));
  }
}

TEST_CASE("a query that sees no key yields zeros and leaves the others alone") {
  check<float>(problem(1, 2, 9, 4, 16, true));
  check<double>(problem(1, 1, 70, 3, 5, true));
  check<f16>(problem(1, 1, 40, 1, 4, true));
}

TEST_CASE("attention backward agrees with central differences") {
  for (bool const causal : {false, true}) {
    auto p = problem(1, 2, 5, 7, 3, causal);
    p.type = dtype::f64;
    attention_case<double> c(p, order::seq_first);
    c.forward();
    c.backward();
    auto const loss = [&] {
      c.forward();
      double sum = 0;
      for (std::size_t i = 0; i < c.y.size(); ++i) sum += c.y[i] * c.dy[i];
      return sum;
    };
    auto const compare = [&](std::vector<double>& x, std::vector<double> const& dx) {
      constexpr double step = 1e-5;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double const kept = x[i];
        x[i] = kept + step;
        double const up = loss();
        x[i] = kept - step;
        double const down = loss();
        x[i] = kept;
        CHECK(std::abs((up - down) / (2 * step) - dx[i]) < 1e-8);
      }
    };
    auto const dq = c.dq, dk = c.dk, dv = c.dv;
    compare(c.q, dq);
    compare(c.k, dk);
    compare(c.v, dv);
  }
}

TEST_CASE("large scores neither overflow nor lose the softmax") {
  auto p = problem(1, 1, 20, 70, 16, true);
  p.scale = 100.0;
  p.type = dtype::f64;
  attention_case<double> c(p, order::seq_first);
  expected const e = reference(c);
  c.forward();
  CHECK(largest_error(c.y, e.y) <= 1e-11);
  CHECK(largest_error(c.lse, e.lse) <= 1e-12);
}

TEST_CASE("keys shared by all heads are a head stride of 0") {
  auto p = problem(1, 3, 6, 6, 4, false);
  attention_case<float> shared(p, order::heads_first);
  attention_case<float> copied(p, order::heads_first);
  auto k_shared = shared.in(shared.k, 6);
  k_shared.head_stride = 0;
  for (int64_t h = 1; h < 3; ++h)
    for (int64_t i = 0; i < 24; ++i) copied.k[h * 24 + i] = copied.k[i];
  k::attention(p, shared.in(shared.q, 6), k_shared, shared.in(shared.v, 6), shared.out(shared.y, 6),
               shared.lse.data());
  copied.forward();
  CHECK(same_bits(shared.y, copied.y));
}

TEST_CASE("attention gives the same bits at 1, 2 and 3 threads") {
  int const before = k::threads();
  // 1 head: queries and keys apart when there are threads; 6 heads: whole heads.
  for (int64_t const heads : {1, 6}) {
    auto const p = problem(1, heads, 100, 150, 20, true);
    k::set_threads(1);
    attention_case<float> one(p, order::seq_first);
    one.forward();
    one.backward();
    for (int const count : {2, 3}) {
      k::set_threads(count);
      attention_case<float> many(p, order::seq_first);
      many.forward();
      many.backward();
      CHECK(same_bits(one.y, many.y));
      CHECK(same_bits(one.lse, many.lse));
      CHECK(same_bits(one.dq, many.dq));
      CHECK(same_bits(one.dk, many.dk));
      CHECK(same_bits(one.dv, many.dv));
    }
  }
  k::set_threads(before);
}

TEST_CASE("attention refuses what it cannot compute") {
  auto p = problem(1, 1, 2, 2, 2, false);
  attention_case<float> c(p, order::seq_first);
  c.p.type = dtype::i32;
  CHECK_THROWS_AS(c.forward(), ricci::value_error);
  c.p = p;
  c.p.seq_k = -1;
  CHECK_THROWS_AS(c.forward(), ricci::shape_error);
  c.p = p;
  c.p.batch = c.p.heads = int64_t{1} << 40;
  CHECK_THROWS_AS(c.backward(), ricci::shape_error);
}
