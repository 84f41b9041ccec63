#include "src/graph/pattern.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::graph {
namespace {

constexpr int nowhere = -1;
constexpr int given_place = 1 << 12;   // the extent stands in the pattern or in an axis's type
constexpr int result_place = 1 << 13;  // + axis of the result

// Finds the extents of the indices of one call, and words what does not fit.
class resolver {
 public:
  resolver(pattern_spec const& spec, pattern_group const* groups, axes_view result,
           handle const* operands, std::int64_t const* given, std::int64_t* extents)
      : spec_(spec),
        groups_(groups),
        result_(result),
        operands_(operands),
        given_(given),
        extents_(extents) {}

  void run() {
    for (int id = 0; id < spec_.indices; ++id) {
      extents_[id] = -1;
      origin_[id] = nowhere;
      // A number is an extent of its own; other static extents come with the axes below.
      if (spec_.name[id] == nullptr) set(id, spec_.extent[id], given_place);
    }
    pattern_group const& to = groups_[spec_.operands];
    bool composite = false;
    for (int g = 0; g < spec_.operands; ++g) {
      pattern_group const& group = groups_[g];
      for (int axis = 0; axis < group.rank; ++axis) {
        if (group.begin[axis + 1] - group.begin[axis] != 1)
          composite = true;
        else
          set(group.ids[group.begin[axis]], operands_[g]->extents[axis], g * 32 + axis);
      }
    }
    for (int axis = 0; axis < to.rank; ++axis) {
      if (to.begin[axis + 1] - to.begin[axis] != 1) {
        composite = true;
        continue;
      }
      int const id = to.ids[to.begin[axis]];
      if (std::int64_t const e = result_.axes[axis]->extent; e >= 0)
        set(id, e, result_place + axis);
      if (given_ && given_[axis] >= 0) set(id, given_[axis], result_place + axis);
    }
    if (composite) take_apart();
    for (int id = 0; id < spec_.indices; ++id)
      if (extents_[id] < 0 && spec_.extent[id] >= 0) extents_[id] = spec_.extent[id];
    for (int id = 0; id < spec_.indices; ++id)
      if (extents_[id] < 0) unknown(id);
  }

 private:
  void take_apart() {
    for (bool changed = true; changed;) {
      changed = false;
      for (int g = 0; g <= spec_.operands; ++g)
        for (int axis = 0; axis < groups_[g].rank; ++axis)
          if (groups_[g].begin[axis + 1] - groups_[g].begin[axis] != 1) solve(g, axis, changed);
      if (changed) continue;
      // Static extents of factors are needed only where the axes do not tell.
      for (int id = 0; id < spec_.indices && !changed; ++id)
        if (extents_[id] < 0 && spec_.extent[id] >= 0) {
          set(id, spec_.extent[id], given_place);
          changed = true;
        }
    }
  }

  std::int64_t whole(int g, int axis) const {
    if (g < spec_.operands) return operands_[g]->extents[axis];
    if (given_ && given_[axis] >= 0) return given_[axis];
    return result_.axes[axis]->extent;
  }

  // One axis of several factors: the product of their extents is the axis's.
  void solve(int g, int axis, bool& changed) {
    pattern_group const& group = groups_[g];
    std::int64_t product = 1;
    int unknown_id = -1;
    for (int i = group.begin[axis]; i < group.begin[axis + 1]; ++i) {
      std::int64_t const extent = extents_[group.ids[i]];
      if (extent < 0) {
        if (unknown_id >= 0) return;
        unknown_id = group.ids[i];
      } else if (__builtin_mul_overflow(product, extent, &product)) {
        fail("the factors of axis " + name(axis_info_at(g, axis)) + " have a product beyond 2^63");
      }
    }
    std::int64_t const extent = whole(g, axis);
    if (extent < 0) return;
    if (unknown_id < 0) {
      if (product != extent) wrong_product(g, axis, extent, product);
      return;
    }
    if (product == 0 && extent == 0)
      fail("axis " + name(axis_info_at(g, axis)) + " of extent 0 does not tell the extent of " +
           index_name(unknown_id) +
           ", another of its factors being 0 too: give it as an axis value");
    if (product == 0 || extent % product != 0)
      fail("axis " + name(axis_info_at(g, axis)) + " of extent " + std::to_string(extent) +
           " does not divide into chunks of " + std::to_string(product));
    extents_[unknown_id] = extent / product;
    origin_[unknown_id] = (g < spec_.operands ? g * 32 : result_place) + axis;
    changed = true;
  }

  void set(int id, std::int64_t extent, int place) {
    if (extents_[id] < 0) {
      extents_[id] = extent;
      origin_[id] = place;
    } else if (extents_[id] != extent) {
      two_extents(id, extent, place);
    }
  }

  axis_info const* axis_info_at(int g, int axis) const {
    return g < spec_.operands ? operands_[g]->axes[axis] : result_.axes[axis];
  }
  axis_info const* axis_at(int place) const {
    if (place >= result_place) return result_.axes[place - result_place];
    return operands_[place >> 5]->axes[place & 31];
  }
  static std::string name(axis_info const* axis) { return "`" + std::string(axis->view()) + "`"; }
  std::string index_name(int id) const {
    if (spec_.name[id] == nullptr) return std::to_string(spec_.extent[id]);
    return "`" + std::string(spec_.name[id], static_cast<std::size_t>(spec_.name_size[id])) + "`";
  }
  static std::string place_name(int place) {
    return place >= result_place ? "the result" : "operand " + std::to_string((place >> 5) + 1);
  }

