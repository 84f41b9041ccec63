#pragma once

#include <ricci/expr/joins.hpp>
#include <ricci/nn/linear.hpp>

namespace ricci::nn {

/// A table of vectors, one for each position of Vocab.
///   Axes    ids: any axes, integers -> [ids' axes..., Width]; weight [Vocab, Width]
///   Init    normal, deviation 1 (as PyTorch)
///   Errors  ids not integers (compile time); outside Vocab: index_error
template <class T, class Vocab, class Width, class D = host> struct embedding {
  using weight_type = tensor_on<D, T, Vocab, Width>;
  BOOST_HANA_DEFINE_STRUCT(embedding, (weight_type, weight));

  auto operator()(auto&& ids) const { return take<Vocab>(weight, static_cast<decltype(ids)>(ids)); }
  void initialize(random::key k) { init::normal(weight, k.fold("weight"), 1); }
};

}  // namespace ricci::nn
