#pragma once

/// Elementary functions over simd::vec: exp, exp2, log, tanh, sigmoid, silu, gelu, erf, sin, cos,
/// power, and the derivatives of silu and gelu. Polynomials in f32, libm lane by lane in f64 where
/// the f64 function is not worth a polynomial of its own. Their coefficients are least-squares fits
/// in 113-bit arithmetic at 400 Chebyshev points, reweighted towards minimax (Lawson's iteration),
/// rounded to f32 once.
#include "kernels/math/erf.hpp"
#include "kernels/math/exp_bounded.hpp"
#include "kernels/math/lanes.hpp"
#include "kernels/math/log.hpp"
#include "kernels/math/power.hpp"
#include "kernels/math/sigmoid.hpp"
#include "kernels/math/trigonometric.hpp"
#include "kernels/simd/exp.hpp"
