#include <ricci/error/exceptions.hpp>
#include <ricci/trace/progress.hpp>
#include "../io/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <limits>

using namespace ricci;
using namespace ricci::test;
using trace::progress;
using trace::progress_bar_line;
using trace::progress_facts;
using trace::progress_plain_line;

namespace {

double fake_time = 0;
double fake_now() { return fake_time; }

/// Columns of a line: bytes that do not continue a character.
int columns_of(std::string const& line) {
  return static_cast<int>(
      std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

progress_facts const halfway{412, 1000, 2.1344, 12345, 71.6};

}  // namespace

TEST_CASE("progress_bar_line: the whole line and the narrower ones") {
  CHECK(progress_bar_line(halfway, 79, false) ==
        " 412/1000 ########------------  41 %   loss 2.1344   12.3k tokens/s   1:12 left");
  CHECK(progress_bar_line({500, 1000, 1, 0, -1}, 40, true) ==
        " 500/1000 ━━━━━─────  50 %   loss 1.0000");
  for (bool const unicode : {false, true}) {
    int before = 0;
    for (int width = 0; width < 200; ++width) {
      std::string const line = progress_bar_line(halfway, width, unicode);
      CHECK(columns_of(line) <= width);
      CHECK(columns_of(line) >= std::min(before, 9));  // the step stays as long as it fits
      before = columns_of(line);
    }
    CHECK(before < 120);
  }
  CHECK(progress_bar_line(halfway, 9, false) == " 412/1000");
  CHECK(progress_bar_line(halfway, 8, false).empty());
}

TEST_CASE("progress_plain_line: numbers in three digits, times in the units that fit") {
  CHECK(progress_plain_line(halfway) == "step  412/1000  loss 2.1344  12.3k tokens/s  1:12 left");
  CHECK(progress_plain_line({0, 10, 5, 0, -1}) == "step  0/10  loss 5.0000");
  auto const line = [](double rate, double seconds) {
    return progress_plain_line({1, 2, 0, rate, seconds}).substr(23);
  };
  CHECK(line(999.4, 0) == "999 tokens/s  0:00 left");
  CHECK(line(999.6, 59.6) == "1.00k tokens/s  1:00 left");
  CHECK(line(99'960, 3599) == "100k tokens/s  59:59 left");
  CHECK(line(1.5e6, 3600) == "1.50M tokens/s  1:00:00 left");
  CHECK(line(1, 200'000) == "1 tokens/s  2 d 07 h left");
  CHECK(line(1, std::numeric_limits<double>::infinity()) == "1 tokens/s  forever left");
  CHECK(progress_plain_line({2, 2, 0, 10, 0, 151}) ==
        "step 2/2  loss 0.0000  10 tokens/s  2:31 in all");
  CHECK(progress_plain_line({0, 0, std::numeric_limits<double>::quiet_NaN()}) ==
        "step 0/0  loss nan");
}

TEST_CASE("progress: into a file, plain lines at a bounded rate, the first and the last always") {
  temporary_folder const folder;
  int const file = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(file >= 0);
  fake_time = 100;
  {
    progress bar(100, 64, 0, {.file = file, .seconds_between_lines = 10, .now = fake_now});
    for (int step = 1; step <= 100; ++step) {
      fake_time += 0.25;
      bar.update(step, 100.0 / step);
      if (step == 50) bar.message("saved");
    }
  }
  ::close(file);
  CHECK(read_bytes(folder / "log") ==
        "step   1/100  loss 100.0000  256 tokens/s  0:25 left\n"
        "step  41/100  loss 2.4390  256 tokens/s  0:15 left\n"
        "saved\n"
        "step  81/100  loss 1.2346  256 tokens/s  0:05 left\n"
        "step 100/100  loss 1.0000  256 tokens/s  0:25 in all\n");
}

TEST_CASE("progress: a pipe that nobody reads any more does not end the process") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  {
    progress bar(2, 1, 0, {.file = ends[1]});
    bar.update(1, 1);
    bar.update(2, 1);
  }
  ::close(ends[1]);
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("progress: resumed, the rate counts only what this process did") {
  temporary_folder const folder;
  int const file = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
  fake_time = 0;
  progress bar(1000, 10, 900, {.file = file, .now = fake_now});
  fake_time = 2;
  bar.update(901, 1);
  bar.finish();
  bar.update(902, 1);
  bar.finish();
  ::close(file);
  CHECK(read_bytes(folder / "log") == "step  901/1000  loss 1.0000  5 tokens/s  3:18 left\n");
  CHECK_THROWS_AS(progress(10, 1, 11), value_error);
  CHECK_THROWS_AS(progress(10, 1, -1), value_error);
  CHECK_THROWS_AS(progress(-1, 1), value_error);
}

TEST_CASE("progress: a terminal gets one line, redrawn within its width") {
  int master = -1;
  int slave = -1;
  winsize const size{24, 60, 0, 0};
  if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) {
    MESSAGE("no pseudo terminal: not checked");
    return;
  }
  ::setenv("TERM", "xterm", 1);
  ::setenv("LC_ALL", "C", 1);
  fake_time = 0;
  {
    progress bar(200, 1, 0, {.file = slave, .now = fake_now});
    for (int step = 1; step <= 200; ++step) {
      fake_time += 0.03;
      bar.update(step, 2);
      if (step == 100) bar.message("saved");
    }
  }
  // A terminal hands over what was written when it gets to it: read up to its end.
  ::close(slave);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = ::read(master, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  ::close(master);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);  // after the message and at the end
  CHECK(contains(text, "\r\x1b[Ksaved\r\n"));
  CHECK(text.ends_with("200/200 100 %   loss 2.0000   33 tokens/s   0:06 in all\x1b[K\r\n"));
  auto const draws = std::count(text.begin(), text.end(), '\x1b');
  CHECK(draws > 40);
  CHECK(draws < 60);
  for (std::size_t at = text.find('\r'); at != std::string::npos;) {
    std::size_t const next = text.find('\r', at + 1);
    CHECK((next == std::string::npos ? text.size() : next) - at <= 60 + 3);  // and the escape
    at = next;
  }
}
