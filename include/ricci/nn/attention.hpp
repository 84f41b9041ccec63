#pragma once

#include <ricci/expr/attention.hpp>
#include <ricci/expr/slice.hpp>
#include <ricci/nn/linear.hpp>

namespace ricci::nn {

/// The axis of queries, keys and values in one projection.
struct Qkv : axis<"qkv", 3> {};

/// Multi-head self-attention along Seq, with one projection for queries, keys and values.
///   Axes    x: [..., Seq, ..., Width] -> the same; heads: Heads of HeadDim each
///   Lowers  two GEMMs and the attention kernel on views of the first one's result
///   Errors  x lacks Seq or Width (compile time)
///   Source  Vaswani et al., 2017
template <class T, class Seq, class Width, class Heads, class HeadDim, class D = host> struct attention {
  using qkv_type = linear<T, Width, pack<Qkv, Heads, HeadDim>, D>;
  using out_type = linear<T, pack<Heads, HeadDim>, Width, D>;
  BOOST_HANA_DEFINE_STRUCT(attention, (qkv_type, qkv), (out_type, out));
  mask seen = mask::causal;

  auto operator()(auto&& x) const {
    auto projected = eval(qkv(static_cast<decltype(x)>(x)));
    using Key = prime<Seq>;
    return out(ricci::attention<Seq, Key, HeadDim>(at<Qkv>(projected, 0), rename<Seq, Key>(at<Qkv>(projected, 1)),
                                                   rename<Seq, Key>(at<Qkv>(projected, 2)), seen));
  }
};

}  // namespace ricci::nn
