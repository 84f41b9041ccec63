#include "kernels/parallel/parallel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <ricci/error/exceptions.hpp>

namespace k = ricci::kernels;

namespace {

int twice(int x) { return 2 * x; }

/// Sets a number of threads for one scope.
struct with_threads {
  explicit with_threads(int n) : before(k::threads()) { k::set_threads(n); }
  ~with_threads() { k::set_threads(before); }
  int before;
};

}  // namespace

TEST_CASE("function_ref calls what it refers to") {
  int calls = 0;
  auto counting = [&calls](int x) { return calls += x; };
  ricci::function_ref<int(int)> r = counting;
  CHECK(r(3) == 3);
  CHECK(r(4) == 7);
  CHECK(calls == 7);
  ricci::function_ref<int(int)> f = twice;
  CHECK(f(21) == 42);
  auto const copy = f;
  CHECK(copy(2) == 4);
}

TEST_CASE("parallel_for calls every index once, at any thread count") {
  for (int const threads : {1, 2, 5}) {
    with_threads const scope(threads);
    CHECK(k::threads() == threads);
    for (std::int64_t const n : {-1, 0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)));
      k::parallel_for(n, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
      CHECK(std::all_of(calls.begin(), calls.end(), [](auto const& c) { return c == 1; }));
    }
  }
}

TEST_CASE("a loop inside a loop runs inline and completely") {
  with_threads const scope(2);
  std::atomic<int> calls{0};
  k::parallel_for(4, [&](std::int64_t) { k::parallel_for(5, [&](std::int64_t) { ++calls; }); });
  CHECK(calls == 20);
}

TEST_CASE("the exception of the lowest index reaches the caller, also from worker threads") {
  for (int const threads : {1, 3}) {
    with_threads const scope(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::string text;
      try {
        k::parallel_for(100, [](std::int64_t i) {
          if (i % 10 == 7) throw ricci::value_error(std::to_string(i));
        });
      } catch (ricci::value_error const& e) {
        text = e.what();
      }
      CHECK(text == "7");
    }
  }
}

TEST_CASE("the ranges of parallel_chunks depend on n and grain only") {
  for (int const threads : {1, 2, 4}) {
    with_threads const scope(threads);
    for (std::int64_t const n : {0, 1, 9, 10, 11, 25}) {
      std::vector<std::pair<std::int64_t, std::int64_t>> ranges(
          static_cast<std::size_t>((n + 9) / 10));
      k::parallel_chunks(n, 10, [&](std::int64_t begin, std::int64_t end) {
        ranges.at(static_cast<std::size_t>(begin / 10)) = {begin, end};
      });
      for (std::size_t c = 0; c < ranges.size(); ++c) {
        CHECK(ranges[c].first == static_cast<std::int64_t>(c) * 10);
        CHECK(ranges[c].second ==
              std::min<std::int64_t>(n, static_cast<std::int64_t>(c) * 10 + 10));
      }
    }
  }
}

TEST_CASE("bad counts are refused with a sentence") {
  CHECK_THROWS_AS(k::set_threads(0), ricci::value_error);
  CHECK_THROWS_AS(k::parallel_chunks(3, 0, [](std::int64_t, std::int64_t) {}), ricci::value_error);
}
