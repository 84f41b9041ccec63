// Run time says what compile time says: the operation, the axis, both extents, all shapes. Empty
// tensors, extents that overflow, places outside: always one of Ricci's exceptions.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Hidden : axis<"hidden"> {};
struct Mlp : axis<"mlp"> {};
struct Fixed : axis<"fixed", 4> {};
struct Part : axis<"part"> {};
struct Two : axis<"two", 2> {};
struct I : axis<"i"> {};

template <class F> bool is_refused_as_empty(F const& f) {
  return has(sentence<value_error>([&] { (void)f(); }), {"empty"});
}

}  // namespace

TEST_CASE("einsum: the sentence of two extents") {
  tensor x = zeros<f32, Batch, Hidden>(Batch{2}, Hidden{64});
  tensor w = zeros<f32, Hidden, Mlp>(Hidden{32}, Mlp{3});
  CHECK(sentence([&] { (void)einsum<"batch hidden, hidden mlp -> batch mlp">(x, w); }) ==
        "einsum: axis `hidden` has extent 64 in operand 1 and 32 in operand 2; operand 1 is [batch "
        "2, hidden 64], "
        "operand 2 is [hidden 32, mlp 3]");
  tensor other = zeros<f32, Seq, Mlp>(Seq{32}, Mlp{3});
  CHECK(has(sentence([&] { (void)einsum<"batch hidden=k, seq=k mlp -> batch mlp">(x, other); }),
            {"einsum: index `k` has extent 64 as axis `hidden` of operand 1 and 32 as axis `seq` "
             "of operand 2"}));
  CHECK(has(sentence([&] { (void)einsum<"batch=i hidden=i -> i", I>(x); }),
            {"einsum", "`i`", "2", "64", "[batch 2, hidden 64]"}));
  // Three operands: all shapes.
  CHECK(has(sentence([&] {
              (void)einsum<"batch hidden, mlp, hidden mlp -> batch">(x, zeros<f32, Mlp>(Mlp{3}), w);
            }),
            {"operand 3", "[batch 2, hidden 64]", "[mlp 3]", "[hidden 32, mlp 3]"}));
  // A static extent against a dynamic one.
  CHECK(has(sentence([&] {
              (void)einsum<"batch=i, fixed=i -> ">(zeros<f32, Batch>(Batch{5}),
                                                   zeros<f32, Fixed>());
            }),
            {"`i`", "5", "4", "`batch`", "`fixed`"}));
}

TEST_CASE("patterns: splits and merges") {
  tensor x = zeros<f32, Hidden>(Hidden{7});
  CHECK(
      has(sentence([&] { (void)rearrange<"hidden=(part two) -> part two", Part, Two>(x); }),
          {"rearrange: axis `hidden` of extent 7 does not divide into chunks of 2", "[hidden 7]"}));
  CHECK(has(sentence([&] { (void)reduce<op::max, "hidden=(part 2) -> part", Part>(x); }),
            {"reduce: axis `hidden` of extent 7 does not divide into chunks of 2"}));
  CHECK(has(sentence([&] { (void)reduce<op::max, "hidden=(3 2) -> ">(x); }),
            {"reduce", "`hidden`", "7", "6"}));
  CHECK(has(sentence([&] { (void)repeat<"hidden -> fixed=(hidden 2)", Fixed>(x); }),
            {"repeat", "`fixed`", "4", "14"}));
  CHECK(has(sentence([&] { (void)rearrange<"hidden -> fixed=hidden", Fixed>(x); }),
            {"rearrange", "7", "4"}));
}

