#pragma once

#include <cstdint>

#include "kernels/pointwise/pointwise.hpp"
#include "src/graph/value.hpp"

/// Private to src/graph: what one fused loop computes.
namespace ricci::graph {

/// The pointwise values that one loop computes, down to what it reads from memory.
///   @post each node stands after those of its inputs that are nodes
struct region {
  struct node {
    value* v;
    bool is_exclusive;  // nobody but this loop will ever ask for it
  };
  struct source {
    value* v;
    bool is_exclusive;
  };
  node nodes[kernels::max_pointwise_instructions];
  source sources[kernels::max_pointwise_operands];
  value* numbers[kernels::max_pointwise_constants];
  int node_count = 0;
  int source_count = 0;
  int number_count = 0;

  int find_node(value const* v) const;
  int find_source(value const* v) const;
  int find_number(value const* v) const;
};

/// The largest region below `root`. Where it does not fit a program, values inside of it are
/// evaluated on the way until it does.
///   @pre  root.is_open()
void collect(region& r, value& root);

/// Lets contractions below the region take what stands directly above them as their epilogue.
///   Value   whether `root` is evaluated now; otherwise the region has to be collected again where
///           `changed` says so
bool fold_into_contractions(region const& r, value& root, bool& changed);

/// A region as a program over the places of `loop`, whose axes are the region's.
///   @pre  the sources are evaluated
class loop_program {
 public:
  loop_program(region const& r, value const& loop);
  /// What the program calls a node of the region.
  kernels::pointwise_value name_of(value const* v) const;
  kernels::pointwise_program with_outputs(kernels::pointwise_output const* outputs,
                                          int count) const;

 private:
  region const& r_;
  value const& loop_;
  int used_ = 0;
  std::int64_t room_[kernels::max_pointwise_operands][max_rank];
  kernels::pointwise_operand operands_[kernels::max_pointwise_operands];
  kernels::pointwise_constant constants_[kernels::max_pointwise_constants];
  kernels::pointwise_instruction instructions_[kernels::max_pointwise_instructions];
  kernels::pointwise_value names_[kernels::max_pointwise_instructions];
};

/// Collects the region below `root`, folds what it can into contractions, evaluates the sources.
///   Value   whether root is evaluated now, as the end of a contraction
bool prepare(region& r, value& root);

/// Runs it. Every root has the extents of the first; their storage is allocated here.
void run(region const& r, value* const* roots, int count);

/// Evaluates several values of the same axes and extents in one loop, where nothing has to be
/// evaluated before and they read mostly the same. Whether it did.
///   @pre  each root.is_open()
bool run_together(value* const* roots, int count);

}  // namespace ricci::graph
