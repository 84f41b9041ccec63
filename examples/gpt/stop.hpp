#pragma once

#include <csignal>

namespace gpt {

/// While it lives, the first Ctrl-C (or SIGTERM) asks the program to stop at the end of a step
/// instead of ending it; the second ends it.
class stop_request {
 public:
  stop_request();
  ~stop_request();
  stop_request(stop_request const&) = delete;
  stop_request& operator=(stop_request const&) = delete;

  [[nodiscard]] bool is_made() const;
  /// What a shell expects of a program that a signal has stopped: 128 + its number.
  static int status();

 private:
  struct sigaction interrupt_{}, terminate_{};  // as they were before
};

}  // namespace gpt
