#include <ricci/data/token_file.hpp>
#include <ricci/data/token_windows.hpp>
#include <ricci/error/exceptions.hpp>
#include "../io/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/unit/kernels/same_bytes.hpp"

using namespace ricci;
using namespace ricci::test;
using data::epoch_sampler;
using data::token_file;
using random::key;

namespace {

/// A file whose token at position i is i.
token_file counting(temporary_folder const& folder, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(i);
  write_bytes(folder / "tokens", bytes);
  return token_file::open(folder / "tokens", 256);
}

/// KiB of files that are mapped in and resident, as the kernel counts them.
std::int64_t resident_file_kib() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  long long kib = -1;
  for (char line[256]; status != nullptr && std::fgets(line, sizeof line, status) != nullptr;) {
    if (std::sscanf(line, "RssFile: %lld", &kib) == 1) break;
  }
  if (status != nullptr) std::fclose(status);
  return kib;
}

}  // namespace

TEST_CASE("token_windows: batch n is a pure function of key and n") {
  temporary_folder const folder;
  auto const file = counting(folder, 200);
  auto const windows = file.windows(file.train(), 9);
  CHECK(windows.length() == 9);
  CHECK(windows.count() == 180 - 8);
  std::array<i32, 4 * 9> first{};
  std::array<i32, 4 * 9> again{};
  std::array<i32, 4 * 9> other{};
  windows.fill_batch(key(1), 7, 4, first.data());
  windows.fill_batch(key(1), 3, 4, other.data());
  windows.fill_batch(key(1), 7, 4, again.data());
  CHECK(first == again);
  CHECK(first != other);
  windows.fill_batch(key(2), 7, 4, other.data());
  CHECK(first != other);
  windows.fill_batch(key(1), 7, 1, other.data());  // a row depends on its number alone
  CHECK(same_bytes(first.data(), other.data(), 9 * sizeof(i32)));
  for (int row = 0; row < 4; ++row) {
    for (int i = 1; i < 9; ++i) CHECK(first[row * 9 + i] == first[row * 9] + i);
  }
}

TEST_CASE("token_windows: every place of the range comes, as often as the others, and no other") {
  temporary_folder const folder;
  auto const file = counting(folder, 100);
  auto const windows = file.windows({20, 34}, 5);
  REQUIRE(windows.count() == 10);
  std::array<int, 10> seen{};
  std::vector<i32> tokens(10'000 * 5);
  windows.fill_batch(key(3), 0, 10'000, tokens.data());
  for (std::size_t row = 0; row < 10'000; ++row) {
    std::int64_t const place = tokens[row * 5] - 20;
    REQUIRE(place >= 0);
    REQUIRE(place < 10);
    ++seen[static_cast<std::size_t>(place)];
  }
  double chi_square = 0;
  for (int const times : seen) chi_square += (times - 1000.0) * (times - 1000.0) / 1000.0;
  CHECK(chi_square < 27.9);  // 9 degrees of freedom: one key in a thousand is above
}

TEST_CASE("token_windows: a range of one window, and one that is too short") {
  temporary_folder const folder;
  auto const file = counting(folder, 10);
  auto const only = file.windows({1, 10}, 9);
  CHECK(only.count() == 1);
  CHECK(only.disjoint_count() == 1);
  std::array<i32, 2 * 9> tokens{};
  only.fill_batch(key(1), 0, 2, tokens.data());
  CHECK(tokens[0] == 1);
  CHECK(tokens[9 + 8] == 9);
  auto const refused = [&](data::token_range range, std::int64_t length) {
    return message_of<io_error>([&] { (void)file.windows(range, length); });
  };
  std::string const text = refused(file.validation(), 9);
  CHECK(contains(text, file.path()));
  CHECK(contains(text, "has 1 tokens from position 9 to 10"));
  CHECK(contains(text, "one window takes 9"));
  CHECK(contains(refused({0, 10}, 11), "one window takes 11"));
  CHECK(contains(refused({4, 4}, 1), "has 0 tokens"));
  CHECK(contains(refused({0, 10}, std::int64_t{1} << 62), "one window takes"));
  CHECK_THROWS_AS((void)file.windows({0, 10}, 0), value_error);
  CHECK_THROWS_AS((void)file.windows({0, 10}, -3), value_error);
  CHECK_THROWS_AS((void)file.windows({0, 11}, 1), index_error);
  CHECK_THROWS_AS((void)file.windows({-1, 5}, 1), index_error);
  CHECK_THROWS_AS((void)file.windows({5, 4}, 1), index_error);
  CHECK_THROWS_AS(only.fill_batch(key(1), -1, 1, tokens.data()), value_error);
  CHECK_THROWS_AS(only.read(1, tokens.data()), index_error);
  CHECK_THROWS_AS(only.read_disjoint(1, tokens.data()), index_error);
}

TEST_CASE("token_windows: disjoint windows make every token but the first a target once") {
  temporary_folder const folder;
  for (int size = 2; size < 40; ++size) {
    auto const file = counting(folder, size);
    for (std::int64_t length = 2; length <= size; ++length) {
      auto const windows = file.windows({0, size}, length);
      std::vector<i32> tokens(static_cast<std::size_t>(length));
      i32 next = 0;
      for (std::int64_t i = 0; i < windows.disjoint_count(); ++i) {
        windows.read_disjoint(i, tokens.data());
        CHECK(tokens.front() == next);
        next = tokens.back();
      }
      CHECK(size - 1 - next < length - 1);  // what is left makes no further window
    }
  }
  CHECK(counting(folder, 5).windows({0, 5}, 1).disjoint_count() == 5);
}

TEST_CASE("token_windows: an epoch of a sampler visits each disjoint window once") {
  temporary_folder const folder;
  auto const file = counting(folder, 64 * 3 + 1);
  auto const windows = file.windows({0, file.size()}, 4);
  epoch_sampler const sampler(key(5), windows.disjoint_count(), 4);
  std::vector<int> seen(64);
  std::array<i32, 4 * 4> tokens{};
  for (std::int64_t step = 0; step < sampler.steps_per_epoch(); ++step) {
    windows.fill_batch(sampler, step, tokens.data());
    for (std::size_t row = 0; row < 4; ++row) ++seen[static_cast<std::size_t>(tokens[row * 4] / 3)];
  }
  CHECK(seen == std::vector<int>(64, 1));
  epoch_sampler const wrong(key(5), 63, 4);
  CHECK_THROWS_AS(windows.fill_batch(wrong, 0, tokens.data()), value_error);
}

TEST_CASE("token_windows: 10,000 batches of a large file leave the resident size bounded") {
  temporary_folder const folder;
  // All holes: it takes no disk. Its pages are read, and mapped, as those of any other file.
  std::int64_t const size = std::int64_t{512} << 20;
  write_bytes(folder / "large", "");
  REQUIRE(::truncate((folder / "large").c_str(), size) == 0);
  auto const file = token_file::open(folder / "large", 256);
  auto const windows = file.windows(file.train(), 129);
  std::int64_t const before = resident_file_kib();
  REQUIRE(before > 0);
  std::vector<i32> tokens(4 * 129);
  std::int64_t most = 0;
  for (std::int64_t n = 0; n < 10'000; ++n) {
    windows.fill_batch(key(1), n, 4, tokens.data());
    if (n % 16 == 0) most = std::max(most, resident_file_kib());
  }
  CHECK(most - before < token_file::resident_budget * 5 / 4 / 1024);
  CHECK(most - before > 256);  // the figure moves at all
}
