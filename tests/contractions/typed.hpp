#pragma once

#include <ricci/ricci.hpp>

#include <span>
#include <utility>

/// The contractions that generate.py writes, as rows of a table: what each compiles to is one
/// einsum, so that a thousand of them in three dtypes compile in minutes.
namespace ricci::contractions {

/// One einsum of the language, its types forgotten behind handles.
///   mode     of its extents: "static", "dynamic" or "mixed"
///   compute  the evaluated result, whose type says `result`
struct typed_contraction {
  char const* mode;
  dtype type;
  graph::axes_view operands[2];
  graph::axes_view result;
  graph::handle (*compute)(graph::handle a, graph::handle b);
};

/// One line of a list of cases: `number; ab,bc->ac; a=2 b=3 c=4`, and its einsum in each dtype.
struct contraction_case {
  char const* number;
  char const* equation;
  char const* extents;
  typed_contraction in[3];
};

/// Adds the cases of one file to those of the program. `drawn_by` says how the extents were drawn.
struct registered_cases {
  registered_cases(std::span<contraction_case const> cases, char const* drawn_by);
};

/// P on A and B, which gives R and nothing else: another order of axes, another dtype or a static
/// extent lost does not compile.
template <fixed_string P, class A, class B, class R>
graph::handle computed(graph::handle a, graph::handle b) {
  R const result =
      einsum<P>(A(detail::make_node{}, std::move(a)), B(detail::make_node{}, std::move(b)));
  return result.handle();
}

template <fixed_string P, class A, class B, class R>
constexpr typed_contraction typed(char const* mode) {
  return {mode,
          dtype_of<typename R::element_type>,
          {{A::axes, A::rank}, {B::axes, B::rank}},
          {R::axes, R::rank},
          &computed<P, A, B, R>};
}

}  // namespace ricci::contractions
