#pragma once

#include "model.hpp"

#include <functional>
#include <string>

namespace gpt {

/// Writes `count` bytes after `prompt` and hands over each as it is drawn.
///   Value   from softmax(logits / temperature); 0: the likeliest byte. The same key gives the same
///   bytes
void sample(Gpt<> const& model, std::string const& prompt, std::int64_t count, double temperature,
            random::key key, std::function<void(char)> const& write);

}  // namespace gpt
