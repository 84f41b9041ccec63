#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include <ricci/error/exceptions.hpp>

#include "kernels/contract/contract.hpp"
#include "kernels/math/vector_math.hpp"
#include "kernels/simd/vec.hpp"

/// How rows of a contraction's arrays come into accumulators and go back. Private to
/// kernels/contract.
namespace ricci::kernels::contraction {

// Integers are accumulated as unsigned, which wraps where signed ones are undefined.
using integer = std::uint64_t;

template <class Acc> RICCI_ALWAYS_INLINE Acc as_accumulator(auto value) {
  if constexpr (std::is_same_v<Acc, integer>)
    return static_cast<Acc>(static_cast<std::int64_t>(value));
  else
    return static_cast<Acc>(value);
}

template <class T> RICCI_ALWAYS_INLINE T from_accumulator(auto value) {
  if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return static_cast<T>(value);
}

// Positions of `count` elements: first + offset[i]; `unit` promises offset[i] == offset[0] + i.
struct positions {
  std::int64_t const* offset = nullptr;
  bool unit = false;
};

template <class Acc, class T> inline constexpr bool has_vector_load =
    std::is_same_v<Acc, T> ||
    (std::is_same_v<Acc, float> && (std::is_same_v<T, bf16> || std::is_same_v<T, f16>));

// to[i] = from[offset[i]]
template <class Acc, class T> void load_row(Acc* to, void const* from, std::int64_t const* offset,
                                            bool unit, std::int64_t count) {
  T const* source = static_cast<T const*>(from);
  if (!unit) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = as_accumulator<Acc>(source[offset[i]]);
    return;
  }
  source += offset[0];
  std::int64_t i = 0;
  if constexpr (std::is_same_v<Acc, T>) {
    std::memcpy(to, source, static_cast<std::size_t>(count) * sizeof(Acc));
    return;
  } else if constexpr (has_vector_load<Acc, T>) {
    for (; i + simd::lanes<Acc> <= count; i += simd::lanes<Acc>)
      simd::store<Acc>(to + i, simd::load<Acc>(source + i));
  }
  for (; i < count; ++i) to[i] = as_accumulator<Acc>(source[i]);
}

// to[offset[i]] = row[i], rounded
template <class Acc, class T> void store_row(Acc const* row, void* to, std::int64_t const* offset,
                                             bool unit, std::int64_t count) {
  T* target = static_cast<T*>(to);
  if (!unit) {
    for (std::int64_t i = 0; i < count; ++i) target[offset[i]] = from_accumulator<T>(row[i]);
    return;
  }
  target += offset[0];
  std::int64_t i = 0;
  if constexpr (std::is_same_v<Acc, T>) {
    std::memcpy(target, row, static_cast<std::size_t>(count) * sizeof(Acc));
    return;
  } else if constexpr (has_vector_load<Acc, T>) {
    for (; i + simd::lanes<Acc> <= count; i += simd::lanes<Acc>)
      simd::store<Acc>(target + i, simd::load<Acc>(row + i));
  }
  for (; i < count; ++i) target[i] = from_accumulator<T>(row[i]);
}

template <class Acc>
using load_function = void (*)(Acc*, void const*, std::int64_t const*, bool, std::int64_t);
template <class Acc>
using store_function = void (*)(Acc const*, void*, std::int64_t const*, bool, std::int64_t);

// Calls f with the C++ type of a dtype that Acc accumulates.
template <class Acc, class F> auto visit_kind(dtype type, F&& f) {
  if constexpr (std::is_same_v<Acc, double>) {
    if (type == dtype::f64) return f(std::type_identity<f64>{});
  } else if constexpr (std::is_same_v<Acc, float>) {
    switch (type) {
      case dtype::f32:
        return f(std::type_identity<f32>{});
      case dtype::f16:
        return f(std::type_identity<f16>{});
      case dtype::bf16:
        return f(std::type_identity<bf16>{});
      case dtype::f8_e4m3:
        return f(std::type_identity<f8_e4m3>{});
      case dtype::f8_e5m2:
        return f(std::type_identity<f8_e5m2>{});
      default:
        break;
    }
  } else {
    switch (type) {
      case dtype::i64:
        return f(std::type_identity<i64>{});
      case dtype::i32:
        return f(std::type_identity<i32>{});
      case dtype::i16:
        return f(std::type_identity<i16>{});
      case dtype::i8:
        return f(std::type_identity<i8>{});
      case dtype::u16:
        return f(std::type_identity<u16>{});
      case dtype::u8:
        return f(std::type_identity<u8>{});
      case dtype::boolean:
        return f(std::type_identity<bool>{});
      default:
        break;
    }
  }
  throw value_error("contract: elements of " + std::string(name_of(type)) +
                    " stand beside others of another kind; all arrays are f64, or all are floats "
                    "narrower than it, or all are integers.");
}

template <class Acc> load_function<Acc> loader(dtype type) {
  return visit_kind<Acc>(
      type, []<class T>(std::type_identity<T>) -> load_function<Acc> { return load_row<Acc, T>; });
}

template <class Acc> store_function<Acc> storer(dtype type) {
  return visit_kind<Acc>(type, []<class T>(std::type_identity<T>) -> store_function<Acc> {
    return store_row<Acc, T>;
  });
}

