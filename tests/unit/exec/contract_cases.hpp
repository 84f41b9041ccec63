#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ricci/exec/contract.hpp>
#include <ricci/tensor/visit_dtype.hpp>

/// Contractions at random and their values by nested loops in f64: for the tests of contract.
namespace ricci::tests {

using namespace ricci::exec;
using ricci::lowering_code;

// Elements as f64, of any dtype, beside their bytes.
struct array {
  dtype type = dtype::f32;
  std::vector<char> bytes;
  std::vector<double> values;

  array() = default;
  array(dtype t, std::vector<double> v) : type(t), values(std::move(v)) {
    ricci::visit(type, [&]<class T>(std::type_identity<T>) {
      bytes.resize(values.size() * sizeof(T));
      for (std::size_t i = 0; i < values.size(); ++i) {
        T const element = static_cast<T>(values[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
      }
    });
    read();
  }

  void read() {
    ricci::visit(type, [&]<class T>(std::type_identity<T>) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        T element;
        std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
        values[i] = static_cast<double>(element);
      }
    });
  }
};

struct view {
  array data;
  std::int64_t offset = 0;
  std::vector<std::int64_t> extents, strides;
  std::vector<std::uint8_t> ids;

  contraction_operand operand() const {
    return {data.bytes.data() + offset * ricci::size_of(data.type),
            data.type,
            static_cast<int>(ids.size()),
            extents.data(),
            strides.data(),
            ids.data()};
  }
};

struct added {
  array data;
  std::vector<std::int64_t> strides;

  contraction_added argument() const {
    if (data.values.empty()) return {};
    return {data.bytes.data(), data.type, strides.data()};
  }
};

inline double activated(opcode op, double x) {
  switch (op) {
    case opcode::relu:
      return x < 0 ? 0 : x;
    case opcode::silu:
      return x / (1 + std::exp(-x));
    case opcode::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case opcode::gelu_erf:
      return x / 2 * std::erfc(-x / std::sqrt(2.0));
    case opcode::tanh:
      return std::tanh(x);
    case opcode::sigmoid:
      return 1 / (1 + std::exp(-x));
    default:
      return x;
  }
}

struct problem {
  std::vector<view> operands;
  dtype result_type = dtype::f32;
  std::vector<std::int64_t> result_extents;
  std::vector<std::uint8_t> result_ids;
  added bias, residual;
  double alpha = 1;
  opcode activation = opcode::convert;
  lowering_code forced = lowering_code::automatic;

