#pragma once

#include <ricci/pattern/scan.hpp>
#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/pattern_spec.hpp>

#include <cstdint>
#include <string_view>

namespace ricci::detail {

/// A pattern with its names resolved.
struct bound_pattern {
  static constexpr int extra = 1024;

  graph::pattern_spec spec{};
  int result_rank = 0;
  /// Where the type of each result axis stands: operand * 32 + axis, or `extra` + place among the
  /// types after the pattern.
  std::int16_t source[max_rank]{};
  bool valid = false;
};

/// The indices of a pattern and what is known of their extents: each index has one extent, wherever
/// it stands, and the product of an axis's factors is the axis's extent.
///   known_[id]            the extent is static, or the call will find it at run time
///   out_.spec.extent[id]  the static extent, -1 where there is none
class index_extents : protected scanner {
 protected:
  constexpr index_extents(word w, std::string_view text, axes_list const* operands, int count,
                          axes_list extra, std::uint32_t given, message* why)
      : scanner(w, text, why), operands_(operands), count_(count), extra_(extra), given_(given) {}

  // --- names ----------------------------------------------------------------------------------
  static constexpr bool equal(axis_info const* a, std::string_view name) {
    if (a->name_size != static_cast<int>(name.size())) return false;
    for (int i = 0; i < a->name_size; ++i)
      if (a->name[i] != name[i]) return false;
    return true;
  }
  static constexpr int find(axes_list const& list, std::string_view name) {
    for (int i = 0; i < list.rank; ++i)
      if (equal(list.axes[i], name)) return i;
    return -1;
  }
  constexpr std::string_view index_name(int id) const {
    return {out_.spec.name[id], static_cast<std::size_t>(out_.spec.name_size[id])};
  }
  constexpr int find_index(std::string_view name) const {
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (out_.spec.name_size[id] != static_cast<int>(name.size())) continue;
      bool same = true;
      for (std::size_t i = 0; same && i < name.size(); ++i) same = out_.spec.name[id][i] == name[i];
      if (same) return id;
    }
    return -1;
  }
  /// @return -1 when there are too many.
  constexpr int add_index(std::string_view name, std::int64_t extent) {
    if (out_.spec.indices == graph::max_indices) {
      if (why_) because() << "a pattern has at most " << graph::max_indices << " indices";
      return -1;
    }
    int const id = out_.spec.indices++;
    out_.spec.extent[id] = extent;
    out_.spec.name[id] = name.data();
    out_.spec.name_size[id] = static_cast<std::int8_t>(name.size());
    return id;
  }
  /// An index by its name, made where it is new. @return -1 when there are too many.
  constexpr int index_of(std::string_view name) {
    int const id = find_index(name);
    return id >= 0 ? id : add_index(name, -1);
  }
  /// An index without a name.
  constexpr int number_index(std::int64_t extent) {
    int const id = add_index({}, extent);
    if (id < 0) return id;
    out_.spec.name[id] = nullptr;
    known_[id] = true;
    return id;
  }

  // --- where an axis stands -------------------------------------------------------------------
  static constexpr int result_place = 4096;  // + axis: a place in the result, for messages
  constexpr axis_info const* info(int source) const {
    return source >= bound_pattern::extra ? extra_.axes[source - bound_pattern::extra]
                                          : operands_[source >> 5].axes[source & 31];
  }
  constexpr axis_info const* place_info(int place) const {
    return place >= result_place ? info(out_.source[place - result_place]) : info(place);
  }
  static constexpr place_name name_of_place(int place) {
    return place >= result_place ? place_name{"the result"} : operand_place(place >> 5);
  }
  /// Is the extent of this result axis given by value?
  constexpr bool is_given(int source) const {
    return source >= bound_pattern::extra && (given_ >> (source - bound_pattern::extra) & 1);
  }

  // --- one extent an index --------------------------------------------------------------------
  constexpr bool set_extent(int id, std::int64_t extent, int place) {
    std::int64_t& have = out_.spec.extent[id];
    known_[id] = true;
    if (have < 0 || extent < 0) {
      if (have < 0) {
        have = extent;
        if (extent >= 0) origin_[id] = static_cast<std::int16_t>(place);
      }
      return true;
    }
    if (have == extent) return true;
    if (why_) two_extents(id, extent, place);
    return false;
  }
  constexpr void two_extents(int id, std::int64_t extent, int place) {
    axis_info const* const a = place_info(origin_[id]);
    axis_info const* const b = place_info(place);
    place_name const in_a = name_of_place(origin_[id]);
    place_name const in_b = name_of_place(place);
    if (equal(a, b->view())) {
      because() << "axis ";
      why_->quote(a->view()) << " has extent " << out_.spec.extent[id] << " in " << in_a << " and "
                             << extent << " in " << in_b;
    } else {
      because() << "index ";
      why_->quote(index_name(id)) << " has extent " << out_.spec.extent[id] << " as axis ";
      why_->quote(a->view()) << " of " << in_a << " and " << extent << " as axis ";
      why_->quote(b->view()) << " of " << in_b;
    }
  }

