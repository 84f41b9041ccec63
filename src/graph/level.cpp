#include <mutex>

#include <ricci/error/exceptions.hpp>

#include "src/graph/gradient.hpp"
#include "src/graph/spinlock.hpp"
#include "src/graph/value.hpp"

namespace ricci::graph {
namespace {

constexpr int level_count = 64;

// The values of each open level, those that also depend on an outer one included. A level's number
// is no other's in the whole program while it is open, so values may cross threads; within a
// thread inner levels have the higher numbers, so a value stands in the list of its innermost one.
struct level_lists {
  spinlock lock;
  std::uint64_t open = 0;
  value* first[level_count]{};
};
level_lists lists;

thread_local std::uint64_t open_here = 0;

// A leaf of a level; for outer levels it is its input.
struct tracked final : operation {
  void compute(value&) const override {}
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    if (y.input_count == 1) sink.add(y.inputs[0], dy);
  }
};

int innermost(std::uint64_t levels) { return 63 - __builtin_clzll(levels); }

void enter(value& v) {
  value*& first = lists.first[innermost(v.levels)];
  v.previous = nullptr;
  v.next = first;
  if (first) first->previous = &v;
  first = &v;
}

void leave(value& v) {
  if (v.next) v.next->previous = v.previous;
  if (v.previous)
    v.previous->next = v.next;
  else
    lists.first[innermost(v.levels)] = v.next;
  v.next = v.previous = nullptr;
}

}  // namespace

std::uint64_t& suppressed_levels() {
  thread_local std::uint64_t levels = 0;
  return levels;
}

void link_level(value& v) {
  std::lock_guard const lock(lists.lock);
  enter(v);
}

void unlink_level(value& v) {
  std::lock_guard const lock(lists.lock);
  if (v.levels == 0) return;  // its level closed meanwhile
  leave(v);
  v.levels = 0;
}

level::level() {
  std::lock_guard const lock(lists.lock);
  number_ = open_here == 0 ? 0 : innermost(open_here) + 1;
  while (number_ < level_count && (lists.open >> number_ & 1)) ++number_;
  if (number_ == level_count)
    throw value_error("grad: more than 64 gradients are being computed inside one another");
  lists.open |= std::uint64_t{1} << number_;
  open_here |= std::uint64_t{1} << number_;
}

level::~level() {
  std::uint64_t const bit = std::uint64_t{1} << number_;
  // Dropping inputs may release values of this very list, so each is taken out under the lock and
  // dropped outside of it; a reference keeps it from going in between.
  for (;;) {
    handle forgotten;
    {
      std::lock_guard const lock(lists.lock);
      value* const v = lists.first[number_];
      if (v == nullptr) break;
      leave(*v);
      v->levels &= ~bit;
      if (v->levels != 0) enter(*v);
      std::int32_t references = v->references.load(std::memory_order_relaxed);
      // A value whose last reference just went is on its way out by another hand.
      while (references != 0 && !v->references.compare_exchange_weak(references, references + 1)) {
      }
      if (references != 0) forgotten = handle(v);
    }
    value* const v = forgotten.get();
    if (v && v->levels == 0 && v->evaluated) forget(*v);
  }
  std::lock_guard const lock(lists.lock);
  lists.open &= ~bit;
  open_here &= ~bit;
}

handle track(handle const& x, level const& l) {
  handle result = alias(x, std::make_unique<tracked>());
  value& v = *result.get();
  if (v.levels == 0) forget(v);
  if (!is_floating(v.type)) return result;
  if (v.levels != 0) {
    std::lock_guard const lock(lists.lock);
    leave(v);
    v.levels |= std::uint64_t{1} << l.number();
    enter(v);
  } else {
    v.levels = std::uint64_t{1} << l.number();
    link_level(v);
  }
  return result;
}

}  // namespace ricci::graph
