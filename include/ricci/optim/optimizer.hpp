#pragma once

#include <ricci/grad/leaves.hpp>

#include <functional>
#include <string_view>

namespace ricci::optim {

/// Which parameters decay: by dotted name and rank. None: all of them.
using decay_rule = std::function<bool(std::string_view name, int rank)>;

struct adamw_options {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  decay_rule decays = {};
};

struct sgd_options {
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;
  decay_rule decays = {};
};

/// What optimizers share: numbers beside every parameter, made at the first step, and its count.
class optimizer {
 public:
  /// Steps taken.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }
  /// The state as leaves, named `first_moment.<parameter>`; made for `parameters` where there is none.
  ///   Memory  zeros of the optimizer role, f32 (f64 for f64)
  std::vector<ricci::detail::leaf> state(std::vector<ricci::detail::leaf> const& parameters);

 protected:
  struct slot {
    std::string name;
    graph::handle handle;
  };
  explicit optimizer(std::vector<std::string> kinds) : kinds_(std::move(kinds)) {}
  ~optimizer() = default;
  void prepare(std::vector<ricci::detail::leaf> const& parameters);
  static void check_slot(slot const& s, std::string const& kind, ricci::detail::leaf const& p);
  void check(std::vector<ricci::detail::leaf> const& parameters,
             std::vector<ricci::detail::leaf> const& gradients) const;

  std::vector<std::string> kinds_;
  std::vector<slot> slots_;  // kind by kind, each in the order of the parameters
  std::int64_t steps_ = 0;
};

/// AdamW: decoupled weight decay.
///   Value   kernels/optimizer; the parameters change in place where nobody else holds them
///   Errors  gradients or state of another module: value_error or shape_error, naming the parameter
///   Source  Loshchilov and Hutter, 2019
class adamw : public optimizer {
 public:
  explicit adamw(adamw_options options = {});
  template <Module M> void step(M& model, M const& gradients, double learning_rate, double gradient_scale = 1) {
    M held = gradients;
    step(ricci::detail::leaves_of(model), ricci::detail::leaves_of(held), learning_rate, gradient_scale);
  }
  void step(std::vector<ricci::detail::leaf> const& parameters, std::vector<ricci::detail::leaf> const& gradients,
            double learning_rate, double gradient_scale);

 private:
  adamw_options options_;
};

/// Stochastic gradient descent with momentum.
///   Errors  as adamw; a negative momentum, Nesterov's form without momentum or with dampening: value_error
class sgd : public optimizer {
 public:
  explicit sgd(sgd_options options = {});
  template <Module M> void step(M& model, M const& gradients, double learning_rate, double gradient_scale = 1) {
    M held = gradients;
    step(ricci::detail::leaves_of(model), ricci::detail::leaves_of(held), learning_rate, gradient_scale);
  }
  void step(std::vector<ricci::detail::leaf> const& parameters, std::vector<ricci::detail::leaf> const& gradients,
            double learning_rate, double gradient_scale);

 private:
  sgd_options options_;
};

namespace detail {
double global_norm(std::vector<ricci::detail::leaf> const& gradients);
}  // namespace detail

/// The Euclidean norm of all gradients together, added in a fixed order.
template <Module M> double global_norm(M const& gradients) {
  M held = gradients;
  return detail::global_norm(ricci::detail::leaves_of(held));
}

/// What the gradients are multiplied by so that their norm is at most `limit`; for the optimizer's
/// gradient_scale, which saves a pass.
///   Value   limit / norm where the norm is larger, else 1; NaN for a NaN norm
inline double clip_scale(double norm, double limit) { return norm > limit ? limit / norm : norm == norm ? 1.0 : norm; }

}  // namespace ricci::optim
