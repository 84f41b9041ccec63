// Checkpoints of modules: round trips, views by value, everything that does not fit by name,
// resuming.
#include <ricci/io/checkpoint.hpp>

#include "temporary_folder.hpp"
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;
using ricci::test::temporary_folder;

namespace {

struct N : axis<"n"> {};
struct M : axis<"m"> {};
struct Three : axis<"three", 3> {};
struct Four : axis<"four", 4> {};
struct Hidden : axis<"hidden", 8> {};

struct Everything {
  template <class T> using vector = tensor<T, N>;
  using scalar = tensor<f32>;
  BOOST_HANA_DEFINE_STRUCT(Everything, (vector<f64>, a), (vector<f32>, b), (vector<f16>, c),
                           (vector<bf16>, d), (vector<f8_e4m3>, e), (vector<f8_e5m2>, f),
                           (vector<i64>, g), (vector<i32>, h), (vector<i16>, i), (vector<i8>, j),
                           (vector<u16>, k), (vector<u8>, l), (vector<boolean>, m), (scalar, s));
};

struct Small {
  using matrix = tensor<f32, Four, Three>;
  using vector = tensor<f32, N>;
  BOOST_HANA_DEFINE_STRUCT(Small, (matrix, weight), (vector, bias));
};
Small small() {
  Small m;
  m.weight = counting<f32, Four, Three>();
  m.bias = from<f32, N>({1, 2}, N{2});
  return m;
}
struct Other {
  using matrix = tensor<f32, Three, Four>;
  using vector = tensor<f32, N>;
  BOOST_HANA_DEFINE_STRUCT(Other, (matrix, weight), (vector, bias));
};
struct Wide {
  using matrix = tensor<f64, Four, Three>;
  using vector = tensor<f32, N>;
  BOOST_HANA_DEFINE_STRUCT(Wide, (matrix, weight), (vector, bias));
};
struct Renamed {
  using matrix = tensor<f32, Four, Three>;
  using vector = tensor<f32, N>;
  BOOST_HANA_DEFINE_STRUCT(Renamed, (matrix, weights), (vector, bias));
};
struct Flat {
  using matrix = tensor<f32, N>;
  BOOST_HANA_DEFINE_STRUCT(Flat, (matrix, weight), (matrix, bias));
};
struct More {
  using matrix = tensor<f32, Four, Three>;
  using vector = tensor<f32, N>;
  BOOST_HANA_DEFINE_STRUCT(More, (matrix, weight), (vector, bias), (vector, scale));
};
struct Less {
  using matrix = tensor<f32, Four, Three>;
  BOOST_HANA_DEFINE_STRUCT(Less, (matrix, weight));
};

template <class M> std::string refusal(std::string const& path) {
  M m;
  return sentence<io_error>([&] { io::load(path, m); });
}

struct Net {
  BOOST_HANA_DEFINE_STRUCT(Net, (nn::linear<f32, Hidden, Four>, up),
                           (nn::linear<f32, Four, Hidden>, down));
  auto operator()(auto const& x) const { return down(gelu(up(x))); }
};
void train(Net& net, optim::adamw& optimizer, int begin, int end) {
  for (int step = begin; step < end; ++step) {
    tensor x = random::normal<f32, M, Hidden>(random::key(9).fold("batch", step), M{16});
    auto const g =
        grad([](auto const& m,
                auto const& in) { return mse(nn::dropout(m(in), 0.1, random::key(3)), in); },
             net, x);
    optimizer.step(net, g, 1e-2);
  }
}

}  // namespace

