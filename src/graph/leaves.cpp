#include <string>

#include <ricci/error/exceptions.hpp>

#include "src/graph/compose.hpp"
#include "src/graph/gradient.hpp"
#include "src/graph/value.hpp"

namespace ricci::graph {
namespace {

// The packed copy of a view.
struct packing final : operation {
  void compute(value&) const override {}
  void vjp(value& y, handle const& dy, gradient_sink& sink) const override {
    sink.add(y.inputs[0], dy);
  }
};

}  // namespace

handle make_leaf(dtype type, axes_view axes, std::int64_t const* extents) {
  handle result = new_value(type, axes);
  value& v = *result.get();
  set_extents(v, extents, "tensor");
  allocate(v);
  v.evaluated = true;
  return result;
}

handle make_leaf(dtype type, axes_view axes, std::int64_t const* extents, storage_handle storage,
                 std::int64_t byte_offset) {
  handle result = new_value(type, axes);
  value& v = *result.get();
  set_extents(v, extents, "tensor");
  std::int64_t const bytes = v.count * size_of(type);
  if (byte_offset < 0 || byte_offset > storage.bytes() || bytes > storage.bytes() - byte_offset)
    throw shape_error("tensor: " + shape_text(v) + " of " + std::string(name_of(type)) + " takes " +
                      std::to_string(bytes) + " bytes from byte " + std::to_string(byte_offset) +
                      " on, but the storage has " + std::to_string(storage.bytes()));
  v.storage = std::move(storage);
  v.data = static_cast<char*>(v.storage.data()) + byte_offset;
  set_packed_strides(v);
  v.evaluated = true;
  return result;
}

handle packed(handle const& x) {
  value& v = evaluated(x);
  if (is_packed(v.order)) return x;
  handle result = copied(x);
  value& y = *result.get();
  if ((v.levels & ~suppressed_levels()) == 0) return result;
  y.computed_by = kind::operation;
  y.how = std::make_unique<packing>();
  y.inputs = y.small_input;
  y.input_count = 1;
  y.inputs[0] = x;
  finish(y);
  return result;
}

handle unshared(handle x) {
  value const& v = evaluated(x);
  bool const is_sole = v.references.load() == 1 && v.storage.is_unique() && is_packed(v.order);
  return is_sole && v.levels == 0 ? x : copied(x);
}

void* mutable_data(handle const& x) {
  value& v = evaluated(x);
  if (!is_packed(v.order))
    throw value_error("mutable_data: " + shape_text(v) +
                      " is a view; only packed values are written");
  if (!v.storage.is_unique()) {
    allocation_role const purpose(v.storage.purpose());
    handle const own = copied(x);
    v.storage = own->storage;
    v.data = own->data;
  }
  return v.data;
}

}  // namespace ricci::graph