  // --- factors of an axis ---------------------------------------------------------------------
  /// Finds the extents that follow from others: static ones now, dynamic ones marked as known.
  /// @pre both sides are bound
  constexpr bool resolve_extents() {
    int const result = code_of_result();
    if (!result_axes(result)) return false;
    for (bool changed = true; changed;) {
      changed = false;
      int at = 0;
      for (int g = 0; g < count_; ++g) {
        int const rank = out_.spec.code[at++];
        for (int axis = 0; axis < rank; ++axis)
          if (!composite(at, info(g * 32 + axis), true, changed)) return false;
      }
      at = result + 1;
      for (int i = 0; i < out_.result_rank; ++i)
        if (!composite(at, info(out_.source[i]), is_given(out_.source[i]), changed)) return false;
    }
    for (int id = 0; id < out_.spec.indices; ++id)
      if (!known_[id]) return unknown_extent(id);
    return true;
  }

 private:
  constexpr int code_of_result() const {
    int at = 0;
    for (int g = 0; g < count_; ++g) {
      int const rank = out_.spec.code[at++];
      for (int axis = 0; axis < rank; ++axis) at += out_.spec.code[at] + 1;
    }
    return at;
  }
  /// The result's own axes: static extents, and those given by value.
  constexpr bool result_axes(int at) {
    ++at;
    for (int i = 0; i < out_.result_rank; ++i) {
      int const n = out_.spec.code[at];
      int const id = out_.spec.code[at + 1];
      at += n + 1;
      if (n != 1 || out_.spec.name_size[id] == 0) continue;
      if (info(out_.source[i])->extent >= 0) {
        if (!set_extent(id, info(out_.source[i])->extent, result_place + i)) return false;
      } else if (is_given(out_.source[i])) {
        known_[id] = true;
      }
    }
    return true;
  }
  /// One axis of several factors: the product of their extents is the axis's.
  constexpr bool composite(int& at, axis_info const* axis, bool is_known, bool& changed) {
    int const n = out_.spec.code[at];
    std::int8_t const* const ids = out_.spec.code + at + 1;
    at += n + 1;
    if (n == 1 && out_.spec.name_size[ids[0]] > 0) return true;
    std::int64_t product = 1;
    int unknown = -1;
    int unknown_count = 0;
    bool all_static = true;
    for (int i = 0; i < n; ++i) {
      if (!known_[ids[i]]) {
        unknown = ids[i];
        ++unknown_count;
      } else if (out_.spec.extent[ids[i]] < 0) {
        all_static = false;
      } else if (__builtin_mul_overflow(product, out_.spec.extent[ids[i]], &product)) {
        if (why_) {
          because() << "the factors of axis ";
          why_->quote(axis->view()) << " have a product beyond 2^63";
        }
        return false;
      }
    }
    std::int64_t const extent = axis->extent;
    if (unknown_count == 0)
      return extent < 0 || !all_static || product == extent || wrong_product(axis, ids, n, product);
    if (unknown_count > 1 || !(is_known || extent >= 0)) return true;
    known_[unknown] = true;
    changed = true;
    if (extent < 0 || !all_static) return true;
    if (product == 0 || extent % product != 0) {
      if (why_) {
        because() << "axis ";
        why_->quote(axis->view()) << " of extent " << extent << " does not divide into chunks of "
                                  << product;
      }
      return false;
    }
    out_.spec.extent[unknown] = extent / product;
    return true;
  }
  constexpr bool wrong_product(axis_info const* axis, std::int8_t const* ids, int n,
                               std::int64_t product) {
    if (!why_) return false;
    because() << "axis ";
    why_->quote(axis->view()) << " has extent " << axis->extent << ", its factors (";
    for (int i = 0; i < n; ++i) {
      if (i > 0) *why_ << " ";
      if (out_.spec.name_size[ids[i]] > 0) *why_ << index_name(ids[i]) << " ";
      *why_ << out_.spec.extent[ids[i]];
    }
    *why_ << ") make " << product;
    return false;
  }
  constexpr bool unknown_extent(int id) {
    if (!why_) return false;
    because() << "the extent of index ";
    why_->quote(index_name(id))
        << " is not known: give it as an axis of static extent after the pattern, or as an axis "
           "value at the end of the call";
    return false;
  }

 protected:
  axes_list const* operands_;
  int count_;
  axes_list extra_;
  std::uint32_t given_;  // bit i: the extent of the type i after the pattern is given by value
  std::int16_t origin_[graph::max_indices]{};  // the place that the static extent came from
  bool known_[graph::max_indices]{};
  bound_pattern out_{};
};

}  // namespace ricci::detail
