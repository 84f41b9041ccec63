#include "../axes.hpp"

using namespace ricci;
using namespace ricci::test;

X const& x();
// Views.
static_assert(permute_ok<Hidden, Batch, Seq, X>, "all axes in a new order");
static_assert(!permute_ok<Hidden, Batch, X>, "one is missing");
static_assert(!permute_ok<Hidden, Batch, Batch, X>, "one twice");
static_assert(rename_ok<Seq, Key, X>, "a new name");
static_assert(!rename_ok<Seq, Batch, X>, "that x has already");
static_assert(!rename_ok<Hidden, Half, X>, "64 is not 32");
static_assert(!rename_ok<Mlp, Half, X>, "an axis that x has not");
static_assert(at_ok<Seq, X>, "a position");
static_assert(!at_ok<Seq, X, double>, "is an integer");
static_assert(!at_ok<Mlp, X>, "along an axis of x");
static_assert(slice_ok<Seq, Seq, X>, "a part of a dynamic axis keeps its type");
static_assert(!slice_ok<Hidden, Hidden, X>, "a part of a static one cannot");
static_assert(slice_ok<Hidden, Half, X>, "it is another axis");
static_assert(!slice_ok<Hidden, Mlp, X>, "no larger than the whole");
static_assert(reverse_ok<Seq, X> && !reverse_ok<Mlp, X>, "an axis of x");
using Square = tensor<f32, Hidden, prime<Hidden>>;
static_assert(diagonal_ok<Hidden, prime<Hidden>, Row, Square>, "two axes of one extent");
static_assert(!diagonal_ok<Hidden, Mlp, Row, W>, "64 is not 256");
static_assert(!diagonal_ok<Hidden, prime<Hidden>, Half, Square>, "the diagonal has it too");
static_assert(broadcast_ok<Row, Pair, B> && !broadcast_ok<Batch, B>, "new axes");
static_assert(outer_ok<B, W> && !outer_ok<B, X>, "no axis in common");
// Joins.
static_assert(concat_ok<Seq, Seq, X, X>, "a dynamic axis");
static_assert(!concat_ok<Hidden, Hidden, X, X>, "a static one cannot grow");
static_assert(concat_ok<Hidden, Wide, X, X> && !concat_ok<Hidden, Wide, X, X, X>, "it grows into another of the sum");
static_assert(!concat_ok<Batch, Batch, X, B>, "the same axes");
static_assert(stack_ok<Pair, X, X> && !stack_ok<Pair, X, X, X>, "as many as the new axis has");
static_assert(!stack_ok<Batch, X, X>, "a new axis");
using Table = tensor<f32, Vocab, Hidden>;
static_assert(take_ok<Vocab, Table, Ids>, "rows by their positions");
static_assert(!take_ok<Vocab, Table, B>, "that are integers");
static_assert(!take_ok<Vocab, Table, tensor<i32, Hidden>>, "of axes that the table has not");
// Reductions and what runs along an axis.
static_assert(reduction_ok<op::sum, X> && reduction_ok<op::sum, Seq, X> && reduction_ok<op::sum, Seq, Batch, X>,
              "all axes, one, several");
