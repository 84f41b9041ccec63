#include "../axes.hpp"

using namespace ricci;
using namespace ricci::test;

using E = decltype(std::declval<B const&>() + 1);
static_assert(E::is_expression && !B::is_expression, "operations return expressions, tensors are values");
static_assert(!std::is_copy_constructible_v<E>, "an expression does not copy");
static_assert(!std::is_copy_assignable_v<E>, "nor by assignment");
static_assert(std::is_move_constructible_v<E>, "it moves");
static_assert(sizeof(E) == sizeof(void*), "it holds one handle, whatever it is");
static_assert(sizeof(B) == sizeof(void*), "so does a tensor");

static_assert(pointwise_ok<opcode::multiply, E, E>, "temporaries fuse");
static_assert(!pointwise_ok<opcode::multiply, E&, E&>, "a name does not");
static_assert(pointwise_ok<opcode::multiply, E const&, E const&>, "a const name is evaluated once");
static_assert(pointwise_ok<opcode::multiply, B&, B&>, "names of tensors are free");
using V = decltype(permute<Hidden, Batch, Seq>(std::declval<X&>()));
static_assert(V::is_view && pointwise_ok<opcode::negate, V&>, "and so are names of views");
static_assert(!einsum_ok<"batch -> ", E&>, "patterns keep the rule too");
static_assert(!reduction_ok<op::sum, Batch, E&>, "reductions");
static_assert(!layer_norm_ok<Batch, B, E&, B>, "parameters of norms");