  contraction_epilogue epilogue() const {
    return {alpha, bias.argument(), residual.argument(), activation};
  }
};

struct outcome {
  array result;
  contraction_report report;
};

inline std::int64_t product(std::vector<std::int64_t> const& extents) {
  std::int64_t count = 1;
  for (auto e : extents) count *= e;
  return count;
}

inline outcome run(problem const& p) {
  // What the result's memory held before must not matter: NaN where the dtype has one.
  std::int64_t const count = product(p.result_extents);
  outcome out;
  out.result.type = p.result_type;
  out.result.values.resize(count);
  out.result.bytes.assign(count * ricci::size_of(p.result_type), static_cast<char>(0x7f));
  if (p.result_type == dtype::f32 || p.result_type == dtype::f64)
    out.result.bytes.assign(out.result.bytes.size(), static_cast<char>(0xff));
  contraction_result const result{out.result.bytes.data(), p.result_type,
                                  static_cast<int>(p.result_ids.size()), p.result_extents.data(),
                                  p.result_ids.data()};
  out.report = p.operands.size() == 2
                   ? contract(p.operands[0].operand(), p.operands[1].operand(), result,
                              p.epilogue(), p.forced)
                   : contract(p.operands[0].operand(), result, p.epilogue());
  out.result.read();
  return out;
}

struct expectation {
  std::vector<double> value, magnitude;
};

// Nested loops over all indices, in f64.
inline expectation expected(problem const& p) {
  std::int64_t extent[32];
  std::vector<int> ids;
  std::fill_n(extent, 32, -1);
  for (auto const& x : p.operands)
    for (std::size_t i = 0; i < x.ids.size(); ++i) {
      if (extent[x.ids[i]] < 0) ids.push_back(x.ids[i]);
      extent[x.ids[i]] = x.extents[i];
    }
  std::int64_t steps[2][32] = {};
  std::int64_t of_result[32] = {};
  for (std::size_t o = 0; o < p.operands.size(); ++o)
    for (std::size_t i = 0; i < p.operands[o].ids.size(); ++i)
      steps[o][p.operands[o].ids[i]] += p.operands[o].strides[i];
  std::int64_t stride = 1;
  std::int64_t steps_added[2][32] = {};
  added const* const addends[2] = {&p.bias, &p.residual};
  for (int i = static_cast<int>(p.result_ids.size()) - 1; i >= 0; --i) {
    of_result[p.result_ids[i]] = stride;
    stride *= p.result_extents[i];
    for (int which = 0; which < 2; ++which)
      if (!addends[which]->strides.empty())
        steps_added[which][p.result_ids[i]] = addends[which]->strides[i];
  }
  expectation e;
  e.value.assign(product(p.result_extents), 0);
  e.magnitude = e.value;
  std::vector<double> plus = e.value;
  std::int64_t all = 1;
  for (int id : ids) all *= extent[id];
  auto const walk = [&](std::vector<int> const& over, std::int64_t count, auto f) {
    std::int64_t at[32] = {};
    for (std::int64_t n = 0; n < count; ++n) {
      f(at);
      for (int i = static_cast<int>(over.size()) - 1; i >= 0; --i) {
        if (++at[over[i]] < extent[over[i]]) break;
        at[over[i]] = 0;
      }
    }
  };
  auto const place = [&](std::int64_t const(&step)[32], std::int64_t const(&at)[32]) {
    std::int64_t offset = 0;
    for (int id : ids) offset += step[id] * at[id];
    return offset;
  };
  walk(ids, all, [&](std::int64_t const(&at)[32]) {
    double x = 1;
    for (std::size_t o = 0; o < p.operands.size(); ++o)
      x *= p.operands[o].data.values[p.operands[o].offset + place(steps[o], at)];
    std::int64_t const to = place(of_result, at);
    e.value[to] += x;
    e.magnitude[to] += std::abs(x);
  });
  std::vector<int> const kept(p.result_ids.begin(), p.result_ids.end());
  walk(kept, static_cast<std::int64_t>(e.value.size()), [&](std::int64_t const(&at)[32]) {
    double y = p.alpha * e.value[place(of_result, at)];
    for (int which = 0; which < 2; ++which)
      if (!addends[which]->data.values.empty())
        y += addends[which]->data.values[place(steps_added[which], at)];
    e.value[place(of_result, at)] = activated(p.activation, y);
    e.magnitude[place(of_result, at)] += std::abs(y);
  });
  return e;
}

// One rounding of the result's dtype, and the library's approximations of the activations.
inline double tolerance(dtype type, opcode activation) {
  double const unit = type == dtype::f64       ? 1e-14
                      : type == dtype::f32     ? 1e-6
                      : type == dtype::bf16    ? 0x1p-8
                      : type == dtype::f16     ? 0x1p-10
                      : type == dtype::f8_e4m3 ? 0x1p-3
                      : type == dtype::f8_e5m2 ? 0x1p-2
                                               : 0;
  return activation == opcode::convert ? unit : unit + 2e-6;
}

// How many elements are wrong.
inline std::int64_t wrong(problem const& p, outcome const& o) {
  expectation const e = expected(p);
  std::int64_t count = 0;
  double const relative = tolerance(p.result_type, p.activation);
  for (std::size_t i = 0; i < e.value.size(); ++i) {
    bool const is_float = ricci::is_floating(p.result_type);
    double const scale = p.result_type == dtype::f32 || p.result_type == dtype::f64 ||
                                 p.activation != opcode::convert
                             ? e.magnitude[i]
                             : std::abs(e.value[i]);
    double const allowed = is_float ? relative * scale + 1e-30 : 0;
    if (!(std::abs(o.result.values[i] - e.value[i]) <= allowed)) ++count;
  }
  return count;
}

struct generator {
  std::mt19937 engine;

  explicit generator(unsigned seed) : engine(seed) {}
  int below(std::int64_t n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }
  double small() { return below(5) - 2; }

  std::vector<double> smalls(std::int64_t count, bool is_unsigned) {
    std::vector<double> v(count);
    for (auto& x : v) x = is_unsigned ? below(4) : small();
    return v;
  }

  // An operand over the ids, as some view of some memory.
  view operand(std::vector<std::uint8_t> ids, std::int64_t const* extent, dtype type, bool plain) {
    view v;
    std::shuffle(ids.begin(), ids.end(), engine);
    if (!plain && below(5) == 0 && !ids.empty())  // a diagonal
      ids.insert(ids.begin() + below(static_cast<int>(ids.size()) + 1), ids[below(ids.size())]);
    v.ids = ids;
    int const rank = static_cast<int>(ids.size());
    std::vector<int> order(rank);
    for (int i = 0; i < rank; ++i) order[i] = i;
    if (below(2)) std::shuffle(order.begin(), order.end(), engine);
    v.extents.resize(rank);
    v.strides.resize(rank);
    std::int64_t stride = 1;
    std::int64_t last = 0;
    for (int i = rank - 1; i >= 0; --i) {
      int const axis = order[i];
      std::int64_t const e = extent[ids[axis]];
      v.extents[axis] = e;
      int const change = plain ? 9 : below(16);
      std::int64_t held = e;
      v.strides[axis] = stride;
      if (change == 0) held = e + 1 + below(3);             // a slice
      if (change == 1) v.strides[axis] *= 2, held = 2 * e;  // every second
      if (change == 2) {                                    // broadcast
        v.strides[axis] = 0;
        held = 1;
      }
      if (change == 3 && e > 0) {  // backwards
        v.offset += (e - 1) * stride;
        v.strides[axis] = -stride;
      }
      stride *= std::max<std::int64_t>(held, 1);
    }
    last = stride;
    v.data = array(type, smalls(last, type == dtype::u8 || type == dtype::u16));
    return v;
  }

