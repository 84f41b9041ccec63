#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Layer normalization of each row.
///   Axes    x, y: [rows, width]; scale, bias: [width]; mean, rstd: [rows]; all packed
///   Value   y(r, c) = (x(r, c) - mean(r)) rstd(r) scale(c) + bias(c), mean(r) the mean of the row,
///           rstd(r) = 1 / sqrt(variance(r) + eps), variance(r) = mean of (x(r, c) - mean(r))^2
///   Dtype   x, y, scale, bias: f32, f64, bf16 or f16; computes, and keeps mean and rstd, in f32
///           (f64: f64)
///   Memory  scale and bias may be null (1 and 0), mean and rstd too (not kept); y may be x
///   Cost    reads x once from memory
///   Errors  value_error: another dtype; shape_error: a negative extent or too many elements
///   Source  Ba, Kiros and Hinton, "Layer Normalization", 2016, arXiv:1607.06450
void layer_norm(dtype type, std::int64_t rows, std::int64_t width, void const* x, void const* scale,
                void const* bias, double eps, void* y, void* mean, void* rstd);

/// The gradients of layer_norm.
///   Axes    as layer_norm; dx as x; dscale, dbias as scale
///   Value   with n = (x - mean) rstd and g = dy scale:
///           dx = rstd (g - mean of g - n mean of (g n)), the means along the row;
///           dscale = sum over rows of dy n; dbias = sum over rows of dy
///   Memory  scale may be null (1); each result may be null (not computed), else it is overwritten;
///           dx may be dy. Workspace: two rows for each of at most 128 ranges of rows
///   Cost    reads x and dy once from memory; the ranges depend on rows alone, so the sums have
///           the same bits at any number of threads
///   Errors  as layer_norm
void layer_norm_backward(dtype type, std::int64_t rows, std::int64_t width, void const* x,
                         void const* scale, void const* mean, void const* rstd, void const* dy,
                         void* dx, void* dscale, void* dbias);

}  // namespace ricci::kernels
