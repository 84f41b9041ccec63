#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>

#include "kernels/parallel/parallel.hpp"
#include "kernels/reduce/plan.hpp"
#include "kernels/reduce/reducer.hpp"
#include "kernels/reduce/result_writer.hpp"
#include "kernels/reduce/user.hpp"
#include "kernels/simd/independent.hpp"

namespace ricci::kernels {
namespace {

// Places that are worth a task of their own; below two of them a second thread does not pay.
constexpr std::int64_t task_places = 65536;

// Fewer tasks than this, and the reduced axes are split until there are as many, into segments of
// at least so many rows: their partial results stay small beside the operand.
constexpr std::int64_t enough_tasks = 32;
constexpr std::int64_t least_rows = 64;

// Blocks of columns that one task takes side by side, so that it reads 8 KiB of f32 in a row. (With
// one block, rows of 1024 took twice as long; with 32, the sums fall out of the L1 cache.)
constexpr std::int64_t band_chunks = 4;

// Rows up to this length are turned into columns, block by block. (At 48 it took twice the time.)
constexpr std::int64_t short_row = 16;

/// Calls f(i) for i < n, on all threads where the work is worth it.
template <class F> void for_each_task(std::int64_t n, std::int64_t places, F f) {
  if (places >= 2 * task_places)
    parallel_for(n, f);
  else
    for (std::int64_t i = 0; i < n; ++i) f(i);
}

class reduction_run {
 public:
  reduction_run(reduce_plan const& plan, block_program const& compiled, reducer const& r,
                output_array output)
      : plan_(plan),
        program_(compiled),
        reducer_(r),
        output_(output),
        value_(compiled.outputs[0]),
        element_(size_of(compiled.types[value_])) {}

  void run() {
    if (plan_.by_columns)
      run_columns();
    else if (plan_.count > 2 * task_places)
      run_long_rows();
    else if (plan_.count <= short_row)
      run_short_rows();
    else
      run_rows();
  }

 private:
  /// The block [begin, begin + n) of the value.
  std::byte const* evaluate(block_cursor& cursor, std::int64_t begin, std::int64_t n,
                            std::byte* spread) const {
    cursor.evaluate(begin, n);
    auto const* const block = static_cast<std::byte const*>(cursor.at(value_));
    if (!program_.scalars[value_]) return block;
    fill_block(spread, block, element_, n);
    return spread;
  }

  void run_rows() const {
    std::int64_t const rows =
        std::max<std::int64_t>(1, task_places / std::max<std::int64_t>(1, plan_.count));
    std::int64_t const tasks = (plan_.results - 1) / rows + 1;
    for_each_task(tasks, program_.size, [&](std::int64_t task) {
      std::int64_t const first = task * rows, last = std::min(plan_.results, first + rows);
      alignas(64) std::byte spread[8 * block_limit];
      block_cursor cursor(program_);
      result_writer results(reducer_, plan_.count, output_, first, 1);
      reduce_state state = reducer_.start;
      std::int64_t seen = 0, n;
      for (std::int64_t begin = first * plan_.count, end = last * plan_.count; begin < end;
           begin += n) {
        n = cursor.length(begin, end - begin);
        auto const* const block = evaluate(cursor, begin, n, spread);
        for (std::int64_t done = 0, part; done < n; done += part) {
          part = std::min(plan_.count - seen, n - done);
          reducer_.fold(state, block + done * element_, part, seen);
          seen += part;
          if (seen < plan_.count) continue;
          results.push(state);
          state = reducer_.start;
          seen = 0;
        }
      }
    });
  }

  // One result has many tasks, whose parts merge in their order.
  void run_long_rows() const {
    std::int64_t const segments = (plan_.count - 1) / task_places + 1;
    std::vector<reduce_state> parts(static_cast<std::size_t>(plan_.results * segments));
    parallel_for(plan_.results * segments, [&](std::int64_t task) {
      std::int64_t const row = task / segments, start = task % segments * task_places;
      std::int64_t const stop = std::min(plan_.count, start + task_places);
      alignas(64) std::byte spread[8 * block_limit];
      block_cursor cursor(program_);
      reduce_state state = reducer_.start;
      for (std::int64_t at = start, n; at < stop; at += n) {
        std::int64_t const begin = row * plan_.count + at;
        n = cursor.length(begin, stop - at);
        reducer_.fold(state, evaluate(cursor, begin, n, spread), n, at);
      }
      parts[static_cast<std::size_t>(task)] = state;
    });
    result_writer results(reducer_, plan_.count, output_, 0, 1);
    for (std::int64_t row = 0; row < plan_.results; ++row) {
      reduce_state state = reducer_.start;
      for (std::int64_t s = 0; s < segments; ++s)
        reducer_.merge(state, parts[static_cast<std::size_t>(row * segments + s)]);
      results.push(state);
    }
  }

