#pragma once

#include <ricci/axis/pack.hpp>
#include <ricci/error/message.hpp>
#include <ricci/tensor/device.hpp>
#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/layout.hpp>

#include <string_view>

/// The rules of values by themselves: their types, `x.item()`, `x(place)`, `x.shape().extent<A>()`.
namespace ricci::detail {

/// The axes of a value are all different, by name too, and not too many.
constexpr bool axes_fit(std::string_view who, axes_list const& list, message* why) {
  if (list.rank > max_rank) {
    if (why) *why << who << ": " << list.rank << " axes; a tensor has at most " << max_rank;
    return false;
  }
  for (int i = 0; i < list.rank; ++i)
    for (int j = 0; j < i; ++j) {
      axis_info const* const a = list.axes[j];
      axis_info const* const b = list.axes[i];
      if (a->name_size != b->name_size || a->view() != b->view()) continue;
      if (!why) return false;
      if (is_same_axis(a, b)) {
        *why << who << ": axis ";
        why->quote(a->view())
            << " stands twice: the axes of a tensor are all different (a second one of the same "
               "extent is `prime<...>`)";
      } else if (a->extent >= 0 && b->extent >= 0 && a->extent != b->extent) {
        *why << who << ": two axis types are named ";
        why->quote(a->view()) << ", of extents " << a->extent << " and " << b->extent
                              << ": one name is one type";
      } else {
        *why << who << ": two axis types are named ";
        why->quote(a->view()) << ": one name is one type";
      }
      return false;
    }
  return true;
}
/// The axes of a result, as a pack, are all different.
template <fixed_string Who, class Axes> struct distinct_rule {
  static constexpr bool check(message* why) { return axes_fit(Who.view(), axes_in<Axes>, why); }
};

/// Stands for a device where a tensor's last type is neither an axis nor a device, or one before it
/// is no axis.
struct no_device {
  static constexpr char const* name = "";
};

/// What a value's type is made of: a dtype, then axes, then perhaps a device.
template <class T, class D, class... A> struct node_rule {
  static constexpr bool check(message* why) {
    if (!Dtype<T>) {
      if (why)
        *why << "tensor: the first type is not a dtype (f64 f32 f16 bf16 f8_e4m3 f8_e5m2 i64 i32 "
                "i16 i8 u16 u8 boolean)";
      return false;
    }
    if (!is_device<D>) {
      if (why)
        *why << "tensor: a type after the dtype is not an axis (only the last one may be a device)";
      return false;
    }
    return axes_fit("tensor", {axis_list<A...>, sizeof...(A)}, why);
  }
};
template <class T, class D, class... A> void require_node() {
  if constexpr (!keeps<node_rule<T, D, A...>>) refuse_by<node_rule<T, D, A...>>();
}

constexpr bool same_axis_among(axes_list const& list, axis_info const* axis) {
  for (int i = 0; i < list.rank; ++i)
    if (is_same_axis(list.axes[i], axis)) return true;
  return false;
}

/// `who: operand 1 has no axis `x` (it has: ...); did you mean ...?`
constexpr void write_no_axis(message& m, std::string_view who, axes_list const& has,
                             axis_info const* wanted, place_name in = {"operand", 1}) {
  if (write_name_clash(m, who, has, in, {&wanted, 1}, {"the call"})) return;
  m << who << ": " << in << " has no axis ";
  m.quote(wanted->view());
  write_has(m, has);
  suggest(m, wanted->view(), has);
}

template <class Node> struct item_rule {
  static constexpr bool check(message* why) {
    if (Node::rank == 0) return true;
    if (why) {
      *why << "item: the value has axes [";
      write_axes(*why, Node::axes, Node::rank);
      *why << "]; item() reads a rank-0 value (give the place: x(Axis{i}, ...))";
    }
    return false;
  }
};

/// A place: every axis of the value once.
constexpr bool place_fits(axes_list const& axes, axes_list const& given, message* why) {
  for (int i = 0; i < given.rank; ++i) {
    if (!same_axis_among(axes, given.axes[i])) {
      if (why) write_no_axis(*why, "x(...)", axes, given.axes[i], {"the value"});
      return false;
    }
    if (same_axis_among({given.axes, i}, given.axes[i])) {
      if (why) {
        *why << "x(...): axis ";
        why->quote(given.axes[i]->view()) << " is given twice";
      }
      return false;
    }
  }
  for (int j = 0; j < axes.rank; ++j) {
    if (same_axis_among(given, axes.axes[j])) continue;
    if (why) {
      *why << "x(...): the position along axis ";
      why->quote(axes.axes[j]->view()) << " is missing (all axes are given, each once)";
    }
    return false;
  }
  return true;
}
template <class Node, class... P> struct place_rule {
  static constexpr bool check(message* why) {
    if constexpr ((is_axis<P> && ...)) {
      return place_fits({Node::axes, Node::rank}, {axis_list<P...>, sizeof...(P)}, why);
    } else {
      if (why) *why << "x(...): a place is given by axes, as in x(Batch{1}, Hidden{3})";
      return false;
    }
  }
};

/// A value where a condition stands: `if (a == b)`.
template <class Node> struct condition_rule {
  static constexpr bool check(message* why) {
    if (why) *why << "if: a tensor is not a condition: write `all(a == b).item()` or `any(...)`";
    return false;
  }
};

template <class Of, class... A> struct shape_axis_rule {
  static constexpr bool check(message* why) {
    if constexpr (!is_axis<Of>) {
      if (why) *why << "shape: the type in < > is not an axis";
      return false;
    } else {
      axes_list const axes{axis_list<A...>, sizeof...(A)};
      if (same_axis_among(axes, &axis_info_of<Of>)) return true;
      if (why) write_no_axis(*why, "shape", axes, &axis_info_of<Of>, {"the shape"});
      return false;
    }
  }
};

}  // namespace ricci::detail
