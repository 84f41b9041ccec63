#include <ricci/io/atomic_file.hpp>
#include <ricci/trace/loss_plot.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ricci::trace {
namespace {

// The picture, in SVG units: the plot's frame within the page.
constexpr double page_width = 800;
constexpr double page_height = 450;
constexpr double left = 72;
constexpr double right = 680;
constexpr double top = 76;
constexpr double bottom = 394;

constexpr char const* text_colour = "#1f2328";
constexpr char const* soft_colour = "#59636e";
constexpr char const* grid_colour = "#e4e8ec";
constexpr char const* train_colour = "#2f6fde";
constexpr char const* validation_colour = "#d1480f";

using points = std::vector<curve_point>;

/// Round ticks that enclose a range: first, first + step, ..., last.
struct ticks {
  double first = 0;
  double last = 1;
  double step = 1;

  [[nodiscard]] int count() const { return static_cast<int>(std::lround((last - first) / step)); }
  [[nodiscard]] double at(int i) const { return first + i * step; }
};

/// Steps of 1, 2 or 5 times a power of ten, so that there are at most `most` intervals.
ticks ticks_over(double low, double high, int most, double smallest_step) {
  double const rough = std::max((high - low) / most, smallest_step);
  double const power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double const factor : {5, 2, 1}) {
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  }
  return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, step};
}

/// 1000 or 0.05, with just the digits that tell the ticks apart.
std::string tick_text(double value, double step) {
  if (std::abs(value) < step / 2) value = 0;  // not -0.0
  if (step >= 1e6 || step < 1e-6) return fmt::format("{:g}", value);
  return fmt::format("{:.{}f}", value,
                     std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))));
}

/// Steps with spaces between the thousands: 12 000.
std::string step_text(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), "\u2009");
  }
  return digits;
}

std::string escaped(std::string const& text) {
  std::string result;
  for (char const c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

points finite(points const& all) {
  points kept;
  std::copy_if(all.begin(), all.end(), std::back_inserter(kept),
               [](curve_point const& point) { return std::isfinite(point.value); });
  return kept;
}

/// Mean over a centred window of 2 % of the points, narrower at the ends: a window that only looks
/// back would draw a falling curve too high.
points smoothed(points const& raw) {
  auto const count = static_cast<std::int64_t>(raw.size());
  std::int64_t const reach = std::max<std::int64_t>(count / 100, 1);
  std::vector<double> before(raw.size() + 1, 0);  // sums of the values before i
  for (std::size_t i = 0; i < raw.size(); ++i) before[i + 1] = before[i] + raw[i].value;
  points result = raw;
  for (std::int64_t i = 0; i < count; ++i) {
    // The last point keeps half a window, so that the value written beside it is not one batch's.
    std::int64_t const near = std::min({reach, i, std::max(count - 1 - i, (reach + 1) / 2)});
    std::int64_t const begin = std::max<std::int64_t>(i - near, 0);
    std::int64_t const end = std::min(i + near + 1, count);
    result[static_cast<std::size_t>(i)].value =
        (before[static_cast<std::size_t>(end)] - before[static_cast<std::size_t>(begin)]) /
        static_cast<double>(end - begin);
  }
  return result;
}

/// Value below which the share of the points lies.
double quantile(points all, double share) {
  auto const place =
      all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), place, all.end(),
                   [](auto const& a, auto const& b) { return a.value < b.value; });
  return place->value;
}

class chart {
 public:
  chart(points const& train, points const& validation) {
    double low = std::numeric_limits<double>::max();
    double high = std::numeric_limits<double>::lowest();
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
    auto const include = [&](points const& curve) {
      for (auto const& point : curve) {
        first = std::min(first, point.step);
        last = std::max(last, point.step);
      }
    };
    include(train);
    include(validation);
    if (first > last) {
      low = 0;
      high = first = last = 1;
    }
    if (!train.empty()) {
      // A spike of a few batches would press everything else flat: it leaves the frame instead.
      double const typical = quantile(train, 0.99);
      double const spread = typical - quantile(train, 0.01);
      for (auto const& point : train) {
        low = std::min(low, point.value);
        if (point.value <= typical + 2 * spread) high = std::max(high, point.value);
      }
    }
    for (auto const& point : validation) {
      low = std::min(low, point.value);
      high = std::max(high, point.value);
    }
    double const least = std::max(std::abs(high), std::abs(low)) * 1e-2 + 1e-9;
    if (high - low < least) {
      low -= least;
      high += least;
    }
    if (low > 0 && low < 0.25 * high) low = 0;
    y_ = ticks_over(low, high, 7, least / 7);
    // A training that begins near 0 begins at 0; one resumed without its past does not.
    auto const begin = static_cast<double>(first);
    // Step n is done at n + 1: training of 1000 steps ends at 1000.
    auto const end = static_cast<double>(last) + 1;
    x_ = ticks_over(begin < 0.1 * end ? 0 : begin, end, 8, 1);
    x_end_ = end;
    if (begin >= 0.1 * end) x_begin_ = begin;
  }

