#include <ricci/tensor/random.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <string>

namespace {

using ricci::random::key;

static_assert(key(1) == key(1) && !(key(1) == key(2)), "a key is its seed");
static_assert(key(1).fold("dropout", 3) == key(1).fold("dropout").fold(3), "folds chain");
static_assert(!(key(1).fold(1, 2) == key(1).fold(2, 1)), "order counts");
static_assert(!(key(1).fold("a", "b") == key(1).fold("ab")), "texts keep their ends");
static_assert(!(key(1).fold("1") == key(1).fold(1)), "a text is no number");
static_assert(!(key(1).fold("") == key(1)) && !(key(1).fold(0) == key(1)), "every part counts");
static_assert(!(key(1).fold(2) == key(2).fold(1)));
static_assert(key(1).fold(3) == key(1).fold(std::uint8_t{3}), "the number counts, not its type");
static_assert(key(1).fold(-1) == key(1).fold(std::int64_t{-1}));
static_assert(key::from_state(key(7).fold("x").state()) == key(7).fold("x"), "checkpoints restore");
template <class... Parts>
concept Foldable = requires(key k, Parts... parts) { k.fold(parts...); };
static_assert(Foldable<int, char const*> && !Foldable<> && !Foldable<double>);

TEST_CASE("keys are fixed for good: checkpoints and published results depend on them") {
  // Computed by a transcription of random.hpp into Python's integers.
  CHECK(key(0).state() == 12035550249420947055u);
  CHECK(key(42).fold("dropout", 3, 1000).state() == 2015475531868509996u);
}

TEST_CASE("texts of every length and content give different keys") {
  std::set<std::uint64_t> states;
  std::string text;
  for (int length = 0; length < 40; ++length, text += 'x') states.insert(key(1).fold(text).state());
  for (char c = 'a'; c <= 'z'; ++c)
    for (int place = 0; place < 17; ++place) {
      std::string changed(17, 'x');
      changed[static_cast<std::size_t>(place)] = c;
      states.insert(key(1).fold(changed).state());
    }
  CHECK(states.size() == 40 + 25 * 17);  // 'x' in 17 places is the text of 17 again
}

TEST_CASE("small seeds and numbers give states without order") {
  std::set<std::uint64_t> states;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (int a = 0; a < 40; ++a)
      for (int b = 0; b < 40; ++b) states.insert(key(seed).fold(a, b).state());
  CHECK(states.size() == 40 * 40 * 40);

  // Of 64 bits, one changed bit of a part changes 32 on average, with a deviation of 4.
  double changed = 0;
  for (int bit = 0; bit < 64; ++bit)
    for (int i = 0; i < 64; ++i) {
      std::uint64_t const number = static_cast<std::uint64_t>(i) * 977;
      changed += std::popcount(key(5).fold(number).state() ^
                               key(5).fold(number ^ (std::uint64_t{1} << bit)).state());
    }
  CHECK(changed / 4096 == doctest::Approx(32).epsilon(0.01));
}

}  // namespace