  problem contraction(dtype type, bool large) {
    problem p;
    std::int64_t extent[8];
    int const count = large ? 3 + below(4) : 1 + below(6);
    double total = 1;
    double const most = large ? 200000 : 20000;
    for (int i = 0; i < count; ++i) {
      constexpr std::int64_t extents[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 64, 67};
      std::int64_t e = extents[large && i < 3 ? 7 + below(5) : below(12)];
      while (total * static_cast<double>(e) > most) e = extents[below(3)];
      if (!large && below(60) == 0) e = 0;
      extent[i] = e;
      if (e > 0) total *= static_cast<double>(e);
    }
    std::vector<std::uint8_t> ids[3];
    for (int i = 0; i < count; ++i) {
      constexpr int wheres[] = {3, 5, 6, 7, 3, 5, 6, 7, 5, 6, 3, 1, 2};  // bits: a, b, result
      int const where = large && i < 3 ? wheres[i] : wheres[below(13)];
      for (int t = 0; t < 3; ++t)
        if (where >> t & 1) ids[t].push_back(static_cast<std::uint8_t>(3 * i + 1));
    }
    std::int64_t by_id[32];
    for (int i = 0; i < count; ++i) by_id[3 * i + 1] = extent[i];
    for (int t = 0; t < 2; ++t) p.operands.push_back(operand(ids[t], by_id, type, below(3) == 0));
    std::shuffle(ids[2].begin(), ids[2].end(), engine);
    p.result_ids = ids[2];
    for (auto id : ids[2]) p.result_extents.push_back(by_id[id]);
    p.result_type = !ricci::is_floating(type)             ? dtype::i64
                    : type != dtype::f64 && below(3) == 0 ? dtype::f32
                                                          : type;
    return p;
  }

  added addend(problem const& p, dtype type, bool whole) {
    added x;
    x.strides.resize(p.result_ids.size());
    std::int64_t stride = 1;
    for (int i = static_cast<int>(p.result_ids.size()) - 1; i >= 0; --i) {
      bool const has = whole || below(2);
      x.strides[i] = has ? stride : 0;
      if (has) stride *= std::max<std::int64_t>(p.result_extents[i], 1);
    }
    if (whole && x.strides.size() > 1 && below(4) == 0) {  // lies otherwise
      std::int64_t const inner = p.result_extents.back();
      x.strides.back() = stride;
      stride *= std::max<std::int64_t>(inner, 1);
    }
    x.data = array(type, smalls(stride, false));
    return x;
  }
};

inline constexpr dtype all_types[] = {dtype::f32, dtype::bf16, dtype::f64,     dtype::f16,
                                      dtype::i64, dtype::i32,  dtype::i16,     dtype::i8,
                                      dtype::u16, dtype::u8,   dtype::f8_e4m3, dtype::f8_e5m2};

inline std::string text_of(problem const& p) {
  std::string text;
  auto const list = [&](auto const& extents, auto const& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      text += std::to_string(ids[i]) + "=" + std::to_string(extents[i]) + " ";
  };
  for (auto const& x : p.operands) {
    list(x.extents, x.ids);
    text += "strides ";
    for (auto s : x.strides) text += std::to_string(s) + " ";
    text += ", ";
  }
  list(p.result_extents, p.result_ids);
  return text + std::string(name_of(p.operands[0].data.type)) + "->" +
         std::string(name_of(p.result_type)) + " alpha " + std::to_string(p.alpha) + " " +
         std::string(name_of(p.activation));
}

// Packed operands of real numbers; letters are ids, their extents are given.
inline problem product_of(dtype type, std::string_view a, std::string_view b,
                          std::string_view result, std::int64_t const (&extent)[26],
                          dtype result_type) {
  generator g(5);
  problem p;
  auto const make = [&](std::string_view letters) {
    view v;
    std::int64_t count = 1;
    for (char c : letters) {
      v.ids.push_back(static_cast<std::uint8_t>(c - 'a'));
      v.extents.push_back(extent[c - 'a']);
    }
    v.strides.resize(letters.size());
    for (int i = static_cast<int>(letters.size()) - 1; i >= 0; --i) {
      v.strides[i] = count;
      count *= v.extents[i];
    }
    std::vector<double> values(count);
    for (auto& x : values) x = (g.below(2001) - 1000) / 1000.0;
    v.data = array(type, values);
    return v;
  };
  p.operands = {make(a), make(b)};
  p.result_type = result_type;
  for (char c : result) {
    p.result_ids.push_back(static_cast<std::uint8_t>(c - 'a'));
    p.result_extents.push_back(extent[c - 'a']);
  }
  return p;
}

}  // namespace ricci::tests
