#pragma once

#include <ricci/plan/candidates.hpp>

#include "src/contract_terms.hpp"

/// Private to src/: which lowering a contraction takes.
namespace ricci::exec {

/// What candidates_of is asked for these terms.
contraction_request request_of(contraction_terms const& terms, dtype type, dtype result_type,
                               bool has_epilogue, lowering_code forced);

/// candidates_of(request).best(), remembered by this thread.
///   Cost  about 0.1 us where it is remembered, else some microseconds
contraction_candidate const& chosen_lowering(contraction_request const& request);

}  // namespace ricci::exec
