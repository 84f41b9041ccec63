// tensor: deduction, annotation, sharing, emptiness.
#include "tests/unit/expr/values.hpp"

using namespace ricci;
using namespace ricci::testing;

namespace {

struct Batch : axis<"batch"> {};
struct Hidden : axis<"hidden", 2> {};

template <class To, class From> void take_annotated(From const& from) {
  To t = from;
  CHECK(t.shape() == from.shape());
}

}  // namespace

TEST_CASE("deduction and annotation") {
  tensor x = zeros<f32, Batch, Hidden>(Batch{3});
  static_assert(same<decltype(x), tensor<f32, Batch, Hidden>>);
  tensor view = permute<Hidden, Batch>(x);
  static_assert(same<decltype(view), tensor<f32, Hidden, Batch>>);
  tensor compared = x < 1;
  static_assert(same<decltype(compared), tensor<boolean, Batch, Hidden>>);
  take_annotated<tensor<f32, Batch, Hidden>>(x + 1);
  take_annotated<tensor<f32, Hidden, Batch>>(permute<Hidden, Batch>(x));
  tensor const constant = x;
  static_assert(same<decltype(constant), tensor<f32, Batch, Hidden> const>);
  // A member of a struct is given a value later.
  struct state {
    tensor<f32, Batch, Hidden> value;
  } s;
  CHECK(s.value.is_empty());
  s.value = x * 2;
  CHECK(!s.value.is_empty());
}

TEST_CASE("what a value is") {
  using T = tensor<bf16, Batch, Hidden>;
  static_assert(same<T::element_type, bf16> && T::rank == 2 && same<T::device, host>);
  static_assert(same<T::axes_type, pack<Batch, Hidden>>);
  static_assert(std::is_default_constructible_v<T> && std::is_copy_constructible_v<T>);
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);
  static_assert(sizeof(T) == sizeof(void*));
  static_assert(same<tensor<f32, Batch, host>::axes_type, pack<Batch>>);
  tensor<f32, Batch, host> with_device = ones<f32, Batch>(Batch{2});
  CHECK(numbers(with_device) == doubles{1, 1});
}

TEST_CASE("values are row-major, of a view in the view's order") {
  tensor x = from<f32, Batch, Hidden>({1, 2, 3, 4}, Batch{2});
  CHECK(x.values().size() == 4);
  CHECK(x.values()[2] == 3);
  CHECK(tensor(permute<Hidden, Batch>(x)).values()[1] == 3);
  auto const* const storage = x.values().data();
  CHECK(reinterpret_cast<std::uintptr_t>(storage) % 64 == 0);
  CHECK(tensor(x).values().data() == storage);
}

TEST_CASE("a packed view of a tensor is the tensor's storage, a strided one is copied") {
  tensor x = counting<f32, Batch, Hidden>(Batch{4});
  tensor part = slice<Batch>(x, 1, 2);
  CHECK(numbers(part) == doubles{2, 3, 4, 5});
  tensor column = at<Hidden>(x, 1);
  CHECK(numbers(column) == doubles{1, 3, 5, 7});
  CHECK(!shares(column, at<Hidden>(x, 1)));
}

TEST_CASE("poisoned values swallow what follows") {
  poisoned p;
  static_assert(same<decltype(p + zeros<f32, Hidden>()), poisoned>);
  static_assert(same<decltype(exp(p)), poisoned>);
  static_assert(same<decltype(sum<Hidden>(p)), poisoned>);
  static_assert(same<decltype(einsum<"hidden -> ">(p)), poisoned>);
  static_assert(same<decltype(to<f32>(p)), poisoned>);
  static_assert(same<decltype(p(Batch{1})), poisoned>);
  static_assert(same<decltype(p.item()), poisoned>);
  static_assert(same<decltype(tensor(p)), tensor<poisoned>>);
  static_assert(same<decltype(extent_of<Batch>(p)), poisoned>);
  static_assert(same<decltype(attention<Batch, Hidden, Batch>(p, p, p)), poisoned>);
  (void)p;
}
