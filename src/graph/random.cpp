#include "kernels/random/random.hpp"

#include "src/graph/value.hpp"

namespace ricci::graph {

handle random_normal(dtype type, axes_view axes, std::int64_t const* extents,
                     random::key const& key, double mean, double deviation) {
  handle result = make_leaf(type, axes, extents);
  kernels::fill_normal(key, result->data, type, result->count, mean, deviation);
  return result;
}

handle random_uniform(dtype type, axes_view axes, std::int64_t const* extents,
                      random::key const& key, double low, double high) {
  handle result = make_leaf(type, axes, extents);
  kernels::fill_uniform(key, result->data, type, result->count, low, high);
  return result;
}

handle random_truncated_normal(dtype type, axes_view axes, std::int64_t const* extents,
                               random::key const& key, double mean, double deviation, double low,
                               double high) {
  handle result = make_leaf(type, axes, extents);
  kernels::fill_truncated_normal(key, result->data, type, result->count, mean, deviation, low,
                                 high);
  return result;
}

handle random_bernoulli(axes_view axes, std::int64_t const* extents, random::key const& key,
                        double probability) {
  handle result = make_leaf(dtype::boolean, axes, extents);
  kernels::fill_bernoulli(key, result->data, result->count, probability);
  return result;
}

handle random_permutation(dtype type, axes_view axes, std::int64_t const* extents,
                          random::key const& key) {
  handle result = make_leaf(type, axes, extents);
  kernels::fill_permutation(key, result->data, type, result->count);
  return result;
}

}  // namespace ricci::graph