  [[noreturn]] void fail(std::string const& fact) const {
    throw shape_error(std::string(spec_.who) + ": " + fact +
                      shapes_text(operands_, spec_.operands));
  }

  [[noreturn]] void two_extents(int id, std::int64_t extent, int place) const {
    std::string const first = std::to_string(extents_[id]);
    std::string const second = std::to_string(extent);
    int const from = origin_[id];
    if (from == given_place)
      fail("axis " + name(axis_at(place)) + " of " + place_name(place) + " has extent " + second +
           ", the pattern says " + first);
    if (axis_at(from) == axis_at(place))
      fail("axis " + name(axis_at(place)) + " has extent " + first + " in " + place_name(from) +
           " and " + second + " in " + place_name(place));
    fail("index " + index_name(id) + " has extent " + first + " as axis " + name(axis_at(from)) +
         " of " + place_name(from) + " and " + second + " as axis " + name(axis_at(place)) +
         " of " + place_name(place));
  }

  [[noreturn]] void wrong_product(int g, int axis, std::int64_t extent,
                                  std::int64_t product) const {
    std::string factors;
    for (int i = groups_[g].begin[axis]; i < groups_[g].begin[axis + 1]; ++i) {
      int const id = groups_[g].ids[i];
      if (!factors.empty()) factors += " ";
      if (spec_.name[id] != nullptr)
        factors += std::string(spec_.name[id], static_cast<std::size_t>(spec_.name_size[id])) + " ";
      factors += std::to_string(extents_[id]);
    }
    fail("axis " + name(axis_info_at(g, axis)) + " has extent " + std::to_string(extent) +
         ", its factors (" + factors + ") make " + std::to_string(product));
  }

  [[noreturn]] void unknown(int id) const {
    fail(
        "the extent of index " + index_name(id) +
        " is not known: give it as an axis of static extent after the pattern, or as an axis value "
        "at the end of the call");
  }

  pattern_spec const& spec_;
  pattern_group const* groups_;
  axes_view result_;
  handle const* operands_;
  std::int64_t const* given_;
  std::int64_t* extents_;
  int origin_[max_indices];
};

}  // namespace

void read_groups(pattern_spec const& spec, pattern_group* groups) {
  std::int8_t const* code = spec.code;
  for (int g = 0; g <= spec.operands; ++g) {
    pattern_group& group = groups[g];
    group.rank = *code++;
    group.begin[0] = 0;
    int used = 0;
    for (int axis = 0; axis < group.rank; ++axis) {
      int const factors = *code++;
      for (int i = 0; i < factors; ++i) group.ids[used++] = *code++;
      group.begin[axis + 1] = static_cast<std::int8_t>(used);
    }
  }
}

void resolve_extents(pattern_spec const& spec, pattern_group const* groups, axes_view result,
                     handle const* operands, std::int64_t const* given, std::int64_t* extents) {
  resolver(spec, groups, result, operands, given, extents).run();
}

void group_extents(pattern_group const& group, std::int64_t const* index_extents,
                   std::int64_t* extents) {
  for (int axis = 0; axis < group.rank; ++axis) {
    extents[axis] = 1;
    for (int i = group.begin[axis]; i < group.begin[axis + 1]; ++i)
      if (__builtin_mul_overflow(extents[axis], index_extents[group.ids[i]], &extents[axis]))
        throw shape_error("einsum: the extent of an axis of the result does not fit 63 bits");
  }
}

index_view view_by_index(value const& x, pattern_group const& group,
                         std::int64_t const* index_extents) {
  index_view view;
  view.data = x.data;
  view.has_order = group.size() <= max_rank;
  view.order = x.order;
  // From the last axis on: the numbers of those before do not change when an axis is split.
  int out = group.size();
  view.rank = out;
  for (int axis = group.rank - 1; axis >= 0; --axis) {
    std::int64_t stride = x.strides[axis];
    int const parts = group.begin[axis + 1] - group.begin[axis];
    for (int i = group.begin[axis + 1] - 1; i >= group.begin[axis]; --i) {
      view.ids[--out] = group.ids[i];
      view.strides[out] = stride;
      stride *= index_extents[group.ids[i]];
    }
    if (view.has_order && parts > 1) view.order = split(view.order, axis, parts);
    if (view.has_order && parts == 0) view.order = ricci::at(view.order, axis);
  }
  for (int q = view.rank - 1; q > 0; --q) {
    int p = 0;
    while (view.ids[p] != view.ids[q]) ++p;
    if (p == q) continue;
    view.strides[p] += view.strides[q];
    if (view.has_order) view.order = ricci::diagonal(view.order, p, q);
    for (int i = q; i + 1 < view.rank; ++i) {
      view.ids[i] = view.ids[i + 1];
      view.strides[i] = view.strides[i + 1];
    }
    --view.rank;
  }
  return view;
}

}  // namespace ricci::graph
