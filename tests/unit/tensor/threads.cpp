// set_threads and threads.
#include "tests/unit/expr/values.hpp"

#include <ricci/exec/threads.hpp>

using namespace ricci;
using namespace ricci::testing;

namespace {
struct N : axis<"n"> {};
struct M : axis<"m"> {};
struct K : axis<"k"> {};
}  // namespace

TEST_CASE("what is set is what is asked") {
  int const before = threads();
  CHECK(before >= 1);
  for (int n : {1, 2, 3, 7}) {
    set_threads(n);
    CHECK(threads() == n);
  }
  CHECK(has(sentence<value_error>([] { set_threads(0); }), {"set_threads", "0"}));
  CHECK(has(sentence<value_error>([] { set_threads(-2); }), {"set_threads", "-2"}));
  CHECK(threads() == 7);
  set_threads(before);
}

TEST_CASE("every operation gives the same bits at any thread count") {
  int const before = threads();
  auto const all = [] {
    tensor x = random::normal<f32, M, K>(random::key(1), M{301}, K{257});
    tensor w = random::normal<f32, K, N>(random::key(2), K{257}, N{190});
    tensor y = gelu(einsum<"m k, k n -> m n">(x, w) + at<M>(rename<K, N>(slice<K>(x, 0, 190)), 0));
    return std::vector<std::vector<f32>>{list(y),
                                         list(sum(x)),
                                         list(sum<M>(exp(x))),
                                         list(mean<K>(x)),
                                         list(logsumexp<K>(x)),
                                         list(logsumexp(x)),
                                         list(softmax<M>(x)),
                                         list(cumsum<K>(x)),
                                         list(layer_norm<K>(x, at<N>(w, 0), at<N>(w, 1))),
                                         list(grad([&](auto const& v) { return mean(square(gelu(einsum<"m k, k n -> m n">(x, v)))); }, w)),
                                         list(grad([&](auto const& v) { return sum(layer_norm<K>(x, v, at<N>(w, 1)) * x); }, at<N>(w, 0) + 0))};
  };
  set_threads(1);
  auto const one = all();
  for (int n : {2, 3}) {
    set_threads(n);
    auto const more = all();
    for (std::size_t i = 0; i < one.size(); ++i) {
      INFO("operation ", i, " at ", n, " threads");
      CHECK(more[i] == one[i]);
    }
  }
  set_threads(before);
}
