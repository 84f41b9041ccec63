#pragma once

#include <cstdint>
#include <optional>

#include <ricci/tensor/dtype.hpp>

namespace ricci::kernels {

/// Integer targets of a cross-entropy: [outer, inner], packed.
struct class_targets {
  dtype type;  // any integer
  void const* data;
  std::optional<std::int64_t> ignore = {};  // rows of this target contribute nothing
};

/// Cross-entropy of logits against the class of each row, without the softmax in memory.
///   Axes    logits: [outer, classes, inner]; loss, lse: [outer, inner]; all packed; a row is one
///           place (o, i) with its logits along the classes
///   Value   lse(o, i) = log sum over c of e^logits(o, c, i); loss = lse - logits(o, target, i),
///           0 where the target is `ignore`, infinity where the target's logit is -infinity
///   Dtype   logits and loss f32, f64, bf16 or f16; computes, and keeps lse, in f32 (f64: f64)
///   Cost    reads logits once from memory
///   Errors  index_error: a target outside [0, classes) that is not `ignore`, with its row;
///           value_error: another dtype; shape_error: a negative extent or too many elements
void cross_entropy(dtype type, std::int64_t outer, std::int64_t classes, std::int64_t inner,
                   void const* logits, class_targets const& targets, void* loss, void* lse);

/// The gradient: dlogits(o, c, i) = (e^(logits - lse) - [c is the target]) dloss(o, i).
///   Value   zero in rows whose target is `ignore`
///   Memory  dlogits may be logits       Dtype, Cost, Errors  as cross_entropy; dloss as loss
void cross_entropy_backward(dtype type, std::int64_t outer, std::int64_t classes,
                            std::int64_t inner, void const* logits, class_targets const& targets,
                            void const* lse, void const* dloss, void* dlogits);

}  // namespace ricci::kernels
