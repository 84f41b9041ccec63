#include "src/contract_choice.hpp"

#include <algorithm>
#include <memory>

namespace ricci::exec {
namespace {

// All that the choice depends on, as numbers.
struct choice_key {
  std::uint64_t words[2 * 4 + 3 * 3 + max_indices + 1] = {};
  int count = 0;
  std::uint64_t hash = 0;

  explicit choice_key(contraction_request const& r) {
    add(static_cast<std::uint64_t>(r.type) | static_cast<std::uint64_t>(r.result_type) << 8 |
        static_cast<std::uint64_t>(r.forced) << 16 | std::uint64_t{r.has_epilogue} << 24 |
        static_cast<std::uint64_t>(r.result_rank) << 32 | std::uint64_t{r.a.known.rank} << 40 |
        std::uint64_t{r.b.known.rank} << 48);
    std::uint32_t present = 0;
    for (contraction_tensor const* t : {&r.a, &r.b}) {
      add(t->known.order_low);
      add(t->known.order_high);
      add(t->known.links | std::uint64_t{t->known.ordered} << 56);
      add_ids(t->index, t->known.rank);
      for (int i = 0; i < t->known.rank; ++i) present |= std::uint32_t{1} << t->index[i];
    }
    add_ids(r.result, r.result_rank);
    for (int id = 0; id < max_indices; ++id)
      if (present >> id & 1) add(static_cast<std::uint64_t>(r.extent[id]));
  }
  friend bool operator==(choice_key const& x, choice_key const& y) {
    return x.count == y.count && x.hash == y.hash &&
           std::equal(x.words, x.words + x.count, y.words);
  }

 private:
  void add(std::uint64_t word) {
    words[count++] = word;
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  // Eight ids a word; the ranks tell how many words there are.
  void add_ids(std::uint8_t const* ids, int rank) {
    for (int first = 0; first < rank; first += 8) {
      std::uint64_t word = 0;
      for (int i = first; i < std::min(rank, first + 8); ++i)
        word |= std::uint64_t{ids[i]} << (8 * (i - first));
      add(word);
    }
  }
};

struct remembered {
  std::unique_ptr<choice_key const> key;
  contraction_candidate chosen;
};

constexpr std::size_t most_remembered = 256;

}  // namespace

contraction_request request_of(contraction_terms const& terms, dtype type, dtype result_type,
                               bool has_epilogue, lowering_code forced) {
  contraction_request r;
  r.a = planned_tensor(terms, true);
  r.b = planned_tensor(terms, false);
  r.result_rank = terms.result_rank;
  for (int i = 0; i < terms.result_rank; ++i) r.result[i] = terms.result[i];
  for (int id = 0; id < max_indices; ++id) r.extent[id] = terms.of[id].extent;
  r.type = type;
  r.result_type = result_type;
  r.has_epilogue = has_epilogue;
  r.forced = forced;
  return r;
}

contraction_candidate const& chosen_lowering(contraction_request const& request) {
  thread_local auto const all = std::make_unique<remembered[]>(most_remembered);
  choice_key const key(request);
  remembered& slot = all[key.hash % most_remembered];
  if (slot.key && *slot.key == key) return slot.chosen;
  slot.chosen = candidates_of(request).best();
  slot.key = std::make_unique<choice_key const>(key);
  return slot.chosen;
}

}  // namespace ricci::exec
