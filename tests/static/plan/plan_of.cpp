#include "tests/static/axes.hpp"

// What the compiler knows of a statement: the plan and the costs of its type.
namespace ricci::test {
namespace {

struct Which : axis<"which", 3> {};
struct Qkv : axis<"qkv", 192> {};
using XQ = tensor<f32, Batch, Seq, Heads, HeadDim>;
using Q = tensor<f32, Batch, Heads, Query, HeadDim>;
using K = tensor<f32, Batch, Heads, Key, HeadDim>;
using P = tensor<f32, Batch, Heads, Query, Key>;
using WQ = tensor<f32, Hidden, Qkv>;
using WO = tensor<f32, Heads, HeadDim, Hidden>;

template <class T> T const& of();
template <class T> T moved();

// --- attention, written by einsums: nothing is copied ----------------------------------------
using Split = decltype(einsum<"batch seq hidden, hidden qkv=(which heads head_dim) -> "
                              "which batch heads seq head_dim",
                              Which, Heads, HeadDim>(of<X>(), of<WQ>()));
static_assert(plan_of<Split>.gemms == 1);
static_assert(plan_of<Split>.copies == 0);

using Projected =
    decltype(einsum<"batch seq hidden, hidden qkv -> batch seq qkv">(of<X>(), of<WQ>()));
using Views = decltype(rearrange<"batch seq qkv=(which heads head_dim) -> "
                                 "which batch heads seq head_dim",
                                 Which, Heads, HeadDim>(moved<Projected>()));
static_assert(plan_of<Views>.gemms == 1);
static_assert(plan_of<Views>.views == 1);
static_assert(plan_of<Views>.copies == 0);
static_assert(plan_of<Views>.launches == 1);

using Scores = decltype(einsum<"batch heads query head_dim, batch heads key head_dim -> "
                               "batch heads query key">(of<Q>(), of<K>()));
static_assert(plan_of<Scores>.gemms == 1);
static_assert(plan_of<Scores>.copies == 0);

// The queries as they come out of the projection: heads behind positions.
using Lying = tensor<f32, Batch, Query, Heads, HeadDim>;
using LyingKeys = tensor<f32, Batch, Key, Heads, HeadDim>;
using LyingScores = decltype(einsum<"batch query heads head_dim, batch key heads head_dim -> "
                                    "batch heads query key">(of<Lying>(), of<LyingKeys>()));
static_assert(plan_of<LyingScores>.copies == 0);

using Merge = decltype(einsum<"batch heads query key, batch heads key head_dim -> "
                              "batch query hidden=(heads head_dim)",
                              Hidden>(of<P>(), of<K>()));
static_assert(plan_of<Merge>.gemms == 1);
static_assert(plan_of<Merge>.copies == 0);
static_assert(plan_of<Merge>.step_count == 1);

// --- every transpose of a matrix product --------------------------------------------------------
struct I : axis<"i", 256> {};
struct J : axis<"j", 192> {};
struct C : axis<"c", 320> {};
using IC = tensor<f32, I, C>;
using CI = tensor<f32, C, I>;
using CJ = tensor<f32, C, J>;
using JC = tensor<f32, J, C>;
template <class E> inline constexpr bool is_one_gemm =
    plan_of<E>.gemms == 1 && plan_of<E>.copies == 0 && plan_of<E>.launches == 1 &&
    plan_of<E>.temporary_bytes == 0 && cost_of<E>.operations == 2 * 256 * 192 * 320 &&
    cost_of<E>.bytes == 4 * (256 * 320 + 320 * 192 + 256 * 192);
static_assert(is_one_gemm<decltype(einsum<"i c, c j -> i j">(of<IC>(), of<CJ>()))>);
static_assert(is_one_gemm<decltype(einsum<"c i, c j -> i j">(of<CI>(), of<CJ>()))>);
static_assert(is_one_gemm<decltype(einsum<"i c, j c -> i j">(of<IC>(), of<JC>()))>);
static_assert(is_one_gemm<decltype(einsum<"c i, j c -> i j">(of<CI>(), of<JC>()))>);
static_assert(is_one_gemm<decltype(einsum<"i c, c j -> j i">(of<IC>(), of<CJ>()))>);
static_assert(is_one_gemm<decltype(einsum<"c i, c j -> j i">(of<CI>(), of<CJ>()))>);
static_assert(is_one_gemm<decltype(einsum<"i c, j c -> j i">(of<IC>(), of<JC>()))>);
static_assert(is_one_gemm<decltype(einsum<"c i, j c -> j i">(of<CI>(), of<JC>()))>);

// --- epilogues and fusion -----------------------------------------------------------------------
using Linear =
    decltype(gelu(einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(of<X>(), of<W>()) +
                  of<tensor<f32, Mlp>>()));
static_assert(plan_of<Linear>.launches == 1);
static_assert(plan_of<Linear>.steps[0].kind == step_kind::gemm);
static_assert(plan_of<Linear>.steps[0].fused == 2);
static_assert(plan_of<decltype(sum<Seq>(exp(of<X>()) * 2.0f))>.launches == 1);
static_assert(plan_of<decltype(sum<Seq>(exp(of<X>()) * 2.0f))>.reductions == 1);
static_assert(plan_of<decltype(softmax<Hidden>(of<X>()))>.kernels == 1);

// --- views and copies ---------------------------------------------------------------------------
using Permuted = decltype(permute<Seq, Batch, Hidden>(of<X>()));
static_assert(plan_of<Permuted>.launches == 0);
static_assert(plan_of<Permuted>.step_count == 0);
// A permutation that cannot be a view: exactly one copy.
using Copied =
    decltype(rearrange<"batch heads query head_dim -> batch query hidden=(heads head_dim)", Hidden>(
        of<Q>()));
static_assert(plan_of<Copied>.copies == 1);
static_assert(plan_of<Copied>.launches == 1);
static_assert(plan_of<Copied>.steps[0].kind == step_kind::copy);
static_assert(cost_of<Copied>.operations.at(Batch{2}, Query{3}) == 0);

// --- steering -----------------------------------------------------------------------------------
using Packed = decltype(einsum<"i c, c j -> i j", lowering::pack_gemm>(of<IC>(), of<CJ>()));
static_assert(plan_of<Packed>.copies == 2);
static_assert(plan_of<Packed>.gemms == 1);
static_assert(plan_of<Packed>.temporary_bytes >= 4 * (256 * 320 + 320 * 192));
using Looped = decltype(einsum<"i c, c j -> i j", lowering::loops>(of<IC>(), of<CJ>()));
static_assert(plan_of<Looped>.gemms == 0);
static_assert(plan_of<Looped>.loops == 1);

// --- costs --------------------------------------------------------------------------------------
static_assert(cost_of<Linear>.operations.at(Batch{8}, Seq{128}) == 8 * 128 * 256 * (2 * 64 + 2));
static_assert(cost_of<Linear>.bytes.at(Seq{128}, Batch{8}) ==
              4 * (8 * 128 * 64 + 64 * 256 + 256 + 8 * 128 * 256));
static_assert(cost_of<Linear>.temporary_bytes.at(Batch{8}, Seq{128}) == 0);
static_assert(std::derived_from<std::remove_cvref_t<decltype(cost_of<Linear>.operations)>,
                                polynomial<Batch, Seq>>);

// What a const name evaluated is a leaf.
using Named = decltype([](auto const& e) { return e * 2.0f; }(of<Linear>()));
static_assert(plan_of<Named>.gemms == 0);
static_assert(plan_of<Named>.loops == 1);
// A tensor has nothing to do.
static_assert(plan_of<X>.step_count == 0);

}  // namespace
}  // namespace ricci::test
