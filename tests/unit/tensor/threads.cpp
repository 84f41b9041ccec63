// set_threads and threads.
#include "tests/unit/expr/values.hpp"

#include <ricci/exec/threads.hpp>

#include <thread>

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
    return std::vector<std::vector<f32>>{
        list(y),
        list(sum(x)),
        list(sum<M>(exp(x))),
        list(mean<K>(x)),
        list(logsumexp<K>(x)),
        list(logsumexp(x)),
        list(softmax<M>(x)),
        list(cumsum<K>(x)),
        list(layer_norm<K>(x, at<N>(w, 0), at<N>(w, 1))),
        list(grad(
            [&](auto const& v) { return mean(square(gelu(einsum<"m k, k n -> m n">(x, v)))); }, w)),
        list(grad([&](auto const& v) { return sum(layer_norm<K>(x, v, at<N>(w, 1)) * x); },
                  at<N>(w, 0) + 0))};
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

TEST_CASE(
    "several threads compute at once, with operands and gradients of their own and shared ones") {
  tensor const x = random::normal<f32, M, K>(random::key(1), M{40}, K{30});
  tensor const w = random::normal<f32, K, N>(random::key(2), K{30}, N{20});
  auto const work = [&] {
    std::vector<f32> result;
    for (int i = 0; i < 20; ++i) {
      tensor y = gelu(einsum<"m k, k n -> m n">(x, w) + i);
      tensor g = grad(
          [&](auto const& v) { return mean(square(tanh(einsum<"m k, k n -> m n">(x, v)))); }, w);
      result.push_back(sum(y).item());
      result.push_back(sum(square(g)).item());
      // Gradients of gradients, on each thread.
      tensor h = grad(
          [&](auto const& v) {
            return sum(square(grad([](auto const& u) { return sum(exp(u)); }, v)));
          },
          at<K>(w, 0));
      result.push_back(sum(h).item());
    }
    return result;
  };
  auto const expected = work();
  std::vector<std::vector<f32>> results(4);
  std::vector<std::thread> threads;
  for (auto& r : results) threads.emplace_back([&r, &work] { r = work(); });
  for (auto& t : threads) t.join();
  for (auto const& r : results) CHECK(r == expected);
}

TEST_CASE("an error on one thread stays there") {
  std::string said;
  std::thread([&said] {
    said = sentence([] { (void)(zeros<f32, M>(M{2}) + zeros<f32, M>(M{3})); });
  }).join();
  CHECK(has(said, {"`m`", "2", "3"}));
  CHECK(numbers(zeros<f32, M>(M{2}) + 1) == doubles{1, 1});
}
