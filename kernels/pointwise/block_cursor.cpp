#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "kernels/convert/convert.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/pointwise/block_program.hpp"

namespace ricci::kernels {
namespace {

// A thread's registers and panels are kept between calls; the pages never touched cost nothing.
constexpr std::int64_t kept_bytes = 256 * 1024;

struct kept_scratch {
  std::unique_ptr<std::byte, scratch_deleter> memory;
  bool in_use = false;
};
thread_local kept_scratch kept;

std::byte* allocate_scratch(std::int64_t bytes) {
  return static_cast<std::byte*>(
      ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{64}));
}

/// Calls f with an unsigned integer of `size` bytes: what is copied has no arithmetic.
template <class F> void visit_unit(std::int64_t size, F f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

template <class Unit> void copy_run(Unit* __restrict to, Unit const* __restrict from,
                                    std::int64_t stride, std::int64_t n) {
  if (stride == 1)
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
  else if (stride == 0)
    std::fill_n(to, n, *from);
  else
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

}  // namespace

void fill_block(void* target, void const* value, std::int64_t size, std::int64_t n) {
  visit_unit(size, [&]<class Unit>(Unit unit) {
    std::memcpy(&unit, value, sizeof unit);
    std::fill_n(static_cast<Unit*>(target), n, unit);
  });
}

void scratch_deleter::operator()(std::byte* memory) const {
  ::operator delete(memory, std::align_val_t{64});
}

block_cursor::block_cursor(block_program const& program) : program_(program) {
  // A second cursor on the same thread, below a function of the user's, gets memory of its own.
  uses_kept_ = !kept.in_use && program.register_bytes <= kept_bytes;
  if (uses_kept_) {
    if (!kept.memory) kept.memory.reset(allocate_scratch(kept_bytes));
    kept.in_use = true;
    scratch_ = kept.memory.get();
  } else {
    own_.reset(allocate_scratch(program.register_bytes));
    scratch_ = own_.get();
  }
  for (int v = 0; v < program.value_count; ++v) {
    auto const i = static_cast<std::size_t>(v);
    // A scalar that is computed, not read in place, lives in the cursor itself.
    table_[i] = program.registers[i] >= 0 ? scratch_ + program.registers[i]
                                          : static_cast<void*>(&scalar_storage_[i]);
    if (program.registers[i + max_block_values] >= 0)
      table_[i + max_block_values] = scratch_ + program.registers[i + max_block_values];
  }
  for (int c = 0; c < program.constant_count; ++c)
    table_[static_cast<std::size_t>(program.first_constant + c)] =
        const_cast<std::uint64_t*>(&program.constants[static_cast<std::size_t>(c)]);
}

block_cursor::~block_cursor() {
  if (uses_kept_) kept.in_use = false;
}

std::int64_t block_cursor::length(std::int64_t begin, std::int64_t limit) const {
  std::int64_t n = std::min(program_.block, limit);
  if (program_.cut_at_rows && program_.rank > 1)
    n = std::min(n, program_.row - begin % program_.row);
  return n;
}

/// Moves offsets_ to the first element of a row (of all merged axes but the last).
void block_cursor::locate(std::int64_t row) {
  if (row == row_) return;
  int const outer = program_.rank - 1;
  if (row == row_ + 1 && row > 0) {
    int axis = outer - 1;
    for (; axis >= 0; --axis) {
      auto const a = static_cast<std::size_t>(axis);
      bool const carries = ++coordinates_[a] == program_.extents[a];
      std::int64_t const steps = carries ? 1 - program_.extents[a] : 1;
      for (int r = 0; r < program_.load_count; ++r)
        offsets_[static_cast<std::size_t>(r)] +=
            steps * program_.strides[static_cast<std::size_t>(r)][a];
      if (!carries) break;
      coordinates_[a] = 0;
    }
  } else {
    std::fill_n(offsets_.begin(), program_.load_count, std::int64_t{0});
    std::int64_t rest = row;
    for (int axis = outer - 1; axis >= 0; --axis) {
      auto const a = static_cast<std::size_t>(axis);
      coordinates_[a] = rest % program_.extents[a];
      rest /= program_.extents[a];
      for (int r = 0; r < program_.load_count; ++r)
        offsets_[static_cast<std::size_t>(r)] +=
            coordinates_[a] * program_.strides[static_cast<std::size_t>(r)][a];
    }
  }
  row_ = row;
}

void block_cursor::fill_panels(std::int64_t begin, std::int64_t rows, std::int64_t n) {
  locate(begin / program_.row);
  auto const inner = static_cast<std::size_t>(program_.rank - 1);
  auto const axis = static_cast<std::size_t>(program_.panel_axis);
  panel_first_ = coordinates_[axis];
  panel_length_ = n;
  for (int i = 0; i < program_.load_count; ++i) {
    auto const& l = program_.loads[static_cast<std::size_t>(i)];
    if (l.kind != load_kind::panel) continue;
    auto const r = static_cast<std::size_t>(l.strides);
    auto const& s = program_.strides[r];
    std::int64_t const size = size_of(l.type),
                       offset = offsets_[r] + begin % program_.row * s[inner];
    std::int64_t const extents[] = {rows, n}, from[] = {s[axis], s[inner]}, to[] = {n, 1};
    copy(size, 2, extents, scratch_ + l.staging, to,
         static_cast<std::byte const*>(program_.data[r]) + offset * size, from);
  }
}

void block_cursor::prefetch(std::int64_t begin, std::int64_t n) const {
  // With more axes the search for the row would cost more than it saves.
  if (program_.rank < 1 || program_.rank > 2) return;
  std::int64_t const row = program_.rank == 2 ? begin / program_.row : 0;
  for (int i = 0; i < program_.load_count; ++i) {
    auto const& l = program_.loads[static_cast<std::size_t>(i)];
    if (l.kind != load_kind::in_place) continue;
    auto const& strides = program_.strides[l.strides];
    std::int64_t const offset =
        program_.rank == 2 ? row * strides[0] + (begin - row * program_.row) * strides[1] : begin;
    auto const* const first =
        static_cast<std::byte const*>(program_.data[l.strides]) + offset * size_of(l.type);
    for (std::int64_t line = 0; line < n * size_of(l.type); line += 64)
      __builtin_prefetch(first + line);
  }
}

void block_cursor::evaluate(std::int64_t begin, std::int64_t n) {
  std::int64_t const row = program_.rank > 1 ? begin / program_.row : 0;
  if (program_.rank > 1)
    locate(row);
  else if (row_ < 0)
    std::fill_n(offsets_.begin(), program_.load_count, std::int64_t{0}), row_ = 0;
  for (int i = 0; i < program_.load_count; ++i) {
    auto const& l = program_.loads[static_cast<std::size_t>(i)];
    if (!(l.once && once_done_)) load(l, begin, n);
  }
  for (int i = 0; i < program_.step_count; ++i) {
    auto const& step = program_.steps[static_cast<std::size_t>(i)];
    // What is computed once must fill a whole block, also when the first one is short.
    if (!step.once)
      run(step, step.scalar ? 1 : n);
    else if (!once_done_)
      run(step, step.scalar ? 1 : std::min(program_.block, program_.size));
  }
  once_done_ = true;
}

/// Calls run(offset, done, count) for the stretches of a block along the last axis: `offset` of the
/// first element among an operand's strides, `done` places before it in the block.
template <class Run> void block_cursor::for_each_run(std::size_t strides, std::int64_t begin,
                                                     std::int64_t n, Run run) const {
  auto const& s = program_.strides[strides];
  int const inner = program_.rank - 1;
  if (inner < 0) {
    run(std::int64_t{0}, std::int64_t{0}, n);
    return;
  }
  std::int64_t const start = begin % program_.row;
  std::int64_t offset = offsets_[strides];
  std::int64_t count = std::min(program_.row - start, n);
  run(offset + start * s[static_cast<std::size_t>(inner)], std::int64_t{0}, count);
  if (count == n) return;
  auto coordinates = coordinates_;
  for (std::int64_t done = count; done < n; done += count) {
    for (int axis = inner - 1; axis >= 0; --axis) {
      auto const a = static_cast<std::size_t>(axis);
      offset += s[a];
      if (++coordinates[a] < program_.extents[a]) break;
      offset -= s[a] * program_.extents[a];
      coordinates[a] = 0;
    }
    count = std::min(program_.row, n - done);
    run(offset, done, count);
  }
}

void block_cursor::load(block_load const& l, std::int64_t begin, std::int64_t n) {
  auto const r = static_cast<std::size_t>(l.strides);
  std::int64_t const stride =
      program_.rank > 0 ? program_.strides[r][static_cast<std::size_t>(program_.rank - 1)] : 0;
  dtype const type = program_.types[l.value];
  void*& target = table_[l.value];
  // What is loaded once must serve the longest block.
  std::int64_t const count = l.once ? std::min(program_.block, program_.size) : n;
  auto const* const data = static_cast<std::byte const*>(program_.data[r]);
  std::int64_t const size = size_of(l.type);
  switch (l.kind) {
    case load_kind::scalar:
    case load_kind::in_place: {
      std::int64_t const start = program_.rank > 1 ? begin % program_.row : begin;
      // Blocks of short rows lie in place only where the operand is packed.
      std::int64_t const offset = program_.cut_at_rows          ? offsets_[r] + start * stride
                                  : l.kind == load_kind::scalar ? 0
                                                                : begin;
      std::byte const* const first = data + offset * size;
      if (l.type == type)
        target = const_cast<std::byte*>(first);
      else
        convert(first, l.type, target, type, l.kind == load_kind::scalar ? 1 : n);
      return;
    }
    case load_kind::panel: {
      std::int64_t const line =
          coordinates_[static_cast<std::size_t>(program_.panel_axis)] - panel_first_;
      std::byte* const first = scratch_ + l.staging + line * panel_length_ * size;
      if (l.type == type)
        target = first;
      else
        convert(first, l.type, target, type, n);
      return;
    }
    case load_kind::gather: {
      void* const landing = l.staging >= 0 ? scratch_ + l.staging : target;
      visit_unit(size, [&]<class Unit>(Unit) {
        auto const* const from = reinterpret_cast<Unit const*>(data);
        for_each_run(r, begin, count, [&](std::int64_t offset, std::int64_t done, std::int64_t k) {
          copy_run(static_cast<Unit*>(landing) + done, from + offset, stride, k);
        });
      });
      if (l.staging >= 0) convert(landing, l.type, target, type, count);
      return;
    }
    case load_kind::position:
    case load_kind::scalar_position: {
      std::int64_t const places = l.kind == load_kind::position ? count : 1;
      visit_unit(size, [&]<class Unit>(Unit) {
        for_each_run(r, begin, places, [&](std::int64_t offset, std::int64_t done, std::int64_t k) {
          Unit* const to = static_cast<Unit*>(target) + done;
          for (std::int64_t i = 0; i < k; ++i) to[i] = static_cast<Unit>(offset + i * stride);
        });
      });
      return;
    }
  }
}

void block_cursor::run(block_step const& step, std::int64_t n) {
  void* const out = table_[step.out];
  switch (step.kind) {
    case step_kind::kernel: {
      void const* const in[3] = {table_[step.in[0]], table_[step.in[1]], table_[step.in[2]]};
      step.kernel(out, in, n);
      return;
    }
    case step_kind::convert:
      convert(table_[step.in[0]], step.from, out, step.to, n);
      return;
    case step_kind::round: {
      std::uint64_t one;
      void* const between = step.scalar ? static_cast<void*>(&one) : scratch_ + step.staging;
      convert(table_[step.in[0]], step.from, between, step.to, n);
      convert(between, step.to, out, dtype::f32, n);
      return;
    }
    case step_kind::spread:
      fill_block(out, table_[step.in[0]], size_of(step.from), n);
      return;
  }
}

}  // namespace ricci::kernels
