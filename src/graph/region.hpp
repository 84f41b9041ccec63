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

/// Runs it; the sources are evaluated. Every root has the extents of the first.
void run(region& r, value* const* roots, int count);

}  // namespace ricci::graph
