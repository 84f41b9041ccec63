#pragma once

#include <ricci/expr/joins.hpp>

namespace ricci {

/// Which axes of operand 1 are the queries' and the features'.
template <int Query, int D> struct attention_op {};

/// Which keys a query sees: all, or those at its position and before (counted from the end where
/// there are more keys than queries).
enum class mask : std::uint8_t { none, causal };

namespace detail {

/// q has Query and D, k and v have Key and D, everything else is the same in all three.
template <class Query, class Key, class D, class Q, class K, class V> struct attention_rule {
  static constexpr bool check(message* why) {
    operand_facts const facts[] = {facts_of_operand<Q>(), facts_of_operand<K>(), facts_of_operand<V>()};
    if (!operands_fit("attention", facts, 3, true, why)) return false;
    if constexpr (!is_axis<Query> || !is_axis<Key> || !is_axis<D>) {
      if (why) *why << "attention: the types in < > are axes: attention<Query, Key, HeadDim>(q, k, v)";
      return false;
    } else if constexpr (is_node<Q> && is_node<K> && is_node<V>) {
      if (!takes_floats("attention", dtype_of<typename bare<Q>::element_type>, why)) return false;
      if (same<Query, Key> || same<Query, D> || same<Key, D>) {
        if (why) {
          *why << "attention: axis ";
          why->quote((same<Key, D> ? Key::name.view() : Query::name.view()))
              << " is named twice; queries, keys and features have three axes (`rename` one)";
        }
        return false;
      }
      axes_list const lists[] = {axes_of_value<Q>(), axes_of_value<K>(), axes_of_value<V>()};
      axis_info const* const query[] = {&axis_info_of<Query>, &axis_info_of<D>};
      axis_info const* const key[] = {&axis_info_of<Key>, &axis_info_of<D>};
      for (int i = 0; i < 3; ++i)
        if (!operand_fits(lists[0], lists[i], i, query, i == 0 ? query : key, why)) return false;
      return true;
    } else {
      return true;
    }
  }
  /// Operand i has the two axes needed; its others are the queries' others.
  static constexpr bool operand_fits(axes_list const& queries, axes_list const& has, int i, axis_info const* const* query,
                                     axis_info const* const* needed, message* why) {
    for (int n = 0; n < 2; ++n)
      if (!same_axis_among(has, needed[n])) {
        if (why) write_no_axis(*why, "attention", has, needed[n], operand_place(i));
        return false;
      }
    bool same_rest = has.rank == queries.rank;
    for (int j = 0; same_rest && j < has.rank; ++j)
      same_rest = is_same_axis(has.axes[j], needed[0]) ||
                  (!is_same_axis(has.axes[j], query[0]) && same_axis_among(queries, has.axes[j]));
    if (same_rest || !why) return same_rest;
    if (write_name_clash(*why, "attention", queries, operand_place(0), has, operand_place(i))) return false;
    *why << "attention: operand 1 has axes [";
    write_axes(*why, queries);
    *why << "], operand " << i + 1 << " has [";
    write_axes(*why, has);
    *why << "]: they differ in ";
    why->quote(query[0]->view()) << " and ";
    why->quote(needed[0]->view()) << " only";
    return false;
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
    return expression<attention_op<detail::place_of_axis<Q, Query>(), detail::place_of_axis<Q, D>()>, result, detail::operand_type<Q>, detail::operand_type<K>,
                      detail::operand_type<V>>(detail::make_node{}, std::move(y));
  }
}

/// Would attention<Query, Key, D> take values of the types Q, K and V?
template <class Query, class Key, class D, class Q, class K, class V>
inline constexpr bool attention_ok = detail::keeps<detail::attention_rule<Query, Key, D, Q, K, V>>;

}  // namespace ricci