static_assert(!reduction_ok<op::sum, Mlp, X> && !reduction_ok<op::sum, Seq, Seq, X>, "of x, once");
static_assert(!reduction_ok<op::mean, Ids> && !reduction_ok<op::logsumexp, Ids>, "not of integers");
static_assert(reduction_ok<op::any, Mask> && !reduction_ok<op::any, B>, "of boolean");
static_assert(softmax_ok<Seq, X> && !softmax_ok<Seq, Ids>, "floating numbers");
static_assert(cumsum_ok<Seq, Ids> && !cumsum_ok<Mlp, Ids>, "integers too");
static_assert(dot_ok<Hidden, X, W> && !dot_ok<Mlp, X, W>, "both have the axis");
using Vector = tensor<f32, Hidden>;
static_assert(layer_norm_ok<Hidden, X, Vector, Vector> && !layer_norm_ok<Hidden, X, Vector, B>, "vectors along the axis");
static_assert(rms_norm_ok<Hidden, X, Vector> && !rms_norm_ok<Mlp, X, Vector>, "an axis of x");
// Losses, attention, conversion, creation.
static_assert(mse_ok<X, tensor<f32, Hidden, Batch, Seq>>, "the same axes in any order");
static_assert(!mse_ok<X, B>, "losses do not broadcast");
using Logits = tensor<f32, Batch, Seq, Vocab>;
static_assert(cross_entropy_ok<Vocab, Logits, Ids>, "targets without the classes");
static_assert(!cross_entropy_ok<Vocab, Logits, tensor<i32, Batch>>, "all other axes");
static_assert(!cross_entropy_ok<Vocab, Logits, tensor<f32, Batch, Seq>>, "targets are integers");
using Q = tensor<f32, Batch, Seq, HeadDim>;
using K = tensor<f32, Batch, Key, HeadDim>;
static_assert(attention_ok<Seq, Key, HeadDim, Q, K, K>, "queries, keys, values");
static_assert(!attention_ok<Seq, Key, HeadDim, Q, Q, K>, "keys lack their axis");
static_assert(!attention_ok<Seq, Seq, HeadDim, Q, Q, Q>, "queries and keys have two axes");
static_assert(!attention_ok<Seq, Key, HeadDim, Q, tensor<f32, Key, HeadDim, Seq>, K>, "keys lack the batch");
static_assert(to_ok<bf16, X> && to_ok<host, X> && !to_ok<Batch, X>, "a dtype or a device");
static_assert(zeros_ok<f32, pack<Batch, Hidden>, Batch>, "the dynamic axis by value");
static_assert(!zeros_ok<f32, pack<Batch, Hidden>>, "it is missing");
static_assert(!zeros_ok<f32, pack<Batch, Hidden>, Batch, Hidden>, "the static one is not given");
static_assert(!zeros_ok<f32, pack<Batch>, Batch, Batch>, "nor twice");
static_assert(!zeros_ok<unsigned, pack<Hidden>>, "unsigned is no dtype");

// What they give.
static_assert(gives<decltype(at<Seq>(x(), 0)), f32, Batch, Hidden>, "the axis goes");
static_assert(gives<decltype(slice<Hidden, Half>(x(), 0)), f32, Batch, Seq, Half>, "the part in its place");
static_assert(gives<decltype(diagonal<Hidden, prime<Hidden>, Row>(std::declval<Square&>())), f32, Row>, "Row's place");
static_assert(gives<decltype(broadcast<Pair>(x())), f32, Pair, Batch, Seq, Hidden>, "new axes come first");
static_assert(gives<decltype(stack<Pair>(x(), x())), f32, Pair, Batch, Seq, Hidden>, "New comes first");
static_assert(gives<decltype(take<Vocab>(std::declval<Table&>(), std::declval<Ids&>())), f32, Batch, Seq, Hidden>,
              "the axes of ids at Vocab's place");
static_assert(gives<decltype(sum<Seq>(std::declval<Ids&>())), i64, Batch>, "integers sum to i64");
static_assert(gives<decltype(sum(std::declval<tensor<bf16, Batch>&>())), bf16>, "floats keep their dtype");
static_assert(gives<decltype(argmax<Hidden>(x())), i64, Batch, Seq>, "positions are i64");
static_assert(gives<decltype(dot<Hidden>(x(), std::declval<W&>())), f32, Batch, Seq, Mlp>, "a's others, then b's");
static_assert(gives<decltype(to<bf16>(x())), bf16, Batch, Seq, Hidden>, "the axes stay");
static_assert(gives<decltype(cross_entropy<Vocab>(std::declval<Logits&>(), std::declval<Ids&>())), f32>, "a scalar");
