// Trains a GPT on a text: the main job of Ricci. See model.hpp for the model.

#include "model.hpp"
#include "options.hpp"
#include "sample.hpp"

#include <ricci/data/token_file.hpp>
#include <ricci/data/token_windows.hpp>
#include <ricci/exec/threads.hpp>
#include <ricci/io/checkpoint.hpp>
#include <ricci/trace/loss_plot.hpp>
#include <ricci/trace/metrics.hpp>
#include <ricci/trace/progress.hpp>

#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>

namespace gpt {
namespace {

struct Window : axis<"window"> {};  // Seq + 1 bytes: the inputs and, one later, the targets

/// One batch as inputs and targets.
struct Example {
  tensor<i32, Batch, Seq> ids;
  tensor<i32, Batch, Seq> targets;
};

Example draw(data::token_windows const& windows, random::key key, std::int64_t n, Options const& o) {
  std::vector<i32> tokens(static_cast<std::size_t>(o.batch * (o.sizes.seq + 1)));
  windows.fill_batch(key, n, o.batch, tokens.data());
  tensor window = from<i32, Batch, Window>(std::span<i32 const>(tokens), Batch{o.batch}, Window{o.sizes.seq + 1});
  return {slice<Window, Seq>(window, 0, o.sizes.seq), slice<Window, Seq>(window, 1, o.sizes.seq)};
}

double evaluate(Gpt<> const& model, data::token_windows const& windows, random::key key, std::int64_t batches,
                Options const& o) {
  double sum = 0;
  for (std::int64_t n = 0; n < batches; ++n) {
    Example const e = draw(windows, key, n, o);
    sum += Loss<>{}(model, e.ids, e.targets).item();
  }
  return sum / static_cast<double>(batches);
}

/// Everything that a run is made of: what a checkpoint holds.
struct Run {
  Options options;
  Gpt<> model;
  optim::adamw optimizer{{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1,
                          .decays = [](std::string_view, int rank) { return rank > 1; }}};
  std::int64_t step = 0;

  std::vector<io::leaf_group> leaves() {
    auto parameters = detail::leaves_of(model);
    return {{"", parameters}, {"optimizer.", optimizer.state(parameters), role::optimizer}};
  }
  /// What a resumed run must agree with: name, value.
  io::texts settings() const {
    Options const& o = options;
    return {{"layers", std::to_string(o.sizes.layers)}, {"heads", std::to_string(o.sizes.heads)},
            {"width", std::to_string(o.sizes.width)},   {"seq", std::to_string(o.sizes.seq)},
            {"batch", std::to_string(o.batch)},         {"seed", std::to_string(o.seed)}};
  }
  io::texts schedule() const {
    Options const& o = options;
    return {{"steps", std::to_string(o.steps)},
            {"warmup", std::to_string(o.warmup)},
            {"lr", std::to_string(o.learning_rate)}};
  }
  void save() {
    io::texts facts = settings();
    facts.merge(schedule());
    facts["step"] = std::to_string(step);
    facts["optimizer_steps"] = std::to_string(optimizer.steps());
    io::save_leaves(options.checkpoint, leaves(), facts);
  }
  void load() {
    std::string const& path = options.checkpoint;
    io::texts const facts = io::load_leaves(path, leaves());
    auto const agree = [&](io::texts const& mine, char const* advice) {
      for (auto const& [name, value] : mine) {
        auto const at = facts.find(name);
        if (at != facts.end() && at->second == value) continue;
        throw value_error("checkpoint `" + path + "` was made with --" + name + " " +
                          (at == facts.end() ? "(not said)" : at->second) + ", this run has " + value + advice);
      }
    };
    agree(settings(), "");
    if (!options.new_schedule) agree(schedule(), "; to change the schedule on purpose add --new-schedule");
    step = io::integer_of(facts, "step", path);
    optimizer.set_steps(io::integer_of(facts, "optimizer_steps", path));
  }
};

bool exists(std::string const& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0;
}

void train(Run& run, data::token_windows const& train_windows, data::token_windows const& validation_windows,
           random::key key) {
  Options const& o = run.options;
  optim::warmup_cosine const schedule{o.learning_rate, o.learning_rate / 10, o.warmup, o.steps};
  trace::metrics_writer metrics(o.metrics, run.step);
  trace::progress bar(o.steps, o.batch * o.sizes.seq, run.step);
  auto const begin = std::chrono::steady_clock::now();
  std::int64_t const first = run.step;
  while (run.step < o.steps) {
    Example const e = draw(train_windows, key.fold("batch"), run.step, o);
    auto [loss, gradient] = value_and_grad(Loss<>{}, run.model, e.ids, e.targets);
    double const norm = optim::global_norm(gradient);
    if (!std::isfinite(norm))
      throw value_error("step " + std::to_string(run.step) + ": the gradient is not finite (loss " +
                        std::to_string(loss.item()) + "); the checkpoint is that of an earlier step");
    double const rate = schedule(run.step);
    run.optimizer.step(run.model, gradient, rate, optim::clip_scale(norm, 1));
    metrics.write(run.step, "train", {{"loss", loss.item()}, {"lr", rate}, {"gradient_norm", norm}});
    ++run.step;
    if (run.step % o.evaluate_every == 0 || run.step == o.steps)
      metrics.write(run.step - 1, "validation",
                    {{"loss", evaluate(run.model, validation_windows, key.fold("curve"), 2, o)}});
    bar.update(run.step, loss.item());
    if (run.step % o.save_every == 0 || run.step == o.steps) run.save();
  }
  bar.finish();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (run.step > first)
    std::printf("%lld steps in %.1f s, %.0f tokens/s\n", static_cast<long long>(run.step - first), seconds,
                static_cast<double>((run.step - first) * o.batch * o.sizes.seq) / seconds);
}

void main_program(Options const& o) {
  if (o.threads > 0) set_threads(o.threads);
  random::key const key(o.seed);
  data::token_file const text = data::token_file::open(o.data, Vocab::static_extent);
  data::token_windows const train_windows = text.windows(text.train(), o.sizes.seq + 1);
  data::token_windows const validation_windows = text.windows(text.validation(), o.sizes.seq + 1);

  Run run{o, make_gpt(o.sizes, key.fold("parameters"))};
  if (o.resume && exists(o.checkpoint)) {
    run.load();
    std::printf("resumed from %s at step %lld\n", o.checkpoint.c_str(), static_cast<long long>(run.step));
  }
  std::int64_t parameters = 0;
  for_each_parameter(run.model, [&](std::string_view, auto const& leaf) { parameters += leaf.shape().element_count(); });
  std::printf("%lld parameters, %lld bytes of text\n", static_cast<long long>(parameters),
              static_cast<long long>(text.size()));

  train(run, train_windows, validation_windows, key);

  double const loss = evaluate(run.model, validation_windows, key.fold("validation"), o.evaluation_batches, o);
  std::printf("validation loss %.4f nats per byte\n", loss);
  trace::write_loss_svg(o.picture, {trace::read_metrics(o.metrics, "train", "loss"),
                                    trace::read_metrics(o.metrics, "validation", "loss"), "Loss", "nats per byte"});
  if (o.sample > 0)
    std::printf("---\n%s\n---\n", sample(run.model, "\n", o.sample, key).c_str());
}

}  // namespace
}  // namespace gpt

int main(int argc, char** argv) {
  try {
    gpt::main_program(gpt::parse(argc, argv));
  } catch (std::exception const& fault) {
    std::fprintf(stderr, "gpt: %s\n", fault.what());
    return 1;
  }
}
