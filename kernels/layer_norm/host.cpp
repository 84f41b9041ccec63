#include "kernels/layer_norm/layer_norm.hpp"

#include "kernels/layer_norm/norm_rows.hpp"
#include "kernels/simd/visit_float.hpp"

namespace ricci::kernels {

void layer_norm(dtype type, std::int64_t rows, std::int64_t width, void const* x, void const* scale,
                void const* bias, double eps, void* y, void* mean, void* rstd) {
  checked_count({rows, width}, "layer_norm");
  visit_float(type, "layer_norm", [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    norm::forward<true, T>(
        rows, width, static_cast<C>(eps),
        {static_cast<T const*>(x), static_cast<T const*>(scale), static_cast<T const*>(bias),
         static_cast<T*>(y), static_cast<C*>(mean), static_cast<C*>(rstd)});
  });
}

void layer_norm_backward(dtype type, std::int64_t rows, std::int64_t width, void const* x,
                         void const* scale, void const* mean, void const* rstd, void const* dy,
                         void* dx, void* dscale, void* dbias) {
  checked_count({rows, width}, "layer_norm_backward");
  visit_float(type, "layer_norm_backward", [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    norm::backward<true, T>(
        rows, width,
        {static_cast<T const*>(x), static_cast<T const*>(scale), static_cast<C const*>(mean),
         static_cast<C const*>(rstd), static_cast<T const*>(dy), static_cast<T*>(dx),
         static_cast<T*>(dscale), static_cast<T*>(dbias)});
  });
}

}  // namespace ricci::kernels