TEST_CASE("every dtype comes back, dynamic extents are the file's, rank 0 too") {
  temporary_folder const folder;
  Everything m;
  for_each_parameter(m, []<class T, class... A>(auto const&, tensor<T, A...>& leaf) {
    if constexpr (sizeof...(A) == 1)
      leaf = to<T>(from<f32, N>({0, 1, 0, 1, 1}, N{5}));
    else
      leaf = full<f32>(2.5);
  });
  m.g = from<i64, N>({std::numeric_limits<i64>::min(), 1, 2, 3, 4}, N{5});
  m.d = from<bf16, N>({bf16(-0.0), bf16(1e-39), bf16(3e38), bf16(0.1), bf16(-7)}, N{5});
  io::save(folder / "all.safetensors", m, {{"step", "12"}, {"note", "a \"quoted\" text"}});
  Everything back;
  auto const texts = io::load(folder / "all.safetensors", back);
  CHECK(texts.at("step") == "12");
  CHECK(texts.at("note") == "a \"quoted\" text");
  std::vector<doubles> expected;
  for_each_parameter(m, [&](auto const&, auto const& leaf) { expected.push_back(numbers(leaf)); });
  std::size_t i = 0;
  for_each_parameter(back,
                     [&](auto const&, auto const& leaf) { CHECK(numbers(leaf) == expected[i++]); });
  CHECK(list(back.g) == list(m.g));
}

TEST_CASE("a tensor alone; extents of 0") {
  temporary_folder const folder;
  io::save(folder / "t", tensor(counting<i16, N, Three>(N{2})));
  tensor<i16, N, Three> back;
  io::load(folder / "t", back);
  CHECK(numbers(back) == doubles{0, 1, 2, 3, 4, 5});
  io::save(folder / "none", tensor(zeros<f32, N, Three>(N{0})));
  tensor<f32, N, Three> none;
  io::load(folder / "none", none);
  CHECK(none.shape() == shape<N, Three>{{0, 3}});
}

