#include <string>
#include <type_traits>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/visit_dtype.hpp>

#include "kernels/copy/box_copy.hpp"
#include "kernels/simd/vec.hpp"

namespace ricci::kernels {
namespace {

constexpr box_shape shape{256, 256, 64 << 10};
constexpr std::int64_t packed_bytes = 128 << 10;

template <class T> constexpr bool has_vectors = is_floating_v<T> && (sizeof(T) > 1);

template <class T> RICCI_ALWAYS_INLINE T sum(T a, T b) {
  if constexpr (is_floating_v<T>) {
    using C = accumulator_t<T>;
    return static_cast<T>(static_cast<C>(a) + static_cast<C>(b));
  } else {
    // Unsigned and not narrower than int: wraps around, where T's own addition would overflow.
    using wide = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;
    return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
  }
}

template <class T> void add_run(T* __restrict to, T const* __restrict from, std::int64_t count) {
  std::int64_t i = 0;
  if constexpr (has_vectors<T>) {
    using C = accumulator_t<T>;
    for (; i + simd::lanes<C> <= count; i += simd::lanes<C>)
      simd::store<C>(to + i,
                     simd::load<C>(static_cast<T const*>(to + i)) + simd::load<C>(from + i));
  }
  for (; i < count; ++i) to[i] = sum(to[i], from[i]);
}

template <class T> void add_one(T* __restrict to, T value, std::int64_t count) {
  std::int64_t i = 0;
  if constexpr (has_vectors<T>) {
    using C = accumulator_t<T>;
    simd::vec<C> const all = simd::fill<C>(static_cast<C>(value));
    for (; i + simd::lanes<C> <= count; i += simd::lanes<C>)
      simd::store<C>(to + i, simd::load<C>(static_cast<T const*>(to + i)) + all);
  }
  for (; i < count; ++i) to[i] = sum(to[i], value);
}

template <class T> void add_rows(box_rows const& b, char* target, char const* source) {
  constexpr std::int64_t size = sizeof(T);
  std::int64_t const run = b.run / size;
  for (std::int64_t i = 0; i < b.outer; ++i) {
    char* const to = target + i * b.outer_target;
    char const* const from = source + i * b.outer_source;
    if (run == 1 && b.inner_target == size && b.inner_source == 0)
      add_one(reinterpret_cast<T*>(to), *reinterpret_cast<T const*>(from), b.inner);
    else
      for (std::int64_t j = 0; j < b.inner; ++j)
        add_run(reinterpret_cast<T*>(to + j * b.inner_target),
                reinterpret_cast<T const*>(from + j * b.inner_source), run);
  }
}

// A source in another order is put in the target's nearby, where its rows can be added as vectors.
// False: too far to put there.
bool add_packed(box_plan const& plan, box_copy::kernel add) {
  box_plan const into = into_packed(plan);
  if (packed_size(into) > packed_bytes) return false;
  box_plan const from = from_packed(plan);
  box_copy const read(into);
  box_copy const write(from, add);
  for_each_box(plan, [&](box const& b) {
    alignas(64) char packed[packed_bytes];
    read(packed, b.source, b.extents);
    write(b.target, packed, b.extents);
  });
  return true;
}

}  // namespace

void add_into(dtype type, int rank, std::int64_t const* extents, void* target,
              std::int64_t const* target_strides, void const* source,
              std::int64_t const* source_strides) {
  box_copy::kernel const add = visit(type, []<class T>(std::type_identity<T>) -> box_copy::kernel {
    if constexpr (std::is_same_v<T, boolean>)
      throw value_error("add_into: got elements of boolean; they have no sum (convert to i64).");
    else
      return &add_rows<T>;
  });
  box_plan plan = plan_boxes("add_into", size_of(type), rank, extents, target, target_strides,
                             source, source_strides);
  if (plan.is_empty) return;
  choose_blocks(plan, shape);
  if (plan.rank > 0 && plan.run_begin() == plan.rank && plan.axes[plan.rank - 1].source != 0 &&
      plan.axes[plan.rank - 1].target == plan.element_size && add_packed(plan, add))
    return;
  box_copy const kernel(plan, add);
  for_each_box(plan, [&](box const& b) { kernel(b.target, b.source, b.extents); });
}

}  // namespace ricci::kernels
