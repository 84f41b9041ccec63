#include "src/graph/value.hpp"

#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include <ricci/error/exceptions.hpp>

namespace ricci::graph {
namespace {

std::atomic<std::int64_t> next_sequence{1};

// Values whose last reference went, still to be taken apart: a chain of any length unravels here
// without recursion. Freed values wait in a list of their thread to be used again.
struct thread_values {
  static constexpr int kept = 256;
  value* free = nullptr;
  int free_count = 0;
  value* dying = nullptr;
  bool taking_apart = false;

  ~thread_values() {
    while (free) delete std::exchange(free, free->next);
    free_count = kept;  // values released after this are deleted at once
  }
};
thread_local thread_values here;

void drop_inputs(value& v) {
  for (int i = 0; i < v.input_count; ++i) v.inputs[i] = handle();
  if (v.inputs != v.small_input) delete[] v.inputs;
  v.inputs = nullptr;
  v.input_count = 0;
}

void take_apart(value* v) noexcept {
  if (v->levels != 0) unlink_level(*v);
  drop_inputs(*v);
  v->how.reset();
  v->storage = storage_handle();
  if (v->extents != v->small_numbers) delete[] v->extents;
  if (here.free_count >= thread_values::kept) {
    delete v;
    return;
  }
  v->next = here.free;
  here.free = v;
  ++here.free_count;
}

value* make() {
  if (here.free == nullptr) return new value;
  value* const v = here.free;
  here.free = v->next;
  --here.free_count;
  v->references.store(1, std::memory_order_relaxed);
  v->computed_by = kind::leaf;
  v->evaluated = false;
  v->along = 0;
  v->levels = 0;
  v->count = 1;
  v->data = nullptr;
  v->next = nullptr;
  v->previous = nullptr;
  return v;
}

}  // namespace

void retain(value* v) noexcept { v->references.fetch_add(1, std::memory_order_relaxed); }

void release(value* v) noexcept {
  // The only reference needs no atomic decrement, unless the list of a level also knows the value.
  bool const only = v->levels == 0 && v->references.load(std::memory_order_acquire) == 1;
  if (!only && v->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (here.taking_apart) {
    // `previous` is free for this once the value has left its level's list.
    if (v->levels != 0) unlink_level(*v);
    v->previous = here.dying;
    here.dying = v;
    return;
  }
  here.taking_apart = true;
  take_apart(v);
  while (here.dying) {
    value* const next = here.dying;
    here.dying = next->previous;
    take_apart(next);
  }
  here.taking_apart = false;
}

handle new_value(dtype type, axes_view axes, int inputs) {
  value* const v = make();
  v->type = type;
  v->sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);
  v->axes = axes.axes;
  v->rank = static_cast<std::int8_t>(axes.rank);
  v->extents = axes.rank <= value::small_rank ? v->small_numbers : new std::int64_t[2 * axes.rank];
  v->strides = v->extents + axes.rank;
  v->input_count = static_cast<std::int16_t>(inputs);
  v->inputs = inputs <= value::small_inputs ? v->small_input : new handle[inputs];
  return handle(v);
}

void set_extents(value& v, std::int64_t const* extents, char const* who) {
  // A zero extent does not excuse an overflow of the others: strides multiply them all.
  std::int64_t bytes = size_of(v.type);
  v.count = 1;
  for (int i = 0; i < v.rank; ++i) {
    std::int64_t const extent = extents[i];
    if (extent < 0)
      throw shape_error(std::string(who) + ": axis `" + std::string(v.axes[i]->view()) +
                        "` has the extent " + std::to_string(extent) +
                        "; an extent is not negative");
    if (__builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes))
      throw shape_error(std::string(who) + ": the size in bytes of a tensor with axis `" +
                        std::string(v.axes[i]->view()) + "` of extent " + std::to_string(extent) +
                        " does not fit 63 bits");
    v.extents[i] = extent;
    v.count *= extent;
  }
}

void finish(value& v) {
  std::uint64_t levels = 0;
  for (int i = 0; i < v.input_count; ++i) levels |= v.inputs[i]->levels;
  levels &= ~suppressed_levels();
  if (levels == 0 || !is_floating(v.type)) return;
  v.levels = levels;
  link_level(v);
}

