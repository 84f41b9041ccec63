#include "kernels/embedding/embedding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/parallel/parallel.hpp"
#include "kernels/simd/extents.hpp"
#include "kernels/simd/row.hpp"
#include "kernels/simd/visit_float.hpp"
#include "kernels/simd/visit_index.hpp"

namespace ricci::kernels {
namespace {

template <class I>
void check_ids(I const* ids, std::int64_t count, std::int64_t vocab, char const* who) {
  for (std::int64_t n = 0; n < count; ++n) {
    auto const id = static_cast<std::int64_t>(ids[n]);
    if (id >= 0 && id < vocab) continue;
    std::string sentence(who);
    sentence += ": the index at position " + std::to_string(n) + " is " + std::to_string(id);
    sentence += ", and the axis has extent " + std::to_string(vocab) + "; positions count from 0.";
    throw index_error(sentence);
  }
}

// Copies row ids[n] to row n for [begin, end) of the outer * count rows; Bytes 0: row_bytes of
// them.
template <std::size_t Bytes, class I>
void copy_rows(std::int64_t begin, std::int64_t end, std::int64_t vocab, std::int64_t row_bytes,
               std::byte const* table, I const* ids, std::int64_t count, std::byte* y) {
  std::int64_t const step = Bytes > 0 ? static_cast<std::int64_t>(Bytes) : row_bytes;
  std::int64_t o = begin / count;
  std::int64_t n = begin % count;
  for (std::int64_t row = begin; row < end; ++row) {
    std::byte const* const from = table + (o * vocab + static_cast<std::int64_t>(ids[n])) * step;
    std::memcpy(y + row * step, from, Bytes > 0 ? Bytes : static_cast<std::size_t>(row_bytes));
    if (++n == count) {
      n = 0;
      ++o;
    }
  }
}

/// The positions of each id, ascending: a counting sort.
struct positions_by_id {
  std::vector<std::int64_t> starts;     // [vocab + 1]
  std::vector<std::int64_t> positions;  // [count]

  template <class I> positions_by_id(I const* ids, std::int64_t count, std::int64_t vocab)
      : starts(static_cast<std::size_t>(vocab) + 1), positions(static_cast<std::size_t>(count)) {
    for (std::int64_t n = 0; n < count; ++n) ++starts[static_cast<std::size_t>(ids[n]) + 1];
    for (std::int64_t v = 0; v < vocab; ++v) starts[v + 1] += starts[v];
    std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
    for (std::int64_t n = 0; n < count; ++n)
      positions[next[static_cast<std::size_t>(ids[n])]++] = n;
  }

