#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Root-mean-square normalization of each row.
///   Axes    x, y: [rows, width]; scale: [width]; rstd: [rows]; all packed
///   Value   y(r, c) = x(r, c) rstd(r) scale(c), rstd(r) = 1 / sqrt(mean of x(r, c)^2 + eps)
///   Dtype   x, y, scale: f32, f64, bf16 or f16; computes, and keeps rstd, in f32 (f64: f64)
///   Memory  scale may be null (1), rstd too (not kept); y may be x
///   Cost    reads x once from memory
///   Errors  value_error: another dtype; shape_error: a negative extent or too many elements
///   Source  Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, arXiv:1910.07467
void rms_norm(dtype type, std::int64_t rows, std::int64_t width, void const* x, void const* scale,
              double eps, void* y, void* rstd);

/// The gradients of rms_norm.
///   Value   with n = x rstd and g = dy scale: dx = rstd (g - n mean of (g n)), the mean along the
///           row; dscale = sum over rows of dy n
///   Memory  scale may be null (1); each result may be null (not computed), else it is overwritten;
///           dx may be dy
///   Cost, Errors  as layer_norm_backward
void rms_norm_backward(dtype type, std::int64_t rows, std::int64_t width, void const* x,
                       void const* scale, void const* rstd, void const* dy, void* dx, void* dscale);

}  // namespace ricci::kernels