  [[nodiscard]] double x(double step) const {
    return left + (step - x_begin_) / (x_end_ - x_begin_) * (right - left);
  }
  [[nodiscard]] double y(double loss) const {
    return bottom - (loss - y_.first) / (y_.last - y_.first) * (bottom - top);
  }

  void draw_axes(std::string& svg, loss_curves const& curves) const {
    for (int i = 0; i <= y_.count(); ++i) {
      double const at = y(y_.at(i));
      svg += fmt::format(R"(<line x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}" stroke="{}"/>)"
                         "\n"
                         R"(<text x="{}" y="{:.1f}" text-anchor="end" fill="{}">{}</text>)"
                         "\n",
                         left, at, right, at, i == 0 ? soft_colour : grid_colour, left - 9,
                         at + 4.5, soft_colour, tick_text(y_.at(i), y_.step));
    }
    for (int i = 0; i <= x_.count(); ++i) {
      double const step = x_.at(i);
      if (step < x_begin_ || step > x_end_) continue;
      svg += fmt::format(R"(<line x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}" stroke="{3}"/>)"
                         "\n"
                         R"(<text x="{0:.1f}" y="{4}" text-anchor="middle" fill="{3}">{5}</text>)"
                         "\n",
                         x(step), bottom, bottom + 5, soft_colour, bottom + 21, step_text(step));
    }
    svg += fmt::format(
        R"(<text x="{:.1f}" y="{}" text-anchor="middle" fill="{}">step</text>)"
        "\n"
        R"(<text transform='translate(19 {:.1f}) rotate(-90)' text-anchor="middle" fill="{}">)"
        "{}</text>"
        "\n"
        R"(<text x="{}" y="30" font-size="18" font-weight="600">{}</text>)"
        "\n",
        (left + right) / 2, bottom + 44, soft_colour, (top + bottom) / 2, soft_colour,
        escaped(curves.unit), left, escaped(curves.title));
  }

  /// A polyline; of the points within one column of the picture the least and the greatest, in
  /// their order, stand for all.
  void draw_line(std::string& svg, points const& curve, char const* style) const {
    if (curve.size() < 2) return;
    std::string places;
    auto const add = [&](curve_point const& point) {
      places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ",
                            x(static_cast<double>(point.step)), y(point.value));
    };
    for (auto begin = curve.begin(); begin != curve.end();) {
      double const column = std::floor(x(static_cast<double>(begin->step)));
      auto end = begin;
      while (end != curve.end() && std::floor(x(static_cast<double>(end->step))) == column) ++end;
      auto const [least, greatest] =
          std::minmax_element(begin, end, [](auto a, auto b) { return a.value < b.value; });
      add(least < greatest ? *least : *greatest);
      if (least != greatest) add(least < greatest ? *greatest : *least);
      begin = end;
    }
    svg += fmt::format(R"(<polyline points="{}" fill="none" {}/>)"
                       "\n",
                       places, style);
  }

  void draw_dot(std::string& svg, curve_point const& point, double radius,
                char const* colour) const {
    svg += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}" stroke="#ffffff"/>)"
                       "\n",
                       x(static_cast<double>(point.step)), y(point.value), radius, colour);
  }

 private:
  ticks x_;
  ticks y_;
  double x_begin_ = 0;
  double x_end_ = 1;
};

