#include "tests/unit/graph/helpers.hpp"
#include "tests/unit/graph/spec.hpp"

#include <map>
#include <random>

#include <ricci/error/exceptions.hpp>

using namespace graph_test;

namespace {

struct X0 : axis<"x0"> {};
struct X1 : axis<"x1"> {};
struct X2 : axis<"x2"> {};
struct X3 : axis<"x3"> {};
struct X4 : axis<"x4"> {};
struct Y0 : axis<"y0"> {};
struct Y1 : axis<"y1"> {};
struct Y2 : axis<"y2"> {};
struct Y3 : axis<"y3"> {};
struct Y4 : axis<"y4"> {};

g::axes_view axes_of_rank(int rank, bool is_result) {
  static axis_info const* const x[] = {&axis_info_of<X0>, &axis_info_of<X1>, &axis_info_of<X2>,
                                       &axis_info_of<X3>, &axis_info_of<X4>};
  static axis_info const* const y[] = {&axis_info_of<Y0>, &axis_info_of<Y1>, &axis_info_of<Y2>,
                                       &axis_info_of<Y3>, &axis_info_of<Y4>};
  return {is_result ? y : x, rank};
}

using group = std::vector<std::string>;  // the factors of each axis

std::vector<group> groups_of(std::string const& text) {
  std::vector<group> result(1);
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == ',' || c == '-') {
      result.emplace_back();
      if (c == '-') ++i;
    } else if (c == '(') {
      inside = true;
      result.back().emplace_back();
    } else if (c == ')') {
      inside = false;
    } else if (inside) {
      result.back().back() += c;
    } else {
      result.back().push_back(std::string(1, c));
    }
  }
  return result;
}

std::int64_t extent_of(std::string const& factors, std::map<char, std::int64_t> const& e) {
  std::int64_t product = 1;
  for (char c : factors) product *= e.at(c);
  return product;
}

g::handle operand(group const& axes, std::map<char, std::int64_t> const& e, double low = -1.5) {
  std::vector<std::int64_t> extents;
  std::int64_t count = 1;
  for (auto const& axis : axes) {
    extents.push_back(extent_of(axis, e));
    count *= extents.back();
  }
  g::handle x =
      g::make_leaf(dtype::f64, axes_of_rank(static_cast<int>(axes.size()), false), extents.data());
  std::vector<double> const n = varied(count, low, 1.5);
  for (std::int64_t i = 0; i < count; ++i)
    static_cast<double*>(g::mutable_data(x))[i] = n[static_cast<std::size_t>(i)];
  return x;
}

// Nested loops over all indices.
std::vector<double> reference(std::string const& text, std::map<char, std::int64_t> const& e,
                              std::vector<std::vector<double>> const& x) {
  std::vector<group> const groups = groups_of(text);
  std::string all;
  for (auto const& [name, extent] : e) all += name;
  auto const offset = [&](group const& axes, std::map<char, std::int64_t> const& at) {
    std::int64_t result = 0;
    for (auto const& axis : axes)
      for (char c : axis) result = result * e.at(c) + at.at(c);
    return static_cast<std::size_t>(result);
  };
  std::int64_t size = 1;
  for (auto const& axis : groups.back()) size *= extent_of(axis, e);
  std::vector<double> y(static_cast<std::size_t>(size), 0);
  std::int64_t total = 1;
  for (char c : all) total *= e.at(c);
  for (std::int64_t n = 0; n < total; ++n) {
    std::map<char, std::int64_t> at;
    std::int64_t rest = n;
    for (char c : all) {
      at[c] = rest % e.at(c);
      rest /= e.at(c);
    }
    double product = 1;
    for (std::size_t g = 0; g + 1 < groups.size(); ++g) product *= x[g][offset(groups[g], at)];
    y[offset(groups.back(), at)] += product;
  }
  return y;
}

g::handle run(small_spec const& spec, std::vector<g::handle> const& x) {
  int const rank = static_cast<int>(groups_of(spec.text).back().size());
  return g::einsum(spec.spec, axes_of_rank(rank, true), x.data(), nullptr);
}

}  // namespace

