#include "kernels/cross_entropy/cross_entropy.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "kernels/simd/axis_lines.hpp"
#include "kernels/simd/exp.hpp"
#include "kernels/simd/visit_float.hpp"
#include "kernels/simd/visit_index.hpp"

namespace ricci::kernels {
namespace {

using simd::vec;

template <class C> constexpr C infinity = std::numeric_limits<C>::infinity();

// -infinity must not meet itself in a difference.
template <class C> vec<C> finite_base(vec<C> top) {
  return simd::select<C>(top == -infinity<C>, vec<C>{}, top);
}

template <class I> class target_rows {
 public:
  target_rows(class_targets const& targets, std::int64_t rows, std::int64_t classes,
              char const* who)
      : data_(static_cast<I const*>(targets.data)), ignore_(targets.ignore) {
    for (std::int64_t r = 0; r < rows; ++r) {
      auto const target = static_cast<std::int64_t>(data_[r]);
      if ((target >= 0 && target < classes) || is_ignored(r)) continue;
      std::string sentence(who);
      sentence += ": the target of row " + std::to_string(r) + " is " + std::to_string(target);
      sentence += ", and there are " + std::to_string(classes) + " classes; ";
      sentence += "a target counts them from 0";
      sentence += ignore_ ? ", or is the ignored " + std::to_string(*ignore_) + "." : ".";
      throw index_error(sentence);
    }
  }
  bool is_ignored(std::int64_t row) const {
    return ignore_ && static_cast<std::int64_t>(data_[row]) == *ignore_;
  }
  std::int64_t operator[](std::int64_t row) const { return static_cast<std::int64_t>(data_[row]); }

 private:
  I const* data_;
  std::optional<std::int64_t> ignore_;
};

template <class T, class I, class C = accumulator_t<T>>
void forward(axis_lines const& lines, T const* x, target_rows<I> const& targets, T* loss, C* lse) {
  lines.for_each<C>([&](auto line) {
    vec<C> const base = finite_base<C>(line.max([&](auto at) { return at.load(x); }));
    vec<C> const total = line.sum([&](auto at) { return simd::exp<C>(at.load(x) - base); });
    line.each_line([&](int lane, std::int64_t row, std::int64_t begin, std::int64_t step) {
      C const log_total = std::log(C(total[lane]));  // -infinity where all logits are
      lse[row] = base[lane] + log_total;
      if (targets.is_ignored(row)) {
        loss[row] = T(C(0));
        return;
      }
      C const target = static_cast<C>(x[begin + targets[row] * step]);
      loss[row] = T(target == -infinity<C> ? infinity<C> : log_total - (target - base[lane]));
    });
  });
}

template <class T, class I, class C = accumulator_t<T>>
void backward(axis_lines const& lines, T const* x, target_rows<I> const& targets, C const* lse,
              T const* dloss, T* dx) {
  lines.for_each<C>([&](auto line) {
    vec<C> const base = finite_base<C>(line.load_one(lse));
    vec<C> slope = line.load_one(dloss);
    vec<C> at_target{};
    simd::mask<C> ignored{};
    line.each_line([&](int lane, std::int64_t row, std::int64_t begin, std::int64_t step) {
      if (targets.is_ignored(row)) {
        // A contiguous line is the same in all lanes.
        for (int i = lane; i < (line.is_single() ? simd::lanes<C> : lane + 1); ++i) ignored[i] = -1;
      } else {
        at_target[lane] = static_cast<C>(x[begin + targets[row] * step]);
      }
    });
    line.each([&](auto at) {
      vec<C> const share = simd::exp<C>(at.load(x) - base) * slope;
      at.store(dx, simd::select<C>(ignored, vec<C>{}, share));
    });
    // The target's element again: rounded once, and exact where its probability is near 1.
    line.each_line([&](int lane, std::int64_t row, std::int64_t begin, std::int64_t step) {
      if (targets.is_ignored(row)) return;
      C const less_one = std::expm1(C(at_target[lane]) - C(base[lane]));
      dx[begin + targets[row] * step] = T(less_one * C(slope[lane]));
    });
  });
}

// Calls f with the lines, and the targets after their check.
template <class F> void with_targets(std::int64_t outer, std::int64_t classes, std::int64_t inner,
                                     class_targets const& targets, char const* who, F f) {
  axis_lines const lines(outer, classes, inner, who);
  std::int64_t const rows = checked_count({outer, inner}, who);
  visit_index(targets.type, who, [&]<class I>(std::type_identity<I>) {
    f(lines, target_rows<I>(targets, rows, classes, who), rows);
  });
}

}  // namespace

void cross_entropy(dtype type, std::int64_t outer, std::int64_t classes, std::int64_t inner,
                   void const* logits, class_targets const& targets, void* loss, void* lse) {
  constexpr char const* who = "cross_entropy";
  visit_float(type, who, [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    auto* const losses = static_cast<T*>(loss);
    auto* const sums = static_cast<C*>(lse);
    with_targets(outer, classes, inner, targets, who,
                 [&](axis_lines const& lines, auto const& checked, std::int64_t rows) {
                   forward<T>(lines, static_cast<T const*>(logits), checked, losses, sums);
                   if (classes > 0) return;
                   for (std::int64_t r = 0; r < rows; ++r) {  // all ignored
                     losses[r] = T(C(0));
                     sums[r] = -infinity<C>;
                   }
                 });
  });
}

void cross_entropy_backward(dtype type, std::int64_t outer, std::int64_t classes,
                            std::int64_t inner, void const* logits, class_targets const& targets,
                            void const* lse, void const* dloss, void* dlogits) {
  constexpr char const* who = "cross_entropy_backward";
  visit_float(type, who, [&]<class T>(std::type_identity<T>) {
    using C = accumulator_t<T>;
    with_targets(outer, classes, inner, targets, who,
                 [&](axis_lines const& lines, auto const& checked, std::int64_t) {
                   backward<T>(lines, static_cast<T const*>(logits), checked,
                               static_cast<C const*>(lse), static_cast<T const*>(dloss),
                               static_cast<T*>(dlogits));
                 });
  });
}

}  // namespace ricci::kernels
