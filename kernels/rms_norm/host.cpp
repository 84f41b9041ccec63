#include "kernels/layer_norm/norm_rows.hpp"
#include "kernels/rms_norm/rms_norm.hpp"
#include "kernels/simd/visit_float.hpp"

namespace ricci::kernels {

void rms_norm(dtype type, std::int64_t rows, std::int64_t width, void const* x, void const* scale,
              double eps, void* y, void* rstd) {
  checked_count({rows, width}, "rms_norm");
  visit_float(type, "rms_norm", [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    norm::forward<false, T>(rows, width, static_cast<C>(eps),
                            {static_cast<T const*>(x), static_cast<T const*>(scale), nullptr,
                             static_cast<T*>(y), nullptr, static_cast<C*>(rstd)});
  });
}

void rms_norm_backward(dtype type, std::int64_t rows, std::int64_t width, void const* x,
                       void const* scale, void const* rstd, void const* dy, void* dx,
                       void* dscale) {
  checked_count({rows, width}, "rms_norm_backward");
  visit_float(type, "rms_norm_backward", [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    norm::backward<false, T>(rows, width,
                             {static_cast<T const*>(x), static_cast<T const*>(scale), nullptr,
                              static_cast<C const*>(rstd), static_cast<T const*>(dy),
                              static_cast<T*>(dx), static_cast<T*>(dscale), nullptr});
  });
}

}  // namespace ricci::kernels
