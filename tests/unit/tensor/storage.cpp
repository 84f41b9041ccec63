#include <ricci/tensor/storage.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <ricci/error/exceptions.hpp>

namespace {

using namespace ricci;

constexpr i64 mebibyte = i64{1} << 20;

std::uintptr_t address(storage_handle const& h) {
  return reinterpret_cast<std::uintptr_t>(h.data());
}

TEST_CASE("a handle counts its copies and gives the block back with the last") {
  i64 const before = memory::live(role::data);
  storage_handle empty;
  CHECK(!empty);
  CHECK(empty.data() == nullptr);
  CHECK(empty.bytes() == 0);
  CHECK(empty.use_count() == 0);
  {
    storage_handle a = allocate(1000, role::data);
    CHECK(a.bytes() == 1000);
    CHECK(a.is_unique());
    CHECK(memory::live(role::data) == before + 1000);
    storage_handle b = a;
    CHECK(a.use_count() == 2);
    CHECK(!a.is_unique());
    CHECK(a == b);
    storage_handle c = std::move(a);
    CHECK(!a);
    CHECK(c.use_count() == 2);
    b = c;
    storage_handle const& itself = c;
    c = itself;
    CHECK(c.use_count() == 2);
    b = allocate(10, role::data);
    CHECK(c.is_unique());
    CHECK(memory::live(role::data) == before + 1010);
    c = storage_handle();
    CHECK(memory::live(role::data) == before + 10);
  }
  CHECK(memory::live(role::data) == before);
}

TEST_CASE("every size is aligned, whole and apart from its neighbours") {
  std::vector<storage_handle> handles;
  std::vector<i64> sizes;
  for (i64 bytes = 0; bytes <= 1100; ++bytes) sizes.push_back(bytes);
  for (i64 bytes = 2048; bytes <= 4 * mebibyte; bytes *= 2)
    for (i64 const d : {i64{-1}, i64{0}, i64{1}, bytes / 8, bytes / 8 + 1})
      sizes.push_back(bytes + d);
  for (i64 const bytes : sizes) {
    handles.push_back(allocate(bytes, role::workspace));
    storage_handle const& h = handles.back();
    REQUIRE(h.data() != nullptr);
    REQUIRE(h.bytes() == bytes);
    REQUIRE(address(h) % (bytes >= 2 * mebibyte ? 2 * mebibyte : 64) == 0);
    std::memset(h.data(), static_cast<int>(handles.size() % 251), static_cast<std::size_t>(bytes));
  }
  int wrong = 0;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    auto const* const bytes = static_cast<unsigned char const*>(handles[i].data());
    for (i64 k = 0; k < sizes[i]; ++k) wrong += bytes[k] != (i + 1) % 251;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a cached block holds at most an eighth more than was asked for") {
  memory::trim();
  for (i64 bytes = 513; bytes < 40000; bytes += 7) {
    allocate(bytes, role::workspace);
    i64 const held = memory::cached();
    REQUIRE(held >= bytes);
    REQUIRE(8 * (held - bytes) <= bytes);
    memory::trim();
    REQUIRE(memory::cached() == 0);
  }
}

TEST_CASE("freed blocks are taken again, the newest first") {
  memory::trim();
  storage_handle a = allocate(5000, role::data);
  storage_handle b = allocate(5000, role::data);
  void* const at_a = a.data();
  void* const at_b = b.data();
  a = {};
  b = {};
  b = allocate(4999, role::gradient);
  a = allocate(5001, role::gradient);
  CHECK(b.data() == at_b);
  CHECK(a.data() == at_a);
  CHECK(memory::cached() == 0);

  storage_handle large = allocate(10 * mebibyte, role::data);
  void* const at_large = large.data();
  large = {};
  large = allocate(9 * mebibyte, role::data);  // a large block may be a little too large
  CHECK(large.data() == at_large);
  CHECK(large.bytes() == 9 * mebibyte);
  large = {};
  large = allocate(7 * mebibyte, role::data);
  CHECK(large.data() != at_large);
}

TEST_CASE("roles: scopes nest, set_role moves the bytes") {
  CHECK(allocation_role::current() == role::activation);
  i64 const parameters = memory::live(role::parameter);
  i64 const gradients = memory::live(role::gradient);
  i64 const all = memory::live();
  storage_handle h;
  {
    allocation_role const outer(role::parameter);
    h = allocate(300);
    {
      allocation_role const inner(role::gradient);
      CHECK(allocation_role::current() == role::gradient);
      std::thread([] { CHECK(allocation_role::current() == role::activation); }).join();
    }
    CHECK(allocation_role::current() == role::parameter);
  }
  CHECK(allocation_role::current() == role::activation);
  CHECK(h.purpose() == role::parameter);
  CHECK(memory::live(role::parameter) == parameters + 300);
  h.set_role(role::gradient);
  CHECK(h.purpose() == role::gradient);
  CHECK(memory::live(role::parameter) == parameters);
  CHECK(memory::live(role::gradient) == gradients + 300);
  CHECK(memory::live() == all + 300);
  h = {};
  CHECK(memory::live(role::gradient) == gradients);
  CHECK(memory::live() == all);
  storage_handle().set_role(role::data);

  CHECK(name_of(role::parameter) == "parameter");
  CHECK(name_of(role::workspace) == "workspace");
}

TEST_CASE("peaks are of the total and of each role, and start again") {
  memory::reset_peak();
  i64 const all = memory::live();
  i64 const optimizer = memory::live(role::optimizer);
  CHECK(memory::peak() == all);
  {
    storage_handle const a = allocate(1000, role::optimizer);
    {
      storage_handle const b = allocate(2000, role::data);
    }
    storage_handle const c = allocate(500, role::optimizer);
  }
  allocate(1200, role::optimizer);
  CHECK(memory::peak() == all + 3000);
  CHECK(memory::peak(role::optimizer) == optimizer + 1500);
  CHECK(memory::live() == all);
  memory::reset_peak();
  CHECK(memory::peak() == all);
  CHECK(memory::peak(role::optimizer) == optimizer);
}

TEST_CASE("what is held stays near the most that was in use") {
  memory::trim();
  memory::reset_peak();
  i64 const live = memory::live();
  // Never two of these sizes at once: without a bound all of them would stay cached.
  i64 most_held = 0;
  for (i64 bytes = 20 * mebibyte; bytes < 80 * mebibyte; bytes += 3 * mebibyte) {
    storage_handle const h = allocate(bytes, role::activation);
    most_held = std::max(most_held, memory::live() - live + memory::cached());
  }
  CHECK(most_held <= (80 + 80 / 8 + 80 / 8 + 32) * mebibyte);
  memory::trim();
  CHECK(memory::cached() == 0);
}

TEST_CASE("borrowed bytes keep their owner alive and count nowhere") {
  i64 const all = memory::live();
  auto owner = std::make_shared<std::vector<int>>(25, 7);
  std::weak_ptr<std::vector<int>> const watched = owner;
  {
    storage_handle const h = storage_handle::borrow(owner->data(), 100, owner);
    storage_handle copy = h;
    CHECK(h.data() == owner->data());
    owner.reset();
    CHECK(!watched.expired());
    CHECK(h.is_borrowed());
    CHECK(h.bytes() == 100);
    copy.set_role(role::parameter);
    CHECK(h.purpose() == role::parameter);
    CHECK(static_cast<int const*>(h.data())[24] == 7);
    CHECK(memory::live() == all);
  }
  CHECK(watched.expired());
  CHECK(memory::live() == all);
  CHECK(!allocate(1, role::data).is_borrowed());
}

TEST_CASE("impossible sizes throw and change nothing") {
  i64 const all = memory::live();
  CHECK_THROWS_AS(allocate(-1, role::data), value_error);
  CHECK_THROWS_AS(storage_handle::borrow(nullptr, -5, nullptr), value_error);
  for (i64 const bytes :
       {i64{1} << 50, i64{1} << 56, (i64{1} << 56) + 1, std::numeric_limits<i64>::max()}) {
    storage_handle const some = allocate(777, role::optimizer);
    std::string text;
    try {
      allocate(bytes, role::data);
    } catch (device_error const& e) {
      text = e.what();
    }
    CHECK(text.find(std::to_string(bytes) + " bytes") != std::string::npos);
    CHECK(text.find("optimizer " + std::to_string(memory::live(role::optimizer))) !=
          std::string::npos);
  }
  CHECK(memory::live() == all);

  CHECK(checked_bytes(10, dtype::bf16) == 20);
  CHECK(checked_bytes(0, dtype::f64) == 0);
  CHECK_THROWS_AS(checked_bytes(-1, dtype::u8), value_error);
  CHECK_THROWS_AS(checked_bytes(i64{1} << 61, dtype::f32), value_error);
}

TEST_CASE("threads share blocks, the cache and the counters") {
  i64 const all = memory::live();
  storage_handle shared = allocate(64, role::data);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, copy = shared, t]() mutable {
      allocation_role const scope(static_cast<role>(t));
      std::vector<storage_handle> mine(16);
      for (unsigned i = 0; i < 4000; ++i) {
        storage_handle& slot = mine[(i * 7) % mine.size()];
        i64 const bytes = 64 * (1 + (i * 31 + static_cast<unsigned>(t)) % 40);
        slot = allocate(bytes);
        auto* const numbers = static_cast<i64*>(slot.data());
        numbers[0] = t;
        numbers[bytes / 8 - 1] = i;
        storage_handle const again = copy;
        wrong += numbers[0] != t || numbers[bytes / 8 - 1] != i64{i};
        if (i % 5 == 0) slot.set_role(role::gradient);
        if (i % 1000 == 0) memory::trim();
      }
      copy = {};
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(shared.is_unique());
  shared = {};
  CHECK(memory::live() == all);
}

TEST_CASE("a block may be freed by another thread than the one that took it") {
  i64 const all = memory::live();
  std::vector<storage_handle> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(allocate(1 << 14, role::data));
  std::thread([taken = std::move(handles)]() mutable { taken.clear(); }).join();
  CHECK(memory::live() == all);
}

}  // namespace
