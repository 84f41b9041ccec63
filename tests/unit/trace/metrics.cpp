#include <ricci/error/exceptions.hpp>
#include <ricci/trace/metrics.hpp>
#include "../io/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>

using namespace ricci;
using namespace ricci::test;
using trace::metrics_writer;
using trace::read_metrics;

TEST_CASE("metrics_writer: one JSON object a line") {
  temporary_folder const folder;
  std::string const path = folder / "metrics.jsonl";
  {
    metrics_writer first(path);
    metrics_writer writer = std::move(first);
    writer.write(0, "train", {{"loss", 5.5f}, {"tokens_per_s", 1e20}, {"tokens", std::uint8_t{3}}});
    writer.write(1, "validation", {{"loss", 0.1}, {"name", "a \"b\"\n"}, {"best", true}});
    writer.write(2, "end", {});
    CHECK(read_bytes(path) ==  // there before the writer has gone
          "{\"step\":0,\"kind\":\"train\",\"loss\":5.5,\"tokens_per_s\":1e+20,\"tokens\":3}\n"
          "{\"step\":1,\"kind\":\"validation\",\"loss\":0.1,\"name\":\"a "
          "\\\"b\\\"\\n\",\"best\":true}\n"
          "{\"step\":2,\"kind\":\"end\"}\n");
  }
  metrics_writer const again(path);
  CHECK(read_bytes(path).empty());
}

TEST_CASE("metrics_writer: numbers that JSON does not have are null, a float has its own digits") {
  CHECK(trace::metric_value(std::nan("")).json() == "null");
  CHECK(trace::metric_value(-std::numeric_limits<float>::infinity()).json() == "null");
  CHECK(trace::metric_value(1.84f).json() == "1.84");
  CHECK(trace::metric_value(0.1 + 0.2).json() == "0.30000000000000004");
  CHECK(trace::metric_value(std::numeric_limits<std::int64_t>::min()).json() ==
        "-9223372036854775808");
  CHECK(trace::metric_value("\xff").json() == "\"\xef\xbf\xbd\"");  // not UTF-8: U+FFFD
}

TEST_CASE("metrics_writer: a resumed file has each step once") {
  temporary_folder const folder;
  std::string const path = folder / "metrics.jsonl";
  auto const train = [&](std::int64_t first, std::int64_t last) {
    metrics_writer writer(path, first);
    for (std::int64_t step = first; step < last; ++step) {
      writer.write(step, "train", {{"loss", 1.0 / static_cast<double>(step + 1)}});
      if (step % 4 == 3) writer.write(step, "validation", {{"loss", 0.5}});
    }
  };
  train(0, 20);
  std::string const whole = read_bytes(path);
  train(0, 13);
  write_bytes(path, read_bytes(path) + "{\"step\":13,\"kind\":\"tr");  // killed while writing
  train(8, 20);
  CHECK(read_bytes(path) == whole);
  train(20, 20);
  CHECK(read_bytes(path) == whole);
}

TEST_CASE("metrics_writer: resuming without a file begins one") {
  temporary_folder const folder;
  metrics_writer writer(folder / "new.jsonl", 7);
  writer.write(7, "train", {});
  CHECK(read_bytes(folder / "new.jsonl") == "{\"step\":7,\"kind\":\"train\"}\n");
}

TEST_CASE("metrics_writer: bad names, bad places, other people's files") {
  temporary_folder const folder;
  std::string const path = folder / "metrics.jsonl";
  metrics_writer writer(path);
  CHECK_THROWS_AS(writer.write(0, "train", {{"step", 1}}), value_error);
  CHECK_THROWS_AS(writer.write(0, "train", {{"a", 1}, {"a", 2}}), value_error);
  CHECK(read_bytes(path).empty());
  CHECK(contains(message_of<io_error>([&] { metrics_writer const w(folder / "no/m.jsonl"); }),
                 "No such file"));
  CHECK_THROWS_AS(metrics_writer(folder / ""), io_error);
  CHECK_THROWS_AS(metrics_writer(""), io_error);

  std::string const poem = "{\"step\":1,\"kind\":\"train\"}\nIn the beginning\n";
  write_bytes(path, poem);
  CHECK(contains(message_of<io_error>([&] { metrics_writer const w(path, 5); }), "line 2"));
  CHECK(read_bytes(path) == poem);
  for (char const* const line : {"[1]\n", "{\"step\":1.5,\"kind\":\"a\"}\n", "{\"kind\":\"a\"}\n",
                                 "{\"step\":1,\"kind\":2}\n", "\n"}) {
    write_bytes(path, line);
    CHECK_THROWS_AS((void)read_metrics(path, "train", "loss"), io_error);
  }
}

TEST_CASE("metrics_writer: a full disk is an error and leaves no half line") {
  if (::access("/dev/full", W_OK) != 0) {
    MESSAGE("no /dev/full: not checked");
    return;
  }
  metrics_writer writer("/dev/full");
  CHECK(contains(message_of<io_error>([&] { writer.write(0, "train", {}); }), "No space left"));
}

TEST_CASE("read_metrics: one metric of one kind, null as NaN, the unfinished line left out") {
  temporary_folder const folder;
  std::string const path = folder / "metrics.jsonl";
  metrics_writer writer(path);
  writer.write(0, "train", {{"loss", 4}});
  writer.write(0, "validation", {{"loss", 4.5}});
  writer.write(1, "train", {{"loss", std::nan("")}});
  writer.write(2, "train", {{"other", 1}});
  writer.write(3, "train", {{"loss", 2.5}});
  write_bytes(path, read_bytes(path) + "{\"step\":4");
  auto const points = read_metrics(path, "train", "loss");
  REQUIRE(points.size() == 3);
  CHECK(points[0].value == 4);
  CHECK(points[1].step == 1);
  CHECK(std::isnan(points[1].value));
  CHECK(points[2].step == 3);
  CHECK(points[2].value == 2.5);
  CHECK(read_metrics(path, "test", "loss").empty());
}