TEST_CASE("views are saved by their values") {
  temporary_folder const folder;
  Small m = small();
  m.weight = permute<Four, Three>(counting<f32, Three, Four>());
  m.bias = broadcast<N>(full<f32>(7), N{3});
  io::save(folder / "v", m);
  Small back;
  io::load(folder / "v", back);
  CHECK(numbers(back.weight) == doubles{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(numbers(back.bias) == doubles{7, 7, 7});
}

TEST_CASE("what does not fit is said by name, with both extents") {
  temporary_folder const folder;
  std::string const path = folder / "m";
  io::save(path, small());
  CHECK(has(refusal<Other>(path), {path.c_str(), "`weight`", "`three`", "4", "3"}));
  CHECK(has(refusal<Wide>(path), {path.c_str(), "`weight`", "f32", "f64"}));
  CHECK(has(refusal<Renamed>(path),
            {path.c_str(), "`weights`", "missing", "did you mean `weight`?"}));
  CHECK(has(refusal<Flat>(path), {path.c_str(), "`weight`", "2 axes", "1"}));
  CHECK(has(refusal<More>(path), {path.c_str(), "`scale`", "missing"}));
  CHECK(has(refusal<Less>(path), {path.c_str(), "`bias`", "unknown"}));
  Less less;
  io::load(path, less, io::extra_names::ignore);
  CHECK(numbers(less.weight) == numbers(small().weight));
  CHECK(has(refusal<Small>(folder / "absent"), {"absent"}));
  ricci::test::write_bytes(folder / "short", ricci::test::read_bytes(path).substr(0, 100));
  CHECK(has(refusal<Small>(folder / "short"), {"short"}));
}

TEST_CASE("NaN and infinity are refused with their place") {
  temporary_folder const folder;
  for (f32 const bad : {not_a_number, infinity, -infinity}) {
    Small m = small();
    m.bias = from<f32, N>({1, 2, bad}, N{3});
    io::save(folder / "bad", m);
    CHECK(has(refusal<Small>(folder / "bad"), {"`bias`", "not finite", "2"}));
  }
}

TEST_CASE("nothing is assigned when one leaf does not fit") {
  temporary_folder const folder;
  Small broken = small();
  broken.bias = from<f32, N>({not_a_number}, N{1});
  io::save(folder / "broken", broken);
  Small m;
  m.weight = zeros<f32, Four, Three>();
  m.bias = full<f32, N>(9, N{1});
  CHECK_THROWS_AS((void)io::load(folder / "broken", m), io_error);
  CHECK(numbers(m.weight) == doubles(12));
  CHECK(numbers(m.bias) == doubles{9});
}

TEST_CASE("an empty leaf is not saved, and the previous file stays") {
  temporary_folder const folder;
  io::save(folder / "m", small());
  std::string const before = ricci::test::read_bytes(folder / "m");
  Small m = small();
  m.bias = {};
  CHECK(has(sentence<value_error>([&] { io::save(folder / "m", m); }), {"`bias`", "empty"}));
  CHECK(ricci::test::read_bytes(folder / "m") == before);
  CHECK(folder.count() == 1);
  CHECK_THROWS_AS(io::save(folder / "no/such/folder", small()), io_error);
}

TEST_CASE("two leaves of one name, and a file that is read by groups") {
  temporary_folder const folder;
  Small a = small();
  Small b = small();
  CHECK(has(sentence<value_error>([&] {
              io::save_leaves(folder / "twice",
                              {{"m.", detail::leaves_of(a)}, {"m.", detail::leaves_of(b)}});
            }),
            {"m.weight"}));
  CHECK(folder.count() == 0);
  b.bias = from<f32, N>({7}, N{1});
  io::save_leaves(folder / "two", {{"a.", detail::leaves_of(a)}, {"b.", detail::leaves_of(b)}});
  Small back;
  io::load_leaves(folder / "two", {{"b.", detail::leaves_of(back)}}, io::extra_names::ignore);
  CHECK(numbers(back.bias) == doubles{7});
  CHECK(has(sentence<io_error>(
                [&] { io::load_leaves(folder / "two", {{"b.", detail::leaves_of(back)}}); }),
            {"a.", "unknown"}));
}

TEST_CASE("loading replaces values, it does not write into storage that others hold") {
  temporary_folder const folder;
  io::save(folder / "m", small());
  Small m;
  m.weight = zeros<f32, Four, Three>();
  m.bias = zeros<f32, N>(N{2});
  Small const kept = m;
  io::load(folder / "m", m);
  CHECK(numbers(kept.weight) == doubles(12));
  CHECK(numbers(m.weight)[11] == 11);
  // The file may go afterwards.
  ricci::test::write_bytes(folder / "m", "");
  CHECK(numbers(m.bias) == doubles{1, 2});
}

TEST_CASE("integers among the texts") {
  io::texts const texts{{"step", "120"},
                        {"word", "many"},
                        {"half", "1.5"},
                        {"empty", ""},
                        {"huge", "99999999999999999999"}};
  CHECK(io::integer_of(texts, "step", "file") == 120);
  for (char const* key : {"word", "half", "empty", "huge", "absent"})
    CHECK(
        has(sentence<io_error>([&] { (void)io::integer_of(texts, key, "file"); }), {"file", key}));
}

TEST_CASE("resumed training equals uninterrupted training, bit for bit") {
  temporary_folder const folder;
  Net straight;
  initialize(straight, random::key(1));
  optim::adamw optimizer;
  train(straight, optimizer, 0, 10);

  Net first;
  initialize(first, random::key(1));
  optim::adamw half;
  train(first, half, 0, 4);
  io::save_leaves(folder / "at 4",
                  {{"model.", detail::leaves_of(first)},
                   {"optimizer.", half.state(detail::leaves_of(first)), role::optimizer}},
                  {{"steps", std::to_string(half.steps())}});
  Net second;
  initialize(second, random::key(77));
  optim::adamw other;
  auto const texts = io::load_leaves(
      folder / "at 4", {{"model.", detail::leaves_of(second)},
                        {"optimizer.", other.state(detail::leaves_of(second)), role::optimizer}});
  other.set_steps(io::integer_of(texts, "steps", folder / "at 4"));
  train(second, other, 4, 10);
  CHECK(list(second.up.weight) == list(straight.up.weight));
  CHECK(list(second.up.bias) == list(straight.up.bias));
  CHECK(list(second.down.weight) == list(straight.down.weight));
  CHECK(list(second.down.bias) == list(straight.down.bias));
}
