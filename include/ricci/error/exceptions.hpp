#pragma once

#include <stdexcept>
#include <string>

namespace ricci {

/// Base of every exception that Ricci throws. The text is one sentence: who, fact, rule, fix.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Extents that do not fit together, or a count of elements that does not fit its axes.
struct shape_error : error {
  using error::error;
};

/// A position outside its axis.
struct index_error : error {
  using error::error;
};

/// A file that is missing, unreadable, damaged, or cannot be written.
struct io_error : error {
  using error::error;
};

/// A device that is absent, or a failing call of a device's library.
struct device_error : error {
  using error::error;
};

/// A value that an operation or an option does not accept.
struct value_error : error {
  using error::error;
};

}  // namespace ricci