handle new_operation(dtype type, axes_view axes, std::int64_t const* extents, char const* who,
                     std::unique_ptr<operation const> how, handle* inputs, int count) {
  handle result = new_value(type, axes, count);
  set_extents(*result.get(), extents, who);
  for (int i = 0; i < count; ++i) result->inputs[i] = std::move(inputs[i]);
  result->computed_by = kind::operation;
  result->how = std::move(how);
  finish(*result.get());
  return result;
}

void set_packed_strides(value& v) {
  std::int64_t stride = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    v.strides[i] = stride;
    stride *= v.extents[i];
  }
  v.order = layout::packed(v.rank);
}

void allocate(value& v) {
  v.storage = ricci::allocate(v.count * size_of(v.type));
  v.data = v.storage.data();
  set_packed_strides(v);
}

void share(value& v, value const& owner, std::int64_t element_offset) {
  v.storage = owner.storage;
  v.data = static_cast<char*>(owner.data) + element_offset * size_of(v.type);
}

handle alias(handle const& x, std::unique_ptr<operation const> how) {
  value& source = evaluated(x);
  handle result = new_value(source.type, source.axes_of(), 1);
  value& v = *result.get();
  for (int i = 0; i < v.rank; ++i) {
    v.extents[i] = source.extents[i];
    v.strides[i] = source.strides[i];
  }
  v.count = source.count;
  v.order = source.order;
  share(v, source, 0);
  v.evaluated = true;
  v.computed_by = kind::operation;
  v.how = std::move(how);
  v.inputs[0] = x;
  finish(v);
  return result;
}

void forget(value& v) {
  if (v.levels != 0) unlink_level(v);
  drop_inputs(v);
  v.how.reset();
  v.computed_by = kind::leaf;
}

axes_view intern(axis_info const* const* axes, int rank) {
  using list = std::vector<axis_info const*>;
  static std::mutex mutex;
  static auto& lists = *new std::set<list>;  // lives as long as the program: values point into it
  std::lock_guard const lock(mutex);
  list wanted(axes, axes + rank);
  wanted.push_back(nullptr);
  return {lists.insert(std::move(wanted)).first->data(), rank};
}

axis_info const* unnamed_axis(int i) {
  struct table {
    char names[max_indices][10];
    axis_info axes[max_indices];
    table() {
      for (int i = 0; i < max_indices; ++i) {
        std::string const name = "index " + std::to_string(i);
        std::memcpy(names[i], name.c_str(), name.size() + 1);
        axes[i] = {names[i], static_cast<int>(name.size()), dynamic_extent,
                   static_cast<std::uint64_t>(i)};
      }
    }
  };
  static table const unnamed;
  return &unnamed.axes[i];
}

value& checked(handle const& x) {
  if (!x) throw value_error("tensor: an empty tensor is used; give it a value first");
  return *x.get();
}

value& evaluated(handle const& x) {
  value& v = checked(x);
  if (!v.evaluated) evaluate(x);
  return v;
}

dtype dtype_of(handle const& x) { return checked(x).type; }
axes_view axes_of(handle const& x) { return checked(x).axes_of(); }
std::int64_t const* extents(handle const& x) { return checked(x).extents; }
std::int64_t const* strides(handle const& x) { return evaluated(x).strides; }
bool is_evaluated(handle const& x) { return checked(x).evaluated; }
std::int64_t element_count(handle const& x) { return checked(x).count; }
void const* data(handle const& x) { return evaluated(x).data; }

std::string shape_text(value const& v) {
  std::string text = "[";
  for (int i = 0; i < v.rank; ++i) {
    if (i > 0) text += ", ";
    text.append(v.axes[i]->view()).append(" ").append(std::to_string(v.extents[i]));
  }
  return text + "]";
}

std::string shapes_text(handle const* operands, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += i == 0 ? "; " : ", ";
    text += "operand " + std::to_string(i + 1) + " is " + shape_text(*operands[i].get());
  }
  return text;
}

counters& count() {
  thread_local counters counts{};
  return counts;
}
counters const& counted() { return count(); }

}  // namespace ricci::graph
