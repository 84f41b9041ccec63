#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <ricci/tensor/dtype.hpp>

namespace ricci {

/// What bytes of memory are for; the counters of `memory` are kept by role.
///   workspace  what a statement packs or computes beside its result: a plan tells how much
///   scratch    what one kernel needs while it runs: it also depends on the number of threads
enum class role : std::uint8_t {
  parameter,
  gradient,
  optimizer,
  activation,
  data,
  workspace,
  scratch
};

/// Number of enumerators of `role`.
inline constexpr int role_count = 7;

/// The spelling of a role, `gradient`.
constexpr std::string_view name_of(role r) {
  constexpr std::string_view names[role_count] = {
      "parameter", "gradient", "optimizer", "activation", "data", "workspace", "scratch"};
  return names[static_cast<int>(r)];
}

namespace detail {

// One block of memory and what is known of it. A freed block keeps its node, in the lists of the
// cache, so that taking it again allocates nothing.
struct storage_block {
  void* data = nullptr;
  std::int64_t bytes = 0;  // asked for; the size class may hold more
  std::atomic<std::int64_t> references{1};
  role purpose = role::activation;
  bool is_borrowed = false;
  std::int16_t size_class = 0;
  std::uint64_t freed_at = 0;  // count of frees: the age of a cached block
  storage_block* newer = nullptr;
  storage_block* older = nullptr;
};

void release(storage_block* block) noexcept;
void change_role(storage_block& block, role to) noexcept;

}  // namespace detail

/// A shared reference to a block of bytes; the last one gives the block back.
///   Memory  one pointer; copies share the bytes. data() is 64-byte aligned, unless borrowed; the
///           bytes are not initialized
///   Cost    a copy is one atomic increment; handles of one block may live in several threads
class storage_handle {
 public:
  storage_handle() = default;
  storage_handle(storage_handle const& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  storage_handle(storage_handle&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  storage_handle& operator=(storage_handle other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~storage_handle() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      detail::release(block_);
  }

  /// Bytes that belong to something else, a mapped file say, which keep_alive holds.
  ///   Memory  not counted by role: the bytes are the owner's
  ///   Errors  value_error if bytes is negative
  static storage_handle borrow(void* data, std::int64_t bytes,
                               std::shared_ptr<void const> keep_alive);

  explicit operator bool() const noexcept { return block_ != nullptr; }
  void* data() const noexcept { return block_ != nullptr ? block_->data : nullptr; }
  std::int64_t bytes() const noexcept { return block_ != nullptr ? block_->bytes : 0; }
  bool is_borrowed() const noexcept { return block_ != nullptr && block_->is_borrowed; }

  /// Whether this is the only handle of its block: then nobody else can see a write.
  bool is_unique() const noexcept { return use_count() == 1; }
  std::int64_t use_count() const noexcept {
    return block_ != nullptr ? block_->references.load(std::memory_order_acquire) : 0;
  }

  /// What the bytes are counted as; `activation` of an empty handle.
  role purpose() const noexcept { return block_ != nullptr ? block_->purpose : role::activation; }

  /// Moves the bytes to another role's counters, for all handles of the block.
  void set_role(role to) noexcept {
    if (block_ != nullptr) detail::change_role(*block_, to);
  }

  friend bool operator==(storage_handle const& a, storage_handle const& b) noexcept {
    return a.block_ == b.block_;
  }

 private:
  explicit storage_handle(detail::storage_block* block) noexcept : block_(block) {}
  friend storage_handle allocate(std::int64_t bytes, role purpose);

  detail::storage_block* block_ = nullptr;
};

/// New storage from the caching allocator.
///   Memory  64-byte aligned, at 2 MiB from 2 MiB on; not initialized. At most 12.5 % above bytes
///           is held (below 512 bytes: up to the next multiple of 64). Freed blocks are kept and
///           taken again; before asking the system for more, the oldest of them go back until what
///           is held stays within 1/8 and 32 MiB of the most that was in use at one time
///   Cost    tens of nanoseconds from the cache, under one spin lock of the process
///   Errors  value_error if bytes is negative; device_error if the system has not that much
storage_handle allocate(std::int64_t bytes, role purpose);

/// The same, with the role of the innermost allocation_role of this thread.
storage_handle allocate(std::int64_t bytes);

/// count * size_of(type).
///   Errors  value_error if count is negative or the product is beyond 63 bits
std::int64_t checked_bytes(std::int64_t count, dtype type);

/// Sets the role of what this thread allocates, while the object lives; objects nest.
class [[nodiscard]] allocation_role {
 public:
  explicit allocation_role(role purpose) noexcept;
  ~allocation_role();
  allocation_role(allocation_role const&) = delete;
  allocation_role& operator=(allocation_role const&) = delete;

  /// The role in force in this thread; `activation` outside all such objects.
  static role current() noexcept;

 private:
  role previous_;
};

/// What storage the process holds, in bytes that were asked for.
namespace memory {

std::int64_t live();
std::int64_t live(role r);

/// The most that live() has been since the start or the last reset_peak().
std::int64_t peak();
std::int64_t peak(role r);
/// The most that all but role scratch has been: what plans predict.
std::int64_t peak_without_scratch();

/// Peaks start again from what is live now.
void reset_peak();

/// Freed blocks that are kept for reuse, in bytes held.
std::int64_t cached();

/// Gives all cached blocks back to the system.
void trim();

}  // namespace memory

}  // namespace ricci
