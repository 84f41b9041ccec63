#include "tests/contractions/place_blocks.hpp"

#include <algorithm>

namespace ricci::contractions {
namespace {

float const one = 1;

}  // namespace

place_blocks::place_blocks(std::vector<loop_axis> slowest_first, std::int64_t longest_block)
    : outer_(std::move(slowest_first)) {
  std::vector<loop_axis> inner;
  while (!outer_.empty() && inner_ * outer_.back().extent <= longest_block) {
    inner_ *= outer_.back().extent;
    inner.insert(inner.begin(), outer_.back());
    outer_.pop_back();
  }
  if (!outer_.empty()) {
    chopped_ = outer_.back();
    outer_.pop_back();
    step_ = std::max<std::int64_t>(inner_ > 0 ? longest_block / inner_ : 1, 1);
    chunks_ = (chopped_.extent + step_ - 1) / step_;
  }
  blocks_ = inner_ > 0 ? chunks_ : 0;
  for (loop_axis const& axis : outer_) blocks_ *= axis.extent;
  if (blocks_ == 0) return;

  std::int64_t const size = inner_ * std::min(step_, chopped_.extent);
  for (auto& table : offsets_) table.resize(static_cast<std::size_t>(size));
  inner_weights_.resize(static_cast<std::size_t>(size));
  chopped_places_.resize(static_cast<std::size_t>(size));
  for (std::int64_t j = 0; j < size; ++j) {
    std::size_t const at = static_cast<std::size_t>(j);
    std::int64_t rest = j % inner_;
    float weight = 1;
    std::int64_t offset[3];
    for (int t = 0; t < 3; ++t) offset[t] = j / inner_ * chopped_.stride[t];
    for (std::size_t i = inner.size(); i-- > 0; rest /= inner[i].extent) {
      std::int64_t const position = rest % inner[i].extent;
      for (int t = 0; t < 3; ++t) offset[t] += position * inner[i].stride[t];
      if (inner[i].weights != nullptr) weight *= inner[i].weights[position % inner[i].period];
    }
    for (int t = 0; t < 3; ++t) offsets_[t][at] = offset[t];
    is_contiguous_ = is_contiguous_ && offset[0] == j;
    inner_weights_[at] = weight;
    chopped_places_[at] =
        chopped_.weights != nullptr ? static_cast<std::int32_t>(j / inner_) : std::int32_t{0};
  }
}

place_blocks::block place_blocks::at(std::int64_t number) const {
  block b;
  std::int64_t const begin = number % chunks_ * step_;
  std::int64_t rest = number / chunks_;
  b.size = inner_ * std::min(step_, chopped_.extent - begin);
  b.chopped = chopped_.weights != nullptr ? chopped_.weights + begin % chopped_.period : &one;
  for (int t = 0; t < 3; ++t) b.base[t] = begin * chopped_.stride[t];
  for (std::size_t i = outer_.size(); i-- > 0; rest /= outer_[i].extent) {
    std::int64_t const position = rest % outer_[i].extent;
    for (int t = 0; t < 3; ++t) b.base[t] += position * outer_[i].stride[t];
    if (outer_[i].weights != nullptr) b.weight *= outer_[i].weights[position % outer_[i].period];
  }
  return b;
}

}  // namespace ricci::contractions
