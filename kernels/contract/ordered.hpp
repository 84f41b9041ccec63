#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <ricci/tensor/storage.hpp>

#include "kernels/contract/contract.hpp"
#include "kernels/contract/elements.hpp"
#include "kernels/copy/copy.hpp"

/// Contractions that read each operand once, in the order of the largest array. Private to
/// kernels/contract.
namespace ricci::kernels::contraction {

/// A problem whose smaller arrays are copied into the order in which the largest one lies, so that
/// all three are walked along memory. The result is permuted at the end.
class ordered_problem {
 public:
  /// @pre  no epilogue; the problem outlives it
  explicit ordered_problem(contraction_problem const& problem) : p_(problem), ordered_(problem) {
    take(problem.batch, problem.batches, true, true, true);
    take(problem.m, problem.ms, true, false, true);
    take(problem.n, problem.ns, false, true, true);
    take(problem.k, problem.ks, true, true, false);
    for (int t = 0; t < 3; ++t)
      for (int i = 0; i < count_; ++i)
        if (at(i, t) != 0) size_[t] *= axes_[i].extent;
    largest_ = static_cast<int>(std::max_element(size_, size_ + 3) - size_);
    // What the largest array lacks comes first: it is walked again and again.
    std::stable_sort(order_, order_ + count_, [&](int x, int y) {
      std::int64_t const sx = std::abs(at(x, largest_)), sy = std::abs(at(y, largest_));
      return sx == 0 || sy == 0 ? sx == 0 && sy != 0 : sx > sy;
    });
    for (int t = 0; t < 3; ++t)
      if (t != largest_) place(t);
    int next = 0;
    auto const give = [&](contraction_axis const*& axes, int count, int first) {
      axes = given_ + next;
      for (int i = 0; i < count_; ++i)
        if (order_[i] >= first && order_[i] < first + count) given_[next++] = axes_[order_[i]];
      return first + count;
    };
    int first = give(ordered_.batch, p_.batches, 0);
    first = give(ordered_.m, p_.ms, first);
    first = give(ordered_.n, p_.ns, first);
    give(ordered_.k, p_.ks, first);
  }
  ordered_problem(ordered_problem const&) = delete;

  /// Its strides are right at once, its arrays from bring() on.
  contraction_problem const& problem() const { return ordered_; }

  /// Which array is the largest: a, b or c?
  int largest() const { return largest_; }

  /// Do the copies hardly count beside the largest array?
  bool moves_little() const {
    std::int64_t moved = 0;
    for (int t = 0; t < 3; ++t) moved += moves_[t] ? size_[t] : 0;
    return 64 * moved <= size_[largest_];
  }

  /// Copies the operands that lie in another order.
  void bring() {
    if (moves_[0]) ordered_.a = moved(0, size_of(p_.a_type), p_.a);
    if (moves_[1]) ordered_.b = moved(1, size_of(p_.b_type), p_.b);
    if (moves_[2]) ordered_.c = space(2, size_of(p_.c_type));
  }

  /// Copies the result to its places.
  void take_back() const {
    if (moves_[2]) move(2, size_of(p_.c_type), p_.c, memory_[2].data(), true);
  }

 private:
  static constexpr int most = 4 * 32;
  static constexpr std::int64_t contraction_axis::* stride_in[] = {
      &contraction_axis::a, &contraction_axis::b, &contraction_axis::c};

  void take(contraction_axis const* axes, int count, bool in_a, bool in_b, bool in_c) {
    for (int i = 0; i < count; ++i) {
      from_[count_] = axes[i];
      contraction_axis& axis = from_[count_];
      if (!in_a) axis.a = 0;
      if (!in_b) axis.b = 0;
      if (!in_c) axis.c = 0;
      axes_[count_] = axis;
      order_[count_] = count_;
      ++count_;
    }
  }
  std::int64_t at(int axis, int t) const { return from_[axis].*stride_in[t]; }

  // Packed strides in the common order, unless the array lies in it already.
  void place(int t) {
    std::int64_t before = 0;
    for (int i = 0; i < count_; ++i) {
      std::int64_t const stride = std::abs(at(order_[i], t));
      if (stride == 0 || axes_[order_[i]].extent == 1) continue;
      moves_[t] = moves_[t] || (before != 0 && stride > before);
      before = stride;
    }
    if (!moves_[t]) return;
    std::int64_t stride = 1;
    for (int i = count_ - 1; i >= 0; --i) {
      int const axis = order_[i];
      if (at(axis, t) == 0) continue;
      axes_[axis].*stride_in[t] = stride;
      stride *= axes_[axis].extent;
    }
  }

  void* space(int t, std::int64_t bytes) {
    memory_[t] = allocate(size_[t] * bytes, role::scratch);
    return memory_[t].data();
  }
  void const* moved(int t, std::int64_t bytes, void const* from) {
    void* const to = space(t, bytes);
    move(t, bytes, to, from, false);
    return to;
  }
  // Between an array's own places and the packed ones.
  void move(int t, std::int64_t bytes, void* to, void const* from, bool is_back) const {
    std::int64_t extents[max_copy_rank], own[max_copy_rank], packed[max_copy_rank];
    int rank = 0;
    for (int i = 0; i < count_; ++i) {
      int const axis = order_[i];
      if (at(axis, t) == 0) continue;
      extents[rank] = axes_[axis].extent;
      own[rank] = at(axis, t);
      packed[rank] = axes_[axis].*stride_in[t];
      ++rank;
    }
    copy(bytes, rank, extents, to, is_back ? own : packed, from, is_back ? packed : own);
  }

  contraction_problem const& p_;
  contraction_problem ordered_;
  contraction_axis from_[most];  // batch, m, n, k
  contraction_axis axes_[most];  // the same with the strides of what is copied
  contraction_axis given_[most];
  int order_[most];  // slowest first
  int count_ = 0;
  std::int64_t size_[3] = {1, 1, 1};  // elements of a, b, c
  int largest_ = 0;
  bool moves_[3] = {};
  storage_handle memory_[3];
};

}  // namespace ricci::kernels::contraction