TEST_CASE("einsum and its gradients equal nested loops") {
  std::map<char, std::int64_t> const e{{'a', 3}, {'b', 2}, {'c', 4}, {'d', 2}};
  for (char const* text : {"ab,bc->ac",     "ab,cb->ca",      "ab,ab->a",
                           "ab,ab->",       "a,b->ab",        "a,b->ba",
                           "abc,cd->abd",   "bac,bcd->bad",   "ab->ba",
                           "ab->a",         "ab->",           "abc->cab",
                           "ab,bc,cd->ad",  "ab,ac->",        "ab,bc->c",
                           "a,->a",         "ab,a->b",        "aa->a",
                           "aa->",          "aab->ab",        "aba,bc->ac",
                           "aabb->ab",      "(ab)c,c->ba",    "(ab)c,bd->(ad)c",
                           "(ab)(ac),b->c", "abcd->(ab)(cd)", "(ab)(cd)->(ca)(db)"}) {
    CAPTURE(text);
    std::map<char, std::int64_t> used;
    for (char const* c = text; *c; ++c)
      if (*c >= 'a' && *c <= 'z') used[*c] = e.at(*c);
    std::map<char, std::int64_t> known;
    if (std::string(text).find('(') != std::string::npos) known = used;
    small_spec const spec(text, known);
    std::vector<group> const groups = groups_of(text);
    std::vector<g::handle> x;
    std::vector<std::vector<double>> numbers_of;
    for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
      x.push_back(operand(groups[g], used, -1.5 + 0.1 * static_cast<double>(g)));
      numbers_of.push_back(numbers(x.back()));
    }
    check_close(numbers(run(spec, x)), reference(text, used, numbers_of));
    check_gradients([&](auto const& at) { return run(spec, at); }, x);
  }
}

TEST_CASE("operands may be any views") {
  small_spec const spec("ab,bc->ac");
  g::handle const wide = make<X0, X1, X2>({4, 6, 2});
  // A slice with a step, reversed, at one position, transposed.
  auto const f = [&](std::vector<g::handle> const& in) {
    g::handle const part =
        g::at(g::slice(in[0], axes<X0, X1, X2>(), 1, 1, 3, 2), axes<X0, X1>(), 2, 1);
    std::int8_t const swap[] = {1, 0};
    g::handle const back = g::permute(g::reverse(part, 0), axes<X1, X0>(), swap);
    g::handle const both[] = {back, back};
    return g::einsum(small_spec("ba,bc->ac").spec, axes<Y0, Y1>(), both, nullptr);
  };
  check_gradients(f, {wide});
  g::handle const got = f({wide});
  std::vector<double> const n = numbers(wide);
  std::vector<double> wanted;
  auto const p = [&](std::size_t i, std::size_t j) { return n[((3 - i) * 6 + 1 + 2 * j) * 2 + 1]; };
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) sum += p(i, j) * p(k, j);
      wanted.push_back(sum);
    }
  check_close(numbers(got), wanted);
}

TEST_CASE("extents 0 and 1 in contractions") {
  small_spec const spec("ab,bc->ac");
  std::vector<g::handle> const empty{make<X0, X1>({2, 0}), make<X0, X1>({0, 3})};
  check_close(numbers(run(spec, empty)), std::vector<double>(6, 0));
  CHECK(numbers(run(spec, {make<X0, X1>({0, 2}), make<X0, X1>({2, 3})})).empty());
  CHECK_THROWS_AS(run(spec, {make<X0, X1>({2, 1}), make<X0, X1>({3, 3})}), shape_error);
  CHECK(numbers(gradients([&](auto const& at) { return run(spec, at); }, empty)[0]).empty());
}

TEST_CASE("extents that do not fit are refused as at compile time") {
  struct Batch : axis<"batch"> {};
  small_spec const spec("ab,bc->ac");
  std::vector<g::handle> x{make<A, B>({2, 64}), make<B, C>({32, 3})};
  CHECK_THROWS_WITH_AS(g::einsum(spec.spec, axes<A, C>(), x.data(), nullptr),
                       "einsum: axis `b` has extent 64 in operand 1 and 32 in operand 2; operand 1 "
                       "is [a 2, b 64], operand 2 is [b 32, c 3]",
                       shape_error);
  small_spec const split("(ab)->ab", {{'b', 2}}, "rearrange");
  g::handle const wide = make<D>({173});
  CHECK_THROWS_WITH_AS(
      g::rearrange(split.spec, axes<A, B>(), wide, nullptr),
      "rearrange: axis `d` of extent 173 does not divide into chunks of 2; operand "
      "1 is [d 173]",
      shape_error);
  small_spec const unknown("(ab)->ab", {}, "rearrange");
  CHECK_THROWS_AS(g::rearrange(unknown.spec, axes<A, B>(), wide, nullptr), shape_error);
  std::int64_t const given[] = {-1, 173};
  CHECK(g::extents(g::rearrange(unknown.spec, axes<A, B>(), wide, given))[0] == 1);
}

