#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/storage.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace ricci {
namespace {

using detail::storage_block;

constexpr std::int64_t alignment = 64;  // a cache line, and a vector of AVX-512
constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t huge_page = 2 * mebibyte;  // of x86-64 and of arm64 with 4 KiB pages

// Capacities: the multiples of 64 up to 512, then eight equal steps from each power of two to the
// next, so that a capacity is less than 1/8 above what was asked for.
constexpr int steps = 8;
constexpr std::int64_t largest_capacity = std::int64_t{1} << 56;
constexpr int class_count = steps + (56 - 9) * steps;

constexpr int class_of(std::int64_t bytes) {
  if (bytes <= steps * alignment)
    return static_cast<int>((std::max<std::int64_t>(bytes, 1) - 1) / alignment);
  std::uint64_t const last = static_cast<std::uint64_t>(bytes) - 1;
  int const power = std::bit_width(last) - 1;  // 2^power <= last < 2^(power + 1), power >= 9
  return steps * (power - 9 + 1) + static_cast<int>(last >> (power - 3)) - steps;
}

constexpr std::int64_t capacity_of(int size_class) {
  if (size_class < steps) return (size_class + 1) * alignment;
  int const power = size_class / steps - 1 + 9;
  return std::int64_t{steps + size_class % steps + 1} << (power - 3);
}

static_assert(class_of(0) == 0 && class_of(512) == 7 && class_of(513) == 8);
static_assert(capacity_of(8) == 576 && capacity_of(class_of(1 << 20)) == 1 << 20);
static_assert(class_of(largest_capacity) == class_count - 1);

// Under AddressSanitizer a cached block is as unreadable as one that was freed.
void set_readable([[maybe_unused]] void* data, [[maybe_unused]] std::int64_t bytes,
                  [[maybe_unused]] bool readable) {
#if defined(__SANITIZE_ADDRESS__)
  if (readable)
    ASAN_UNPOISON_MEMORY_REGION(data, static_cast<std::size_t>(bytes));
  else
    ASAN_POISON_MEMORY_REGION(data, static_cast<std::size_t>(bytes));
#endif
}

// Returns a null pointer where there is no memory.
void* take_from_system(std::int64_t capacity, std::int64_t bytes) {
  std::size_t const size = static_cast<std::size_t>(capacity);
  if (capacity < huge_page) return std::aligned_alloc(alignment, size);
  std::size_t const spare = static_cast<std::size_t>(huge_page);
  void* const mapped =
      mmap(nullptr, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapped);
  std::size_t const before = (spare - reinterpret_cast<std::uintptr_t>(first) % spare) % spare;
  if (before != 0) munmap(first, before);
  if (before != spare) munmap(first + before + size, spare - before);
#if defined(MADV_HUGEPAGE)
  // Advice alone: a kernel without huge pages refuses, and nothing is lost.
  madvise(first + before, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
#endif
  return first + before;
}

void give_to_system(storage_block* block) noexcept {
  std::int64_t const capacity = capacity_of(block->size_class);
  set_readable(block->data, capacity, true);
  if (capacity < huge_page)
    std::free(block->data);
  else
    munmap(block->data, static_cast<std::size_t>(capacity));
  delete block;
}

// Held for some ten nanoseconds at a time, never across a call of the system.
class spin_lock {
 public:
  void lock() noexcept {
    for (int tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries)
      while (taken_.load(std::memory_order_relaxed))
        if (++tries > 64) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

struct counter {
  std::int64_t live = 0;
  std::int64_t peak = 0;

  void add(std::int64_t bytes) noexcept {
    live += bytes;
    peak = std::max(peak, live);
  }
};

// Cached blocks of one size class; the newest, whose lines are the warmest, goes first.
struct block_list {
  storage_block* newest = nullptr;
  storage_block* oldest = nullptr;

  void push(storage_block* block) noexcept {
    block->newer = nullptr;
    block->older = newest;
    (newest != nullptr ? newest->newer : oldest) = block;
    newest = block;
  }
  void remove(storage_block* block) noexcept {
    (block->newer != nullptr ? block->newer->older : newest) = block->older;
    (block->older != nullptr ? block->older->newer : oldest) = block->newer;
  }
};

class pool {
 public:
  storage_block* allocate(std::int64_t bytes, role purpose) {
    if (bytes > largest_capacity) throw_out_of_memory(bytes);
    int const size_class = class_of(bytes);
    storage_block* unwanted = nullptr;
    {
      std::lock_guard const guard(lock_);
      if (storage_block* const block = find(size_class)) {
        lists_[block->size_class].remove(block);
        cached_ -= capacity_of(block->size_class);
        hand_out(block, bytes, purpose);
        return block;
      }
      unwanted = take_unwanted(capacity_of(size_class));
    }
    give_back(unwanted);
    storage_block* const block = create(size_class, bytes);
    std::lock_guard const guard(lock_);
    hand_out(block, bytes, purpose);
    return block;
  }

  void release(storage_block* block) noexcept {
    std::int64_t const capacity = capacity_of(block->size_class);
    set_readable(block->data, capacity, false);
    std::lock_guard const guard(lock_);
    count(block->purpose, -block->bytes);
    used_ -= capacity;
    cached_ += capacity;
    block->freed_at = ++frees_;
    lists_[block->size_class].push(block);
  }

  void change_role(storage_block& block, role to) noexcept {
    std::lock_guard const guard(lock_);
    if (!block.is_borrowed) {
      count(block.purpose, -block.bytes);
      count(to, block.bytes);
    }
    block.purpose = to;
  }

  void trim() noexcept {
    storage_block* unwanted = nullptr;
    {
      std::lock_guard const guard(lock_);
      while (storage_block* const block = take_oldest()) unwanted = chain(block, unwanted);
    }
    give_back(unwanted);
  }

  counter total() {
    std::lock_guard const guard(lock_);
    return total_;
  }
  counter planned() {
    std::lock_guard const guard(lock_);
    return planned_;
  }
  counter of(role r) {
    std::lock_guard const guard(lock_);
    return roles_[static_cast<int>(r)];
  }
  std::int64_t cached() {
    std::lock_guard const guard(lock_);
    return cached_;
  }
  void reset_peak() {
    std::lock_guard const guard(lock_);
    total_.peak = total_.live;
    planned_.peak = planned_.live;
    for (counter& c : roles_) c.peak = c.live;
    most_used_ = used_;
  }

 private:
  // The exact class first. A large block may be up to two classes above, a quarter, rather than
  // touch fresh pages, which costs as much as using them.
  storage_block* find(int size_class) const noexcept {
    int const last = capacity_of(size_class) < huge_page
                         ? size_class
                         : std::min(size_class + 2, class_count - 1);
    for (int i = size_class; i <= last; ++i)
      if (lists_[i].newest != nullptr) return lists_[i].newest;
    return nullptr;
  }

  void count(role purpose, std::int64_t bytes) noexcept {
    total_.add(bytes);
    if (purpose != role::scratch) planned_.add(bytes);
    roles_[static_cast<int>(purpose)].add(bytes);
  }

  void hand_out(storage_block* block, std::int64_t bytes, role purpose) noexcept {
    set_readable(block->data, bytes, true);
    block->bytes = bytes;
    block->purpose = purpose;
    block->references.store(1, std::memory_order_relaxed);
    count(purpose, bytes);
    used_ += capacity_of(block->size_class);
    most_used_ = std::max(most_used_, used_);
  }

  storage_block* create(int size_class, std::int64_t bytes) {
    std::int64_t const capacity = capacity_of(size_class);
    storage_block* const block = new (std::nothrow) storage_block;
    void* data = block != nullptr ? take_from_system(capacity, bytes) : nullptr;
    if (block != nullptr && data == nullptr) {
      trim();
      data = take_from_system(capacity, bytes);
    }
    if (data == nullptr) {
      delete block;
      throw_out_of_memory(bytes);
    }
    set_readable(data, capacity, false);
    block->data = data;
    block->size_class = static_cast<std::int16_t>(size_class);
    return block;
  }

  static storage_block* chain(storage_block* block, storage_block* rest) noexcept {
    block->older = rest;
    return block;
  }

  static void give_back(storage_block* chained) noexcept {
    while (chained != nullptr) {
      storage_block* const rest = chained->older;
      give_to_system(chained);
      chained = rest;
    }
  }

  storage_block* take_oldest() noexcept {
    storage_block* oldest = nullptr;
    for (block_list const& list : lists_)
      if (list.oldest != nullptr && (oldest == nullptr || list.oldest->freed_at < oldest->freed_at))
        oldest = list.oldest;
    if (oldest == nullptr) return nullptr;
    lists_[oldest->size_class].remove(oldest);
    cached_ -= capacity_of(oldest->size_class);
    return oldest;
  }

  // What has to go so that `capacity` more from the system keeps to the bound of allocate().
  storage_block* take_unwanted(std::int64_t capacity) noexcept {
    std::int64_t const most = std::max(most_used_, used_ + capacity);
    std::int64_t const bound = most + most / 8 + 32 * mebibyte;
    storage_block* unwanted = nullptr;
    while (used_ + capacity + cached_ > bound) {
      storage_block* const block = take_oldest();
      if (block == nullptr) break;
      unwanted = chain(block, unwanted);
    }
    return unwanted;
  }

  [[noreturn]] void throw_out_of_memory(std::int64_t bytes) {
    std::string live;
    for (int i = 0; i < role_count; ++i) {
      role const r = static_cast<role>(i);
      live += (i == 0 ? "" : ", ") + std::string(name_of(r)) + " " + std::to_string(of(r).live);
    }
    throw device_error("allocate: the host has no " + std::to_string(bytes) +
                       " bytes of memory left, beside the live bytes (" + live +
                       "); use smaller extents or free tensors first.");
  }

  spin_lock lock_;
  block_list lists_[class_count];
  counter total_;
  counter planned_;  // all but scratch
  counter roles_[role_count];
  std::int64_t used_ = 0;       // capacities of live blocks
  std::int64_t cached_ = 0;     // capacities of cached blocks
  std::int64_t most_used_ = 0;  // the largest used_ so far
  std::uint64_t frees_ = 0;
};

// Constant initialization and a trivial destructor: handles in static objects may be older and may
// live longer than anything here.
constinit pool blocks;
static_assert(std::is_trivially_destructible_v<pool>);

thread_local role current_role = role::activation;

struct borrowed_block : storage_block {
  std::shared_ptr<void const> keep_alive;
};

std::int64_t checked(std::int64_t bytes, char const* who) {
  if (bytes < 0)
    throw value_error(
        std::string(who) + ": the number of bytes is " + std::to_string(bytes) +
        "; it must not be negative, which a product of extents beyond 63 bits also is.");
  return bytes;
}

}  // namespace

void detail::release(storage_block* block) noexcept {
  if (block->is_borrowed)
    delete static_cast<borrowed_block*>(block);
  else
    blocks.release(block);
}

void detail::change_role(storage_block& block, role to) noexcept { blocks.change_role(block, to); }

storage_handle storage_handle::borrow(void* data, std::int64_t bytes,
                                      std::shared_ptr<void const> keep_alive) {
  checked(bytes, "borrow");
  auto* const block = new borrowed_block;
  block->data = data;
  block->bytes = bytes;
  block->purpose = role::data;
  block->is_borrowed = true;
  block->keep_alive = std::move(keep_alive);
  return storage_handle(block);
}

storage_handle allocate(std::int64_t bytes, role purpose) {
  return storage_handle(blocks.allocate(checked(bytes, "allocate"), purpose));
}

storage_handle allocate(std::int64_t bytes) { return allocate(bytes, current_role); }

std::int64_t checked_bytes(std::int64_t count, dtype type) {
  std::int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, size_of(type), &bytes))
    throw value_error("checked_bytes: " + std::to_string(count) + " elements of " +
                      std::string(name_of(type)) +
                      " are no number of bytes; the count must not be negative and the bytes must "
                      "fit 63 bits.");
  return bytes;
}

allocation_role::allocation_role(role purpose) noexcept
    : previous_(std::exchange(current_role, purpose)) {}
allocation_role::~allocation_role() { current_role = previous_; }
role allocation_role::current() noexcept { return current_role; }

std::int64_t memory::live() { return blocks.total().live; }
std::int64_t memory::live(role r) { return blocks.of(r).live; }
std::int64_t memory::peak() { return blocks.total().peak; }
std::int64_t memory::peak_without_scratch() { return blocks.planned().peak; }
std::int64_t memory::peak(role r) { return blocks.of(r).peak; }
std::int64_t memory::cached() { return blocks.cached(); }
void memory::reset_peak() { blocks.reset_peak(); }
void memory::trim() { blocks.trim(); }

}  // namespace ricci
