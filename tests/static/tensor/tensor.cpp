#include "../axes.hpp"

using namespace ricci;
using namespace ricci::test;

template <class T, class D, class... A> constexpr bool node_ok = detail::keeps<detail::node_rule<T, D, A...>>;
static_assert(node_ok<f32, host, Batch, Hidden>, "a dtype, axes, a device");
static_assert(node_ok<f32, host>, "no axes: a scalar");
static_assert(node_ok<f32, host, Hidden, prime<Hidden>>, "a primed axis is another one");
static_assert(!node_ok<f32, host, Seq, Seq>, "the axes are all different");
static_assert(!node_ok<f32, host, Hidden, Narrow>, "one name is one type");
static_assert(!node_ok<unsigned, host, Seq>, "unsigned is no dtype");
static_assert(same<tensor<f32, Batch, host>::node_type, tensor<f32, Batch>::node_type>, "a device may stand last");
static_assert(!detail::is_device<tensor<f32, Batch, int>::device>, "int is no device");

static_assert(X::rank == 3, "the axes are counted without the device");
static_assert(same<X::element_type, f32>, "the dtype");
static_assert(std::is_default_constructible_v<X>, "empty");
static_assert(std::is_copy_constructible_v<X>, "values share when copied");
static_assert(!std::is_convertible_v<X, bool>, "a tensor is not silently a condition");
static_assert(!std::is_convertible_v<tensor<f32>, float>, "a scalar is read by item()");

template <class... P> constexpr bool place_ok = detail::keeps<detail::place_rule<X, P...>>;
static_assert(place_ok<Batch, Seq, Hidden>, "every axis once");
static_assert(place_ok<Hidden, Batch, Seq>, "in any order");
static_assert(!place_ok<Batch, Seq>, "an axis is missing");
static_assert(!place_ok<Batch, Seq, Seq>, "an axis twice");
static_assert(!place_ok<Batch, Seq, Narrow>, "another type of that name");
static_assert(!place_ok<int, int, int>, "positions are named");
static_assert(detail::keeps<detail::item_rule<tensor<f32>>>, "item() of a scalar");
static_assert(!detail::keeps<detail::item_rule<B>>, "item() of a vector");
