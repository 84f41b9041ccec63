#include "src/graph/strided.hpp"

#include <cstring>

namespace ricci::graph {
namespace {
void go(int rank, std::int64_t const* e, int d, char* t, std::int64_t const* ts, char const* f, std::int64_t const* fs, std::int64_t size) {
  if (d == rank) {
    std::memcpy(t, f, size);
    return;
  }
  for (std::int64_t i = 0; i < e[d]; ++i)
    go(rank, e, d + 1, t + i * ts[d] * size, ts, f + i * fs[d] * size, fs, size);
}
}  // namespace
void copy_strided(dtype type, int rank, std::int64_t const* extents, void* to,
                  std::int64_t const* to_strides, void const* from,
                  std::int64_t const* from_strides) {
  go(rank, extents, 0, (char*)to, to_strides, (char const*)from, from_strides, size_of(type));
}
void copy_strided(value const& to, value const& from) {
  copy_strided(to.type, to.rank, to.extents, to.data, to.strides, from.data, from.strides);
}
void fill_zero(value& v) { std::memset(v.data, 0, v.count * size_of(v.type)); }
}  // namespace ricci::graph