template <class Acc> inline std::int64_t bytes_of(dtype type) {
  return visit_kind<Acc>(type, []<class T>(std::type_identity<T>) -> std::int64_t {
    return static_cast<std::int64_t>(sizeof(T));
  });
}

// row[i] = activation(row[i]); the row may be written up to the next multiple of the lanes.
template <class Acc> void activate(opcode op, Acc* row, std::int64_t count) {
  if constexpr (std::is_same_v<Acc, integer>) {
    if (op != opcode::relu) return;
    for (std::int64_t i = 0; i < count; ++i)
      row[i] = static_cast<std::int64_t>(row[i]) < 0 ? 0 : row[i];
  } else {
    auto const each = [&](auto f) {
      for (std::int64_t i = 0; i < count; i += simd::lanes<Acc>)
        simd::store<Acc>(row + i, f(simd::load<Acc>(static_cast<Acc const*>(row + i))));
    };
    using v = simd::vec<Acc>;
    switch (op) {
      case opcode::relu:
        return each([](v x) { return x < Acc(0) ? v{} : x; });  // NaN stays
      case opcode::silu:
        return each([](v x) { return simd::silu<Acc>(x); });
      case opcode::gelu_tanh:
        return each([](v x) { return simd::gelu_tanh<Acc>(x); });
      case opcode::gelu_erf:
        return each([](v x) { return simd::gelu_erf<Acc>(x); });
      case opcode::tanh:
        return each([](v x) { return simd::tanh<Acc>(x); });
      case opcode::sigmoid:
        return each([](v x) { return simd::sigmoid<Acc>(x); });
      default:
        return;
    }
  }
}

// What a row of sums goes through on its way into c.
template <class Acc> struct epilogue {
  store_function<Acc> store = nullptr;
  load_function<Acc> load[2] = {nullptr, nullptr};
  std::int64_t bytes_c = 0;
  std::int64_t bytes[2] = {0, 0};
  Acc alpha = 1;
  opcode activation = opcode::convert;
  contraction_addend addends[2];  // bias, residual

  explicit epilogue(contraction_problem const& p)
      : store(storer<Acc>(p.c_type)), bytes_c(size_of(p.c_type)), activation(p.activation) {
    if constexpr (std::is_same_v<Acc, integer>)
      alpha = static_cast<Acc>(static_cast<std::int64_t>(p.alpha));
    else
      alpha = static_cast<Acc>(p.alpha);
    addends[0] = p.bias;
    addends[1] = p.residual;
    for (int i = 0; i < 2; ++i) {
      if (addends[i].data == nullptr) continue;
      load[i] = loader<Acc>(addends[i].type);
      bytes[i] = size_of(addends[i].type);
    }
  }

  bool is_plain() const {
    return alpha == Acc(1) && activation == opcode::convert && !load[0] && !load[1];
  }

  // row: count sums, padded to the lanes; scratch: as many.
  // base, addend_base: offsets of the row in elements.
  void finish(Acc* row, Acc* scratch, std::int64_t count, void* c, std::int64_t base,
              positions const& of_c, std::int64_t const (&addend_base)[2],
              positions const (&of_addend)[2]) const {
    apply(row, scratch, count, addend_base, of_addend);
    store(row, static_cast<char*>(c) + base * bytes_c, of_c.offset, of_c.unit, count);
  }

  // All but the store.
  void apply(Acc* row, Acc* scratch, std::int64_t count, std::int64_t const (&addend_base)[2],
             positions const (&of_addend)[2]) const {
    if (alpha != Acc(1))
      for (std::int64_t i = 0; i < count; ++i) row[i] *= alpha;
    for (int which = 0; which < 2; ++which) {
      if (!load[which]) continue;
      load[which](scratch,
                  static_cast<char const*>(addends[which].data) + addend_base[which] * bytes[which],
                  of_addend[which].offset, of_addend[which].unit, count);
      for (std::int64_t i = 0; i < count; ++i) row[i] += scratch[i];
    }
    if (activation != opcode::convert) activate<Acc>(activation, row, count);
  }
};

// Offset tables of a product of axes: offset[i] of the i-th place, the last axis fastest.
inline void fill_offsets(contraction_axis const* axes, int count,
                         std::int64_t contraction_axis::* stride, std::int64_t* offset) {
  offset[0] = 0;
  // From the last axis on: a block of `done` offsets is repeated, shifted by the stride.
  std::int64_t done = 1;
  for (int axis = count - 1; axis >= 0; --axis) {
    std::int64_t const step = axes[axis].*stride;
    for (std::int64_t i = 1; i < axes[axis].extent; ++i)
      for (std::int64_t j = 0; j < done; ++j) offset[i * done + j] = offset[j] + i * step;
    done *= axes[axis].extent;
  }
}

inline std::int64_t size_of_axes(contraction_axis const* axes, int count) {
  std::int64_t size = 1;
  for (int axis = 0; axis < count; ++axis) size *= axes[axis].extent;
  return size;
}

// Is the table a run of consecutive numbers?
inline bool is_unit(std::int64_t const* offset, std::int64_t count) {
  for (std::int64_t i = 1; i < count; ++i)
    if (offset[i] != offset[i - 1] + 1) return false;
  return true;
}

}  // namespace ricci::kernels::contraction
