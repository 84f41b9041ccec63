#include <ricci/tensor/layout.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

using ricci::layout;
using ricci::link;

namespace {

// A view with its real strides beside the layout that is to describe them.
struct view {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  layout known;
  bool sign_known = true;  // false after a diagonal of a negative stride

  int rank() const { return static_cast<int>(extents.size()); }
};

view packed_view(std::vector<std::int64_t> const& extents) {
  view v{extents, std::vector<std::int64_t>(extents.size()),
         layout::packed(static_cast<int>(extents.size())), true};
  std::int64_t stride = 1;
  for (int axis = v.rank() - 1; axis >= 0; --axis) {
    v.strides[axis] = stride;
    stride *= extents[axis];
  }
  return v;
}

void erase(view& v, int axis) {
  v.extents.erase(v.extents.begin() + axis);
  v.strides.erase(v.strides.begin() + axis);
}

struct random_views {
  std::mt19937 engine{20240607};

  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }

  std::int64_t extent() {
    constexpr std::int64_t extents[] = {0, 1, 1, 2, 2, 3, 4, 6, 6, 12};
    return extents[below(20) == 0 ? 0 : 1 + below(9)];
  }

  view start() {
    std::vector<std::int64_t> extents(1 + below(5));
    for (auto& e : extents) e = extent();
    return packed_view(extents);
  }

  void permute(view& v) {
    std::vector<int> axes(v.rank());
    for (int i = 0; i < v.rank(); ++i) axes[i] = i;
    std::shuffle(axes.begin(), axes.end(), engine);
    view const old = v;
    for (int i = 0; i < v.rank(); ++i) {
      v.extents[i] = old.extents[axes[i]];
      v.strides[i] = old.strides[axes[i]];
    }
    v.known = permuted(old.known, axes);
  }

  void divide(view& v) {
    int const axis = below(v.rank());
    std::int64_t inner = extent();
    if (inner == 0 || v.extents[axis] % inner != 0) inner = 1;
    v.extents.insert(v.extents.begin() + axis + 1, inner);
    v.extents[axis] /= inner;
    v.strides.insert(v.strides.begin() + axis, v.strides[axis] * inner);
    v.known = split(v.known, axis, 2);
  }

  // Merges where the layout allows it; `checked` proves from the strides that it may.
  void unite(view& v) {
    for (int first = 0; first + 1 < v.rank(); ++first) {
      if (!can_merge(v.known, first, first + 1)) continue;
      int count = 2;
      while (first + count < v.rank() && can_merge(v.known, first + count - 1, first + count))
        ++count;
      std::int64_t product = 1;
      for (int i = 0; i < count; ++i) product *= v.extents[first + i];
      std::int64_t const stride = v.strides[first + count - 1];
      for (int i = 1; i < count; ++i) erase(v, first);
      v.extents[first] = product;
      v.strides[first] = stride;
      v.known = merge(v.known, first, count);
      return;
    }
  }

  void step(view& v) {
    switch (below(9)) {
      case 0:
        return permute(v);
      case 1:
        return divide(v);
      case 2:
        return unite(v);
      case 3: {
        int const axis = below(v.rank());
        erase(v, axis);
        v.known = at(v.known, axis);
        return;
      }
      case 4: {
        int const axis = below(v.rank());
        std::int64_t const by = 1 + below(2) * below(3);
        v.extents[axis] = (v.extents[axis] / 2 + by - 1) / by;
        v.strides[axis] *= by;
        v.known = sliced(v.known, axis, by);
        return;
      }
      case 5: {
        int const axis = below(v.rank());
        v.strides[axis] = -v.strides[axis];
        v.known = reversed(v.known, axis);
        return;
      }
      case 6: {
        if (v.rank() < 2) return;
        int const p = below(v.rank());
        int const q = (p + 1 + below(v.rank() - 1)) % v.rank();
        v.extents[p] = std::min(v.extents[p], v.extents[q]);
        if (v.strides[p] < 0 || v.strides[q] < 0) v.sign_known = false;
        v.strides[p] += v.strides[q];
        erase(v, q);
        v.known = diagonal(v.known, p, q);
        return;
      }
      case 7: {
        int const axis = below(v.rank());
        if (v.extents[axis] != 1) return;
        erase(v, axis);
        v.known = without_unit_axis(v.known, axis);
        return;
      }
      default: {
        int const count = 1 + below(2);
        v.extents.insert(v.extents.begin(), count, 0);
        v.strides.insert(v.strides.begin(), count, 0);
        for (int i = 0; i < count; ++i) v.extents[i] = extent();
        v.known = broadcast_front(v.known, count);
      }
    }
  }
};

bool empty(view const& v) {
  for (auto e : v.extents)
    if (e == 0) return true;
  return false;
}

// Every claim of the layout holds for the real strides.
bool truthful(view const& v) {
  layout const& l = v.known;
  if (l.rank != v.rank()) return false;
  int ordered = 0;
  for (int axis = 0; axis < v.rank(); ++axis) {
    link const own = l.link_of(axis);
    if (own == link::broadcast) {
      if (v.strides[axis] != 0 || l.place_of(axis) >= 0) return false;
      continue;
    }
    ++ordered;
    int const place = l.place_of(axis);
    if (place < 0 || l.axis_at(place) != axis) return false;
    if (own == link::reversed && v.sign_known && v.strides[axis] > 0) return false;
    if (own != link::dense) continue;
    std::int64_t expected = 1;
    if (place + 1 < l.ordered) {
      int const next = l.axis_at(place + 1);
      expected = v.extents[next] * v.strides[next];
    }
    if (v.strides[axis] != expected) return false;
  }
  return ordered == l.ordered;
}

}  // namespace

