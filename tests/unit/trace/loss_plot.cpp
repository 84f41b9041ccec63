#include <ricci/error/exceptions.hpp>
#include <ricci/trace/loss_plot.hpp>
#include "../io/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>

using namespace ricci;
using namespace ricci::test;
using trace::loss_curves;

namespace {

std::string drawn(loss_curves const& curves) {
  temporary_folder const folder;
  trace::write_loss_svg(folder / "loss.svg", curves);
  return read_bytes(folder / "loss.svg");
}

/// Every element is closed, and no number is one that SVG does not have.
void check_sound(std::string const& svg) {
  std::int64_t open = 0;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    std::size_t const end = svg.find('>', at);
    REQUIRE(end != std::string::npos);
    if (svg[at + 1] == '/') {
      --open;
    } else if (svg[end - 1] != '/') {
      ++open;
    }
    CHECK(open >= 0);
  }
  CHECK(open == 0);
  CHECK(!contains(svg, "nan"));
  CHECK(!contains(svg, "inf\""));
  CHECK(!contains(svg, "inf,"));
  CHECK(!contains(svg, "-0.0"));
}

std::int64_t count_of(std::string const& text, std::string const& part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// The y of every point of a polyline, the n-th of the picture.
std::vector<double> heights_of(std::string const& svg, int n) {
  std::size_t at = svg.find("points=\"");
  for (; n > 0; --n) at = svg.find("points=\"", at + 1);
  std::vector<double> heights;
  std::istringstream text(svg.substr(at + 8, svg.find('"', at + 8) - at - 8));
  double x = 0;
  double y = 0;
  for (char comma; text >> x >> comma >> y;) heights.push_back(y);
  return heights;
}

loss_curves training(std::int64_t steps) {
  loss_curves curves;
  for (std::int64_t step = 0; step < steps; ++step) {
    auto const at = static_cast<double>(step);
    curves.train.push_back({step, 1.8 + 3.7 * std::exp(-at / 40) + 0.05 * std::sin(at * at)});
    if (step % 100 == 99) curves.validation.push_back({step + 1, 1.9 + 3.7 * std::exp(-at / 40)});
  }
  return curves;
}

}  // namespace

TEST_CASE("write_loss_svg: both curves, round ticks, the legend and the last values") {
  loss_curves curves = training(1000);
  curves.title = "a <b> & \"c\"";
  std::string const svg = drawn(curves);
  check_sound(svg);
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(contains(svg, "a &lt;b&gt; &amp; &quot;c&quot;"));
  CHECK(count_of(svg, "<polyline") == 3);
  CHECK(count_of(svg, "r=\"3.5\"") == 10 + 1);  // a dot for each validation and one in the legend
  for (char const* const tick : {">0<", ">200<", ">800<", ">1\u2009000<", ">2<", ">5<"}) {
    CHECK_MESSAGE(contains(svg, tick), tick);
  }
  CHECK(contains(svg, ">validation<"));
  CHECK(contains(svg, ">val 1.900<"));
  CHECK(contains(svg, ">train 1."));
  CHECK(svg == drawn(curves));
}

TEST_CASE("write_loss_svg: the smoothed curve of a straight line is the line") {
  loss_curves curves;
  for (std::int64_t step = 0; step <= 400; ++step) {
    curves.train.push_back({step, 4 - static_cast<double>(step) / 100});
  }
  std::string const svg = drawn(curves);
  auto const raw = heights_of(svg, 0);
  auto const smooth = heights_of(svg, 1);
  REQUIRE(raw.size() == 401);
  REQUIRE(smooth.size() == 401);
  for (std::size_t i = 0; i < 398; ++i) {        // at the end, half a window stays
    CHECK(std::abs(raw[i] - smooth[i]) < 0.11);  // written in tenths
  }
}

TEST_CASE("write_loss_svg: nothing, one point, equal points, no numbers at all") {
  check_sound(drawn({}));
  CHECK(contains(drawn({}), "no finite loss"));
  loss_curves curves;
  curves.train = {{7, 2.5}};
  std::string svg = drawn(curves);
  check_sound(svg);
  CHECK(count_of(svg, "<circle") == 1);
  CHECK(contains(svg, ">2.50<"));
  curves.train = {{0, 0}, {1, 0}, {2, 0}};
  check_sound(drawn(curves));
  curves.train = {{0, -1}, {1, -1}};
  check_sound(drawn(curves));
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const inf = std::numeric_limits<double>::infinity();
  curves.train = {{0, nan}, {1, inf}};
  CHECK(contains(drawn(curves), "no finite loss"));
  curves.train = {{0, 3}, {1, nan}, {2, 2}};
  svg = drawn(curves);
  check_sound(svg);
  CHECK(contains(svg, ">train 2."));
  curves.train = {{0, 1e300}, {1, -1e300}, {std::int64_t{1} << 60, 1e-300}};
  check_sound(drawn(curves));
}

TEST_CASE("write_loss_svg: long training stays a small picture and a spike leaves the frame") {
  loss_curves curves = training(200'000);
  curves.train[150'000].value = 1000;
  std::string const svg = drawn(curves);
  check_sound(svg);
  CHECK(svg.size() < 150'000);
  CHECK(contains(svg, ">200\u2009000<"));
  CHECK(!contains(svg, ">1000<"));
}

TEST_CASE("write_loss_svg: the two last values never stand on each other") {
  for (double const apart : {-0.02, 0.0, 0.001, 0.02, 1.0}) {
    loss_curves curves;
    curves.train = {{0, 3}, {10, 1}};
    curves.validation = {{0, 3}, {10, 1 + apart}};
    std::string const svg = drawn(curves);
    auto const place = [&](char const* text) {
      std::size_t const begin = svg.rfind("y=\"", svg.find(text)) + 3;
      return std::stod(svg.substr(begin));
    };
    CHECK(std::abs(place(">val ") - place(">train 1")) >= 17.9);
  }
}

TEST_CASE("write_loss_svg: a place that cannot be written") {
  CHECK_THROWS_AS(trace::write_loss_svg("/no/such/folder/loss.svg", {}), io_error);
}