  // The first id at or after `share` of `shares` equal parts of the work, a unit for each id and
  // for each position.
  std::int64_t split(std::int64_t share, std::int64_t shares) const {
    auto const vocab = static_cast<std::int64_t>(starts.size()) - 1;
    std::int64_t const work = vocab + static_cast<std::int64_t>(positions.size());
    std::int64_t const goal = work / shares * share + work % shares * share / shares;
    std::int64_t low = 0;
    std::int64_t high = vocab;
    while (low < high) {
      std::int64_t const middle = low + (high - low) / 2;
      if (starts[middle] + middle < goal)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

// dtable[v, 0 ... width) of one outer index, its inner axis cut to width elements.
template <class T> void sum_row_of(positions_by_id const& by_id, std::int64_t v, std::int64_t inner,
                                   std::int64_t width, T const* dy, T* to, accumulator_t<T>* room) {
  using C = accumulator_t<T>;
  std::int64_t const begin = by_id.starts[v];
  std::int64_t const end = by_id.starts[v + 1];
  C* sum = room;
  if constexpr (std::is_same_v<T, C>) sum = to;
  std::fill(sum, sum + width, C(0));
  for (std::int64_t k = begin; k < end; ++k) {
    T const* const row = dy + by_id.positions[k] * inner;
    if (width == 1)
      sum[0] += static_cast<C>(row[0]);
    else
      simd::for_row<C>(width, [&](auto at) { at.store(sum, at.load(sum) + at.load(row)); });
  }
  if constexpr (!std::is_same_v<T, C>)
    simd::for_row<C>(width, [&](auto at) { at.store(to, at.load(room)); });
}

template <class T> void backward(std::int64_t outer, std::int64_t vocab, std::int64_t inner,
                                 T const* dy, std::int64_t count, positions_by_id const& by_id,
                                 T* dtable) {
  // The table is cut by work and its rows into pieces, so that one frequent id is shared too.
  constexpr std::int64_t piece = 256;
  std::int64_t const pieces = (inner - 1) / piece + 1;
  std::int64_t const elements = (vocab + count) * std::min(inner, piece);
  std::int64_t const shares = std::clamp<std::int64_t>(elements / 16384, 1, 64);
  auto const run = [&](std::int64_t task) {
    std::int64_t const o = task / (shares * pieces);
    std::int64_t const share = task / pieces % shares;
    std::int64_t const c = task % pieces * piece;
    std::int64_t const width = std::min(piece, inner - c);
    accumulator_t<T> room[piece];
    std::int64_t const end = share + 1 == shares ? vocab : by_id.split(share + 1, shares);
    for (std::int64_t v = by_id.split(share, shares); v < end; ++v)
      sum_row_of<T>(by_id, v, inner, width, dy + o * count * inner + c,
                    dtable + (o * vocab + v) * inner + c, room);
  };
  std::int64_t const grain = elements < 16384 ? 16384 / (elements + 1) + 1 : 1;
  parallel_chunks(outer * shares * pieces, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) run(task);
  });
}

}  // namespace

void take(std::int64_t outer, std::int64_t vocab, std::int64_t inner, std::int64_t element_bytes,
          void const* table, index_list const& ids, void* y) {
  checked_count({outer, vocab, inner, element_bytes}, "take");
  std::int64_t const bytes = checked_count({outer, ids.count, inner, element_bytes}, "take");
  visit_index(ids.type, "take", [&]<class I>(std::type_identity<I>) {
    auto const* const index = static_cast<I const*>(ids.data);
    check_ids(index, ids.count, vocab, "take");
    if (bytes == 0) return;
    std::int64_t const row_bytes = inner * element_bytes;
    auto const* const from = static_cast<std::byte const*>(table);
    auto* const to = static_cast<std::byte*>(y);
    std::int64_t const grain = std::max<std::int64_t>(1, 65536 / (row_bytes + 8));
    parallel_chunks(outer * ids.count, grain, [&](std::int64_t begin, std::int64_t end) {
      auto const copy = [&]<std::size_t Bytes>(std::integral_constant<std::size_t, Bytes>) {
        copy_rows<Bytes>(begin, end, vocab, row_bytes, from, index, ids.count, to);
      };
      switch (row_bytes) {
        case 1:
          return copy(std::integral_constant<std::size_t, 1>{});
        case 2:
          return copy(std::integral_constant<std::size_t, 2>{});
        case 4:
          return copy(std::integral_constant<std::size_t, 4>{});
        case 8:
          return copy(std::integral_constant<std::size_t, 8>{});
        default:
          return copy(std::integral_constant<std::size_t, 0>{});
      }
    });
  });
}

void take_backward(dtype type, std::int64_t outer, std::int64_t vocab, std::int64_t inner,
                   void const* dy, index_list const& ids, void* dtable) {
  std::int64_t const elements = checked_count({outer, vocab, inner}, "take_backward");
  checked_count({outer, ids.count, inner}, "take_backward");
  visit_index(ids.type, "take_backward", [&]<class I>(std::type_identity<I>) {
    auto const* const index = static_cast<I const*>(ids.data);
    check_ids(index, ids.count, vocab, "take_backward");
    visit_float(type, "take_backward", [&]<class T>(std::type_identity<T>) {
      if (elements == 0) return;
      backward<T>(outer, vocab, inner, static_cast<T const*>(dy), ids.count,
                  positions_by_id(index, ids.count, vocab), static_cast<T*>(dtable));
    });
  });
}

}  // namespace ricci::kernels
