#pragma once

#include "kernels/math/vector_math.hpp"
#include "kernels/pointwise/block_kernels.hpp"
#include "kernels/simd/independent.hpp"

/// The block kernels of one floating type C, over simd::vec. The last, partial vector runs through
/// the same instructions as the others, so a value does not depend on its place in the block.
namespace ricci::kernels::float_kernels {

using simd::fill;
using simd::lanes;
using simd::load;
using simd::load_first;
using simd::mask;
using simd::store;
using simd::store_first;
using simd::vec;

template <class C, class F> void unary(void* out_, void const* const* in, std::int64_t n) {
  auto* const out = static_cast<C*>(out_);
  auto const* const a = static_cast<C const*>(in[0]);
  std::int64_t i = 0;
  for (; i + lanes<C> <= n; i += lanes<C>) store<C>(out + i, F{}(load<C>(a + i)));
  if (i < n) store_first<C>(out + i, F{}(load_first<C>(a + i, n - i, C(1))), n - i);
}

// One source of a kernel: a block, or one element that stands for all.
template <class C, bool Scalar> struct source {
  explicit source(void const* from)
      : at(static_cast<C const*>(from)), all(Scalar ? fill<C>(*at) : vec<C>{}) {}
  vec<C> operator()(std::int64_t i) const { return Scalar ? all : load<C>(at + i); }
  vec<C> operator()(std::int64_t i, std::int64_t count) const {
    return Scalar ? all : load_first<C>(at + i, count, C(1));
  }
  C const* at;
  vec<C> all;
};

template <class C, class F, unsigned Scalars>
void binary(void* out_, void const* const* in, std::int64_t n) {
  auto* const out = static_cast<C*>(out_);
  source<C, (Scalars & 1) != 0> const a(in[0]);
  source<C, (Scalars & 2) != 0> const b(in[1]);
  std::int64_t i = 0;
  for (; i + lanes<C> <= n; i += lanes<C>) store<C>(out + i, F{}(a(i), b(i)));
  if (i < n) store_first<C>(out + i, F{}(a(i, n - i), b(i, n - i)), n - i);
}

template <class C, class F, unsigned Scalars>
void ternary(void* out_, void const* const* in, std::int64_t n) {
  auto* const out = static_cast<C*>(out_);
  source<C, (Scalars & 1) != 0> const a(in[0]);
  source<C, (Scalars & 2) != 0> const b(in[1]);
  source<C, (Scalars & 4) != 0> const c(in[2]);
  std::int64_t i = 0;
  for (; i + lanes<C> <= n; i += lanes<C>) store<C>(out + i, F{}(a(i), b(i), c(i)));
  if (i < n) store_first<C>(out + i, F{}(a(i, n - i), b(i, n - i), c(i, n - i)), n - i);
}

template <class C, class F, unsigned Scalars>
void compare(void* out_, void const* const* in, std::int64_t n) {
  auto* const out = static_cast<boolean*>(out_);
  auto const* const a = static_cast<C const*>(in[0]);
  auto const* const b = static_cast<C const*>(in[1]);
  RICCI_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = F{}(a[Scalars & 1 ? 0 : i], b[Scalars & 2 ? 0 : i]);
}

template <class C, unsigned Scalars> void where(void* out_, void const* const* in, std::int64_t n) {
  auto* const out = static_cast<C*>(out_);
  auto const* const condition = static_cast<std::uint8_t const*>(in[0]);
  auto const* const a = static_cast<C const*>(in[1]);
  auto const* const b = static_cast<C const*>(in[2]);
  RICCI_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    C const yes = a[Scalars & 2 ? 0 : i], no = b[Scalars & 4 ? 0 : i];
    out[i] = condition[i] != 0 ? yes : no;
  }
}

template <class C, class F> block_kernel unary_of(F) { return &unary<C, F>; }

template <class C, class F> block_kernel binary_of(unsigned scalars, F) {
  constexpr block_kernel variants[] = {&binary<C, F, 0>, &binary<C, F, 1>, &binary<C, F, 2>};
  return scalars < 3 ? variants[scalars] : nullptr;
}

template <class C, class F> block_kernel compare_of(unsigned scalars, F) {
  constexpr block_kernel variants[] = {&compare<C, F, 0>, &compare<C, F, 1>, &compare<C, F, 2>};
  return scalars < 3 ? variants[scalars] : nullptr;
}

// For a * b + c: the first factor is always a block, the interpreter swaps the factors for that.
template <class C, class F> block_kernel ternary_of(unsigned scalars, F) {
  constexpr block_kernel variants[] = {&ternary<C, F, 0>, &ternary<C, F, 2>, &ternary<C, F, 4>,
                                       &ternary<C, F, 6>};
  return scalars < 8 && (scalars & 1) == 0 ? variants[scalars / 2] : nullptr;
}

template <class C> block_kernel where_of(unsigned scalars) {
  constexpr block_kernel variants[] = {&where<C, 0>, &where<C, 2>, &where<C, 4>, &where<C, 6>};
  return scalars < 8 && (scalars & 1) == 0 ? variants[scalars / 2] : nullptr;
}

