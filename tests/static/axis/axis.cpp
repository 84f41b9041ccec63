#include "../axes.hpp"

using namespace ricci;
using namespace ricci::test;

static_assert(std::is_constructible_v<axis<"batch">, int>, "an extent of any integer type");
static_assert(std::is_constructible_v<axis<"batch">, std::size_t>, "unsigned ones too");
static_assert(!std::is_constructible_v<axis<"batch">, double>, "a floating position does not compile");
static_assert(Hidden::static_extent == 64, "what the declaration says");
static_assert(Batch::static_extent == dynamic_extent, "none said: dynamic");
static_assert(prime<Hidden>::static_extent == 64, "a second axis of the same extent");
static_assert(prime<prime<Hidden>>::name.view() == "hidden''", "one more ' each time");
static_assert(!same<prime<Hidden>, Hidden>, "another axis");
static_assert(("... " + Hidden::name + " -> ...").view() == "... hidden -> ...", "names build patterns");

static_assert(detail::is_axis_name("head_dim2'"), "letters, digits, `_`, primes at the end");
static_assert(!detail::is_axis_name(""), "a name is not empty");
static_assert(!detail::is_axis_name("Hidden"), "no capitals: patterns have none");
static_assert(!detail::is_axis_name("2d"), "a digit is not first");
static_assert(!detail::is_axis_name("a'b"), "nothing behind a '");
static_assert(!detail::is_axis_name("'"), "a ' alone is no name");
