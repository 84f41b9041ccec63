#include "kernels/pointwise/pointwise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/dtype.hpp>

#include "kernels/parallel/parallel.hpp"
#include "tests/unit/kernels/same_bytes.hpp"

namespace k = ricci::kernels;
using namespace ricci;
using source = k::pointwise_value;

namespace {

using extents_list = std::vector<std::int64_t>;

/// Sets a number of threads for one scope.
struct with_threads {
  explicit with_threads(int n) : before(k::threads()) { k::set_threads(n); }
  ~with_threads() { k::set_threads(before); }
  int before;
};

/// A random view: extents permuted, sliced by steps, reversed or broadcast, over its own numbers.
struct random_view {
  random_view(std::mt19937& random, std::vector<std::int64_t> const& extents, bool broadcasts) {
    int const rank = static_cast<int>(extents.size());
    std::vector<int> order(extents.size());
    for (int i = 0; i < rank; ++i) order[static_cast<std::size_t>(i)] = i;
    if (random() % 2) std::shuffle(order.begin(), order.end(), random);
    strides.resize(extents.size());
    std::int64_t size = 1, lowest = 0;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
      auto const a = static_cast<std::size_t>(*axis);
      std::int64_t const step = random() % 5 == 0 ? 2 : 1;
      strides[a] = size * step;
      size *= std::max<std::int64_t>(1, extents[a]) * step;
      if (random() % 6 == 0) lowest += strides[a] * (extents[a] - 1), strides[a] = -strides[a];
      if (broadcasts && random() % 3 == 0) {
        if (strides[a] < 0) lowest += strides[a] * (extents[a] - 1);
        strides[a] = 0;
      }
    }
    if (lowest < 0) lowest = 0;
    numbers.resize(static_cast<std::size_t>(size));
    for (auto& x : numbers) x = static_cast<float>(static_cast<int>(random() % 64)) / 8 - 4;
    first = numbers.data() + lowest;
  }
  float at(std::vector<std::int64_t> const& place) const {
    std::int64_t offset = 0;
    for (std::size_t a = 0; a < place.size(); ++a) offset += place[a] * strides[a];
    return first[offset];
  }
  std::vector<std::int64_t> strides;
  std::vector<float> numbers;
  float const* first;
};

}  // namespace

TEST_CASE("where, fma and the logical operations") {
  std::int64_t const n = 700, one = 1;
  std::vector<u8> condition(n);
  std::vector<float> a(n), b(n), out(n), out2(n);
  for (std::int64_t i = 0; i < n; ++i) {
    condition[i] = i % 3 == 0;
    a[i] = static_cast<float>(i);
    b[i] = -static_cast<float>(i);
  }
  k::pointwise_operand const operands[] = {{condition.data(), dtype::boolean, &one},
                                           {a.data(), dtype::f32, &one},
                                           {b.data(), dtype::f32, &one}};
  k::pointwise_constant const constants[] = {{dtype::f32, 2.5, 0}};
  k::pointwise_instruction const instructions[] = {
      {opcode::logical_not, dtype::boolean, 0, {source::operand(0)}},
      {opcode::where,
       dtype::f32,
       0,
       {source::instruction(0), source::operand(1), source::operand(2)}},
      {opcode::fma, dtype::f32, 0, {source::constant(0), source::operand(1), source::operand(2)}}};
  k::pointwise_output const outputs[] = {{source::instruction(1), dtype::f32, out.data()},
                                         {source::instruction(2), dtype::f32, out2.data()}};
  k::run({1, &n, operands, constants, instructions, outputs});
  for (std::int64_t i = 0; i < n; ++i) {
    CHECK(out[i] == (condition[i] ? b[i] : a[i]));
    CHECK(out2[i] == 1.5f * a[i]);
  }
}

