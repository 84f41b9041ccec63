#include "src/graph/value.hpp"

namespace ricci::graph {

handle unshared(handle x) {
  evaluate(x);
  value const& v = *x.get();
  bool const sole = v.references.load() == 1 && v.storage.is_unique() && is_packed(v.order) && v.levels == 0;
  return sole ? x : copied(x);
}

}  // namespace ricci::graph
