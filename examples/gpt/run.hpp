#pragma once

#include "model.hpp"
#include "options.hpp"

#include <ricci/io/checkpoint.hpp>
#include <ricci/io/safetensors.hpp>

#include <charconv>
#include <string>

namespace gpt {

/// Everything that a run is made of: what a checkpoint holds.
struct Run {
  Options options;
  std::int64_t tokens;  // of the text; 0: only sampling
  Gpt<> model;
  optim::adamw optimizer{{.beta1 = 0.9,
                          .beta2 = 0.95,
                          .epsilon = 1e-8,
                          .weight_decay = 0.1,
                          .decays = [](std::string_view, int rank) { return rank > 1; }}};
  std::int64_t step = 0;

  /// A run at step 0, with new parameters.
  Run(Options const& o, std::int64_t tokens_of_text)
      : options(o),
        tokens(tokens_of_text),
        model(make_gpt(o.sizes, random::key(o.seed).fold("parameters"))) {}

  void save() {
    io::texts facts = settings();
    facts.merge(schedule());
    facts["tokens"] = std::to_string(tokens);
    facts["step"] = std::to_string(step);
    facts["optimizer_steps"] = std::to_string(optimizer.steps());
    io::save_leaves(options.checkpoint, leaves(), facts);
  }

  /// Takes the state from the checkpoint, after checking that it is one of this run.
  void load() {
    std::string const& path = options.checkpoint;
    io::texts const facts = io::read_safetensors(path).metadata;
    agree(facts, settings(), "");
    if (!options.new_schedule)
      agree(facts, schedule(), "; to change the schedule on purpose add --new-schedule");
    std::int64_t const had = io::integer_of(facts, "tokens", path);
    if (had != tokens && !options.new_data)
      throw value_error("checkpoint `" + path + "` learned a text of " + std::to_string(had) +
                        " bytes and `" + options.data + "` has " + std::to_string(tokens) +
                        "; to go on with another text add --new-data");
    std::int64_t const done = io::integer_of(facts, "step", path);
    if (done < 0 || done > options.steps)
      throw value_error("checkpoint `" + path + "` is at step " + std::to_string(done) +
                        ", outside --steps " + std::to_string(options.steps));
    take_state();
    step = done;
    optimizer.set_steps(io::integer_of(facts, "optimizer_steps", path));
  }

  /// The model of a checkpoint, to sample from.
  static Run of_checkpoint(Options o) {
    std::string const& path = o.checkpoint;
    io::texts const facts = io::read_safetensors(path).metadata;
    o.sizes = {io::integer_of(facts, "layers", path), io::integer_of(facts, "heads", path),
               io::integer_of(facts, "width", path), io::integer_of(facts, "seq", path)};
    check(o.sizes, 0);
    Run run(o, 0);
    run.take_state();
    run.step = io::integer_of(facts, "step", path);
    return run;
  }

 private:
  std::vector<io::leaf_group> leaves() {
    auto const parameters = detail::leaves_of(model);
    return {{"", parameters}, {"optimizer.", optimizer.state(parameters), role::optimizer}};
  }
  void take_state() { io::load_leaves(options.checkpoint, leaves()); }

  /// What a resumed run must have in common with the one that was saved: option, value.
  [[nodiscard]] io::texts settings() const {
    Options const& o = options;
    return {{"layers", std::to_string(o.sizes.layers)}, {"heads", std::to_string(o.sizes.heads)},
            {"width", std::to_string(o.sizes.width)},   {"seq", std::to_string(o.sizes.seq)},
            {"batch", std::to_string(o.batch)},         {"seed", std::to_string(o.seed)}};
  }
  [[nodiscard]] io::texts schedule() const {
    return {{"steps", std::to_string(options.steps)},
            {"warmup", std::to_string(options.warmup)},
            {"lr", shortest(options.learning_rate)}};
  }

  void agree(io::texts const& facts, io::texts const& mine, char const* advice) const {
    for (auto const& [name, value] : mine) {
      auto const at = facts.find(name);
      if (at != facts.end() && at->second == value) continue;
      if (at == facts.end())
        throw io_error("checkpoint `" + options.checkpoint + "` does not say its --" + name +
                       ": it is not one of this program");
      throw value_error("checkpoint `" + options.checkpoint + "` was made with --" + name + " " +
                        at->second + ", this run has " + value + advice);
    }
  }
  /// The fewest digits that read back as the same number.
  static std::string shortest(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }
};

}  // namespace gpt
