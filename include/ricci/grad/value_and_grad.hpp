#pragma once

#include <ricci/error/exceptions.hpp>
#include <ricci/expr/places.hpp>
#include <ricci/grad/leaves.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace ricci {

/// What value_and_grad returns: `auto [loss, grads] = value_and_grad(f, model)`.
template <class T, class M> struct value_and_gradient {
  tensor<T> value;
  M gradient;
};

namespace detail {

/// The leaves of a module under one level of differentiation.
class tracked_leaves {
 public:
  tracked_leaves(std::vector<leaf> leaves, graph::level const& l);
  /// Puts d(y)/d(leaf) in place of each leaf of `into`; leaves that are not floating become empty.
  void gradients(graph::handle const& y, graph::handle const& seed, graph::level const& l,
                 std::vector<leaf> const& into) const;

 private:
  std::vector<graph::handle> handles_;
};

/// A function to differentiate returns a floating rank-0 value.
template <class Y> struct loss_rule {
  static constexpr bool check(message* why) {
    if constexpr (!is_node<Y>) {
      if (why) *why << "value_and_grad: the function does not return a tensor";
      return false;
    } else {
      if (bare<Y>::rank != 0) {
        if (why) {
          *why << "value_and_grad: the function returns axes [";
          write_axes(*why, bare<Y>::axes, bare<Y>::rank);
          *why << "], a loss has none (write `mean(...)` or `sum(...)`)";
        }
        return false;
      }
      if (!is_floating_v<typename bare<Y>::element_type>) {
        if (why) *why << "value_and_grad: the function returns " << name_of(dtype_of<typename bare<Y>::element_type>)
                      << ", a loss is floating";
        return false;
      }
      return true;
    }
  }
};

}  // namespace detail

/// The value of f(m, args...) and its gradient in m.
///   Axes    m: a tensor or a module; f returns rank 0; the gradient has the type of m
///   Value   d f / d leaf for every floating leaf; other leaves come back empty
///   Memory  what the statements of f keep for their gradients, released on the way back
///   Errors  f does not return a floating rank-0 value (compile time); an empty parameter: value_error
template <class F, class M, class... Args> auto value_and_grad(F&& f, M const& m, Args const&... args) {
  using Y = std::remove_cvref_t<decltype(f(m, args...))>;
  if constexpr (detail::is_poisoned<Y>) {
    return value_and_gradient<f32, M>{};
  } else if constexpr (!detail::keeps<detail::loss_rule<Y>>) {
    detail::refuse_by<detail::loss_rule<Y>>();
    return value_and_gradient<f32, M>{};
  } else {
    using T = typename Y::element_type;
    graph::level level;
    M tracked = m;
    detail::tracked_leaves const leaves(detail::leaves_of(tracked), level);
    tensor<T> y = f(std::as_const(tracked), args...);
    value_and_gradient<T, M> result{{}, m};
    leaves.gradients(y.handle(), {}, level, detail::leaves_of(result.gradient));
    result.value = std::move(y);
    return result;
  }
}

/// The gradient of f(m, args...) in m.
template <class F, class M, class... Args> auto grad(F&& f, M const& m, Args const&... args) {
  return value_and_grad(static_cast<F&&>(f), m, args...).gradient;
}

/// f(m, args...) and the function that takes dy to dm, for values of any rank.
///   Value   pullback(dy) = sum over y of dy * d y / d m, for dy with the axes of y; once
///   Errors  a second call of the pullback: value_error
template <class F, class M, class... Args> auto vjp(F&& f, M const& m, Args const&... args) {
  struct state {
    graph::level level;
    M tracked;
    std::optional<detail::tracked_leaves> leaves;
    graph::handle y;
  };
  auto const s = std::make_shared<state>();
  s->tracked = m;
  s->leaves.emplace(detail::leaves_of(s->tracked), s->level);
  tensor y = f(std::as_const(s->tracked), args...);
  s->y = y.handle();
  using Y = decltype(y);
  auto pullback = [s](Y const& dy) {
    if (!s->y) throw value_error("vjp: the pullback has been called already");
    M result = s->tracked;
    s->leaves->gradients(std::exchange(s->y, {}), dy.handle(), s->level, detail::leaves_of(result));
    return result;
  };
  return std::pair(std::move(y), std::move(pullback));
}

/// x as a constant of differentiation.
///   Axes    those of x     Grad  0
template <class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto stop_gradient(X&& x) {
  using rule = detail::axes_of_operand_rule<"stop_gradient", X>;
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    return tensor_type<detail::bare<X>>(detail::make_node{},
                                        graph::stop_gradient(graph::packed(detail::operand(static_cast<X&&>(x)))));
  }
}

/// f(x), whose gradient is backward(x, y, dy) -> dx.
///   Axes    dy as y, dx as x
///   Errors  backward returns other axes than those of x (compile time)
template <class F, class B, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto custom_vjp(F&& f, B backward, X&& x) {
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else {
    tensor in(static_cast<X&&>(x));
    using In = decltype(in);
    if constexpr (detail::is_poisoned<decltype(f(std::declval<In const&>()))>) {
      return poisoned{};
    } else {
      tensor out = f(In(detail::make_node{}, graph::stop_gradient(in.handle())));
      using Out = decltype(out);
      struct rule final : graph::callback {
        B backward;
        explicit rule(B b) : backward(std::move(b)) {}
        graph::handle call(graph::handle const& x, graph::handle const& y, graph::handle const& dy) override {
          In const dx =
              backward(In(detail::make_node{}, x), Out(detail::make_node{}, y), Out(detail::make_node{}, dy));
          return dx.handle();
        }
      };
      return Out(detail::make_node{}, graph::custom_vjp(in.handle(), out.handle(), new rule(std::move(backward))));
    }
  }
}

/// f(x), which keeps nothing for the gradient but x: it runs again on the way back (activation
/// checkpointing). Same numbers, dropout included, because keys name their randomness.
///   Memory  x and y     Cost  f twice
template <class F, class X>
  requires detail::SomeNode<X>
[[nodiscard]] auto recompute(F f, X&& x) {
  if constexpr (detail::is_poisoned<X>) {
    return poisoned{};
  } else {
    tensor in(static_cast<X&&>(x));
    using In = decltype(in);
    if constexpr (detail::is_poisoned<decltype(f(std::declval<In const&>()))>) {
      return poisoned{};
    } else {
      using Out = decltype(tensor(f(std::declval<In const&>())));
      struct body final : graph::callback {
        F f;
        explicit body(F function) : f(std::move(function)) {}
        graph::handle call(graph::handle const& x, graph::handle const&, graph::handle const&) override {
          Out const y = f(In(detail::make_node{}, x));
          return y.handle();
        }
      };
      return Out(detail::make_node{}, graph::recompute(in.handle(), new body(std::move(f))));
    }
  }
}

}  // namespace ricci
