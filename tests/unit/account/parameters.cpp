#include <doctest/doctest.h>

#include <ricci/ricci.hpp>

#include <sstream>

using namespace ricci;

namespace {
struct In : axis<"in", 3> {};
struct Out : axis<"out", 2> {};
struct Free : axis<"free"> {};
struct Net {
  BOOST_HANA_DEFINE_STRUCT(Net, (std::vector<nn::linear<f32, In, Out>>, layers), (tensor<bf16, Free>, rest));
};
}  // namespace

TEST_CASE("parameters: names, dtypes, axes, extents, bytes") {
  Net net;
  net.layers.resize(2);
  parameter_list empty = parameters(net);
  REQUIRE(empty.size() == 5);
  CHECK(empty.bytes() == 0);
  CHECK(empty[0].extents.empty());

  initialize(net, random::key(1), Free{5});
  parameter_list const list = parameters(net);
  CHECK(list[2].name == "layers.1.weight");
  CHECK(list[2].axes == std::vector<std::string>{"in", "out"});
  CHECK(list[2].extents == std::vector<std::int64_t>{3, 2});
  CHECK(list[2].bytes == 24);
  CHECK(list[4].type == dtype::bf16);
  CHECK(list[4].bytes == 10);
  CHECK(list.elements() == 2 * (6 + 2) + 5);
  CHECK(list.bytes() == 2 * 32 + 10);
  std::ostringstream text;
  text << list;
  CHECK(text.str().find("layers.0.bias    f32      [out 2]                     8 bytes\n") != std::string::npos);
  CHECK(text.str().find("5 parameters, 21 elements, 74 bytes\n") != std::string::npos);
}
