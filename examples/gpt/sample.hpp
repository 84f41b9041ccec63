#pragma once

#include "model.hpp"

#include <string>

namespace gpt {

/// Writes `count` bytes after `prompt`, each drawn from the model's distribution at temperature 0.8.
std::string sample(Gpt<> const& model, std::string const& prompt, std::int64_t count, random::key key);

}  // namespace gpt
