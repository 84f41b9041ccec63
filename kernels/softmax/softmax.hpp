#pragma once

#include <cstdint>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Softmax over the middle axis of x: [outer, axis, inner], packed.
///   Value   y(o, a, i) = e^x(o, a, i) / sum over b of e^x(o, b, i), from the differences to the
///           largest x, so no exponential overflows. Where all x along the axis are -infinity:
///           zeros. A NaN makes its own line along the axis NaN and no other
///   Dtype   f32, f64, bf16, f16; computes in f32 (f64: f64), one rounding at the end
///   Memory  y may be x itself, not overlap it otherwise      Cost  reads x once from memory
///   Errors  value_error: another dtype; shape_error: a negative extent or too many elements
void softmax(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner, void const* x,
             void* y);

/// log of softmax: y(o, a, i) = x(o, a, i) - log sum over b of e^x(o, b, i).
///   Value   where all x along the axis are -infinity: -infinity
///   Dtype, Memory, Cost, Errors  as softmax
void log_softmax(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                 void const* x, void* y);

/// The gradient of softmax from its result y: dx = y (dy - sum over the axis of y dy).
///   Value   zero where y is zero all along the axis
///   Memory  dx may be y or dy       Dtype, Errors  as softmax
void softmax_backward(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                      void const* y, void const* dy, void* dx);

/// The gradient of log_softmax from its result y: dx = dy - e^y sum over the axis of dy.
///   Value   zero where y is -infinity all along the axis
///   Memory  dx may be y or dy       Dtype, Errors  as softmax
void log_softmax_backward(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                          void const* y, void const* dy, void* dx);

/// The gradient of lse = log sum over the axis of e^x: dx(o, a, i) = e^(x - lse) dlse(o, i).
///   Axes    x, dx: [outer, axis, inner]; lse, dlse: [outer, inner], all packed
///   Value   zero where lse is -infinity
///   Memory  dx may be x             Dtype, Errors  as softmax
void logsumexp_backward(dtype type, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                        void const* x, void const* lse, void const* dlse, void* dx);

}  // namespace ricci::kernels
