#include "kernels/copy/box_copy.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/copy/strip.hpp"
#include "kernels/copy/tile.hpp"

namespace ricci::kernels {
namespace {

template <int Bytes> RICCI_ALWAYS_INLINE void move_bytes(char* to, char const* from) {
  typename simd::detail::vector_type<std::uint8_t, Bytes>::type v;
  std::memcpy(&v, from, sizeof v);
  std::memcpy(to, &v, sizeof v);
}

// A run of Bytes to 2 Bytes: two pieces, which overlap when it is shorter.
template <int Bytes>
RICCI_ALWAYS_INLINE void move_pair(char* to, char const* from, std::int64_t run) {
  typename simd::detail::vector_type<std::uint8_t, Bytes>::type first, last;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, from + run - Bytes, sizeof last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + run - Bytes, &last, sizeof last);
}

struct move_tiny {
  RICCI_ALWAYS_INLINE void operator()(char* to, char const* from, std::int64_t run) const {
    for (std::int64_t i = 0; i < run; ++i) to[i] = from[i];
  }
};
template <int Bytes> struct move_exact {
  RICCI_ALWAYS_INLINE void operator()(char* to, char const* from, std::int64_t) const {
    move_bytes<Bytes>(to, from);
  }
};
template <int Bytes> struct move_short {
  RICCI_ALWAYS_INLINE void operator()(char* to, char const* from, std::int64_t run) const {
    move_pair<Bytes>(to, from, run);
  }
};
struct move_lines {
  RICCI_ALWAYS_INLINE void operator()(char* to, char const* from, std::int64_t run) const {
    for (std::int64_t i = 0; i + 64 < run; i += 64) move_bytes<64>(to + i, from + i);
    move_bytes<64>(to + run - 64, from + run - 64);
  }
};
struct move_long {
  void operator()(char* to, char const* from, std::int64_t run) const {
    std::memcpy(to, from, static_cast<std::size_t>(run));
  }
};

struct move_streamed {
  void operator()(char* to, char const* from, std::int64_t run) const { stream_run(to, from, run); }
};

template <class Move> void copy_runs(box_rows const& b, char* target, char const* source) {
  for (std::int64_t i = 0; i < b.outer; ++i)
    for (std::int64_t j = 0; j < b.inner; ++j)
      Move{}(target + i * b.outer_target + j * b.inner_target,
             source + i * b.outer_source + j * b.inner_source, b.run);
}

// A box at the end of an axis can hold a shorter run than the others.
void copy_any_runs(box_rows const& b, char* target, char const* source) {
  auto const move = b.run < 4      ? &copy_runs<move_tiny>
                    : b.run < 8    ? &copy_runs<move_short<4>>
                    : b.run < 16   ? &copy_runs<move_short<8>>
                    : b.run == 16  ? &copy_runs<move_exact<16>>
                    : b.run < 32   ? &copy_runs<move_short<16>>
                    : b.run == 32  ? &copy_runs<move_exact<32>>
                    : b.run < 64   ? &copy_runs<move_short<32>>
                    : b.run == 64  ? &copy_runs<move_exact<64>>
                    : b.run <= 128 ? &copy_runs<move_short<64>>
                    : b.run < 512  ? &copy_runs<move_lines>
                                   : &copy_runs<move_long>;
  move(b, target, source);
}

// Along the target's rows.
template <class U> void transpose_box(box_rows const& b, char* target, char const* source) {
  constexpr std::int64_t rows = tile<U>::rows, columns = tile<U>::columns, size = sizeof(U);
  for (std::int64_t i = 0; i < b.outer; i += columns) {
    char* const to = target + i * b.outer_target;
    char const* const from = source + i * size;
    std::int64_t const width = std::min(columns, b.outer - i);
    for (std::int64_t j = 0; j < b.inner; j += rows)
      transpose_tile<U>(to + j * size, b.outer_target, from + j * b.inner_source, b.inner_source,
                        std::min(rows, b.inner - j), width);
  }
}

// The target is contiguous along the inner axis; the source repeats, runs backwards, or steps.
template <class U> void gather_box(box_rows const& b, char* target, char const* source) {
  using place = typename at_any_address<U>::type;
  for (std::int64_t i = 0; i < b.outer; ++i) {
    auto* const to = reinterpret_cast<place*>(target + i * b.outer_target);
    char const* const from = source + i * b.outer_source;
    if (b.inner_source == 0) {
      U const value = *reinterpret_cast<place const*>(from);
      for (std::int64_t j = 0; j < b.inner; ++j) to[j] = value;
    } else if (b.inner_source == -static_cast<std::int64_t>(sizeof(U))) {
      auto const* const last = reinterpret_cast<place const*>(from);
      for (std::int64_t j = 0; j < b.inner; ++j) to[j] = last[-j];
    } else {
      for (std::int64_t j = 0; j < b.inner; ++j)
        to[j] = *reinterpret_cast<place const*>(from + j * b.inner_source);
    }
  }
}

template <class U> void copy_elements(box_rows const& b, char* target, char const* source) {
  for (std::int64_t i = 0; i < b.outer; ++i)
    for (std::int64_t j = 0; j < b.inner; ++j)
      std::memcpy(target + i * b.outer_target + j * b.inner_target,
                  source + i * b.outer_source + j * b.inner_source, sizeof(U));
}

enum class form { transposed, streamed, gathered, scattered };

template <class U> auto kernel_of(form f) {
  return f == form::transposed ? &transpose_box<U>
         : f == form::streamed ? &transpose_strip<U>
         : f == form::gathered ? &gather_box<U>
                               : &copy_elements<U>;
}

auto kernel_of(form f, std::int64_t element_size) {
  switch (element_size) {
    case 1:
      return kernel_of<std::uint8_t>(f);
    case 2:
      return kernel_of<std::uint16_t>(f);
    case 4:
      return kernel_of<std::uint32_t>(f);
    default:
      return kernel_of<std::uint64_t>(f);
  }
}

// Of a square in registers: so few elements of the source's rows lose against single ones.
constexpr std::int64_t least_width = 4;

}  // namespace

