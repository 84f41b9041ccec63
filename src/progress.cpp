#include <ricci/error/exceptions.hpp>
#include <ricci/trace/progress.hpp>
#include "posix_file.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <utility>

namespace ricci::trace {
namespace {

constexpr int narrowest_bar = 10;  // columns; below that the bar says nothing
constexpr int widest_bar = 40;

/// 950, 12.3k, 1.25M: three digits and a letter.
std::string short_number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  constexpr std::array<char const*, 5> letters{"", "k", "M", "G", "T"};
  std::size_t letter = 0;
  // 999.5 and up would be rounded to four digits
  for (; value >= 999.5 && letter + 1 < letters.size(); ++letter) value /= 1000;
  int const digits = letter == 0 || value >= 99.95 ? 0 : (value >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f}{}", value, digits, letters[letter]);
}

/// 0:07, 12:30, 1:02:03, 3 d 04 h.
std::string duration(double seconds) {
  if (!(seconds < 1e9)) return "forever";
  auto const whole = static_cast<std::int64_t>(std::llround(seconds));
  std::int64_t const hours = whole / 3600;
  if (hours >= 48) return fmt::format("{} d {:02} h", hours / 24, hours % 24);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar(double share, int width, bool unicode) {
  auto const halves = static_cast<int>(share * 2 * width);
  int const full = halves / 2;
  bool const half = unicode && halves % 2 == 1;
  std::string text;
  for (int i = 0; i < full; ++i) text += unicode ? "━" : "#";
  if (half) text += "╸";
  for (int i = full + (half ? 1 : 0); i < width; ++i) text += unicode ? "─" : "-";
  return text;
}

/// The parts beside the bar, the most important first. The step has the total's width, so that the
/// line does not move while it counts.
std::array<std::string, 5> parts_of(progress_facts const& facts) {
  auto const digits = fmt::formatted_size("{}", facts.total);
  double const share =
      facts.total > 0 ? static_cast<double>(facts.step) / static_cast<double>(facts.total) : 1;
  std::string const time = facts.step == facts.total && facts.seconds_spent > 0
                               ? duration(facts.seconds_spent) + " in all"
                           : facts.seconds_left >= 0 ? duration(facts.seconds_left) + " left"
                                                     : "";
  return {fmt::format("{:>{}}/{}", facts.step, digits, facts.total),
          fmt::format("loss {:.4f}", facts.loss), time,
          facts.tokens_per_second > 0 ? short_number(facts.tokens_per_second) + " tokens/s" : "",
          fmt::format("{:>3.0f} %", std::floor(share * 100))};
}

bool is_utf8_locale() {
  for (char const* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    char const* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string_view const locale(value);
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos ||
           locale.find("UTF8") != std::string_view::npos ||
           locale.find("utf-8") != std::string_view::npos;
  }
  return false;
}

bool is_terminal(int file) {
  char const* const term = std::getenv("TERM");
  return ::isatty(file) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

int width_of(int file) {
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

double steady_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string progress_bar_line(progress_facts const& facts, int width, bool unicode) {
  auto const parts = parts_of(facts);
  auto const gap = [](std::size_t part) { return part == 4 ? 1 : 3; };  // the share is the bar's
  int columns = static_cast<int>(parts[0].size());
  if (columns > width) return "";
  std::array<bool, 5> is_shown{true};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    int const more = columns + gap(i) + static_cast<int>(parts[i].size());
    if (more > width) break;
    columns = more;
    is_shown[i] = true;
  }
  // In order: step, bar, share, loss, rate, time.
  std::string line = parts[0];
  int const room = std::min(width - columns - 1, widest_bar);
  if (room >= narrowest_bar) {
    double const share =
        facts.total > 0 ? static_cast<double>(facts.step) / static_cast<double>(facts.total) : 1;
    line += " " + bar(std::clamp(share, 0.0, 1.0), room, unicode);
  }
  for (std::size_t const i : {4, 1, 3, 2}) {
    if (is_shown[i]) line += std::string(static_cast<std::size_t>(gap(i)), ' ') + parts[i];
  }
  return line;
}

std::string progress_plain_line(progress_facts const& facts) {
  auto const parts = parts_of(facts);
  std::string line = fmt::format("step {}  {}", parts[0], parts[1]);
  for (std::size_t const i : {3, 2}) {
    if (!parts[i].empty()) line += "  " + parts[i];
  }
  return line;
}

struct progress::state {
  progress_options options;
  std::int64_t total;
  std::int64_t tokens_per_step;
  bool on_terminal;
  bool unicode;
  bool is_finished = false;
  bool is_drawn = false;    // the bar stands on the terminal's line
  bool is_pending = false;  // something happened since the last draw
  double begun = 0;
  double last_draw = -1e300;
  progress_facts facts;
  std::deque<std::pair<double, std::int64_t>> recent;  // time, steps done

  [[nodiscard]] double now() const { return options.now != nullptr ? options.now() : steady_now(); }

  void print(std::string const& text) const {
    (void)posix::write_all(options.file, text.data(), static_cast<std::int64_t>(text.size()));
  }

  /// The rate of the last ten seconds: what training does now, not what it did while warming up.
  void measure(double time) {
    facts.seconds_spent = time - begun;
    while (recent.size() > 1 && time - recent[1].first > 10) recent.pop_front();
    double const seconds = time - recent.front().first;
    auto const steps = static_cast<double>(facts.step - recent.front().second);
    if (time - recent.back().first > 0.1) recent.emplace_back(time, facts.step);
    if (seconds <= 0 || steps <= 0) return;
    facts.tokens_per_second = steps / seconds * static_cast<double>(tokens_per_step);
    facts.seconds_left = static_cast<double>(total - facts.step) * seconds / steps;
  }

  void draw(double time) {
    if (on_terminal) {
      // One column stays free: a full line makes some terminals wrap.
      print("\r" + progress_bar_line(facts, width_of(options.file) - 1, unicode) + "\x1b[K");
      is_drawn = true;
    } else {
      print(progress_plain_line(facts) + "\n");
    }
    last_draw = time;
    is_pending = false;
  }

  void finish() {
    if (std::exchange(is_finished, true)) return;
    if (is_pending) draw(now());
    if (is_drawn) print("\n");
  }
};

progress::progress(std::int64_t total, std::int64_t tokens_per_step, std::int64_t first_step,
                   progress_options options)
    : state_(std::make_unique<state>()) {
  if (first_step < 0 || first_step > total) {
    throw value_error(fmt::format(
        "progress: the first step is {} and the total {}; expected 0 <= first step <= total",
        first_step, total));
  }
  state_->options = options;
  state_->total = total;
  state_->tokens_per_step = tokens_per_step;
  state_->on_terminal = is_terminal(options.file);
  state_->unicode = is_utf8_locale();
  state_->facts.total = total;
  state_->facts.step = first_step;
  state_->begun = state_->now();
  state_->recent.emplace_back(state_->begun, first_step);
}

progress::progress(progress&&) noexcept = default;
progress& progress::operator=(progress&&) noexcept = default;
progress::~progress() {
  if (state_) state_->finish();
}

void progress::update(std::int64_t done, double loss) {
  if (state_->is_finished) return;
  double const time = state_->now();
  state_->facts.step = done;
  state_->facts.loss = loss;
  state_->measure(time);
  state_->is_pending = true;
  double const least = state_->on_terminal ? state_->options.seconds_between_draws
                                           : state_->options.seconds_between_lines;
  if (time - state_->last_draw >= least) state_->draw(time);
}

void progress::message(std::string_view line) {
  bool const was_drawn = std::exchange(state_->is_drawn, false);
  state_->print(fmt::format("{}{}\n", was_drawn ? "\r\x1b[K" : "", line));
  if (was_drawn && !state_->is_finished) state_->draw(state_->now());
}

void progress::finish() { state_->finish(); }

}  // namespace ricci::trace