TEST_CASE("any view broadcasts: 300 random programs over random strides") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    int const rank = static_cast<int>(random() % 5);
    std::vector<std::int64_t> extents(static_cast<std::size_t>(rank));
    std::int64_t size = 1;
    for (auto& e : extents) {
      static constexpr std::int64_t choices[] = {1, 2, 3, 5, 8, 17, 40, 300, 700};
      do e = choices[random() % 9];
      while (size * e > 6000);
      size *= e;
    }
    random_view const x(random, extents, true), y(random, extents, true), z(random, extents, false);
    k::pointwise_operand const operands[] = {{x.first, dtype::f32, x.strides.data()},
                                             {y.first, dtype::f32, y.strides.data()},
                                             {z.first, dtype::f32, z.strides.data()}};
    k::pointwise_constant const constants[] = {{dtype::f32, 0.5, 0}, {dtype::i32, 0, 3}};
    auto const axis =
        static_cast<std::uint8_t>(rank > 0 ? random() % static_cast<unsigned>(rank) : 0);
    // (x * y - z, or max(z, 1/2) where x < y) + 3 * index, all exact in f32
    std::vector<k::pointwise_instruction> instructions{
        {opcode::multiply, dtype::f32, 0, {source::operand(0), source::operand(1)}},
        {opcode::subtract, dtype::f32, 0, {source::instruction(0), source::operand(2)}},
        {opcode::maximum, dtype::f32, 0, {source::operand(2), source::constant(0)}},
        {opcode::less, dtype::f32, 0, {source::operand(0), source::operand(1)}},
        {opcode::where,
         dtype::f32,
         0,
         {source::instruction(3), source::instruction(2), source::instruction(1)}}};
    int last = 4;
    if (rank > 0) {
      instructions.push_back({opcode::index, dtype::i32, axis, {}});
      instructions.push_back(
          {opcode::multiply, dtype::i32, 0, {source::constant(1), source::instruction(5)}});
      instructions.push_back({opcode::convert, dtype::f32, 0, {source::instruction(6)}});
      instructions.push_back(
          {opcode::add, dtype::f32, 0, {source::instruction(4), source::instruction(7)}});
      last = 8;
    }
    std::vector<float> out(static_cast<std::size_t>(size));
    std::vector<u8> mask(out.size());
    k::pointwise_output const outputs[] = {{source::instruction(last), dtype::f32, out.data()},
                                           {source::instruction(3), dtype::boolean, mask.data()}};
    k::run({rank, extents.data(), operands, constants, instructions, outputs});
    std::vector<std::int64_t> place(extents.size());
    bool right = true;
    for (std::int64_t i = 0; i < size; ++i) {
      std::int64_t rest = i;
      for (int a = rank - 1; a >= 0; --a) {
        place[static_cast<std::size_t>(a)] = rest % extents[static_cast<std::size_t>(a)];
        rest /= extents[static_cast<std::size_t>(a)];
      }
      float const p = x.at(place), q = y.at(place), r = z.at(place);
      float expected = p < q ? std::fmax(r, 0.5f) : p * q - r;
      if (rank > 0) expected += 3.0f * static_cast<float>(place[axis]);
      right = right && out[static_cast<std::size_t>(i)] == expected &&
              mask[static_cast<std::size_t>(i)] == (p < q);
    }
    INFO("trial " << trial);
    CHECK(right);
  }
}

TEST_CASE("narrow floats are computed in f32 and rounded once") {
  std::int64_t const n = 1500, one = 1;
  std::vector<bf16> a(n), out(n);
  std::vector<f16> b(n);
  std::vector<float> rounded(n);
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = bf16(0.37f * static_cast<float>(i));
    b[i] = f16(1.0f / static_cast<float>(i + 1));
  }
  k::pointwise_operand const operands[] = {{a.data(), dtype::bf16, &one},
                                           {b.data(), dtype::f16, &one}};
  k::pointwise_instruction const instructions[] = {
      {opcode::multiply, dtype::f32, 0, {source::operand(0), source::operand(1)}},
      {opcode::square, dtype::f32, 0, {source::instruction(0)}},
      {opcode::convert, dtype::f8_e4m3, 0, {source::instruction(1)}}};
  k::pointwise_output const outputs[] = {{source::instruction(1), dtype::bf16, out.data()},
                                         {source::instruction(2), dtype::f32, rounded.data()}};
  k::run({1, &n, operands, {}, instructions, outputs});
  for (std::int64_t i = 0; i < n; ++i) {
    float const product = static_cast<float>(a[i]) * static_cast<float>(b[i]);
    CHECK(out[i].bits == bf16(product * product).bits);
    CHECK(rounded[i] == static_cast<float>(f8_e4m3(product * product)));
  }
}

TEST_CASE("conversions inside a program, a copy without instructions, and a constant result") {
  std::int64_t const extents[] = {3, 4}, transposed[] = {1, 3}, none[] = {0, 0};
  std::vector<i32> x(12);
  for (int i = 0; i < 12; ++i) x[static_cast<std::size_t>(i)] = i - 5;
  std::vector<i32> copy(12);
  std::vector<i8> narrow(12), sevens(12);
  std::vector<u8> truth(12);
  k::pointwise_operand const operands[] = {{x.data(), dtype::i32, transposed},
                                           {x.data() + 2, dtype::i32, none}};
  k::pointwise_constant const constants[] = {{dtype::i8, 0, 7}};
  k::pointwise_instruction const instructions[] = {
      {opcode::multiply, dtype::i32, 0, {source::operand(0), source::operand(1)}},
      {opcode::convert, dtype::i8, 0, {source::instruction(0)}},
      {opcode::convert, dtype::boolean, 0, {source::operand(0)}}};
  k::pointwise_output const outputs[] = {{source::operand(0), dtype::i32, copy.data()},
                                         {source::instruction(1), dtype::i8, narrow.data()},
                                         {source::instruction(2), dtype::boolean, truth.data()},
                                         {source::constant(0), dtype::i8, sevens.data()}};
  k::run({2, extents, operands, constants, instructions, outputs});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      auto const at = static_cast<std::size_t>(4 * i + j);
      i32 const expected = x[static_cast<std::size_t>(i + 3 * j)];
      CHECK(copy[at] == expected);
      CHECK(narrow[at] == static_cast<i8>(expected * -3));
      CHECK(truth[at] == (expected != 0));
      CHECK(sevens[at] == 7);
    }
}

