#include <ricci/plan/polynomial.hpp>

#include <ostream>

namespace ricci::detail {

std::string polynomial_text(polynomial_term const* terms, int count, axes_list axes) {
  if (count == 0) return "0";
  std::string text;
  for (int t = 0; t < count; ++t) {
    if (t > 0) text += " + ";
    text += std::to_string(terms[t].numerator);
    if (terms[t].denominator != 1) text += "/" + std::to_string(terms[t].denominator);
    for (int i = 0; i < axes.rank; ++i) {
      int const power = terms[t].power[i];
      if (power == 0) continue;
      text += " " + std::string(axes.axes[i]->view());
      if (power != 1) text += "^" + std::to_string(power);
    }
  }
  return text;
}

std::ostream& print_polynomial(std::ostream& out, polynomial_term const* terms, int count,
                               axes_list axes) {
  return out << polynomial_text(terms, count, axes);
}

}  // namespace ricci::detail
