#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include <ricci/error/exceptions.hpp>

#include "kernels/convert/convert.hpp"
#include "kernels/parallel/parallel.hpp"
#include "kernels/pointwise/block_program.hpp"
#include "kernels/reduce/reduce.hpp"
#include "kernels/simd/independent.hpp"

namespace ricci::kernels {
namespace {

constexpr std::int64_t task_places = 65536;

struct run_shape {
  std::int64_t outer, count, inner;  // the axes before, of, and behind the one summed along
};

struct output_array {
  std::byte* data;
  dtype type;
};

// Integers wrap around at 2^64.
template <class A> A plus(A a, A b) {
  if constexpr (std::is_same_v<A, i64>)
    return static_cast<i64>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

/// The places of one view, as sums of type A: f64 for floats, i64 for the others.
template <class A> class summing_cursor {
 public:
  summing_cursor(block_program const& program, output_array output)
      : cursor_(program),
        value_(program.outputs[0]),
        type_(program.types[value_]),
        scalar_(program.scalars[value_]),
        output_(output) {}

  /// Replaces the places [begin, begin + n), in blocks, by what `add` makes of their elements:
  /// add(block, offset, n) works in place.
  template <class F> void replace(std::int64_t begin, std::int64_t n, F add) {
    std::int64_t length;
    for (std::int64_t done = 0; done < n; done += length) {
      length = cursor_.length(begin + done, n - done);
      cursor_.evaluate(begin + done, length);
      convert(cursor_.at(value_), type_, block_.data(), dtype_of<A>, scalar_ ? 1 : length);
      if (scalar_) std::fill_n(block_.data(), length, block_[0]);
      add(block_.data(), done, length);
      convert(block_.data(), dtype_of<A>, output_.data + (begin + done) * size_of(output_.type),
              output_.type, length);
    }
  }

 private:
  block_cursor cursor_;
  value_number value_;
  dtype type_;
  bool scalar_;
  output_array output_;
  std::array<A, block_limit> block_;
};

template <class F>
void for_each_range(std::int64_t n, std::int64_t grain, std::int64_t places, F f) {
  if (places >= 2 * task_places)
    parallel_chunks(n, grain, f);
  else
    f(0, n);
}

// The last axis: each run is contiguous in the output.
template <class A>
void sum_along(block_program const& program, run_shape shape, output_array output) {
  std::int64_t const grain = std::max<std::int64_t>(1, task_places / shape.count);
  for_each_range(shape.outer, grain, program.size, [&](std::int64_t first, std::int64_t last) {
    summing_cursor<A> cursor(program, output);
    for (std::int64_t row = first; row < last; ++row) {
      A sum = 0;
      cursor.replace(row * shape.count, shape.count,
                     [&sum](A* block, std::int64_t, std::int64_t n) {
                       for (std::int64_t i = 0; i < n; ++i) block[i] = sum = plus(sum, block[i]);
                     });
    }
  });
}

// Another axis: `inner` runs side by side, a block of them at a time.
template <class A>
void sum_across(block_program const& program, run_shape shape, output_array output) {
  std::int64_t const width = std::min(shape.inner, block_limit);
  std::int64_t const chunks = (shape.inner - 1) / width + 1;
  for_each_range(shape.outer * chunks, 1, program.size, [&](std::int64_t first, std::int64_t last) {
    summing_cursor<A> cursor(program, output);
    for (std::int64_t task = first; task < last; ++task) {
      std::int64_t const column = task % chunks * width;
      std::int64_t const columns = std::min(width, shape.inner - column);
      std::array<A, block_limit> sums{};
      for (std::int64_t i = 0; i < shape.count; ++i)
        cursor.replace((task / chunks * shape.count + i) * shape.inner + column, columns,
                       [&sums](A* block, std::int64_t done, std::int64_t n) {
                         A* const s = sums.data() + done;
                         RICCI_INDEPENDENT
                         for (std::int64_t k = 0; k < n; ++k)
                           block[k] = s[k] = plus(s[k], block[k]);
                       });
    }
  });
}

template <class A> void run(block_program const& program, run_shape shape, output_array output) {
  if (shape.inner == 1)
    sum_along<A>(program, shape, output);
  else
    sum_across<A>(program, shape, output);
}

}  // namespace

void cumsum(strided_view const& source, int axis, void* output, dtype output_type) {
  if (axis < 0 || axis >= source.rank)
    throw value_error("cumsum: axis " + std::to_string(axis) + " of an operand of rank " +
                      std::to_string(source.rank) + ".");
  pointwise_operand const operand{source.data, source.type, source.strides};
  pointwise_output const value{pointwise_value::operand(0), source.type, nullptr};
  block_program compiled;
  compile({source.rank, source.extents, {&operand, 1}, {}, {}, {&value, 1}}, false, compiled);
  if (compiled.size == 0) return;
  run_shape shape{1, source.extents[axis], 1};
  for (int i = 0; i < axis; ++i) shape.outer *= source.extents[i];
  for (int i = axis + 1; i < source.rank; ++i) shape.inner *= source.extents[i];
  output_array const target{static_cast<std::byte*>(output), output_type};
  if (is_floating(source.type))
    run<f64>(compiled, shape, target);
  else
    run<i64>(compiled, shape, target);
}

}  // namespace ricci::kernels