TEST_CASE("an output may be one of the operands") {
  std::int64_t const n = 5000, one = 1;
  std::vector<float> x(n), other(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  k::pointwise_operand const operands[] = {{x.data(), dtype::f32, &one}};
  k::pointwise_constant const constants[] = {{dtype::f32, 1, 0}};
  k::pointwise_instruction const instructions[] = {
      {opcode::add, dtype::f32, 0, {source::operand(0), source::constant(0)}},
      {opcode::multiply, dtype::f32, 0, {source::operand(0), source::instruction(0)}}};
  k::pointwise_output const outputs[] = {{source::instruction(0), dtype::f32, x.data()},
                                         {source::instruction(1), dtype::f32, other.data()}};
  k::run({1, &n, operands, constants, instructions, outputs});
  for (std::int64_t i = 0; i < n; ++i) {
    auto const before = static_cast<float>(i);
    CHECK(x[i] == before + 1);
    CHECK(other[i] == before * (before + 1));
  }
}

TEST_CASE("values used by several others keep their registers, also when squares are fused") {
  // y = x + 1; s = y * y + y; t = s - y * s; u = t * t - y, over many blocks
  std::int64_t const n = 3000, one = 1;
  std::vector<double> x(n), out(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<double>(i % 100) / 64;
  k::pointwise_operand const operands[] = {{x.data(), dtype::f64, &one}};
  k::pointwise_constant const constants[] = {{dtype::f64, 1, 0}};
  auto const i = [](int v) { return source::instruction(v); };
  k::pointwise_instruction const instructions[] = {
      {opcode::add, dtype::f64, 0, {source::operand(0), source::constant(0)}},
      {opcode::square, dtype::f64, 0, {i(0)}},
      {opcode::add, dtype::f64, 0, {i(1), i(0)}},
      {opcode::multiply, dtype::f64, 0, {i(0), i(2)}},
      {opcode::subtract, dtype::f64, 0, {i(2), i(3)}},
      {opcode::square, dtype::f64, 0, {i(4)}},
      {opcode::subtract, dtype::f64, 0, {i(5), i(0)}},
      {opcode::exp, dtype::f64, 0, {i(6)}}};  // the last is used by nothing
  k::pointwise_output const outputs[] = {{i(6), dtype::f64, out.data()}};
  k::run({1, &n, operands, constants, instructions, outputs});
  for (std::int64_t p = 0; p < n; ++p) {
    double const y = x[p] + 1, s = y * y + y, t = s - y * s;
    CHECK(out[p] == doctest::Approx(t * t - y).epsilon(1e-13));
  }
}

TEST_CASE("the bits do not depend on the number of threads") {
  std::int64_t const extents[] = {500, 333}, x_strides[] = {1, 500}, bias[] = {0, 1};
  std::vector<float> x(500 * 333), b(333), first;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i) / 100;
  k::pointwise_operand const operands[] = {{x.data(), dtype::f32, x_strides},
                                           {b.data(), dtype::f32, bias}};
  k::pointwise_instruction const instructions[] = {
      {opcode::multiply, dtype::f32, 0, {source::operand(0), source::operand(1)}},
      {opcode::add, dtype::f32, 0, {source::instruction(0), source::operand(1)}},
      {opcode::tanh, dtype::f32, 0, {source::instruction(1)}}};
  for (int const threads : {1, 2, 3}) {
    with_threads const scope(threads);
    std::vector<float> out(x.size());
    k::pointwise_output const outputs[] = {{source::instruction(2), dtype::f32, out.data()}};
    k::run({2, extents, operands, {}, instructions, outputs});
    if (first.empty()) first = out;
    CHECK(same_bytes(first.data(), out.data(), out.size() * sizeof(float)));
  }
  CHECK(first[1] == doctest::Approx(std::tanh(x[500] * b[1] + b[1])));
}

TEST_CASE("operands in another order than the result, large enough to be packed in panels") {
  // y(a, b, c, d) = x + h - bias(c), x stored as (d, b, c, a) or the like, h as bf16
  extents_list const extents{3, 37, 5, 70};
  std::int64_t const size = 3 * 37 * 5 * 70;
  std::vector<float> x(static_cast<std::size_t>(size)), bias(5);
  std::vector<bf16> h(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 1013);
    h[i] = bf16(static_cast<float>(i % 61));
  }
  for (std::size_t i = 0; i < 5; ++i) bias[i] = static_cast<float>(i);
  extents_list const bias_strides{0, 0, 1, 0};
  struct layout {
    extents_list strides;
    std::int64_t first;
  };
  for (layout const& l : {layout{{37 * 5 * 70, 1, 37 * 70, 37}, 0},   // a c d b
                          layout{{1, 3 * 5 * 70, 3 * 70, 3}, 0},      // b c d a
                          layout{{37 * 5 * 70, -1, 37, 37 * 5}, 36},  // a d c b, b backwards
                          layout{{37 * 70 * 5, 70 * 5, 1, -5}, 345},  // a b d c, d backwards
                          layout{{1, 3, 3 * 37, 3 * 37 * 5}, 0}}) {
    k::pointwise_operand const operands[] = {{x.data() + l.first, dtype::f32, l.strides.data()},
                                             {h.data() + l.first, dtype::bf16, l.strides.data()},
                                             {bias.data(), dtype::f32, bias_strides.data()}};
    k::pointwise_instruction const instructions[] = {
        {opcode::add, dtype::f32, 0, {source::operand(0), source::operand(1)}},
        {opcode::subtract, dtype::f32, 0, {source::instruction(0), source::operand(2)}}};
    std::vector<float> out(x.size()), copy(x.size());
    k::pointwise_output const outputs[] = {{source::instruction(1), dtype::f32, out.data()},
                                           {source::operand(0), dtype::f32, copy.data()}};
    k::run({4, extents.data(), operands, {}, instructions, outputs});
    std::size_t at = 0, wrong = 0;
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t b = 0; b < 37; ++b)
        for (std::int64_t c = 0; c < 5; ++c)
          for (std::int64_t d = 0; d < 70; ++d, ++at) {
            auto const from =
                static_cast<std::size_t>(l.first + a * l.strides[0] + b * l.strides[1] +
                                         c * l.strides[2] + d * l.strides[3]);
            wrong += copy[at] != x[from];
            wrong += out[at] != x[from] + static_cast<float>(h[from]) - static_cast<float>(c);
          }
    CHECK(wrong == 0);
  }
}

