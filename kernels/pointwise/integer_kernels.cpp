#include <type_traits>

#include "kernels/pointwise/block_kernels.hpp"
#include "kernels/simd/independent.hpp"

namespace ricci::kernels {
namespace {

// Unsigned and not narrower than int: arithmetic in it wraps around, where T's own would overflow.
template <class T> using wrapping =
    std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

template <class T> constexpr T wrapped_negate(T a) {
  return static_cast<T>(wrapping<T>{0} - static_cast<wrapping<T>>(a));
}
template <class T> constexpr T wrapped_multiply(T a, T b) {
  return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
}

// By 0 gives 0; the lowest value by -1 wraps to itself. Neither may reach the machine's divide.
template <class T> constexpr T quotient(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapped_negate(a);
  }
  return b == 0 ? T{0} : static_cast<T>(a / b);
}

template <class T> constexpr T whole_power(T a, T b) {
  T base = a;
  if constexpr (std::is_signed_v<T>) {
    if (b < 0) {
      base = quotient<T>(1, a);
      b = wrapped_negate(b);
    }
  }
  T result = 1;
  for (auto e = static_cast<std::make_unsigned_t<T>>(b); e != 0;
       e = static_cast<decltype(e)>(e >> 1)) {
    if (e & 1) result = wrapped_multiply(result, base);
    base = wrapped_multiply(base, base);
  }
  return result;
}

template <class T, class F> block_kernel unary(F) {
  return [](void* out_, void const* const* in, std::int64_t n) {
    auto* const out = static_cast<T*>(out_);
    auto const* const a = static_cast<T const*>(in[0]);
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(a[i]);
  };
}

template <class Out, class T, class F> block_kernel binary(F) {
  return [](void* out_, void const* const* in, std::int64_t n) {
    auto* const out = static_cast<Out*>(out_);
    auto const* const a = static_cast<T const*>(in[0]);
    auto const* const b = static_cast<T const*>(in[1]);
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(a[i], b[i]);
  };
}

template <class T, class F> block_kernel ternary(F) {
  return [](void* out_, void const* const* in, std::int64_t n) {
    auto* const out = static_cast<T*>(out_);
    auto const* const a = static_cast<T const*>(in[0]);
    auto const* const b = static_cast<T const*>(in[1]);
    auto const* const c = static_cast<T const*>(in[2]);
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(a[i], b[i], c[i]);
  };
}

template <class T> block_kernel where() {
  return [](void* out_, void const* const* in, std::int64_t n) {
    auto* const out = static_cast<T*>(out_);
    auto const* const condition = static_cast<std::uint8_t const*>(in[0]);
    auto const* const a = static_cast<T const*>(in[1]);
    auto const* const b = static_cast<T const*>(in[2]);
    RICCI_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = condition[i] != 0 ? a[i] : b[i];
  };
}

// What integers and boolean share.
template <class T> block_kernel find_ordering(opcode op) {
  switch (op) {
    case opcode::minimum:
      return binary<T, T>([](T a, T b) { return b < a ? b : a; });
    case opcode::maximum:
      return binary<T, T>([](T a, T b) { return a < b ? b : a; });
    case opcode::less:
      return binary<boolean, T>([](T a, T b) { return a < b; });
    case opcode::less_equal:
      return binary<boolean, T>([](T a, T b) { return a <= b; });
    case opcode::greater:
      return binary<boolean, T>([](T a, T b) { return a > b; });
    case opcode::greater_equal:
      return binary<boolean, T>([](T a, T b) { return a >= b; });
    case opcode::equal:
      return binary<boolean, T>([](T a, T b) { return a == b; });
    case opcode::not_equal:
      return binary<boolean, T>([](T a, T b) { return a != b; });
    case opcode::where:
      return where<T>();
    default:
      return nullptr;
  }
}

template <class T> block_kernel find(block_opcode op) {
  using w = wrapping<T>;
  if (op == block_opcode::multiply_subtract || op == block_opcode::subtract_multiply)
    return nullptr;
  switch (static_cast<opcode>(op)) {
    case opcode::negate:
      return unary<T>([](T a) { return wrapped_negate(a); });
    case opcode::absolute:
      return unary<T>([](T a) { return a < T{0} ? wrapped_negate(a) : a; });
    case opcode::sign:
      return unary<T>([](T a) { return static_cast<T>((a > T{0}) - (a < T{0})); });
    case opcode::square:
      return unary<T>([](T a) { return wrapped_multiply(a, a); });
    case opcode::reciprocal:
      return unary<T>([](T a) { return quotient<T>(1, a); });
    case opcode::relu:
      return unary<T>([](T a) { return a > T{0} ? a : T{0}; });
    case opcode::relu_grad:
      return unary<T>([](T a) { return static_cast<T>(a > T{0}); });
    case opcode::add:
      return binary<T, T>(
          [](T a, T b) { return static_cast<T>(static_cast<w>(a) + static_cast<w>(b)); });
    case opcode::subtract:
      return binary<T, T>(
          [](T a, T b) { return static_cast<T>(static_cast<w>(a) - static_cast<w>(b)); });
    case opcode::multiply:
      return binary<T, T>([](T a, T b) { return wrapped_multiply(a, b); });
    case opcode::divide:
      return binary<T, T>([](T a, T b) { return quotient(a, b); });
    case opcode::power:
      return binary<T, T>([](T a, T b) { return whole_power(a, b); });
    case opcode::fma:
      return ternary<T>([](T a, T b, T c) {
        return static_cast<T>(static_cast<w>(a) * static_cast<w>(b) + static_cast<w>(c));
      });
    case opcode::clamp:
      return ternary<T>([](T x, T low, T high) {
        T const raised = x < low ? low : x;
        return high < raised ? high : raised;
      });
    default:
      return find_ordering<T>(static_cast<opcode>(op));
  }
}

}  // namespace

block_kernel find_integer_kernel(block_opcode op, dtype type, unsigned scalars) {
  if (scalars != 0) return nullptr;
  switch (type) {
    case dtype::i64:
      return find<i64>(op);
    case dtype::i32:
      return find<i32>(op);
    case dtype::i16:
      return find<i16>(op);
    case dtype::i8:
      return find<i8>(op);
    case dtype::u16:
      return find<u16>(op);
    case dtype::u8:
      return find<u8>(op);
    default:
      return nullptr;
  }
}

block_kernel find_boolean_kernel(block_opcode op, unsigned scalars) {
  if (scalars != 0 || op >= static_cast<block_opcode>(opcode_count)) return nullptr;
  switch (static_cast<opcode>(op)) {
    case opcode::logical_not:
      return unary<boolean>([](boolean a) { return !a; });
    case opcode::logical_and:
      return binary<boolean, boolean>([](boolean a, boolean b) { return (a & b) != 0; });
    case opcode::logical_or:
      return binary<boolean, boolean>([](boolean a, boolean b) { return (a | b) != 0; });
    default:
      return find_ordering<boolean>(static_cast<opcode>(op));
  }
}

}  // namespace ricci::kernels
