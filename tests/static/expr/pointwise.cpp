#include "../axes.hpp"

using namespace ricci;
using namespace ricci::test;

template <class... T> constexpr bool add_ok = pointwise_ok<opcode::add, T...>;
static_assert(add_ok<X, X>, "the same axes");
static_assert(add_ok<X, tensor<f32, Hidden, Batch>>, "a subset, by name");
static_assert(add_ok<tensor<f32>, X>, "a scalar");
static_assert(add_ok<X, int>, "a C++ number");
static_assert(add_ok<X, bf16>, "an element type is a number");
static_assert(!add_ok<X, W>, "neither has all axes of the other");
static_assert(!add_ok<X, tensor<f32, Batch, Seq, Narrow>>, "another type of that name");
static_assert(!add_ok<X, char const*>, "a text is no number");
static_assert(!add_ok<int, int>, "at least one tensor");
static_assert(!add_ok<tensor<f32, Batch>, tensor<bf16, Batch>>, "dtypes do not mix");
static_assert(!add_ok<tensor<i32, Batch>, tensor<bf16, Batch>>, "nor integers with floats");
static_assert(!add_ok<tensor<f32, Batch>, tensor<f64, Batch>>, "nor two floats");
static_assert(add_ok<Ids, int>, "an integer with integers");
static_assert(!add_ok<Ids, double>, "a floating number does not compile with an integer tensor");
static_assert(!add_ok<Mask, Mask>, "booleans are not added");
static_assert(!pointwise_ok<opcode::sqrt, Ids>, "no square root of integers");
static_assert(pointwise_ok<opcode::sqrt, tensor<f16, Batch>>, "f16 computes in f32");
static_assert(pointwise_ok<opcode::logical_and, Mask, Mask>, "logic on boolean");
static_assert(!pointwise_ok<opcode::logical_and, B, B>, "and on nothing else");
static_assert(pointwise_ok<opcode::where, Mask, B, int>, "where takes numbers");
static_assert(!pointwise_ok<opcode::where, B, B, B>, "the mask is boolean");
static_assert(!pointwise_ok<opcode::where, bool, B, B>, "and a tensor");
static_assert(!pointwise_ok<opcode::where, Mask, int, int>, "the dtype of two numbers is not known");

static_assert(gives<decltype(std::declval<X&>() + std::declval<B&>()), f32, Batch, Seq, Hidden>, "the larger one's axes");
static_assert(gives<decltype(std::declval<B&>() + std::declval<X&>()), f32, Batch, Seq, Hidden>, "on either side");
static_assert(gives<decltype(std::declval<tensor<f32, Seq, Batch>&>() + std::declval<tensor<f32, Batch, Seq>&>()), f32,
                    Seq, Batch>,
              "equal sets: the order of operand 1");
static_assert(gives<decltype(std::declval<B&>() < 1), boolean, Batch>, "comparisons give boolean");
static_assert(gives<decltype(std::declval<Ids&>() * 2), i32, Batch, Seq>, "a number takes the tensor's dtype");
static_assert(gives<decltype(where(std::declval<Mask&>(), std::declval<X&>(), 0)), f32, Batch, Seq, Hidden>,
              "where: the axes of the largest, the dtype of the values");