  // Element r of every row in a block stands side by side after a small transpose.
  void run_short_rows() const {
    std::int64_t const count = plan_.count, rows = task_places / count;
    for_each_task((plan_.results - 1) / rows + 1, program_.size, [&](std::int64_t task) {
      std::int64_t const first = task * rows, last = std::min(plan_.results, first + rows);
      alignas(64) std::byte spread[8 * block_limit], turned[8 * block_limit];
      std::array<std::int64_t, block_limit> const no_rows{};
      reduce_lanes lanes;
      block_cursor cursor(program_);
      result_writer results(reducer_, count, output_, first, 1);
      std::int64_t n;
      for (std::int64_t begin = first * count, end = last * count; begin < end; begin += n) {
        n = cursor.length(begin, std::min(end - begin, program_.block / count * count));
        std::int64_t const width = n / count;
        transpose(evaluate(cursor, begin, n, spread), turned, width, count, element_);
        reducer_.clear(lanes, width, 0, no_rows.data());
        for (std::int64_t r = 0; r < count; ++r)
          reducer_.accumulate(lanes, turned + r * width * element_, width, r, no_rows.data());
        results.push(lanes, width);
      }
    });
  }

  template <class Unit> static void transpose(std::byte const* from, std::byte* to,
                                              std::int64_t rows, std::int64_t count) {
    auto const* const source = reinterpret_cast<Unit const*>(from);
    auto* const target = reinterpret_cast<Unit*>(to);
    for (std::int64_t r = 0; r < count; ++r) {
      RICCI_INDEPENDENT
      for (std::int64_t row = 0; row < rows; ++row)
        target[r * rows + row] = source[row * count + r];
    }
  }
  static void transpose(std::byte const* from, std::byte* to, std::int64_t rows, std::int64_t count,
                        std::int64_t size) {
    if (size == 1) return transpose<std::uint8_t>(from, to, rows, count);
    if (size == 2) return transpose<std::uint16_t>(from, to, rows, count);
    if (size == 4) return transpose<std::uint32_t>(from, to, rows, count);
    transpose<std::uint64_t>(from, to, rows, count);
  }

  void run_columns() {
    std::int64_t const parts = (plan_.columns - 1) / program_.block + 1;
    width_ = std::min(plan_.columns, ((plan_.columns - 1) / parts / 16 + 1) * 16);
    width_ = std::min(width_, program_.block);
    band_ = std::min(width_ * band_chunks, plan_.columns);
    bands_ = (plan_.columns - 1) / band_ + 1;
    // Narrow columns: several rows of them share a block, each with lanes of its own.
    rows_per_block_ =
        width_ == plan_.columns ? std::max<std::int64_t>(1, program_.block / plan_.columns) : 1;
    for (std::int64_t i = 0; i < rows_per_block_ * width_; ++i)
      lane_rows_[static_cast<std::size_t>(i)] = i / width_;
    std::int64_t const groups = plan_.outer * bands_;
    segment_ = plan_.count;
    if (groups < enough_tasks && program_.size >= 2 * task_places)
      segment_ = std::max({least_rows, task_places / band_,
                           (plan_.count - 1) / ((enough_tasks - 1) / groups + 1) + 1});
    std::int64_t const segments = (plan_.count - 1) / segment_ + 1;
    std::vector<reduce_state> partial(
        static_cast<std::size_t>(segments > 1 ? groups * segments * band_ : 0));
    for_each_task(groups * segments, program_.size, [&](std::int64_t task) {
      std::int64_t const group = task / segments, columns = columns_of(group);
      auto const lanes = std::make_unique_for_overwrite<reduce_lanes[]>(
          static_cast<std::size_t>((columns - 1) / width_ + 1));
      accumulate(group, task % segments, lanes.get());
      if (segments > 1) {
        for (std::int64_t w = 0; w < columns; ++w)
          partial[static_cast<std::size_t>(task * band_ + w)] = column(lanes.get(), w);
      } else {
        auto results = writer(group);
        if (rows_per_block_ > 1)
          for (std::int64_t w = 0; w < columns; ++w) results.push(column(lanes.get(), w));
        else
          for (std::int64_t w = 0; w < columns; w += width_)
            results.push(lanes[static_cast<std::size_t>(w / width_)],
                         std::min(width_, columns - w));
      }
    });
    if (segments == 1) return;
    for (std::int64_t group = 0; group < groups; ++group) {
      auto results = writer(group);
      for (std::int64_t w = 0; w < columns_of(group); ++w) {
        reduce_state state = reducer_.start;
        for (std::int64_t s = 0; s < segments; ++s)
          reducer_.merge(state,
                         partial[static_cast<std::size_t>((group * segments + s) * band_ + w)]);
        results.push(state);
      }
    }
  }

