#pragma once

#include <ricci/error/exceptions.hpp>
#include <ricci/expr/places.hpp>
#include <ricci/grad/leaves.hpp>

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

/// A function returns a value.
template <fixed_string Who, class Y> struct returns_rule {
  static constexpr bool check(message* why) {
    if (is_node<Y>) return true;
    if (why) *why << Who.view() << ": the function does not return a tensor";
    return false;
  }
};

/// A function to differentiate returns a floating rank-0 value.
template <class Y> struct loss_rule {
  static constexpr bool check(message* why) {
    if (!returns_rule<"value_and_grad", Y>::check(why)) return false;
    if constexpr (is_node<Y>) {
      constexpr dtype type = dtype_of<typename bare<Y>::element_type>;
      if (bare<Y>::rank == 0 && is_floating(type)) return true;
      if (!why) return false;
      *why << "value_and_grad: the function returns ";
      if (bare<Y>::rank != 0) {
        *why << "axes [";
        write_axes(*why, bare<Y>::axes, bare<Y>::rank);
        *why << "], a loss has none (write `mean(...)` or `sum(...)`)";
      } else {
        *why << name_of(type)
             << ", a loss is a floating number (write `to<f32>(...)` before reducing)";
      }
    }
    return false;
  }
};

/// A gradient has the axes and the dtype of the value that it belongs to.
template <fixed_string Who, fixed_string Gradient, fixed_string Of, class D, class X>
struct gradient_rule {
  static constexpr bool check(message* why) {
    if constexpr (!is_node<D>) {
      if (why) *why << Who.view() << ": " << Gradient.view() << " is not a tensor";
      return false;
    } else {
      using from = bare<D>;
      using to = bare<X>;
      constexpr dtype have = dtype_of<typename from::element_type>;
      constexpr dtype want = dtype_of<typename to::element_type>;
      if (same<typename from::node_type, typename to::node_type>) return true;
      if (!why) return false;
      *why << Who.view() << ": " << Gradient.view();
      if (have != want) {
        *why << " is " << name_of(have) << ", " << Of.view() << " is " << name_of(want);
        return false;
      }
      *why << " has axes [";
      write_axes(*why, from::axes, from::rank);
      *why << "], " << Of.view() << " has [";
      write_axes(*why, to::axes, to::rank);
      *why << "]: the order too is the same";
      return false;
    }
  }
};

template <class F, class M, class... Args>
auto value_and_grad_of(F&& f, M const& m, Args const&... args) {
  using is_module = module_rule<"value_and_grad", M>;
  if constexpr (is_poisoned<M>) {
    return value_and_gradient<f32, M>{};
  } else if constexpr (!keeps<is_module>) {
    refuse_by<is_module>();
    return value_and_gradient<f32, poisoned>{};
  } else {
    using Y = std::remove_cvref_t<decltype(f(m, args...))>;
    if constexpr (is_poisoned<Y>) {
      return value_and_gradient<f32, M>{};
    } else if constexpr (!keeps<loss_rule<Y>>) {
      refuse_by<loss_rule<Y>>();
      return value_and_gradient<f32, M>{};
    } else {
      using T = typename Y::element_type;
      graph::level level;
      M tracked = m;
      tracked_leaves const leaves(leaves_of(tracked), level);
      tensor<T> y = f(std::as_const(tracked), args...);
      value_and_gradient<T, M> result{{}, m};
      leaves.gradients(y.handle(), {}, level, leaves_of(result.gradient));
      result.value = std::move(y);
      return result;
    }
  }
}

}  // namespace detail

/// The value of f(m, args...) and its gradient in m.
///   Axes    m: a tensor or a module (an expression is evaluated); f returns rank 0; the gradient
///           has the type of m
///   Value   d f / d leaf for every floating leaf; other leaves come back empty
///   Memory  what the statements of f keep for their gradients, released on the way back
///   Errors  f does not return a floating rank-0 value (compile time); an empty parameter:
///           value_error
template <class F, class M, class... Args>
auto value_and_grad(F&& f, M const& m, Args const&... args) {
  if constexpr (detail::is_node<M> && !detail::is_tensor<M>)
    return detail::value_and_grad_of(static_cast<F&&>(f), tensor_type<M>(m), args...);
  else
    return detail::value_and_grad_of(static_cast<F&&>(f), m, args...);
}

/// The gradient of f(m, args...) in m.
template <class F, class M, class... Args> auto grad(F&& f, M const& m, Args const&... args) {
  return value_and_grad(static_cast<F&&>(f), m, args...).gradient;
}

/// f(m, args...) and the function that takes dy to dm, for values of any rank.
///   Value   pullback(dy) = sum over y of dy * d y / d m, for dy with the axes of y; once
///   Errors  a second call of the pullback: value_error
template <class F, class M, class... Args> auto vjp(F&& f, M const& m, Args const&... args) {
  using is_module = detail::module_rule<"vjp", M>;
  if constexpr (detail::is_poisoned<M>) {
    return std::pair(poisoned{}, poisoned{});
  } else if constexpr (detail::is_node<M> && !detail::is_tensor<M>) {
    return vjp(static_cast<F&&>(f), tensor_type<M>(m), args...);
  } else if constexpr (!detail::keeps<is_module>) {
    detail::refuse_by<is_module>();
    return std::pair(poisoned{}, poisoned{});
  } else {
    using returns = detail::returns_rule<"vjp", decltype(f(m, args...))>;
    if constexpr (detail::is_poisoned<decltype(f(m, args...))>) {
      return std::pair(poisoned{}, poisoned{});
    } else if constexpr (!detail::keeps<returns>) {
      detail::refuse_by<returns>();
      return std::pair(poisoned{}, poisoned{});
    } else {
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
      auto pullback = [s]<class D>(D const& dy) {
        using Y = decltype(y);
        using rule = detail::gradient_rule<"vjp", "the argument of the pullback", "y", D, Y>;
        M result = s->tracked;
        if constexpr (detail::is_poisoned<D>) {
        } else if constexpr (!detail::keeps<rule>) {
          detail::refuse_by<rule>();
        } else {
          if (!s->y) throw value_error("vjp: the pullback has been called already");
          s->leaves->gradients(std::exchange(s->y, {}), Y(dy).handle(), s->level,
                               detail::leaves_of(result));
        }
        return result;
      };
      return std::pair(std::move(y), std::move(pullback));
    }
  }
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
    return tensor_type<detail::bare<X>>(
        detail::make_node{},
        graph::stop_gradient(graph::packed(detail::operand(static_cast<X&&>(x)))));
  }
}

}  // namespace ricci
