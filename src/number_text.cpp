#include "src/number_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <ricci/tensor/visit_dtype.hpp>

namespace ricci::detail {
namespace {

constexpr int most_digits = 8;  // behind the decimal point, as NumPy's precision

/// A finite number as sign, digits and exponent: 0.d1 d2 d3 ... is not meant, but d1.d2 d3 ...
struct decimal {
  bool is_negative = false;
  std::string digits;  // without trailing zeros, at least one
  int exponent = 0;

  explicit decimal(std::string_view scientific) {
    if (scientific[0] == '-') {
      is_negative = true;
      scientific.remove_prefix(1);
    }
    std::size_t const e = scientific.find('e');
    for (char const c : scientific.substr(0, e))
      if (c != '.') digits += c;
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    std::string_view power = scientific.substr(e + 1);
    if (power[0] == '+') power.remove_prefix(1);
    std::from_chars(power.data(), power.data() + power.size(), exponent);
  }
  int fraction_size() const { return std::max(0, static_cast<int>(digits.size()) - 1 - exponent); }
};

/// The fewest digits that are this number and no other of its dtype. The 8-bit floats, which 448 as
/// 450 would only puzzle, have few enough as they are.
template <class T> decimal shortest(T x) {
  if constexpr (sizeof(T) == 1) {
    return shortest(static_cast<f32>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[40];
    auto const end = std::to_chars(text, text + sizeof text, x, std::chars_format::scientific).ptr;
    return decimal({text, static_cast<std::size_t>(end - text)});
  } else {
    auto const value = static_cast<double>(x);
    for (int precision = 0;; ++precision) {
      std::string const text = fmt::format("{:.{}e}", value, precision);
      double again = 0;
      std::from_chars(text.data(), text.data() + text.size(), again);
      if (T(again) == x || precision == most_digits) return decimal(text);
    }
  }
}

/// The text in front of the decimal point and the one behind it, with the exponent apart.
struct parts {
  std::string whole;
  std::string fraction;
  int exponent = 0;
};

parts fixed(decimal const& d, double exact) {
  std::string text;
  if (d.fraction_size() > most_digits) {
    text = fmt::format("{:.{}f}", exact, most_digits);
    while (text.back() == '0') text.pop_back();
  } else {
    text = d.is_negative ? "-" : "";
    int const size = static_cast<int>(d.digits.size());
    if (d.exponent < 0) text += "0";
    for (int i = 0; i <= d.exponent; ++i)
      text += i < size ? d.digits[static_cast<std::size_t>(i)] : '0';
    text += ".";
    text.append(static_cast<std::size_t>(std::max(0, -d.exponent - 1)), '0');
    for (int i = std::max(0, d.exponent + 1); i < size; ++i)
      text += d.digits[static_cast<std::size_t>(i)];
  }
  std::size_t const point = text.find('.');
  return {text.substr(0, point), text.substr(point + 1), 0};
}

parts scientific(decimal d, double exact) {
  if (static_cast<int>(d.digits.size()) - 1 > most_digits)
    d = decimal(fmt::format("{:.{}e}", exact, most_digits));
  return {(d.is_negative ? "-" : "") + d.digits.substr(0, 1), d.digits.substr(1), d.exponent};
}

bool needs_exponents(std::vector<double> const& finite) {
  double low = INFINITY;
  double high = 0;
  for (double const x : finite)
    if (x != 0) {
      low = std::min(low, std::abs(x));
      high = std::max(high, std::abs(x));
    }
  return high > 0 && (high >= 1e8 || low < 1e-4 || high / low > 1000);
}

std::string exponent_text(int exponent, int digits) {
  return fmt::format("e{}{:0{}}", exponent < 0 ? '-' : '+', std::abs(exponent), digits);
}

std::string non_finite_text(double x) { return std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf"; }

template <class T> double wide(T x) {
  return static_cast<double>(static_cast<accumulator_t<T>>(x));
}

template <class T>
std::vector<std::string> float_texts(T const* data, std::vector<std::int64_t> const& places) {
  std::vector<double> finite;
  for (std::int64_t const place : places)
    if (std::isfinite(wide(data[place]))) finite.push_back(wide(data[place]));
  bool const with_exponents = needs_exponents(finite);
  std::vector<parts> split;
  std::size_t left = 0;
  std::size_t right = 0;
  int exponent_digits = 2;
  for (std::int64_t const place : places) {
    double const x = wide(data[place]);
    split.emplace_back();
    if (!std::isfinite(x)) continue;
    decimal const d = shortest(data[place]);
    split.back() = with_exponents ? scientific(d, x) : fixed(d, x);
    left = std::max(left, split.back().whole.size());
    right = std::max(right, split.back().fraction.size());
    if (std::abs(split.back().exponent) >= 100) exponent_digits = 3;
  }
  std::size_t width = finite.empty() ? 0 : left + 1 + right;
  if (with_exponents) width += 2 + static_cast<std::size_t>(exponent_digits);
  for (std::int64_t const place : places)
    if (double const x = wide(data[place]); !std::isfinite(x))
      width = std::max(width, non_finite_text(x).size());

  std::vector<std::string> texts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    double const x = wide(data[places[i]]);
    if (!std::isfinite(x)) {
      texts.push_back(fmt::format("{:>{}}", non_finite_text(x), width));
      continue;
    }
    parts const& p = split[i];
    std::string text = with_exponents ? fmt::format("{}.{:0<{}}{}", p.whole, p.fraction, right,
                                                    exponent_text(p.exponent, exponent_digits))
                                      : fmt::format("{}.{:<{}}", p.whole, p.fraction, right);
    texts.push_back(fmt::format("{:>{}}", text, width));
  }
  return texts;
}

template <class T> std::string whole_text(T x) {
  if constexpr (std::is_same_v<T, boolean>)
    return x ? "true" : "false";
  else
    return fmt::format("{}", static_cast<std::int64_t>(x));
}

}  // namespace

std::vector<std::string> aligned_texts(void const* data, dtype type,
                                       std::vector<std::int64_t> const& places) {
  return visit(type, [&]<class T>(std::type_identity<T>) {
    T const* const x = static_cast<T const*>(data);
    if constexpr (is_floating_v<T>) {
      return float_texts(x, places);
    } else {
      std::vector<std::string> texts;
      std::size_t width = 0;
      for (std::int64_t const place : places) {
        texts.push_back(whole_text(x[place]));
        width = std::max(width, texts.back().size());
      }
      for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
      return texts;
    }
  });
}

std::string scalar_text(void const* data, dtype type) {
  return visit(type, [&]<class T>(std::type_identity<T>) -> std::string {
    T const x = *static_cast<T const*>(data);
    if constexpr (!is_floating_v<T>) {
      return whole_text(x);
    } else {
      double const value = wide(x);
      if (!std::isfinite(value)) return non_finite_text(value);
      decimal const d = shortest(x);
      if (value != 0 && (d.exponent < -4 || d.exponent >= 16))
        return fmt::format("{}{}{}{}{}", d.is_negative ? "-" : "", d.digits[0],
                           d.digits.size() > 1 ? "." : "", d.digits.substr(1),
                           exponent_text(d.exponent, 2));
      std::string text = d.is_negative ? "-" : "";
      int const size = static_cast<int>(d.digits.size());
      if (d.exponent < 0)
        text += "0." + std::string(static_cast<std::size_t>(-d.exponent - 1), '0');
      for (int i = 0; i < std::max(size, d.exponent + 1); ++i) {
        text += i < size ? d.digits[static_cast<std::size_t>(i)] : '0';
        if (i == d.exponent) text += '.';
      }
      if (text.back() == '.') text += '0';
      return text;
    }
  });
}

}  // namespace ricci::detail
