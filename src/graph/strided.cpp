#include "src/graph/strided.hpp"

#include <cstring>

namespace ricci::graph {
namespace {
void go(value const& to, value const& from, int d, char* t, char const* f, std::int64_t size) {
  if (d == to.rank) {
    std::memcpy(t, f, size);
    return;
  }
  for (std::int64_t i = 0; i < to.extents[d]; ++i)
    go(to, from, d + 1, t + i * to.strides[d] * size, f + i * from.strides[d] * size, size);
}
}  // namespace
void copy_strided(value const& to, value const& from) {
  go(to, from, 0, (char*)to.data, (char const*)from.data, size_of(to.type));
}
void fill_zero(value& v) { std::memset(v.data, 0, v.count * size_of(v.type)); }
}  // namespace ricci::graph