/// The last values, written beside the ends of their curves and pushed apart where they would meet.
void draw_finals(std::string& svg, chart const& frame, points const& train,
                 points const& validation) {
  struct label {
    double place;
    char const* colour;
    std::string text;
  };
  std::vector<label> labels;
  auto const add = [&](points const& curve, char const* colour, char const* name) {
    if (curve.empty()) return;
    double const place = std::clamp(frame.y(curve.back().value), top, bottom);
    labels.push_back({place, colour, fmt::format("{} {:.3f}", name, curve.back().value)});
  };
  add(train, train_colour, "train");
  add(validation, validation_colour, "val");
  if (labels.size() == 2) {
    auto& upper = labels[0].place <= labels[1].place ? labels[0] : labels[1];
    auto& lower = labels[0].place <= labels[1].place ? labels[1] : labels[0];
    constexpr double apart = 18;  // units between two lines of text
    double const overlap = apart - (lower.place - upper.place);
    if (overlap > 0) {
      upper.place -= overlap / 2;
      lower.place += overlap / 2;
      double const below = std::max(lower.place - (bottom - 4), 0.0);  // not over the steps
      upper.place -= below;
      lower.place -= below;
    }
  }
  for (auto const& entry : labels) {
    svg += fmt::format(R"(<text x="{}" y="{:.1f}" font-weight="600" fill="{}">{}</text>)"
                       "\n",
                       right + 10, entry.place + 4.5, entry.colour, entry.text);
  }
}

/// In a row above the frame, from the right: it can cover no curve.
void draw_legend(std::string& svg, bool has_train, bool has_validation) {
  double at = right;
  auto const entry = [&](char const* name, double text_width, char const* style, char const* dot) {
    at -= text_width;
    svg += fmt::format(R"(<text x="{}" y="{}" fill="{}">{}</text>)"
                       "\n"
                       R"(<line x1="{}" y1="{}" x2="{}" y2="{}" {}/>)"
                       "\n",
                       at, top - 18, text_colour, name, at - 32, top - 22.5, at - 8, top - 22.5,
                       style);
    if (dot != nullptr) {
      svg += fmt::format(R"(<circle cx="{}" cy="{}" r="3.5" fill="{}" stroke="#ffffff"/>)"
                         "\n",
                         at - 20, top - 22.5, dot);
    }
    at -= 32 + 20;
  };
  if (has_validation) {
    entry("validation", 64, R"(stroke="#d1480f" stroke-width="2")", validation_colour);
  }
  if (has_train) {
    entry("train, smoothed", 102, R"(stroke="#2f6fde" stroke-width="2")", nullptr);
    entry("train, each batch", 110, R"(stroke="#2f6fde" stroke-width="1" stroke-opacity="0.35")",
          nullptr);
  }
}

}  // namespace

void write_loss_svg(std::string const& path, loss_curves const& curves) {
  points const raw = finite(curves.train);
  points const train = smoothed(raw);
  points const validation = finite(curves.validation);
  chart const frame(raw, validation);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
      R"(font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="{2}">)"
      "\n"
      R"(<rect width="{0}" height="{1}" fill="#ffffff"/>)"
      "\n"
      R"(<clipPath id="frame"><rect x="{3}" y="{4}" width="{5}" height="{6}"/></clipPath>)"
      "\n",
      page_width, page_height, text_colour, left - 5, top - 5, right - left + 10,
      bottom - top + 10);
  frame.draw_axes(svg, curves);
  svg += "<g clip-path=\"url(#frame)\" stroke-linejoin=\"round\">\n";
  frame.draw_line(svg, raw, R"(stroke="#2f6fde" stroke-width="1" stroke-opacity="0.35")");
  frame.draw_line(svg, train, R"(stroke="#2f6fde" stroke-width="2")");
  frame.draw_line(svg, validation, R"(stroke="#d1480f" stroke-width="2")");
  if (train.size() == 1) frame.draw_dot(svg, train.front(), 3.5, train_colour);
  if (validation.size() <= 40) {
    for (auto const& point : validation) frame.draw_dot(svg, point, 3.5, validation_colour);
  }
  svg += "</g>\n";
  if (raw.empty() && validation.empty()) {
    svg += fmt::format(
        R"(<text x="{}" y="{}" text-anchor="middle" fill="{}">no finite loss was recorded</text>)"
        "\n",
        (left + right) / 2, (top + bottom) / 2, soft_colour);
  } else {
    draw_finals(svg, frame, train, validation);
    draw_legend(svg, !raw.empty(), !validation.empty());
  }
  svg += "</svg>\n";
  io::write_file(path, svg);
}

}  // namespace ricci::trace
