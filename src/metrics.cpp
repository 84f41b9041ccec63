#include <ricci/error/exceptions.hpp>
#include <ricci/io/atomic_file.hpp>
#include <ricci/io/mapped_file.hpp>
#include <ricci/trace/metrics.hpp>
#include "posix_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace ricci::trace {
namespace {

using nlohmann::json;

std::string quoted(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Calls f(line without its newline, the JSON object in it) for every whole line of a file. A last
/// line without a newline is one that a killed process did not finish: it is left out.
template <class F> void for_each_line(std::string const& path, F&& f) {
  io::mapped_file const file(path);
  std::string_view rest(reinterpret_cast<char const*>(file.data()),
                        static_cast<std::size_t>(file.size()));
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    auto const end = rest.find('\n');
    if (end == std::string_view::npos) return;
    std::string_view const line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    json const object = json::parse(line, nullptr, false);
    if (!object.is_object() || !object.contains("step") || !object["step"].is_number_integer() ||
        !object.contains("kind") || !object["kind"].is_string()) {
      throw io_error(
          fmt::format("metrics: line {} of `{}` is not an object with `step` and `kind`; is it a "
                      "file of metrics?",
                      number, path));
    }
    f(line, object);
  }
}

}  // namespace

std::string metric_value::json() const {
  return std::visit(
      [](auto value) -> std::string {
        if constexpr (std::is_same_v<decltype(value), std::string_view>) {
          return quoted(value);
        } else if constexpr (std::is_floating_point_v<decltype(value)>) {
          return std::isfinite(value) ? fmt::format("{}", value) : "null";
        } else {
          return fmt::format("{}", value);
        }
      },
      value_);
}

struct metrics_writer::state {
  std::string path;
  posix::descriptor file;
};

metrics_writer::metrics_writer(std::string path, std::int64_t first_step)
    : state_(std::make_unique<state>()) {
  posix::check_path("metrics", path);
  bool const exists = ::access(path.c_str(), F_OK) == 0;
  if (exists && first_step > 0) {
    std::string kept;
    for_each_line(path, [&](std::string_view line, json const& object) {
      if (object["step"].get<std::int64_t>() < first_step) kept.append(line).append("\n");
    });
    io::write_file(path, kept);
  }
  int const flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (first_step > 0 ? 0 : O_TRUNC);
  state_->file = posix::descriptor(::open(path.c_str(), flags, 0666));
  if (!state_->file.is_open()) posix::fail("metrics", "cannot write", path, errno);
  state_->path = std::move(path);
}

metrics_writer::metrics_writer(metrics_writer&&) noexcept = default;
metrics_writer& metrics_writer::operator=(metrics_writer&&) noexcept = default;
metrics_writer::~metrics_writer() = default;

void metrics_writer::write(std::int64_t step, std::string_view kind,
                           std::initializer_list<metric> metrics) {
  std::string line = fmt::format("{{\"step\":{},\"kind\":{}", step, quoted(kind));
  for (auto const* entry = metrics.begin(); entry != metrics.end(); ++entry) {
    bool is_taken = entry->name == "step" || entry->name == "kind";
    for (auto const* other = metrics.begin(); other != entry; ++other) {
      is_taken = is_taken || other->name == entry->name;
    }
    if (is_taken) {
      throw value_error(fmt::format(
          "metrics: the name `{}` stands twice in one line (`step` and `kind` always do once); "
          "rename the metric",
          entry->name));
    }
    line += fmt::format(",{}:{}", quoted(entry->name), entry->value.json());
  }
  line += "}\n";
  int const file = state_->file.number();
  off_t const before = ::lseek(file, 0, SEEK_END);
  int const error_number =
      posix::write_all(file, line.data(), static_cast<std::int64_t>(line.size()));
  if (error_number != 0) {
    if (before >= 0) (void)!::ftruncate(file, before);  // half a line would spoil the next one
    posix::fail("metrics", "cannot write", state_->path, error_number);
  }
}

std::vector<curve_point> read_metrics(std::string const& path, std::string_view kind,
                                      std::string_view name) {
  std::vector<curve_point> points;
  for_each_line(path, [&](std::string_view, json const& object) {
    if (object["kind"].get_ref<std::string const&>() != kind) return;
    auto const found = object.find(name);
    if (found == object.end() || !(found->is_number() || found->is_null())) return;
    points.push_back(
        {object["step"].get<std::int64_t>(),
         found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->get<double>()});
  });
  return points;
}

}  // namespace ricci::trace
