#pragma once

// Ricci: named-axis tensor programs, checked by the compiler. This header is the whole language.
// First, so that a diagnostic's list of includes is short:
#include <ricci/error/message.hpp>

#include <ricci/account/parameters.hpp>
#include <ricci/axis/axis.hpp>
#include <ricci/error/exceptions.hpp>
#include <ricci/expr/attention.hpp>
#include <ricci/expr/broadcast.hpp>
#include <ricci/expr/convert.hpp>
#include <ricci/expr/create.hpp>
#include <ricci/expr/dot.hpp>
#include <ricci/expr/einsum.hpp>
#include <ricci/expr/functions.hpp>
#include <ricci/expr/joins.hpp>
#include <ricci/expr/losses.hpp>
#include <ricci/expr/norm.hpp>
#include <ricci/expr/operators.hpp>
#include <ricci/expr/random.hpp>
#include <ricci/expr/rearrange.hpp>
#include <ricci/expr/reductions.hpp>
#include <ricci/expr/slice.hpp>
#include <ricci/expr/softmax.hpp>
#include <ricci/expr/views.hpp>
#include <ricci/grad/custom_vjp.hpp>
#include <ricci/grad/value_and_grad.hpp>
#include <ricci/nn/nn.hpp>
#include <ricci/optim/optimizer.hpp>
#include <ricci/optim/schedule.hpp>
#include <ricci/plan/cost_of.hpp>
#include <ricci/plan/explain.hpp>
