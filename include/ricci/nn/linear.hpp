#pragma once

#include <ricci/expr/einsum.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/places.hpp>
#include <ricci/nn/initialize.hpp>

namespace ricci {

/// The tensor type on device D.
template <class D, class T, class... A> using tensor_on = typename detail::tensor_of<T, D, pack<A...>>::type;

namespace nn {
namespace detail {

namespace base = ricci::detail;

template <class A> struct as_pack { using type = pack<A>; };
template <class... A> struct as_pack<pack<A...>> { using type = pack<A...>; };
template <class A> using axes = typename as_pack<A>::type;

template <class A, class... In> inline constexpr bool is_among = (base::same<A, In> || ...);
/// The weight's output axes: one that is an input axis too is primed.
template <class Out, class In> struct weight_axis;
template <class Out, class... In> struct weight_axis<Out, pack<In...>> {
  using type = std::conditional_t<is_among<Out, In...>, prime<Out>, Out>;
};

/// The pattern of a linear map on a value with axes A...: In... gives place to Out..., where the
/// first of In... stood.
template <class In, class Out, class X> struct linear_pattern;
template <class I0, class... In, class... Out, class... A>
struct linear_pattern<pack<I0, In...>, pack<Out...>, pack<A...>> {
  using inputs = pack<I0, In...>;
  template <class O> static constexpr auto weight_name() { return weight_axis<O, inputs>::type::name + " "; }
  template <class O> static constexpr auto result_name() {
    if constexpr (is_among<O, I0, In...>)
      return O::name + "=" + weight_name<O>();
    else
      return O::name + " ";
  }
  template <class X> static constexpr auto result_item() {
    if constexpr (base::same<X, I0>)
      return (fixed_string("") + ... + result_name<Out>());
    else if constexpr (is_among<X, In...>)
      return fixed_string("");
    else
      return X::name + " ";
  }
  static constexpr auto value = (fixed_string("") + ... + (A::name + " ")) + ", " + (I0::name + " ") +
                                (fixed_string("") + ... + (In::name + " ")) +
                                (fixed_string("") + ... + weight_name<Out>()) + "-> " +
                                (fixed_string("") + ... + result_item<A>());
};

template <class T, class X, class In, class Out> struct linear_rule;
template <class T, class X, class... In, class... Out> struct linear_rule<T, X, pack<In...>, pack<Out...>> {
  static constexpr bool check(message* why) {
    if (!base::axes_of_operand_rule<"nn::linear", X, In...>::check(why)) return false;
    if constexpr (base::is_node<X>) {
      constexpr dtype type = dtype_of<typename base::bare<X>::element_type>;
      if (type != dtype_of<T>) {
        if (why)
          *why << "nn::linear: operand 1 is " << name_of(type) << ", the weight is " << name_of(dtype_of<T>)
               << ": write `to<" << name_of(dtype_of<T>) << ">(...)`";
        return false;
      }
      return outputs_are_new(base::axes_of_value<X>(), why);
    }
    return true;
  }
  static constexpr bool outputs_are_new(base::axes_list const& has, message* why) {
    axis_info const* const outputs[] = {&axis_info_of<Out>..., nullptr};
    bool const is_input[] = {is_among<Out, In...>..., false};
    for (int i = 0; i < static_cast<int>(sizeof...(Out)); ++i) {
      if (is_input[i] || !base::same_axis_among(has, outputs[i])) continue;
      if (why) {
        *why << "nn::linear: operand 1 has the output axis ";
        why->quote(outputs[i]->view()) << " already";
        base::write_has(*why, has);
      }
      return false;
    }
    return true;
  }
};

template <class D, class T, class In, class Out> struct linear_tensors;
template <class D, class T, class... In, class... Out> struct linear_tensors<D, T, pack<In...>, pack<Out...>> {
  using weight = tensor_on<D, T, In..., typename weight_axis<Out, pack<In...>>::type...>;
  using bias = tensor_on<D, T, Out...>;
};

}  // namespace detail

/// An affine map of one axis (or several, as `pack<A, B>`) to another.
///   Axes    x: any, In among them -> Out in its place; weight [In, Out], bias [Out]; In == Out works
///           through the primed axis
///   Value   y(.., out) = sum over in of x(.., in) weight(in, out) + bias(out)
///   Init    uniform in +-1 / sqrt(extent of In), both
///   Lowers  one GEMM, bias and a following activation on it
///   Errors  x lacks In, or has Out already (compile time)
template <class T, class In, class Out, class D = host> struct linear {
  using in = detail::axes<In>;
  using out = detail::axes<Out>;
  using tensors = detail::linear_tensors<D, T, in, out>;
  BOOST_HANA_DEFINE_STRUCT(linear, (typename tensors::weight, weight), (typename tensors::bias, bias));

  auto operator()(auto&& x) const {
    using X = decltype(x);
    using rule = detail::linear_rule<T, X, in, out>;
    if constexpr (ricci::detail::is_poisoned<X>) {
      return poisoned{};
    } else if constexpr (!ricci::detail::keeps<rule>) {
      ricci::detail::refuse_by<rule>();
      return poisoned{};
    } else {
      using axes = typename ricci::detail::bare<X>::axes_type;
      return apply<detail::linear_pattern<in, out, axes>::value>(static_cast<X&&>(x), axes{}, out{});
    }
  }
  void initialize(random::key k) {
    using weight_type = typename tensors::weight;
    double const inputs =
        ricci::detail::fans_of(weight.handle(), {weight_type::axes, weight_type::rank}, out::size).in;
    double const bound = 1 / __builtin_sqrt(inputs);
    init::uniform(weight, k.fold("weight"), -bound, bound);
    init::uniform(bias, k.fold("bias"), -bound, bound);
  }

 private:
  template <fixed_string P, class X, class... A, class... O> auto apply(X&& x, pack<A...>, pack<O...>) const {
    return einsum<P, O...>(static_cast<X&&>(x), weight) + bias;
  }
};

}  // namespace nn
}  // namespace ricci