TEST_CASE("a layout is a template argument and equal operations give equal layouts") {
  constexpr layout l = layout::packed(3);
  static_assert(is_packed(l) && l.rank == 3 && l.ordered == 3);
  static_assert(merge(split(l, 1, 3), 1, 3) == l);
  constexpr int back[] = {2, 0, 1};
  constexpr int there[] = {1, 2, 0};
  static_assert(permuted(permuted(l, back), there) == l);
  static_assert(follows(permuted(l, back), 1, 2) && !follows(permuted(l, back), 0, 1));
  static_assert(!is_packed(permuted(l, back)));
  static_assert(at(broadcast_front(l, 1), 0) == l);
  static_assert(reversed(broadcast_front(l, 1), 0) == broadcast_front(l, 1));
  static_assert(is_packed(layout::packed(0)) && is_packed(layout::packed(ricci::max_rank)));
}

TEST_CASE("each operation rewrites the order and the links as the table says") {
  constexpr layout l = layout::packed(3);
  CHECK(at(l, 2).link_of(1) == link::gap);
  CHECK(at(l, 0) == layout::packed(2));
  CHECK(sliced(l, 1).link_of(0) == link::gap);
  CHECK(sliced(l, 1).link_of(1) == link::dense);
  CHECK(sliced(l, 1, 2).link_of(1) == link::gap);
  CHECK(reversed(l, 1).link_of(0) == link::gap);
  CHECK(reversed(l, 1).link_of(1) == link::reversed);
  CHECK(reversed(reversed(l, 1), 1).link_of(1) == link::gap);
  CHECK_FALSE(can_merge(reversed(l, 1), 0, 1));
  CHECK_FALSE(can_merge(reversed(l, 1), 1, 2));
  CHECK(split(reversed(l, 0), 0, 2).link_of(0) == link::reversed);
  CHECK(split(broadcast_front(l, 1), 0, 2) == broadcast_front(l, 2));
  CHECK(can_merge(broadcast_front(l, 2), 0, 1));
  CHECK_FALSE(can_merge(broadcast_front(l, 2), 1, 2));
  layout const d = diagonal(l, 2, 0);  // [1, diagonal], the diagonal at the slower one's place
  CHECK(d.rank == 2);
  CHECK(d.axis_at(0) == 1);
  CHECK(d.link_of(1) == link::gap);
  CHECK(diagonal(broadcast_front(l, 2), 0, 1) == broadcast_front(l, 1));
  CHECK_FALSE(can_merge(layout::strided(2), 0, 1));
}

TEST_CASE("twenty-four axes fit") {
  layout l = layout::packed(ricci::max_rank);
  for (int place = 0; place < ricci::max_rank; ++place) CHECK(l.axis_at(place) == place);
  CHECK(split(layout::packed(1), 0, ricci::max_rank) == l);
  CHECK(merge(l, 0, ricci::max_rank) == layout::packed(1));
  std::vector<int> axes(ricci::max_rank);
  for (int i = 0; i < ricci::max_rank; ++i) axes[i] = (7 * i) % ricci::max_rank;
  layout const p = permuted(l, axes);
  for (int i = 0; i < ricci::max_rank; ++i) CHECK(p.place_of(i) == axes[i]);
}

TEST_CASE("an axis of extent 1 goes without a gap") {
  layout const l = layout::packed(3);
  CHECK(without_unit_axis(l, 0) == layout::packed(2));
  CHECK(without_unit_axis(l, 1) == layout::packed(2));
  CHECK(without_unit_axis(l, 2) == layout::packed(2));
  layout stepped = layout::packed(2);
  stepped.set_link(1, link::gap);
  CHECK(without_unit_axis(sliced(l, 2, 2), 2) == stepped);
  CHECK(without_unit_axis(broadcast_front(l, 1), 0) == l);
}

TEST_CASE("random chains of views: no claim is ever wrong, most possible merges are found") {
  random_views random;
  std::int64_t wrong = 0;
  std::int64_t possible = 0;
  std::int64_t found = 0;
  for (int chain = 0; chain < 20000; ++chain) {
    view v = random.start();
    int const steps = 1 + random.below(6);
    for (int i = 0; i < steps; ++i) {
      random.step(v);
      if (v.rank() == 0 || v.rank() > 12) break;
      if (!truthful(v)) ++wrong;
      for (int p = 0; p < v.rank(); ++p) {
        for (int q = 0; q < v.rank(); ++q) {
          if (p == q) continue;
          bool const holds = v.strides[p] == v.extents[q] * v.strides[q];
          bool const claimed = can_merge(v.known, p, q);
          if (claimed && !holds) ++wrong;
          // Axes of extent 0 and 1 meet by chance; they say nothing about how much is found.
          if (!holds || empty(v) || v.extents[p] < 2 || v.extents[q] < 2) continue;
          ++possible;
          found += claimed;
        }
      }
    }
  }
  CHECK(wrong == 0);
  double const share = static_cast<double>(found) / static_cast<double>(possible);
  MESSAGE("numerically possible merges: ", possible, ", found: ", share);
  CHECK(share > 0.8);
}