// Returns whether the source's nearest axis is another than the target's.
bool box_copy::choose_axes() {
  inner_ = run_ - 1;
  outer_ = plan_.nearest_source_axis(run_);
  bool const is_apart = outer_ >= 0 && outer_ != inner_;
  if (!is_apart) outer_ = std::max(-1, run_ - 2);
  for (int axis = 0; axis < run_; ++axis) {
    if (axis == inner_ || axis == outer_) continue;
    // The source's near axes last: what is left of its lines is read next.
    std::int64_t const stride = std::abs(plan_.axes[axis].source);
    int at = others_++;
    for (; at > 0 && std::abs(plan_.axes[other_[at - 1]].source) < stride; --at)
      other_[at] = other_[at - 1];
    other_[at] = axis;
  }
  return is_apart;
}

box_copy::box_copy(box_plan const& plan, kernel other)
    : plan_(plan), kernel_(other), run_(plan.run_begin()) {
  choose_axes();
}

box_copy::box_copy(box_plan const& plan, bool streams)
    : plan_(plan), run_(plan.run_begin()), streams_(streams) {
  bool const is_apart = choose_axes();
  if (run_ < plan.rank) {
    // Along the source: short runs of it share lines, and what is read far apart is not foreseen.
    // Unless those are whole lines.
    std::int64_t const run = plan.axes[run_].extent * plan.element_size;
    bool const is_whole = line_offset(plan.target) == 0 &&
                          (run == cache_line || (streams && run % (2 * cache_line) == 0));
    if (is_apart && !is_whole) std::swap(inner_, outer_);
    kernel_ = streams ? &copy_runs<move_streamed> : &copy_any_runs;
    return;
  }
  std::int64_t const size = plan.element_size;
  form f = form::scattered;
  if (inner_ < 0) {
    // One element: no axis, no stride to look at.
  } else if (plan.axes[inner_].target == size) {
    box_axis const& inner = plan.axes[inner_];
    if (is_apart && std::abs(plan.axes[outer_].source) == size && inner.source != 0) {
      box_axis const& outer = plan.axes[outer_];
      transposes_ = outer.extent >= least_width;
      flips_outer_ = transposes_ && outer.source < 0;
    }
    if (transposes_)
      f = streams ? form::streamed : form::transposed;
    else
      f = form::gathered;
  }
  kernel_ = kernel_of(f, size);
}

void box_copy::operator()(char* target, char const* source, std::int64_t const* extents) const {
  box_rows rows;
  rows.run = plan_.element_size;
  for (int axis = run_; axis < plan_.rank; ++axis) rows.run *= extents[axis];
  if (inner_ >= 0) {
    rows.inner = extents[inner_];
    rows.inner_target = plan_.axes[inner_].target;
    rows.inner_source = plan_.axes[inner_].source;
  }
  if (outer_ >= 0) {
    rows.outer = extents[outer_];
    rows.outer_target = plan_.axes[outer_].target;
    rows.outer_source = plan_.axes[outer_].source;
    if (flips_outer_) {
      target += rows.outer_target * (rows.outer - 1);
      source += rows.outer_source * (rows.outer - 1);
      rows.outer_target = -rows.outer_target;
      rows.outer_source = -rows.outer_source;
    }
  }
  std::int64_t place[max_copy_rank];
  for (int i = 0; i < others_; ++i) place[i] = 0;
  for (;;) {
    kernel_(rows, target, source);
    int i = others_ - 1;
    for (; i >= 0; --i) {
      box_axis const& axis = plan_.axes[other_[i]];
      target += axis.target;
      source += axis.source;
      if (++place[i] < extents[other_[i]]) break;
      target -= axis.target * place[i];
      source -= axis.source * place[i];
      place[i] = 0;
    }
    if (i < 0) break;
  }
  if (streams_) finish_streams();
}

}  // namespace ricci::kernels
