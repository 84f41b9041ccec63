#include "../axes.hpp"

#include <ricci/plan/lowering.hpp>

using namespace ricci;
using namespace ricci::test;

// The chain 10 x 1000 x 5 x 2000 x 3, once with extents known while compiling and once without.
struct A0 : axis<"a0", 10> {};
struct A1 : axis<"a1", 1000> {};
struct A2 : axis<"a2", 5> {};
struct A3 : axis<"a3", 2000> {};
struct A4 : axis<"a4", 3> {};
struct I : axis<"i"> {};
struct J : axis<"j"> {};
struct K : axis<"k"> {};
struct L : axis<"l"> {};

using M1 = tensor<f32, A0, A1>;
using M2 = tensor<f32, A1, A2>;
using M3 = tensor<f32, A2, A3>;
using M4 = tensor<f32, A3, A4>;
using P = tensor<f32, I, J>;
using Q = tensor<f32, J, K>;
using R = tensor<f32, K, L>;

template <class T> T const& of();
template <class E> using operation = typename E::operation;
template <fixed_string S, class... Steer> using chain =
    operation<decltype(einsum<S, Steer...>(of<M1>(), of<M2>(), of<M3>(), of<M4>()))>;
template <class... Steer> using static_chain =
    chain<"a0 a1, a1 a2, a2 a3, a3 a4 -> a0 a4", Steer...>;
template <class... Steer> using dynamic_chain =
    operation<decltype(einsum<"i j, j k, k l -> i l", Steer...>(of<P>(), of<Q>(), of<R>()))>;
template <class... Steer> using product =
    operation<decltype(einsum<"i j, j k -> i k", Steer...>(of<P>(), of<Q>()))>;

// The order is in the type.
static_assert(same<static_chain<>, static_chain<path<2, 3, 1, 2, 0, 1>>>,
              "static extents: the cheapest order is found while compiling");
static_assert(same<static_chain<path<2, 3, 1, 2, 0, 1>>, static_chain<path<3, 2, 1, 2, 1, 0>>>,
              "pairs have no order");
static_assert(!same<static_chain<>, static_chain<path<0, 1, 2, 0, 1, 0>>>,
              "another order, another type");
static_assert(!same<dynamic_chain<>, dynamic_chain<path<0, 1, 0, 1>>>,
              "dynamic extents: found when it runs");
static_assert(same<dynamic_chain<path<0, 1, 0, 1>>, dynamic_chain<path<0, 1, 1, 0>>>,
              "pairs have no order");

// So is the lowering of two operands.
static_assert(same<product<>, product<lowering::automatic>>,
              "automatic is what happens without it");
static_assert(same<product<>, product<path<0, 1>>>, "two operands have one order");
static_assert(!same<product<>, product<lowering::loops>>, "forced");
static_assert(!same<product<lowering::gemm>, product<lowering::loops>>, "forced otherwise");
static_assert(same<product<lowering::gemm, path<0, 1>>, product<path<1, 0>, lowering::gemm>>,
              "in any order");

// The result is the same.
static_assert(
    gives<decltype(einsum<"i j, j k -> i k", lowering::loops>(of<P>(), of<Q>())), f32, I, K>);
static_assert(
    gives<decltype(einsum<"i=x j, j k -> row=x k", lowering::loops, Row>(of<P>(), of<Q>())), f32,
          Row, K>,
    "among axis types");
static_assert(gives<decltype(einsum<"i=x j, j k, k l=y -> row=x query=y", Row, path<1, 2, 0, 1>,
                                    Query>(of<P>(), of<Q>(), of<R>())),
                    f32, Row, Query>,
              "between axis types");

// einsum_ok.
static_assert(einsum_ok<"i j, j k -> i k", lowering::loops, P, Q>, "a lowering");
static_assert(einsum_ok<"i=x j, j k -> row=x k", Row, lowering::gemm, P, Q>, "behind an axis");
static_assert(einsum_ok<"i j, j k, k l -> i l", path<0, 2, 0, 1>, P, Q, R>,
              "an outer product first");
static_assert(einsum_ok<"i j -> i", path<>, P>, "one operand: no pair");
static_assert(!einsum_ok<"i j, j k, k l -> i l", path<0, 1>, P, Q, R>, "one pair too few");
static_assert(!einsum_ok<"i j, j k, k l -> i l", path<0, 1, 0>, P, Q, R>, "half a pair");
static_assert(!einsum_ok<"i j, j k, k l -> i l", path<0, 1, 0, 2>, P, Q, R>, "no such position");
static_assert(!einsum_ok<"i j, j k, k l -> i l", path<0, 1, 1, 1>, P, Q, R>, "a position twice");
static_assert(!einsum_ok<"i j, j k -> i k", path<0, 1, 0, 1>, P, Q>, "one pair too many");
static_assert(!einsum_ok<"i j, j k, k l -> i l", lowering::gemm, P, Q, R>, "not of three");
static_assert(!einsum_ok<"i j -> i", lowering::loops, P>, "nor of one");
static_assert(!einsum_ok<"i j, j k -> i k", lowering::gemm, lowering::loops, P, Q>,
              "two lowerings");
static_assert(!einsum_ok<"i j, j k -> i k", lowering::gemm, tensor<f64, I, J>, tensor<f64, J, K>>,
              "f64 has no gemm");
static_assert(einsum_ok<"i j, j k -> i k", lowering::loops, tensor<f64, I, J>, tensor<f64, J, K>>,
              "but loops");
static_assert(!einsum_ok<"i j, i j -> ", lowering::gemm, P, P>, "nor has a sum of products");
static_assert(!einsum_ok<"i j, j k -> i k", int, P, Q>, "int is no type after a pattern");
static_assert(!rearrange_ok<"i j -> j i", lowering::loops, P> && rearrange_ok<"i j -> j i", P>,
              "einsum alone");
static_assert(!repeat_ok<"i j -> i j row", Row, path<0, 1>, P, Row>, "einsum alone");
static_assert(!reduce_ok<op::sum, "i j -> j", lowering::loops, P>, "einsum alone");

// The layouts are those of the types: a transposed view is an operand as it lies, a reversed one is
// not.
using Turned = decltype(permute<J, I>(of<P>()));
using Back = decltype(reverse<J>(of<P>()));
static_assert(einsum_ok<"i j, j k -> i k", lowering::gemm, Turned, Q>, "a transposed operand");
static_assert(!einsum_ok<"i j, j k -> i k", lowering::gemm, Back, Q>,
              "a reversed operand is copied");
static_assert(einsum_ok<"i j, j k -> i k", lowering::pack_first_gemm, Back, Q>, "so");
