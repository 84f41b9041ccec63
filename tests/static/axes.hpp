#pragma once

#include <ricci/ricci.hpp>

// The axes that the rules are asked with.
namespace ricci::test {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden", 64> {};
struct Narrow : axis<"hidden", 32> {};  // another type of the same name
struct Loose : axis<"hidden"> {};
struct Half : axis<"half", 32> {};
struct Wide : axis<"wide", 128> {};
struct Mlp : axis<"mlp", 256> {};
struct Heads : axis<"heads", 4> {};
struct HeadDim : axis<"head_dim", 16> {};
struct Vocab : axis<"vocab", 100> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct Row : axis<"row"> {};
struct Pair : axis<"pair", 2> {};

using X = tensor<f32, Batch, Seq, Hidden>;
using W = tensor<f32, Hidden, Mlp>;
using B = tensor<f32, Batch>;
using Ids = tensor<i32, Batch, Seq>;
using Mask = tensor<boolean, Batch>;

template <class A, class B> inline constexpr bool same = detail::same<A, B>;
/// The node that an expression evaluates to, whatever operation it is.
template <class E, class T, class... A> inline constexpr bool gives = same<typename E::node_type, node<T, host, A...>>;

}  // namespace ricci::test
