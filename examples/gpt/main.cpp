// Trains a GPT on a text: the main job of Ricci. See model.hpp for the model.

#include "files.hpp"
#include "model.hpp"
#include "options.hpp"
#include "readable.hpp"
#include "run.hpp"
#include "sample.hpp"
#include "stop.hpp"

#include <ricci/data/token_file.hpp>
#include <ricci/data/token_windows.hpp>
#include <ricci/exec/threads.hpp>
#include <ricci/trace/loss_plot.hpp>
#include <ricci/trace/metrics.hpp>
#include <ricci/trace/progress.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <new>

namespace gpt {
namespace {

struct Window : axis<"window"> {};  // Seq + 1 bytes: the inputs and, one later, the targets

/// One batch as inputs and targets.
struct Example {
  tensor<i32, Batch, Seq> ids;
  tensor<i32, Batch, Seq> targets;
};

Example draw(data::token_windows const& windows, random::key key, std::int64_t n,
             Options const& o) {
  std::vector<i32> tokens(static_cast<std::size_t>(o.batch * (o.sizes.seq + 1)));
  windows.fill_batch(key, n, o.batch, tokens.data());
  tensor window = from<i32, Batch, Window>(std::span<i32 const>(tokens), Batch{o.batch},
                                           Window{o.sizes.seq + 1});
  return {slice<Window, Seq>(window, 0, o.sizes.seq), slice<Window, Seq>(window, 1, o.sizes.seq)};
}

/// The mean loss over batches of the validation part, always the same ones.
double evaluate(Gpt<> const& model, data::token_windows const& windows, random::key key,
                Options const& o) {
  double sum = 0;
  for (std::int64_t n = 0; n < o.evaluation_batches; ++n) {
    Example const e = draw(windows, key.fold("validation"), n, o);
    sum += Loss<>{}(model, e.ids, e.targets).item();
  }
  return sum / static_cast<double>(o.evaluation_batches);
}

/// Trains to the last step, or until the user stops it: false.
bool train(Run& run, data::token_windows const& train_windows,
           data::token_windows const& validation_windows, random::key key,
           trace::metrics_writer& metrics) {
  Options const& o = run.options;
  optim::warmup_cosine const schedule{o.learning_rate, o.learning_rate / 10, o.warmup, o.steps};
  trace::progress bar(o.steps, o.batch * o.sizes.seq, run.step);
  stop_request const stop;
  std::int64_t saved = run.step;
  auto const save = [&] {
    run.save();
    saved = run.step;
  };
  while (run.step < o.steps && !stop.is_made()) {
    Example const e = draw(train_windows, key.fold("batch"), run.step, o);
    auto [loss, gradient] = value_and_grad(Loss<>{}, run.model, e.ids, e.targets);
    double const norm = optim::global_norm(gradient);
    if (!std::isfinite(norm))
      throw value_error("step " + std::to_string(run.step) + ": the gradient is not finite (loss " +
                        std::to_string(loss.item()) +
                        "); try a lower --lr. The checkpoint is that of an earlier step");
    double const rate = schedule(run.step);
    run.optimizer.step(run.model, gradient, rate, optim::clip_scale(norm, 1));
    metrics.write(run.step, "train",
                  {{"loss", loss.item()}, {"lr", rate}, {"gradient_norm", norm}});
    ++run.step;
    if (run.step % o.evaluate_every == 0 || run.step == o.steps)
      metrics.write(run.step - 1, "validation",
                    {{"loss", evaluate(run.model, validation_windows, key, o)}});
    bar.update(run.step, loss.item());
    if (run.step % o.save_every == 0 || run.step == o.steps) save();
  }
  if (saved != run.step) save();
  return run.step == o.steps;
}

void print_speed(Options const& o, std::int64_t steps, double seconds) {
  double const operations = operations_per_token(o.sizes);
  double const rate = static_cast<double>(steps * o.batch * o.sizes.seq) / seconds;
  std::printf(
      "%lld steps in %.1f s: %.0f tokens/s, %.1f G operations/s (6 N + 12 L C T = %.2f M a "
      "token)\n",
      static_cast<long long>(steps), seconds, rate, rate * operations / 1e9, operations / 1e6);
  std::printf("memory at its peak: %.1f MB", static_cast<double>(memory::peak()) / 1e6);
  for (int r = 0; r < role_count; ++r)
    std::printf("%s%.*s %.1f", r == 0 ? " (" : ", ", static_cast<int>(name_of(role(r)).size()),
                name_of(role(r)).data(), static_cast<double>(memory::peak(role(r))) / 1e6);
  std::printf("; each at its own)\n");
}

void print_sample(Run const& run) {
  Options const& o = run.options;
  if (o.sample == 0) return;
  bool const at_line = o.prompt == "\n";
  std::printf("---- %lld bytes %s%s%s, temperature %g ----\n", static_cast<long long>(o.sample),
              at_line ? "from a line's beginning" : "after `",
              at_line ? "" : readable(o.prompt).c_str(), at_line ? "" : "`", o.temperature);
  Readable text;
  auto const show = [](std::string const& part) {
    std::fwrite(part.data(), 1, part.size(), stdout);
    std::fflush(stdout);
  };
  sample(run.model, o.prompt, o.sample, o.temperature, random::key(o.seed),
         [&](char c) { show(text.add(c)); });
  show(text.finish());
  std::printf("\n----\n");
}

/// The status that the program ends with.
int main_program(Options const& o) {
  if (o.threads > 0) set_threads(o.threads);
  if (o.sample_only) {
    print_sample(Run::of_checkpoint(o));
    return 0;
  }
  check(o.sizes, o.batch);
  random::key const key(o.seed);
  data::token_file const text = data::token_file::open(o.data, Vocab::static_extent);
  data::token_windows const train_windows = text.windows(text.train(), o.sizes.seq + 1);
  data::token_windows const validation_windows = text.windows(text.validation(), o.sizes.seq + 1);
  text.check();
  check_files(o);

  Run run(o, text.size());
  std::printf("%.0f parameters, %lld bytes of text, %d thread%s\n", parameter_count(o.sizes),
              static_cast<long long>(text.size()), threads(), threads() == 1 ? "" : "s");
  bool const resumes = o.resume && exists(o.checkpoint);
  if (resumes) {
    run.load();
    std::printf("resumed from %s at step %lld\n", o.checkpoint.c_str(),
                static_cast<long long>(run.step));
  } else {
    if (o.resume)
      std::printf("there is no %s to resume from: beginning anew\n", o.checkpoint.c_str());
    keep_old_checkpoint(o.checkpoint);
    run.save();  // before the metrics begin anew too: the two files are always of one run
  }

  trace::metrics_writer metrics(o.metrics, run.step);
  std::int64_t const first = run.step;
  auto const begin = std::chrono::steady_clock::now();
  bool const is_done = train(run, train_windows, validation_windows, key, metrics);
  double const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!is_done) {
    std::printf(
        "stopped after step %lld of %lld, which %s holds; the same command with --resume goes on "
        "from there\n",
        static_cast<long long>(run.step), static_cast<long long>(o.steps), o.checkpoint.c_str());
    return stop_request::status();
  }
  if (run.step > first) print_speed(o, run.step - first, seconds);
  std::printf("validation loss %.4f nats per byte\n",
              evaluate(run.model, validation_windows, key, o));
  print_sample(run);
  trace::write_loss_svg(
      o.picture, {trace::read_metrics(o.metrics, "train", "loss"),
                  trace::read_metrics(o.metrics, "validation", "loss"), "Loss", "nats per byte"});
  std::printf("state: %s, losses: %s, picture: %s\n", o.checkpoint.c_str(), o.metrics.c_str(),
              o.picture.c_str());
  return 0;
}

}  // namespace
}  // namespace gpt

/// Status 0: done; 1: a file or the machine fails; 2: what is asked for cannot be done; 130:
/// Ctrl-C.
int main(int argc, char** argv) {
  // Line by line, so that a log of both has them in order with the progress on stderr.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    int const status = gpt::main_program(gpt::parse(argc, argv));
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw ricci::io_error("cannot write to the standard output");
    return status;
  } catch (ricci::value_error const& fault) {
    std::fprintf(stderr, "gpt: %s\n", fault.what());
    return 2;
  } catch (std::bad_alloc const&) {
    std::fprintf(stderr,
                 "gpt: out of memory; take a smaller --width, --layers, --seq or --batch\n");
  } catch (std::exception const& fault) {
    std::fprintf(stderr, "gpt: %s\n", fault.what());
  }
  return 1;
}
