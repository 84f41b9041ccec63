#pragma once

#include "tests/contractions/equation.hpp"

namespace ricci::contractions {

/// One of the nested loops' axes: its strides in up to three arrays, and a number for each position
/// (none: all 1), which come again after `period` positions. As many numbers as the longest block
/// is long stand behind `period` again.
struct loop_axis {
  std::int64_t extent = 1;
  std::int64_t stride[3] = {};
  float const* weights = nullptr;
  std::int64_t period = 1;
};

/// A nest of loops, slowest first, cut into blocks that share one table of offsets: what the
/// references loop over, however long or short the axes are.
///   Value  element j of a block lies at base[t] + offsets(t)[j]; its weight, the product of the
///          axes', is weight * inner_weights()[j] * chopped[chopped_places()[j]]
///   Source The fastest axes stand in the table as a whole, the next one is chopped, the others are
///          counted by the number of the block
class place_blocks {
 public:
  struct block {
    std::int64_t base[3] = {};
    std::int64_t size = 0;
    float weight = 1;
    float const* chopped = nullptr;
  };

  place_blocks(std::vector<loop_axis> slowest_first, std::int64_t longest_block);

  std::int64_t blocks() const { return blocks_; }
  block at(std::int64_t number) const;
  /// Is offsets(0)[j] = j everywhere?
  bool is_contiguous() const { return is_contiguous_; }
  std::int64_t const* offsets(int array) const { return offsets_[array].data(); }
  float const* inner_weights() const { return inner_weights_.data(); }
  std::int32_t const* chopped_places() const { return chopped_places_.data(); }

 private:
  std::vector<loop_axis> outer_;
  loop_axis chopped_;        // extent 1 where all axes stand in the table
  std::int64_t step_ = 1;    // positions of the chopped axis in a block
  std::int64_t chunks_ = 1;  // blocks along it
  std::int64_t inner_ = 1;   // elements of the axes in the table
  std::int64_t blocks_ = 1;
  bool is_contiguous_ = true;
  std::vector<std::int64_t> offsets_[3];
  std::vector<float> inner_weights_;
  std::vector<std::int32_t> chopped_places_;
};

}  // namespace ricci::contractions
