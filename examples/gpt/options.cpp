#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace gpt {
namespace {

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// Accepts whole numbers from low to high.
CLI::Validator whole(std::int64_t low, std::int64_t high) {
  return {[low, high](std::string const& text) {
            char* end = nullptr;
            errno = 0;
            long long const value = std::strtoll(text.c_str(), &end, 10);
            bool const is_number = !text.empty() && *end == '\0' && errno == 0;
            if (is_number && value >= low && value <= high) return std::string();
            return "`" + text + "` is not a whole number from " + std::to_string(low) + " to " +
                   std::to_string(high);
          },
          ""};
}

/// Accepts numbers above low and up to high, and low itself if `with_low`.
CLI::Validator real(double low, double high, bool with_low) {
  return {[=](std::string const& text) {
            char* end = nullptr;
            double const value = std::strtod(text.c_str(), &end);
            bool const is_number = !text.empty() && *end == '\0';
            if (is_number && (value > low || (with_low && value == low)) && value <= high)
              return std::string();
            return "`" + text + "` is not a number " + (with_low ? "from " : "above ") +
                   text_of(low) + (with_low ? " to " : " and at most ") + text_of(high);
          },
          ""};
}

}  // namespace

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app{"Trains a byte-level GPT on a text, then writes some text of its own.", "gpt"};
  app.option_defaults()
      ->take_last();  // of an option given twice: scripts add to what they are given
  constexpr std::int64_t most = std::int64_t{1} << 31;
  char const* group = "";
  auto const count = [&](char const* name, std::int64_t& value, std::int64_t low, std::int64_t high,
                         char const* help) {
    app.add_option(name, value, help)
        ->check(whole(low, high))
        ->type_name("N")
        ->group(group)
        ->capture_default_str();
  };
  auto const number = [&](char const* name, double& value, CLI::Validator const& accepts,
                          char const* help) {
    app.add_option(name, value, help)
        ->check(accepts)
        ->type_name("X")
        ->group(group)
        ->capture_default_str();
  };
  auto const file = [&](char const* name, std::string& value, char const* help) {
    app.add_option(name, value, help)->type_name("FILE")->group(group)->capture_default_str();
  };
  auto const flag = [&](char const* name, bool& value, char const* help) {
    app.add_flag(name, value, help)->group(group);
  };

  group = "Files";
  file("--data", o.data, "What to learn: any file, by bytes, or a .npy of ids below 256");
  file("--checkpoint", o.checkpoint, "The state of the run, saved as it goes");
  file("--metrics", o.metrics, "The loss of every step, a JSON object a line");
  file("--picture", o.picture, "The loss curves as SVG");
  group = "Model";
  count("--layers", o.sizes.layers, 1, most, "Blocks");
  count("--heads", o.sizes.heads, 1, most, "Heads of attention");
  count("--width", o.sizes.width, 1, most, "Numbers for each byte, a multiple of --heads");
  count("--seq", o.sizes.seq, 1, most, "Bytes in a window: as far as the model looks back");
  group = "Training";
  count("--steps", o.steps, 1, most, "Optimizer steps");
  count("--batch", o.batch, 1, most, "Windows in a step");
  number("--lr", o.learning_rate, real(0, 1e3, false),
         "Highest learning rate; it falls to a tenth along a cosine");
  count("--warmup", o.warmup, 0, most, "Steps in which the learning rate rises to it");
  app.add_option("--seed", o.seed, "Of the first parameters, the batches and the sample")
      ->check(whole(0, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->group(group)
      ->capture_default_str();
  app.add_option("--threads", o.threads, "0: one for each core; the results are the same")
      ->check(whole(0, 1024))
      ->type_name("N")
      ->group(group)
      ->capture_default_str();
  count("--eval-every", o.evaluate_every, 1, most, "Steps between points of the validation curve");
  count("--evals", o.evaluation_batches, 1, most, "Batches that a validation loss is the mean of");
  group = "Going on";
  count("--save-every", o.save_every, 1, most, "Steps between checkpoints");
  flag("--resume", o.resume, "Go on from the checkpoint, to the same end, bit for bit");
  flag("--new-schedule", o.new_schedule, "Go on with another --steps, --warmup or --lr");
  flag("--new-data", o.new_data, "Go on with another text");
  group = "Sample";
  count("--sample", o.sample, 0, 1'000'000, "Bytes to write at the end");
  app.add_option("--prompt", o.prompt, "What they follow; without it a line's beginning")
      ->type_name("TEXT")
      ->group(group);
  number("--temperature", o.temperature, real(0, 100, true),
         "Below 1 likelier bytes, above 1 rarer ones; 0: the likeliest");
  flag("--sample-only", o.sample_only,
       "Write from the checkpoint, with its sizes; needs no --data");
  try {
    app.parse(argc, argv);
    if (o.data.empty() && !o.sample_only) throw CLI::RequiredError("--data");
    if (o.prompt.empty()) throw CLI::ValidationError("--prompt", "is empty; give one byte or more");
    if ((o.new_schedule || o.new_data) && !o.resume)
      throw CLI::ValidationError(o.new_schedule ? "--new-schedule" : "--new-data",
                                 "is for --resume, which is missing");
  } catch (CLI::ParseError const& end) {
    if (end.get_exit_code() == 0) std::exit(app.exit(end));
    std::fprintf(stderr, "gpt: %s (gpt --help lists the options)\n", end.what());
    std::exit(2);
  }
  return o;
}

}  // namespace gpt
