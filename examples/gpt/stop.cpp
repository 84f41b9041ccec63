#include "stop.hpp"

namespace gpt {
namespace {

std::sig_atomic_t volatile received = 0;

void receive(int number) { received = number; }

}  // namespace

stop_request::stop_request() {
  struct sigaction action{};
  action.sa_handler = receive;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
  // A shell starts what runs in the background with Ctrl-C ignored: it is not meant.
  if (interrupt_.sa_handler == SIG_IGN) sigaction(SIGINT, &interrupt_, nullptr);
}

stop_request::~stop_request() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

bool stop_request::is_made() const { return received != 0; }

int stop_request::status() { return 128 + received; }

}  // namespace gpt
