#pragma once

#include "options.hpp"

namespace gpt {

bool exists(std::string const& path);

/// Finds out before the first step whether the run's files can be written, so that no one waits for
/// nothing: each in a folder that takes it, none the text or another of them.
///   Errors  io_error, value_error
void check_files(Options const& options);

/// Before a run begins anew: an older checkpoint stays as `<path>.old`.
void keep_old_checkpoint(std::string const& path);

}  // namespace gpt
