#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A pairwise contraction by the letters of its equation; independent of the library.
namespace ricci::contractions {

/// The tensors of a contraction.
enum tensor_id { in_a, in_b, in_result, tensors };

/// One letter: its extent, and its stride in each tensor, in elements. A letter that stands twice
/// in a tensor is its diagonal: the strides add up. 0 where the tensor lacks it.
struct letter_axis {
  char letter = 0;
  std::int64_t extent = 1;
  std::int64_t stride[tensors] = {};
  bool stands_in[tensors] = {};
};

/// All letters of an equation on packed row-major tensors.
struct equation {
  std::vector<letter_axis> letters;
  std::vector<std::int64_t> extents[tensors];  // of each tensor's axes, in order

  std::int64_t elements(tensor_id t) const;
  std::int64_t products() const;             // over all letters
  std::int64_t products_an_element() const;  // over those that the result lacks

  /// The letters of a tensor, by falling stride.
  std::vector<letter_axis> letters_of(tensor_id t) const;
  /// `a=1 c=4`: where an element of the result lies.
  std::string place(std::int64_t result_element) const;
};

/// Reads `ab,bc->ac` and `a=2 b=3 c=4`.
///   Errors  std::invalid_argument
equation read_equation(std::string_view text, std::string_view extents);

}  // namespace ricci::contractions
