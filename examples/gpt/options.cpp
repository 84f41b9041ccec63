#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>

namespace gpt {

Options parse(int argc, char** argv) {
  Options o;
  CLI::App app{"Trains a byte-level GPT on a text and writes what it learned."};
  auto const at_least_one = CLI::Range(std::int64_t{1}, std::int64_t{1} << 31);
  auto const not_negative = CLI::Range(std::int64_t{0}, std::int64_t{1} << 40);
  app.add_option("--data", o.data, "text or .npy of u8, u16, i32 token ids below 256")->required();
  app.add_option("--layers", o.sizes.layers)->check(at_least_one)->capture_default_str();
  app.add_option("--heads", o.sizes.heads)->check(at_least_one)->capture_default_str();
  app.add_option("--width", o.sizes.width, "a multiple of --heads")->check(at_least_one)->capture_default_str();
  app.add_option("--seq", o.sizes.seq, "bytes in a window")->check(at_least_one)->capture_default_str();
  app.add_option("--batch", o.batch, "windows in a step")->check(at_least_one)->capture_default_str();
  app.add_option("--steps", o.steps)->check(at_least_one)->capture_default_str();
  app.add_option("--warmup", o.warmup, "steps of rising learning rate")->check(not_negative)->capture_default_str();
  app.add_option("--lr", o.learning_rate, "highest learning rate")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seed", o.seed)->capture_default_str();
  app.add_option("--threads", o.threads, "0: all cores")->check(CLI::Range(0, 1024))->capture_default_str();
  app.add_option("--evals", o.evaluation_batches, "validation batches at the end")->check(at_least_one)->capture_default_str();
  app.add_option("--eval-every", o.evaluate_every, "steps between validations")->check(at_least_one)->capture_default_str();
  app.add_option("--checkpoint", o.checkpoint, "file of the state, written while training")->capture_default_str();
  app.add_option("--save-every", o.save_every, "steps between checkpoints")->check(at_least_one)->capture_default_str();
  app.add_flag("--resume", o.resume, "go on from the checkpoint where there is one");
  app.add_flag("--new-schedule", o.new_schedule, "resume with other --steps, --warmup or --lr than were saved");
  app.add_option("--sample", o.sample, "bytes to write at the end")->check(not_negative)->capture_default_str();
  app.add_option("--metrics", o.metrics)->capture_default_str();
  app.add_option("--picture", o.picture)->capture_default_str();
  try {
    app.parse(argc, argv);
    if (o.sizes.width % o.sizes.heads != 0)
      throw CLI::ValidationError("--width", std::to_string(o.sizes.width) + " is not a multiple of --heads " +
                                                std::to_string(o.sizes.heads));
  } catch (CLI::ParseError const& fault) {
    std::exit(app.exit(fault));
  }
  return o;
}

}  // namespace gpt