TEST_CASE("empty results, and bad programs are refused with a sentence") {
  std::int64_t const huge = std::int64_t{1} << 40;
  std::int64_t const empty[] = {huge, 0, huge}, overflowing[] = {huge, huge}, strides[] = {0, 0, 0};
  float x = 1, out = 0;
  k::pointwise_operand const operands[] = {{&x, dtype::f32, strides}};
  auto const run = [&](std::span<std::int64_t const> extents, k::pointwise_instruction instruction,
                       dtype type = dtype::f32) {
    k::pointwise_output const outputs[] = {{source::instruction(0), type, &out}};
    k::run({static_cast<int>(extents.size()),
            extents.data(),
            operands,
            {},
            {&instruction, 1},
            outputs});
  };
  k::pointwise_instruction const negate{opcode::negate, dtype::f32, 0, {source::operand(0)}};
  run(empty, negate);
  CHECK(out == 0);
  run({}, negate);
  CHECK(out == -1);
  CHECK_THROWS_AS(run(overflowing, negate), ricci::shape_error);
  std::int64_t const negative[] = {-1};
  CHECK_THROWS_AS(run(negative, negate), ricci::shape_error);
  CHECK_THROWS_AS(run({}, {opcode::exp, dtype::i32, 0, {source::operand(0)}}), ricci::value_error);
  CHECK_THROWS_AS(run({}, {opcode::negate, dtype::bf16, 0, {source::operand(0)}}),
                  ricci::value_error);
  CHECK_THROWS_AS(run({}, {opcode::negate, dtype::f64, 0, {source::operand(0)}}, dtype::f64),
                  ricci::value_error);
  CHECK_THROWS_AS(run({}, {opcode::negate, dtype::f32, 0, {source::operand(1)}}),
                  ricci::value_error);
  CHECK_THROWS_AS(run({}, {opcode::negate, dtype::f32, 0, {source::instruction(0)}}),
                  ricci::value_error);
  CHECK_THROWS_AS(run({}, negate, dtype::i32), ricci::value_error);
  CHECK_THROWS_AS(run({}, {opcode::index, dtype::i32, 2, {}}, dtype::i32), ricci::value_error);
  CHECK_THROWS_WITH_AS(
      run({}, {opcode::logical_not, dtype::f32, 0, {source::operand(0)}}, dtype::boolean),
      "pointwise: logical_not is not defined on f32.", ricci::value_error);
}
