#pragma once

#include <ricci/grad/value_and_grad.hpp>

/// Functions that say themselves how their gradient is found.
namespace ricci {

/// f(x), whose gradient is backward(x, y, dy) -> dx.
///   Axes    dy as y, dx as x
///   Errors  backward returns other axes than those of x (compile time)
template <class F, class B, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto custom_vjp(F&& f, B backward, X&& x) {
  using operand = detail::operands_rule<"custom_vjp", false, X>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<operand>) {
    detail::refuse_by<operand>();
    return poisoned{};
  } else {
    using In = tensor_type<detail::bare<X>>;
    using returns = detail::returns_rule<"custom_vjp", decltype(f(std::declval<In const&>()))>;
    if constexpr (detail::is_poisoned<decltype(f(std::declval<In const&>()))>) {
      return poisoned{};
    } else if constexpr (!detail::keeps<returns>) {
      detail::refuse_by<returns>();
      return poisoned{};
    } else {
      using Out = tensor_type<detail::bare<decltype(f(std::declval<In const&>()))>>;
      using DX = decltype(backward(std::declval<In>(), std::declval<Out>(), std::declval<Out>()));
      using gradient =
          detail::gradient_rule<"custom_vjp", "the gradient of backward", "operand 1", DX, In>;
      if constexpr (detail::is_poisoned<DX>) {
        return poisoned{};
      } else if constexpr (!detail::keeps<gradient>) {
        detail::refuse_by<gradient>();
        return poisoned{};
      } else {
        In in(static_cast<X&&>(x));
        Out out = f(In(detail::make_node{}, graph::stop_gradient(in.handle())));
        struct rule final : graph::callback {
          B backward;
          explicit rule(B b) : backward(std::move(b)) {}
          graph::handle call(graph::handle const& x, graph::handle const& y,
                             graph::handle const& dy) override {
            In const dx = backward(In(detail::make_node{}, x), Out(detail::make_node{}, y),
                                   Out(detail::make_node{}, dy));
            return dx.handle();
          }
        };
        return Out(detail::make_node{},
                   graph::custom_vjp(in.handle(), out.handle(), new rule(std::move(backward))));
      }
    }
  }
}

/// f(x), which keeps nothing for the gradient but x: it runs again on the way back (activation
/// checkpointing). Same numbers, dropout included, because keys name their randomness.
///   Memory  x and y     Cost  f twice
template <class F, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto recompute(F f, X&& x) {
  using operand = detail::operands_rule<"recompute", false, X>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<operand>) {
    detail::refuse_by<operand>();
    return poisoned{};
  } else {
    using In = tensor_type<detail::bare<X>>;
    using returns = detail::returns_rule<"recompute", decltype(f(std::declval<In const&>()))>;
    if constexpr (detail::is_poisoned<decltype(f(std::declval<In const&>()))>) {
      return poisoned{};
    } else if constexpr (!detail::keeps<returns>) {
      detail::refuse_by<returns>();
      return poisoned{};
    } else {
      using Out = tensor_type<detail::bare<decltype(f(std::declval<In const&>()))>>;
      In in(static_cast<X&&>(x));
      struct body final : graph::callback {
        F f;
        explicit body(F function) : f(std::move(function)) {}
        graph::handle call(graph::handle const& x, graph::handle const&,
                           graph::handle const&) override {
          Out const y = f(In(detail::make_node{}, x));
          return y.handle();
        }
      };
      return Out(detail::make_node{}, graph::recompute(in.handle(), new body(std::move(f))));
    }
  }
}

}  // namespace ricci