template <class C> block_kernel find_unary(opcode op) {
  using v = vec<C>;
  switch (op) {
    case opcode::negate:
      return unary_of<C>([](v a) { return -a; });
    case opcode::absolute:
      return unary_of<C>([](v a) { return simd::absolute<C>(a); });
    case opcode::sign:
      return unary_of<C>([](v a) { return a > C(0) ? fill<C>(1) : a < C(0) ? fill<C>(-1) : a; });
    case opcode::square:
      return unary_of<C>([](v a) { return a * a; });
    case opcode::reciprocal:
      return unary_of<C>([](v a) { return C(1) / a; });
    case opcode::sqrt:
      return unary_of<C>([](v a) { return simd::sqrt<C>(a); });
    case opcode::rsqrt:
      return unary_of<C>([](v a) { return C(1) / simd::sqrt<C>(a); });
    case opcode::exp:
      return unary_of<C>([](v a) { return simd::exp<C>(a); });
    case opcode::log:
      return unary_of<C>([](v a) { return simd::log<C>(a); });
    case opcode::sin:
      return unary_of<C>([](v a) { return simd::sin<C>(a); });
    case opcode::cos:
      return unary_of<C>([](v a) { return simd::cos<C>(a); });
    case opcode::tanh:
      return unary_of<C>([](v a) { return simd::tanh<C>(a); });
    case opcode::sigmoid:
      return unary_of<C>([](v a) { return simd::sigmoid<C>(a); });
    case opcode::erf:
      return unary_of<C>([](v a) { return simd::erf<C>(a); });
    case opcode::relu:
      return unary_of<C>([](v a) { return a <= C(0) ? v{} : a; });
    case opcode::silu:
      return unary_of<C>([](v a) { return simd::silu<C>(a); });
    case opcode::gelu_tanh:
      return unary_of<C>([](v a) { return simd::gelu_tanh<C>(a); });
    case opcode::gelu_erf:
      return unary_of<C>([](v a) { return simd::gelu_erf<C>(a); });
    case opcode::relu_grad:
      return unary_of<C>([](v a) { return a > C(0) ? fill<C>(1) : a <= C(0) ? v{} : a; });
    case opcode::silu_grad:
      return unary_of<C>([](v a) { return simd::silu_grad<C>(a); });
    case opcode::gelu_tanh_grad:
      return unary_of<C>([](v a) { return simd::gelu_tanh_grad<C>(a); });
    case opcode::gelu_erf_grad:
      return unary_of<C>([](v a) { return simd::gelu_erf_grad<C>(a); });
    default:
      return nullptr;
  }
}

// NaN on either side comes through.
template <class C> RICCI_ALWAYS_INLINE vec<C> smaller(vec<C> a, vec<C> b) {
  return ((a < b) | (a != a)) ? a : b;
}
template <class C> RICCI_ALWAYS_INLINE vec<C> larger(vec<C> a, vec<C> b) {
  return ((a > b) | (a != a)) ? a : b;
}

template <class C> block_kernel find(block_opcode op, unsigned scalars) {
  using v = vec<C>;
  if (op == block_opcode::multiply_subtract)
    return ternary_of<C>(scalars, [](v a, v b, v c) { return a * b - c; });
  if (op == block_opcode::subtract_multiply)
    return ternary_of<C>(scalars, [](v a, v b, v c) { return c - a * b; });
  switch (static_cast<opcode>(op)) {
    case opcode::add:
      return binary_of<C>(scalars, [](v a, v b) { return a + b; });
    case opcode::subtract:
      return binary_of<C>(scalars, [](v a, v b) { return a - b; });
    case opcode::multiply:
      return binary_of<C>(scalars, [](v a, v b) { return a * b; });
    case opcode::divide:
      return binary_of<C>(scalars, [](v a, v b) { return a / b; });
    case opcode::power:
      return binary_of<C>(scalars, [](v a, v b) { return simd::power<C>(a, b); });
    case opcode::minimum:
      return binary_of<C>(scalars, [](v a, v b) { return smaller<C>(a, b); });
    case opcode::maximum:
      return binary_of<C>(scalars, [](v a, v b) { return larger<C>(a, b); });
    case opcode::less:
      return compare_of<C>(scalars, [](C a, C b) { return a < b; });
    case opcode::less_equal:
      return compare_of<C>(scalars, [](C a, C b) { return a <= b; });
    case opcode::greater:
      return compare_of<C>(scalars, [](C a, C b) { return a > b; });
    case opcode::greater_equal:
      return compare_of<C>(scalars, [](C a, C b) { return a >= b; });
    case opcode::equal:
      return compare_of<C>(scalars, [](C a, C b) { return a == b; });
    case opcode::not_equal:
      return compare_of<C>(scalars, [](C a, C b) { return a != b; });
    case opcode::where:
      return where_of<C>(scalars);
    case opcode::fma:
      return ternary_of<C>(scalars, [](v a, v b, v c) { return a * b + c; });
    case opcode::clamp:
      return ternary_of<C>(scalars,
                           [](v x, v low, v high) { return smaller<C>(larger<C>(x, low), high); });
    default:
      return scalars == 0 ? find_unary<C>(static_cast<opcode>(op)) : nullptr;
  }
}

}  // namespace ricci::kernels::float_kernels
