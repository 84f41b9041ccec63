#pragma once

#include <ricci/expr/joins.hpp>

namespace ricci {

struct attention_op {};

/// Which keys a query sees: all, or those at its position and before (counted from the end where
/// there are more keys than queries).
enum class mask : std::uint8_t { none, causal };

namespace detail {

/// q has Query and D, k and v have Key and D, everything else is the same in all three.
template <class Query, class Key, class D, class Q, class K, class V> struct attention_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<Q>(), facts_of_operand<K>(), facts_of_operand<V>()};
    if (!operands_fit("attention", facts, 3, true, why)) return false;
    if constexpr (is_node<Q> && is_node<K> && is_node<V>) {
      constexpr dtype type = dtype_of<typename bare<Q>::element_type>;
      if (!is_floating(type)) {
        if (why) *why << "attention: not defined on " << name_of(type) << ", write `to<f32>(...)`";
        return false;
      }
      constexpr axes_list lists[] = {axes_of_value<Q>(), axes_of_value<K>(), axes_of_value<V>()};
      for (int i = 0; i < 3; ++i) {
        axis_info const* const needed[] = {i == 0 ? &axis_info_of<Query> : &axis_info_of<Key>, &axis_info_of<D>};
        for (axis_info const* axis : needed)
          if (find_axis(lists[i], axis) < 0) {
            if (why) write_no_axis(*why, "attention", lists[i], axis, i + 1);
            return false;
          }
        bool same_rest = lists[i].rank == lists[0].rank;
        for (int j = 0; same_rest && j < lists[i].rank; ++j) {
          axis_info const* const axis = lists[i].axes[j];
          same_rest = axis == needed[0] || axis == needed[1] || find_axis(lists[0], axis) >= 0;
        }
        if (same_rest) continue;
        if (why) {
          *why << "attention: the queries have axes [";
          write_axes(*why, lists[0].axes, lists[0].rank);
          *why << "], operand " << i + 1 << " has [";
          write_axes(*why, lists[i].axes, lists[i].rank);
          *why << "]: they differ in " << Query::name.view() << " and " << Key::name.view() << " only";
        }
        return false;
      }
      return true;
    }
    return true;
  }
};

/// The axes of Q without its rows and features, then those two.
template <class Q, class Rows, class D> using attention_axes =
    join<replace<replace<typename bare<Q>::axes_type, Rows>, D>, pack<Rows, D>>;

}  // namespace detail

/// Scaled dot-product attention.
///   Axes    q: [..., Query, D], k, v: [..., Key, D], all axes in any order, batch axes equal -> like q
///   Value   softmax over Key of (scale sum over D of q k) times v; scale 1 / sqrt(extent of D)
///   Dtype   floats, all the same; computes in f32 (f64 in f64)
///   Memory  like q, and one number a query for the gradient; never a Query x Key matrix of all batches
///   Lowers  one pass over tiles (kernels/attention); causal tiles that nothing is seen of are skipped
///   Grad    from q, k, v, y and the kept logsumexp, tile by tile
///   Errors  an axis missing, axes or dtypes that differ (compile time); extents: shape_error
///   Source  Dao et al., FlashAttention, 2022 (the tiling and the recomputation)
template <class Query, class Key, class D, class Q, class K, class V>
  requires detail::SomeNode<Q, K, V>
[[nodiscard]] auto attention(Q&& q, K&& k, V&& v, mask seen = mask::none, double scale = 0) {
  using rule = detail::attention_rule<Query, Key, D, Q, K, V>;
  if constexpr (detail::is_poisoned<Q> || detail::is_poisoned<K> || detail::is_poisoned<V>) {
    return poisoned{};
  } else if constexpr (!detail::keeps<rule>) {
    detail::refuse_by<rule>();
    return poisoned{};
  } else {
    using queries = detail::node_like<Q, detail::attention_axes<Q, Query, D>>;
    using batch = detail::replace<detail::replace<typename detail::bare<Q>::axes_type, Query>, D>;
    using keys = detail::node_like<Q, detail::join<batch, pack<Key, D>>>;
    using result = detail::node_like<Q, typename detail::bare<Q>::axes_type>;
    graph::handle const left = detail::aligned<queries>(static_cast<Q&&>(q));
    graph::handle const right = detail::aligned<keys>(static_cast<K&&>(k));
    graph::handle const values = detail::aligned<keys>(static_cast<V&&>(v));
    graph::handle y = graph::attention(left, right, values, scale, seen == mask::causal);
    if constexpr (!detail::same<typename queries::axes_type, typename result::axes_type>) {
      constexpr detail::axes_list has{queries::axes, queries::rank};
      std::int8_t order[max_rank];
      for (int i = 0; i < result::rank; ++i)
        order[i] = static_cast<std::int8_t>(detail::find_axis(has, result::axes[i]));
      y = graph::permute(y, {result::axes, result::rank}, order);
    }
    return expression<attention_op, result, detail::operand_type<Q>, detail::operand_type<K>,
                      detail::operand_type<V>>(detail::make_node{}, std::move(y));
  }
}

}  // namespace ricci
