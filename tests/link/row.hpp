#pragma once

#include <ricci/ricci.hpp>

struct Row : ricci::axis<"row"> {};

/// Twice the value; defined in the other translation unit, so that a tensor crosses between the two.
ricci::tensor<ricci::i32, Row> twice(ricci::tensor<ricci::i32, Row> const& x);
