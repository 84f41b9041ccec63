#include <ricci/plan/explain.hpp>

#include <ostream>

#include "src/plan/explained.hpp"

namespace ricci {

explanation::explanation(graph::handle const& x)
    : plan_(std::make_shared<detail::explained const>(x)) {}

std::string explanation::text() const { return detail::explained_text(*plan_); }
std::string explanation::json() const { return detail::explained_json(*plan_); }
std::string explanation::dot() const { return detail::explained_drawing(*plan_); }
plan_totals const& explanation::totals() const { return plan_->totals; }
int explanation::step_count() const { return static_cast<int>(plan_->steps.size()); }
plan_step const& explanation::step(int i) const {
  return plan_->steps.at(static_cast<std::size_t>(i));
}

std::ostream& operator<<(std::ostream& out, explanation const& e) { return out << e.text(); }

}  // namespace ricci