TEST_CASE("every elementwise word says its own name") {
  tensor x = zeros<f32, Batch>(Batch{2});
  tensor y = zeros<f32, Batch>(Batch{3});
  for (auto const& [said, who] : {std::pair{sentence([&] { (void)(x + y); }), "+: "},
                                  {sentence([&] { (void)(x - y); }), "-: "},
                                  {sentence([&] { (void)(x * y); }), "*: "},
                                  {sentence([&] { (void)(x / y); }), "/: "},
                                  {sentence([&] { (void)(x < y); }), "<: "},
                                  {sentence([&] { (void)(x == y); }), "==: "},
                                  {sentence([&] { (void)((x > 0) && (y > 0)); }), "&&: "},
                                  {sentence([&] { (void)pow(x, y); }), "pow: "},
                                  {sentence([&] { (void)minimum(x, y); }), "minimum: "},
                                  {sentence([&] { (void)clamp(x, 0, y); }), "clamp: "},
                                  {sentence([&] { (void)where(x > 0, 1.0f, y); }), "where: "},
                                  {sentence([&] { (void)mse(x, y); }), "mse: "}})
    CHECK(has(said, {who, "axis `batch` has extent 2 in operand", "and 3 in operand", "[batch 2]",
                     "[batch 3]"}));
}