TEST_CASE("rearrange is a view where strides allow, else one copy") {
  g::handle const x = make<A, B>({4, 6});
  std::int64_t const copies = g::counted().copies;
  small_spec const split("(ab)(cd)->bacd", {{'b', 2}, {'d', 3}}, "rearrange");
  struct P : axis<"p"> {};
  g::handle const y = g::rearrange(split.spec, axes<A, B, C, D>(), x, nullptr);
  CHECK(g::is_evaluated(y));
  CHECK(g::strides(y)[0] == 6);
  CHECK(g::strides(y)[1] == 12);
  CHECK(g::counted().copies == copies);
  small_spec const merge("abcd->(ab)(cd)", {}, "rearrange");
  g::handle const z = g::rearrange(merge.spec, axes<A, B>(), y, nullptr);
  CHECK(!g::is_evaluated(z));
  g::evaluate(z);
  CHECK(g::counted().copies == copies + 1);
  small_spec const merge_back("bacd->(ab)(cd)", {}, "rearrange");
  CHECK(g::data(g::rearrange(merge_back.spec, axes<A, B>(), y, nullptr)) == g::data(x));
  small_spec const wide("a->ba", {}, "repeat");
  std::int64_t const given[] = {3, -1};
  g::handle const r = g::repeat(wide.spec, axes<B, A>(), make<A>({2}, {1, 2}), given);
  check_close(numbers(r), {1, 2, 1, 2, 1, 2});
  check_gradients([&](auto const& in) { return g::repeat(wide.spec, axes<B, A>(), in[0], given); },
                  {make<A>({2})});
  check_gradients(
      [&](auto const& in) { return g::rearrange(split.spec, axes<A, B, C, D>(), in[0], nullptr); },
      {x});
}

TEST_CASE("what stands above a contraction is its epilogue") {
  small_spec const spec("ab,bc->ac");
  g::handle const x = make<A, B>({40, 48});
  g::handle const w = make<B, C>({48, 56});
  g::handle const bias = make<C>({56});
  g::handle const residual = make<A, C>({40, 56});
  auto const f32 = [](g::handle const& h) {
    g::handle y = g::convert(h, dtype::f32);
    g::evaluate(y);
    return y;
  };
  g::handle const xf = f32(x), wf = f32(w), bf = f32(bias), rf = f32(residual);
  auto const product = [&](g::handle const& a, g::handle const& b) {
    g::handle const in[] = {a, b};
    return g::einsum(spec.spec, axes<A, C>(), in, nullptr);
  };
  g::counters const before = g::counted();
  g::handle const y = op_of(opcode::gelu_tanh, {op_of(opcode::add, {product(xf, wf), bf})});
  g::evaluate(y);
  CHECK(g::counted().gemms == before.gemms + 1);
  CHECK(g::counted().loops == before.loops);
  g::handle const z = op_of(opcode::add, {rf, op_of(opcode::add, {product(xf, wf), bf})});
  g::evaluate(z);
  CHECK(g::counted().gemms == before.gemms + 2);
  CHECK(g::counted().loops == before.loops);
  check_close(numbers(y),
              numbers(op_of(opcode::gelu_tanh, {op_of(opcode::add, {product(x, w), bias})})), 1e-4);
  check_close(numbers(z),
              numbers(op_of(opcode::add, {residual, op_of(opcode::add, {product(x, w), bias})})),
              1e-4);

  // With a gradient to come the operand of gelu is stored; bias and residual still ride along.
  g::level const level;
  g::handle const leaves[] = {g::track(wf, level), g::track(bf, level)};
  g::counters const tracked = g::counted();
  g::handle const u =
      op_of(opcode::gelu_tanh, {op_of(opcode::add, {product(xf, leaves[0]), leaves[1]})});
  g::evaluate(u);
  CHECK(g::counted().gemms == tracked.gemms + 1);
  CHECK(g::counted().loops == tracked.loops + 1);
  g::handle const v = op_of(
      opcode::add,
      {rf,
       op_of(opcode::add, {product(u, g::convert(make<B, C>({56, 56}), dtype::f32)), leaves[1]})});
  (void)v;
}

TEST_CASE("gradients through epilogues of every kind") {
  small_spec const spec("ab,bc->ac");
  auto const product = [&](g::handle const& a, g::handle const& b) {
    g::handle const in[] = {a, b};
    return g::einsum(spec.spec, axes<A, C>(), in, nullptr);
  };
  std::vector<g::handle> const x{make<A, B>({3, 4}), make<B, C>({4, 2}), make<C>({2}),
                                 make<A, C>({3, 2})};
  for (opcode op : {opcode::relu, opcode::gelu_tanh, opcode::gelu_erf, opcode::tanh, opcode::silu,
                    opcode::sigmoid}) {
    CAPTURE(facts_of(op).name);
    check_gradients(
        [&](auto const& in) {
          g::handle const sum = op_of(opcode::add, {product(in[0], in[1]), in[2]});
          return op_of(opcode::subtract, {in[3], op_of(op, {sum})});
        },
        x);
    check_gradients(
        [&](auto const& in) {
          g::handle const scaled = op_of(opcode::multiply, {product(in[0], in[1]), number(-0.5)});
          return op_of(op, {op_of(opcode::subtract, {in[3], op_of(opcode::negate, {scaled})})});
        },
        x);
    // The same contraction taken twice, and the values without a gradient.
    auto const twice = [&](auto const& in) {
      g::handle const p = product(in[0], in[1]);
      return op_of(opcode::multiply,
                   {op_of(op, {op_of(opcode::add, {p, in[2]})}), op_of(opcode::add, {p, in[3]})});
    };
    check_gradients(twice, x);
  }
}
