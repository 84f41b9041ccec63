#include "../axes.hpp"

#include <ostream>

using namespace ricci;
using namespace ricci::test;

// Whatever takes a refused value returns one, without a word: one mistake, one error.
poisoned const& p();
X const& x();
template <class T> constexpr bool swallowed = detail::is_poisoned<T>;

static_assert(swallowed<decltype(p() + x())> && swallowed<decltype(1 - p())> && swallowed<decltype(-p())>, "operators");
static_assert(swallowed<decltype(p() == x())> && swallowed<decltype(!p())> && swallowed<decltype(p() && p())>, "logic");
static_assert(swallowed<decltype(gelu(p()))> && swallowed<decltype(where(p(), x(), 1))>, "functions");
static_assert(swallowed<decltype(einsum<"nonsense">(x(), p()))>, "a pattern is not even read");
static_assert(swallowed<decltype(rearrange<"nonsense">(p()))>, "rearrange");
static_assert(swallowed<decltype(reduce<op::sum, "nonsense">(p()))>, "reduce");
static_assert(swallowed<decltype(repeat<"nonsense">(p()))>, "repeat");
static_assert(swallowed<decltype(sum<Mlp>(p()))> && swallowed<decltype(softmax<Mlp>(p()))>, "reductions, softmax");
static_assert(swallowed<decltype(permute<Mlp>(p()))> && swallowed<decltype(rename<Seq, Key>(p()))>, "views");
static_assert(swallowed<decltype(at<Seq>(p(), 1))> && swallowed<decltype(slice<Seq>(p(), 0, 1))>, "places");
static_assert(swallowed<decltype(broadcast<Row>(p()))> && swallowed<decltype(outer(p(), x()))>, "broadcast, outer");
static_assert(swallowed<decltype(concat<Seq>(x(), p()))> && swallowed<decltype(stack<Pair>(p(), x()))>, "joins");
static_assert(swallowed<decltype(take<Vocab>(p(), x()))> && swallowed<decltype(dot<Hidden>(p(), x()))>, "take, dot");
static_assert(swallowed<decltype(mse(p(), x()))> && swallowed<decltype(cross_entropy<Vocab>(p(), x()))>, "losses");
static_assert(swallowed<decltype(layer_norm<Hidden>(x(), p(), x()))>, "a parameter of a norm");
static_assert(swallowed<decltype(attention<Seq, Key, HeadDim>(x(), x(), p()))>, "attention");
static_assert(swallowed<decltype(to<bf16>(p()))> && swallowed<decltype(eval(p()))>, "to, eval");
static_assert(swallowed<decltype(stop_gradient(p()))>, "stop_gradient");
static_assert(swallowed<decltype(recompute([](auto const& v) { return v; }, p()))>, "recompute");
static_assert(swallowed<decltype(std::declval<nn::linear<f32, Hidden, Mlp>&>()(p()))>, "modules");
static_assert(swallowed<decltype(nn::dropout(p(), 0.1, random::key(1)))>, "dropout");
static_assert(swallowed<decltype(p().item())> && swallowed<decltype(p()(Batch{1}))>, "reading");
static_assert(swallowed<decltype(extent_of<Seq>(p()))> && swallowed<decltype(p().shape())>, "asking");
static_assert(swallowed<decltype(tensor(p()))>, "`tensor h = refused` is refused too");
static_assert(std::is_convertible_v<poisoned, X>, "and so is an annotated one, in silence");
static_assert(std::is_convertible_v<poisoned, float>, "a number that would have been read");
static_assert(same<decltype(value_and_grad([](auto const&) { return poisoned{}; }, x()).gradient), X>,
              "the gradient has its type though the loss was refused");
static_assert(same<decltype(std::declval<std::ostream&>() << p()), std::ostream&>, "printing");