TEST_CASE("a tensor that is empty, anywhere") {
  tensor<f32, Batch, Hidden> none;
  tensor<f32, Batch, Hidden> const const_none;
  tensor x = zeros<f32, Batch, Hidden>(Batch{2}, Hidden{3});
  CHECK(none.is_empty());
  CHECK(!x.is_empty());
  CHECK(is_refused_as_empty([&] { return tensor(none + x); }));
  CHECK(is_refused_as_empty([&] { return tensor(x + none); }));
  CHECK(is_refused_as_empty([&] { return tensor(1 + const_none); }));
  CHECK(is_refused_as_empty([&] { return tensor(exp(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(where(none > 0, x, x)); }));
  CHECK(is_refused_as_empty([&] { return tensor(einsum<"batch hidden -> batch">(none)); }));
  CHECK(is_refused_as_empty(
      [&] { return tensor(einsum<"batch hidden, batch hidden -> batch">(x, none)); }));
  CHECK(is_refused_as_empty(
      [&] { return tensor(einsum<"batch hidden, batch hidden, ... -> batch">(x, x, none)); }));
  CHECK(
      is_refused_as_empty([&] { return tensor(rearrange<"batch hidden -> hidden batch">(none)); }));
  CHECK(
      is_refused_as_empty([&] { return tensor(reduce<op::sum, "batch hidden -> batch">(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(repeat<"... -> two ...", Two>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(sum<Batch>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(argmax(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(permute<Hidden, Batch>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(rename<Hidden, Mlp>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(at<Batch>(none, 0)); }));
  CHECK(is_refused_as_empty([&] { return tensor(slice<Batch>(none, 0, 1)); }));
  CHECK(is_refused_as_empty([&] { return tensor(reverse<Batch>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(diagonal<Batch, Hidden, I>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(broadcast<Two>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(concat<Batch>(x, none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(concat<Batch>(none, x)); }));
  CHECK(is_refused_as_empty([&] { return tensor(stack<Two>(x, none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(take<Batch>(none, zeros<i32, I>(I{1}))); }));
  CHECK(is_refused_as_empty([&] { return tensor(take<Batch>(x, tensor<i32, I>())); }));
  CHECK(is_refused_as_empty([&] { return tensor(to<bf16>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(to<f32>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(softmax<Hidden>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(log_softmax<Hidden>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(cumsum<Hidden>(none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(outer(none, zeros<f32, I>(I{1}))); }));
  CHECK(is_refused_as_empty([&] { return tensor(outer(zeros<f32, I>(I{1}), none)); }));
  CHECK(is_refused_as_empty([&] { return tensor(mse(x, none)); }));
  CHECK(is_refused_as_empty(
      [&] { return tensor(cross_entropy<Hidden>(none, zeros<i32, Batch>(Batch{2}))); }));
  CHECK(
      is_refused_as_empty([&] { return tensor(cross_entropy<Hidden>(x, tensor<i32, Batch>())); }));
  CHECK(is_refused_as_empty([&] {
    return tensor(
        layer_norm<Hidden>(none, ones<f32, Hidden>(Hidden{3}), zeros<f32, Hidden>(Hidden{3})));
  }));
  CHECK(is_refused_as_empty([&] {
    return tensor(layer_norm<Hidden>(x, tensor<f32, Hidden>(), zeros<f32, Hidden>(Hidden{3})));
  }));
  CHECK(is_refused_as_empty([&] {
    return tensor(layer_norm<Hidden>(x, ones<f32, Hidden>(Hidden{3}), tensor<f32, Hidden>()));
  }));
  CHECK(is_refused_as_empty([&] { return tensor(rms_norm<Hidden>(x, tensor<f32, Hidden>())); }));
  CHECK(is_refused_as_empty([&] {
    return tensor(
        attention<Batch, Mlp, Hidden>(x, rename<Batch, Mlp>(x), tensor<f32, Mlp, Hidden>()));
  }));
  CHECK(is_refused_as_empty([&] {
    return tensor(
        attention<Batch, Mlp, Hidden>(none, rename<Batch, Mlp>(x), rename<Batch, Mlp>(x)));
  }));
  CHECK(is_refused_as_empty([&] { return none(Batch{0}, Hidden{0}); }));
  CHECK(is_refused_as_empty([&] { return tensor<f32>().item(); }));
  CHECK(is_refused_as_empty([&] { return none.values().size(); }));
  CHECK(is_refused_as_empty([&] { return none.shape(); }));
  CHECK(is_refused_as_empty([&] { return extent_of<Batch>(none); }));
  CHECK(is_refused_as_empty([&] { return tensor(stop_gradient(none)); }));
  CHECK(is_refused_as_empty([&] { return nn::dropout(none, 0.5, random::key(1)); }));
}

TEST_CASE("results whose size overflows") {
  std::int64_t const wide = std::int64_t{1} << 31;
  auto a = broadcast<Batch>(zeros<f32>(), Batch{wide});
  auto b = broadcast<Hidden>(zeros<f32>(), Hidden{wide});
  auto c = broadcast<Mlp>(zeros<f32>(), Mlp{wide});
  CHECK_THROWS_AS((void)outer(outer(a, b), c), shape_error);
  CHECK_THROWS_AS((void)(einsum<"batch, hidden, mlp -> batch hidden mlp">(a, b, c)), shape_error);
  CHECK_THROWS_AS(
      (void)(broadcast<Batch, Hidden, Mlp>(full<f32>(1), Batch{wide}, Hidden{wide}, Mlp{wide})),
      shape_error);
  CHECK_THROWS_AS((void)(repeat<"batch -> batch hidden", Hidden>(a, Hidden{std::int64_t{1} << 40})),
                  shape_error);
}

TEST_CASE("places outside") {
  tensor x = zeros<f32, Batch, Fixed>(Batch{2});
  CHECK(has(sentence<index_error>([&] { (void)x(Batch{2}, Fixed{0}); }),
            {"2", "`batch`", "[batch 2, fixed 4]"}));
  CHECK(has(sentence<index_error>([&] { (void)x(Fixed{4}, Batch{0}); }), {"4", "`fixed`"}));
  CHECK_THROWS_AS((void)x(Fixed{-1}, Batch{0}), index_error);
  CHECK_THROWS_AS((void)(zeros<f32, Batch>(Batch{0})(Batch{0})), index_error);
}

TEST_CASE("all of Ricci's exceptions are ricci::error, and that a std::runtime_error") {
  static_assert(std::is_base_of_v<error, shape_error> && std::is_base_of_v<error, index_error> &&
                std::is_base_of_v<error, io_error> && std::is_base_of_v<error, device_error> &&
                std::is_base_of_v<error, value_error> &&
                std::is_base_of_v<std::runtime_error, error>);
}

TEST_CASE("after an error everything goes on") {
  tensor x = zeros<f32, Batch>(Batch{2});
  auto bad = take<Batch>(x, from<i64, I>({7}, I{1}));
  CHECK_THROWS_AS((void)tensor(bad), index_error);
  CHECK_THROWS_AS((void)tensor(bad), index_error);
  tally const ran;
  CHECK(numbers(x + 1) == doubles{1, 1});
  CHECK(ran.statements() == 1);
  CHECK_THROWS_AS(
      (void)value_and_grad(
          [](auto const& v) { return sum(take<Batch>(v, from<i64, I>({7}, I{1}))); }, x),
      index_error);
  CHECK(numbers(grad([](auto const& v) { return sum(v * 3); }, x)) == doubles{3, 3});
}
