#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// One flat parameter and its gradient, both of `type`.
struct parameter_slice {
  dtype type;  // f32, f64, bf16, f16
  std::int64_t count;
  void* parameter;
  void const* gradient;
  void* master = nullptr;  // the parameter in f32 (f64: f64), or null: `parameter` is all there is
};

struct adamw_options {
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  std::int64_t step;            // counts from 1
  double gradient_scale = 1.0;  // the gradient is multiplied by it first (clipping, loss scaling)
};

/// One step of AdamW in one pass.
///   Axes    first and second moment: as the parameter, of f32 (f64: f64), updated
///   Value   g = gradient_scale gradient; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2)
///   g^2;
///           p = p - lr weight_decay p - lr (m / (1 - beta1^step)) /
///                                          (sqrt(v / (1 - beta2^step)) + epsilon)
///   Dtype   computes in f32 (f64: f64). With a master the step is taken there and the parameter is
///           its rounding; without one a narrow parameter loses steps below its resolution
///   Cost    reads four and writes three numbers an element
///   Errors  value_error: another dtype, a step before 1; shape_error: a negative count
///   Source  Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, arXiv:1711.05101
void adamw_step(parameter_slice const& p, void* first_moment, void* second_moment,
                adamw_options const& options);

struct sgd_options {
  double learning_rate;
  double momentum = 0.0;
  double dampening = 0.0;
  bool nesterov = false;
  double weight_decay = 0.0;
  bool first_step = false;  // the velocity starts as g, without dampening
  double gradient_scale = 1.0;
};

/// One step of stochastic gradient descent in one pass.
///   Axes    velocity: as the parameter, of f32 (f64: f64), updated; or null: no momentum
///   Value   g = gradient_scale gradient + weight_decay p; u = momentum u + (1 - dampening) g;
///           p = p - lr u, with nesterov p = p - lr (g + momentum u), without velocity p = p - lr g
///   Dtype, Errors  as adamw_step (no step); value_error: momentum without velocity
///   Source  Sutskever, Martens, Dahl and Hinton, "On the importance of initialization and momentum
///           in deep learning", 2013
void sgd_step(parameter_slice const& p, void* velocity, sgd_options const& options);

/// Sum of the squares of x: [count], in f64.
///   Value   every element and its square exactly (f64: rounded), added in f64 over fixed ranges of
///           32768 elements, whose sums are added in order: the same bits at any number of threads
///   Dtype   f32, f64, bf16, f16        Cost  reads x once
///   Errors  value_error: another dtype; shape_error: a negative count
[[nodiscard]] double sum_of_squares(dtype type, std::int64_t count, void const* x);

}  // namespace ricci::kernels
