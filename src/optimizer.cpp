#include <ricci/optim/optimizer.hpp>

#include <cmath>
#include <cstring>
#include <numbers>

#include <fmt/format.h>

#include <ricci/error/exceptions.hpp>
#include <ricci/optim/schedule.hpp>

#include "kernels/optimizer/optimizer.hpp"

namespace ricci::optim {
namespace {

using ricci::detail::leaf;

dtype state_type(dtype parameter) { return parameter == dtype::f64 ? dtype::f64 : dtype::f32; }

/// The parameter, alone in its storage, and its gradient, for the kernels.
kernels::parameter_slice slice_of(leaf const& parameter, leaf const& gradient) {
  *parameter.handle = graph::unshared(std::move(*parameter.handle));
  return {parameter.type, graph::element_count(*parameter.handle),
          graph::mutable_data(*parameter.handle), graph::data(*gradient.handle)};
}

bool decays(decay_rule const& rule, leaf const& parameter) {
  return !rule || rule(parameter.name, parameter.axes.rank);
}

}  // namespace

void optimizer::check(std::vector<leaf> const& parameters,
                      std::vector<leaf> const& gradients) const {
  if (parameters.size() != gradients.size())
    throw value_error(fmt::format("optimizer: {} parameters and {} gradients", parameters.size(),
                                  gradients.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    leaf const& p = parameters[i];
    leaf const& g = gradients[i];
    if (!is_floating(p.type)) continue;
    if (!*p.handle || !*g.handle)
      throw value_error(fmt::format("optimizer: the {} `{}` is empty",
                                    *p.handle ? "gradient of" : "parameter", p.name));
    for (int axis = 0; axis < p.axes.rank; ++axis) {
      std::int64_t const have = graph::extents(*p.handle)[axis];
      std::int64_t const got = graph::extents(*g.handle)[axis];
      if (have != got)
        throw shape_error(
            fmt::format("optimizer: axis `{}` of parameter `{}` has extent {}, its gradient's {}",
                        p.axes.axes[axis]->view(), p.name, have, got));
    }
  }
}

/// The state belongs to this parameter: else the kernels would read beside it.
void optimizer::check_slot(slot const& s, std::string const& kind, leaf const& p) {
  if (s.name != kind + "." + p.name)
    throw value_error(
        fmt::format("optimizer: its state `{}` stands where parameter `{}` is: it is that of "
                    "another module",
                    s.name, p.name));
  if (!s.handle) return;
  for (int axis = 0; axis < p.axes.rank; ++axis) {
    std::int64_t const have = graph::extents(s.handle)[axis];
    std::int64_t const got = graph::extents(*p.handle)[axis];
    if (have != got)
      throw shape_error(
          fmt::format("optimizer: axis `{}` of parameter `{}` has extent {}, its state's {}",
                      p.axes.axes[axis]->view(), p.name, got, have));
  }
}

void optimizer::prepare(std::vector<leaf> const& parameters) {
  if (!slots_.empty()) {
    if (slots_.size() != kinds_.size() * parameters.size())
      throw value_error(
          fmt::format("optimizer: its state is of a module of {} parameters, this one has {}",
                      slots_.size() / kinds_.size(), parameters.size()));
    for (std::size_t i = 0; i < slots_.size(); ++i)
      check_slot(slots_[i], kinds_[i / parameters.size()], parameters[i % parameters.size()]);
    return;
  }
  allocation_role const scope(role::optimizer);
  for (std::string const& kind : kinds_)
    for (leaf const& p : parameters) {
      slot s{kind + "." + p.name, {}};
      if (is_floating(p.type)) {
        s.handle = graph::make_leaf(state_type(p.type), p.axes, graph::extents(*p.handle));
        std::memset(
            graph::mutable_data(s.handle), 0,
            static_cast<std::size_t>(graph::element_count(s.handle) * size_of(state_type(p.type))));
      }
      slots_.push_back(std::move(s));
    }
}

std::vector<leaf> optimizer::state(std::vector<leaf> const& parameters) {
  prepare(parameters);
  std::vector<leaf> leaves;
  for (slot& s : slots_)
    if (s.handle)
      leaves.push_back({s.name, &s.handle, graph::dtype_of(s.handle), graph::axes_of(s.handle)});
  return leaves;
}

adamw::adamw(adamw_options options)
    : optimizer({"first_moment", "second_moment"}), options_(std::move(options)) {
  if (!(options_.beta1 >= 0 && options_.beta1 < 1 && options_.beta2 >= 0 && options_.beta2 < 1))
    throw value_error(fmt::format("adamw: beta1 {} and beta2 {} are not both in [0, 1)",
                                  options_.beta1, options_.beta2));
}

void adamw::step(std::vector<leaf> const& parameters, std::vector<leaf> const& gradients,
                 double learning_rate, double gradient_scale) {
  check(parameters, gradients);
  prepare(parameters);
  ++steps_;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    leaf const& p = parameters[i];
    if (!is_floating(p.type)) continue;
    kernels::adamw_step(
        slice_of(p, gradients[i]), graph::mutable_data(slots_[i].handle),
        graph::mutable_data(slots_[parameters.size() + i].handle),
        {learning_rate, options_.beta1, options_.beta2, options_.epsilon,
         decays(options_.decays, p) ? options_.weight_decay : 0.0, steps_, gradient_scale});
  }
}

sgd::sgd(sgd_options options) : optimizer({"velocity"}), options_(std::move(options)) {
  if (!(options_.momentum >= 0))
    throw value_error(fmt::format("sgd: the momentum {} is negative", options_.momentum));
  if (options_.nesterov && (options_.momentum == 0 || options_.dampening != 0))
    throw value_error(fmt::format(
        "sgd: Nesterov's form needs a momentum and no dampening, momentum is {} and dampening {}",
        options_.momentum, options_.dampening));
  if (options_.momentum == 0) kinds_.clear();
}

void sgd::step(std::vector<leaf> const& parameters, std::vector<leaf> const& gradients,
               double learning_rate, double gradient_scale) {
  check(parameters, gradients);
  if (!kinds_.empty()) prepare(parameters);
  ++steps_;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    leaf const& p = parameters[i];
    if (!is_floating(p.type)) continue;
    kernels::sgd_step(
        slice_of(p, gradients[i]), kinds_.empty() ? nullptr : graph::mutable_data(slots_[i].handle),
        {learning_rate, options_.momentum, options_.dampening, options_.nesterov,
         decays(options_.decays, p) ? options_.weight_decay : 0.0, steps_ == 1, gradient_scale});
  }
}

double detail::global_norm(std::vector<leaf> const& gradients) {
  double sum = 0;
  for (leaf const& g : gradients)
    if (*g.handle)
      sum +=
          kernels::sum_of_squares(g.type, graph::element_count(*g.handle), graph::data(*g.handle));
  return std::sqrt(sum);
}

double warmup_cosine::operator()(std::int64_t step) const {
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  std::int64_t const span = steps > warmup ? steps - warmup : 1;
  double const progress =
      step >= steps ? 1.0 : static_cast<double>(step - warmup) / static_cast<double>(span);
  return floor + 0.5 * (peak - floor) * (1 + std::cos(std::numbers::pi * progress));
}

}  // namespace ricci::optim