  std::int64_t columns_of(std::int64_t group) const {
    return std::min(band_, plan_.columns - group % bands_ * band_);
  }

  result_writer writer(std::int64_t group) const {
    return result_writer(
        reducer_, plan_.count, output_,
        plan_.output_offset(group / bands_) + group % bands_ * band_ * plan_.column_stride,
        plan_.column_stride);
  }

  /// Accumulates one segment of a group's rows, lanes[c] for its c-th `width_` columns.
  void accumulate(std::int64_t group, std::int64_t segment, reduce_lanes* lanes) const {
    std::int64_t const columns = columns_of(group), start = segment * segment_;
    std::int64_t const stop = std::min(plan_.count, start + segment_);
    std::int64_t const first = group % bands_ * band_;
    alignas(64) std::byte spread[8 * block_limit];
    block_cursor cursor(program_);
    for (std::int64_t c = 0; c * width_ < columns; ++c)
      reducer_.clear(lanes[c], rows_per_block_ * width_, start, lane_rows_.data());
    for (std::int64_t row = start, rows; row < stop; row += rows) {
      std::int64_t const begin = (group / bands_ * plan_.count + row) * plan_.columns + first;
      rows = 1;
      for (std::int64_t c = 0; c * width_ < columns; ++c) {
        std::int64_t const width = std::min(width_, columns - c * width_);
        std::int64_t const wanted = std::min(rows_per_block_, stop - row) * width;
        std::int64_t const n = cursor.length(begin + c * width_, wanted);
        // The hardware does not see that the next row comes: without this it takes three times as
        // long.
        if (row + 1 < stop) cursor.prefetch(begin + c * width_ + plan_.columns, n);
        reducer_.accumulate(lanes[c], evaluate(cursor, begin + c * width_, n, spread), n, row,
                            lane_rows_.data());
        rows = n / width;
      }
    }
  }

  reduce_state column(reduce_lanes const* lanes, std::int64_t w) const {
    auto const& part = lanes[w / width_];
    reduce_state state = reducer_.lane(part, w % width_);
    for (std::int64_t i = 1; i < rows_per_block_; ++i)
      reducer_.merge(state, reducer_.lane(part, i * width_ + w));
    return state;
  }

  reduce_plan const& plan_;
  block_program const& program_;
  reducer const& reducer_;
  output_array output_;
  value_number value_;
  std::int64_t element_;
  // By columns: of a block, of a task; bands of columns; rows that share a block; rows of a task.
  std::int64_t width_ = 0, band_ = 0, bands_ = 0, rows_per_block_ = 0, segment_ = 0;
  std::array<std::int64_t, block_limit> lane_rows_;
};

void reduce_nothing(reduction op, reduce_plan const& plan, reducer const& r, output_array output) {
  std::string const name(name_of(op));
  if (op == reduction::max || op == reduction::min || op == reduction::argmax ||
      op == reduction::argmin)
    throw value_error("reduce: " + name + " of no element; a reduced axis has extent 0.");
  if (op == reduction::mean && !is_floating(output.type))
    throw value_error("reduce: mean of no element is NaN, which " +
                      std::string(name_of(output.type)) + " cannot hold.");
  result_writer results(r, 0, output, 0, 1);
  for (std::int64_t i = 0; i < plan.results; ++i) results.push(r.start);
}

}  // namespace

void reduce(reduction op, pointwise_program const& source, std::uint32_t reduced, void* output,
            dtype output_type, user_reduction const* user) {
  if (op == reduction::user) {
    reduce_by_user(source, reduced, output, output_type, user);
    return;
  }
  bool const is_position = op == reduction::argmax || op == reduction::argmin;
  reduce_plan plan;
  make_plan(source, reduced, {true, !is_position}, plan);
  block_program compiled;
  compile(plan.program, false, compiled);
  reducer const& r = find_reducer(op, compiled.types[compiled.outputs[0]]);
  if (plan.results == 0) return;
  output_array const target{static_cast<std::byte*>(output), output_type};
  if (plan.count == 0)
    reduce_nothing(op, plan, r, target);
  else
    reduction_run(plan, compiled, r, target).run();
}

void reduce(reduction op, strided_view const& source, std::uint32_t reduced, void* output,
            dtype output_type, user_reduction const* user) {
  pointwise_operand const operand{source.data, source.type, source.strides};
  pointwise_output const value{pointwise_value::operand(0), source.type, nullptr};
  reduce(op, {source.rank, source.extents, {&operand, 1}, {}, {}, {&value, 1}}, reduced, output,
         output_type, user);
}

}  // namespace ricci::kernels
