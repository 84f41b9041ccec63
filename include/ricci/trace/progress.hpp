#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ricci::trace {

/// What a line of progress says.
struct progress_facts {
  std::int64_t step = 0;  // steps done
  std::int64_t total = 0;
  double loss = 0;
  double tokens_per_second = 0;  // 0: not known yet
  double seconds_left = -1;      // negative: not known yet
  double seconds_spent = 0;      // takes the place of seconds_left when all steps are done
};

/// The bar: ` 412/1000 ━━━━━━━━╸───────────  41 %   loss 2.134   12.3k tokens/s   1:12 left`.
///   Value   at most `width` columns; in a narrow terminal first the bar goes, then the parts from
///           the right on. Without `unicode` the bar is of # and -
std::string progress_bar_line(progress_facts const& facts, int width, bool unicode);

/// The same for a log: `step 412/1000  loss 2.1340  12.3k tokens/s  1:12 left`.
std::string progress_plain_line(progress_facts const& facts);

/// How `progress` shows itself.
struct progress_options {
  int file = 2;                       // the descriptor that is written to: 2 is stderr
  double seconds_between_lines = 10;  // not on a terminal: at most one line in this time
  double seconds_between_draws = 0.1;
  double (*now)() = nullptr;  // seconds of a steady clock; for tests
};

/// Shows how training goes: on a terminal one line, drawn again and again, as wide as the terminal
/// is at the moment; elsewhere (a pipe, a file, TERM=dumb) plain lines at a bounded rate, the first
/// and the last always.
///   Cost    update: a clock reading, and a write at most every seconds_between_draws
///   Errors  value_error: first_step or total negative, or first_step after total. A failing write
///   is
///           ignored: training goes on when nobody looks.
class progress {
 public:
  /// Steps first_step (0 unless resumed) to total; tokens_per_step gives the rate.
  progress(std::int64_t total, std::int64_t tokens_per_step, std::int64_t first_step = 0,
           progress_options options = {});
  progress(progress&&) noexcept;
  progress& operator=(progress&&) noexcept;
  /// Ends the line as `finish` does.
  ~progress();

  /// `done` steps of total are done.
  void update(std::int64_t done, double loss);
  /// A line of its own above the bar.
  void message(std::string_view line);
  /// Draws the last state and ends the line. Nothing is drawn afterwards.
  void finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace ricci::trace
