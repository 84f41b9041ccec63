#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ricci::trace {

/// A number, a truth value or a text in a line of metrics. NaN and infinities, which JSON does not
/// have, are written as null.
class metric_value {
 public:
  metric_value(bool value) : value_(value) {}
  template <std::integral I> metric_value(I value) : value_(static_cast<std::int64_t>(value)) {}
  metric_value(float value) : value_(value) {}
  metric_value(double value) : value_(value) {}
  metric_value(std::string_view value) : value_(value) {}
  metric_value(char const* value) : value_(std::string_view(value)) {}
  metric_value(std::string const& value) : value_(std::string_view(value)) {}

  /// As JSON; floating numbers in the fewest digits that read back as the same float or double.
  [[nodiscard]] std::string json() const;

 private:
  std::variant<bool, std::int64_t, float, double, std::string_view> value_;
};

struct metric {
  std::string_view name;
  metric_value value;
};

/// Appends to a metrics.jsonl, one JSON object a line: `{"step":12,"kind":"train","loss":2.31}`.
///   Value   a line is handed to the system whole as it is written: a killed process loses none
///   Errors  io_error: the file cannot be written; a line to keep is not one of metrics, with its
///           number (so that a wrong path does not cost a file). value_error: a metric named `step`
///           or `kind`, or a name twice
class metrics_writer {
 public:
  /// Keeps the lines of steps before `first_step`, the first that is going to be written, and drops
  /// the others and a line that was cut off: a resumed file has each step once. 0 begins anew.
  explicit metrics_writer(std::string path, std::int64_t first_step = 0);
  metrics_writer(metrics_writer&&) noexcept;
  metrics_writer& operator=(metrics_writer&&) noexcept;
  ~metrics_writer();

  void write(std::int64_t step, std::string_view kind, std::initializer_list<metric> metrics);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// A value at a step.
struct curve_point {
  std::int64_t step = 0;
  double value = 0;
};

/// The values of one metric over the lines of one kind, in the file's order; null gives NaN, lines
/// without it are left out.
///   Errors  io_error: the file cannot be read or a line, other than a cut-off last one, is not one
///           of metrics
std::vector<curve_point> read_metrics(std::string const& path, std::string_view kind,
                                      std::string_view name);

}  // namespace ricci::trace
