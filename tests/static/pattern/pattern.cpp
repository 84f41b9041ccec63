#include "../axes.hpp"

using namespace ricci;
using namespace ricci::test;

// einsum: accepted.
static_assert(einsum_ok<"batch seq hidden, hidden mlp -> batch seq mlp", X, W>, "a contraction");
static_assert(einsum_ok<"hidden batch seq, mlp hidden -> mlp batch seq", X, W>, "items in any order");
static_assert(einsum_ok<"... hidden, hidden mlp -> ... mlp", X, W>, "the axes not named");
static_assert(einsum_ok<"... -> ", X>, "all axes reduced");
static_assert(einsum_ok<" -> ", tensor<f32>>, "a scalar has no items");
static_assert(einsum_ok<"hidden=i mlp=j -> hidden=i mlp=j", W>, "indices of other names");
static_assert(einsum_ok<"hidden=i hidden'=i -> ", tensor<f32, Hidden, prime<Hidden>>>, "an index twice: a trace");
static_assert(einsum_ok<"batch seq=q -> batch query=q", Query, Ids>, "a new axis by its type");
static_assert(einsum_ok<"batch=b -> query=b", Query, B>, "a renaming");
static_assert(einsum_ok<"batch=(row 2) -> row", Row, B>, "a number is reduced over");
// einsum: refused.
static_assert(!einsum_ok<"batch seq hidden, hidden mlp -> batch seq mlp", X>, "two groups, one operand");
static_assert(!einsum_ok<"batch seq hidden, hidden mlp -> batch seq mlp", X, tensor<f32, Narrow, Mlp>>, "64 and 32");
static_assert(!einsum_ok<"batch seq hidden, hidden mlp -> batch seq mlp", X, tensor<bf16, Hidden, Mlp>>, "two dtypes");
static_assert(!einsum_ok<"batch hidden -> batch", X>, "seq is not named");
static_assert(!einsum_ok<"batch seq hiden -> batch", X>, "no such axis");
static_assert(!einsum_ok<"batch batch seq hidden -> batch", X>, "an axis named twice");
static_assert(!einsum_ok<"hidden=i mlp=i -> ", W>, "one index, extents 64 and 256");
static_assert(!einsum_ok<"batch seq=q -> batch query=q", Ids>, "the type of query is not given");
static_assert(!einsum_ok<"batch seq=q -> batch query=q", Query, Key, Ids>, "a type that the result does not have");
static_assert(!einsum_ok<"batch seq=q -> batch query=q", Query, Query, Ids>, "a type twice");
static_assert(!einsum_ok<"batch -> batch batch", B>, "an index twice in the result");
static_assert(!einsum_ok<"batch -> ...", B>, "`...` in no operand");
static_assert(!einsum_ok<"... ... -> ...", B>, "`...` twice");
static_assert(!einsum_ok<"", B>, "an empty pattern");
static_assert(!einsum_ok<"batch", B>, "no arrow");
static_assert(!einsum_ok<"batch -> batch -> batch", B>, "two arrows");
static_assert(!einsum_ok<"batch=( -> ", B>, "an open parenthesis");
static_assert(!einsum_ok<"Batch -> ", B>, "a capital");
static_assert(!einsum_ok<"batch -> ", int>, "no tensor");
static_assert(!einsum_ok<"batch -> ", poisoned>, "a refused operand is none");
// rearrange, repeat, reduce.
static_assert(rearrange_ok<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim, X>, "a split");
static_assert(rearrange_ok<"batch seq hidden=(row half) -> batch seq row half", Row, Half, X>, "one factor follows");
static_assert(rearrange_ok<"batch=(row query) -> row query", Row, Query, B, Row>, "or is given by value");
static_assert(!rearrange_ok<"batch=(row query) -> row query", Row, Query, B>, "two unknown factors");
static_assert(!rearrange_ok<"batch=(row query) -> row query", Row, Query, B, Row, Row>, "a value twice");
static_assert(!rearrange_ok<"batch=(row pair) -> row pair", Row, Pair, B, Pair>, "a value of a static axis");
static_assert(!rearrange_ok<"batch seq hidden=(heads pair) -> batch seq heads pair", Heads, Pair, X>, "4 times 2 is not 64");
static_assert(!rearrange_ok<"batch seq hidden -> batch seq", X>, "rearrange keeps every element");
static_assert(!rearrange_ok<"batch=(row 2) -> row", Row, B>, "a number cannot be kept");
static_assert(repeat_ok<"batch -> batch pair", Pair, B>, "a static axis");
static_assert(repeat_ok<"batch -> batch row", Row, B, Row>, "a dynamic one by value");
static_assert(!repeat_ok<"batch -> batch row", Row, B>, "its extent is not known");
static_assert(rearrange_view_ok<"batch seq hidden -> row=(batch seq) hidden", Row, X>, "adjacent in memory");
static_assert(!rearrange_view_ok<"batch seq hidden -> row=(seq batch) hidden", Row, X>, "needs a copy");
static_assert(reduce_ok<op::max, "batch seq=(row 2) -> batch row", Row, Ids>, "pooling");
static_assert(!reduce_ok<op::mean, "batch seq -> batch", Ids>, "no mean of integers");
static_assert(!reduce_ok<op::any, "batch -> ", B>, "any takes boolean");
static_assert(!reduce_ok<int, "batch -> ", B>, "int is no reduction");
struct first { template <class T> static T identity() { return T(0); } template <class T> static T combine(T a, T) { return a; } };
static_assert(reduce_ok<first, "batch -> ", B>, "the user's own");

// What they give.
X const& x();
static_assert(gives<decltype(einsum<"batch seq hidden, hidden mlp -> mlp seq batch">(x(), std::declval<W&>())), f32, Mlp,
                    Seq, Batch>,
              "the order of the result group");
static_assert(gives<decltype(einsum<"... hidden, hidden mlp -> mlp ...">(x(), std::declval<W&>())), f32, Mlp, Batch, Seq>,
              "`...`: in order of first appearance");
static_assert(gives<decltype(einsum<"batch seq=q hidden -> batch query=q", Query>(x())), f32, Batch, Query>, "a new type");
static_assert(decltype(rearrange<"batch seq hidden=(heads head_dim) -> batch heads seq head_dim", Heads, HeadDim>(
                  x()))::is_view,
              "a split and a permutation are a view");
static_assert(decltype(rearrange<"batch seq hidden -> row=(seq batch) hidden", Row>(x()))::is_expression,
              "what needs a copy is an expression");
static_assert(gives<decltype(reduce<op::argmax, "batch seq hidden -> batch seq">(x())), i64, Batch, Seq>, "positions: i64");
static_assert(gives<decltype(reduce<op::sum, "batch seq -> batch">(std::declval<Ids&>())), i64, Batch>, "integers sum to i64");
