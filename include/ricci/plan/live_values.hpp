#pragma once

#include <ricci/plan/statement.hpp>

namespace ricci::detail {

/// A value while a statement is followed through its evaluation.
struct live_value {
  int references = 0;
  int storage = -1;
  int next = -1;  // among those to be taken apart
  bool is_evaluated = false;
  bool has_inputs = true;
  bool is_whole = false;  // its data is where its storage begins
  layout order;
};

/// Which values and which memory are there, as src/graph keeps and frees them.
class live_values {
 public:
  /// @pre  room for value_count values and storage_count + value_count storages
  constexpr live_values(statement const& s, live_value* values, statement_storage* storages)
      : s(s), v(values), m_(storages) {
    for (int i = 0; i < s.storage_count; ++i) m_[i] = s.storages[i];
    for (int i = 0; i < s.value_count; ++i) {
      statement_value const& from = s.values[i];
      v[i].references = from.references;
      if (from.kind != value_kind::leaf) continue;
      v[i].is_evaluated = true;
      v[i].storage = from.storage;
      v[i].order = from.order;
      v[i].is_whole = from.is_whole_storage;
    }
  }

  constexpr std::int64_t live() const { return live_; }
  constexpr std::int64_t peak() const { return peak_; }
  /// The most since the last call.
  constexpr std::int64_t take_recent_peak() {
    std::int64_t const recent = recent_;
    recent_ = live_;
    return recent;
  }
  constexpr void add(std::int64_t bytes) {
    live_ = saturating_sum(live_, bytes);
    if (live_ > peak_) peak_ = live_;
    if (live_ > recent_) recent_ = live_;
    if (live_ - workspace_ > value_peak_) value_peak_ = live_ - workspace_;
  }
  constexpr void remove(std::int64_t bytes) { live_ -= bytes; }
  /// The same of packed operands and products: no values, but of role workspace.
  constexpr void add_workspace(std::int64_t bytes) {
    workspace_ = saturating_sum(workspace_, bytes);
    add(bytes);
  }
  constexpr void remove_workspace(std::int64_t bytes) {
    workspace_ -= bytes;
    remove(bytes);
  }
  /// The peak of values alone.
  constexpr std::int64_t value_peak() const { return value_peak_; }

  constexpr std::int64_t bytes_of(int id) const {
    return saturating_product(s.values[id].count, size_of(s.values[id].type));
  }
  /// New packed storage; `counted`: its bytes were added before.
  constexpr void allocate(int id, bool counted = false) {
    int const at = s.storage_count + id;
    m_[at] = {bytes_of(id), 1, false};
    if (!counted) add(m_[at].bytes);
    v[id].storage = at;
    set_packed(id);
  }
  constexpr void set_storage_bytes(int id, std::int64_t bytes) { m_[v[id].storage].bytes = bytes; }
  constexpr void set_packed(int id) {
    v[id].order = layout::packed(s.values[id].rank);
    v[id].is_whole = true;
  }
  /// Views of as many elements as there are begin where these begin, unless they run backwards.
  constexpr void share(int id, int owner) {
    v[id].storage = v[owner].storage;
    v[id].is_whole = v[owner].is_whole;
    if (v[id].storage >= 0) ++m_[v[id].storage].references;
  }
  constexpr bool is_new(int id) const { return v[id].storage >= s.storage_count; }
  constexpr std::int64_t storage_bytes(int id) const { return m_[v[id].storage].bytes; }

  /// Does the value own all of packed storage that may be written over?
  constexpr bool is_sole_owner(int id) const {
    live_value const& x = v[id];
    if (x.storage < 0 || !x.is_whole) return false;
    statement_storage const& memory = m_[x.storage];
    return memory.references == 1 && !memory.is_borrowed && memory.bytes == bytes_of(id);
  }
  /// y stands where x stood.
  constexpr void take_over(int y, int x) {
    share(y, x);
    set_packed(y);
  }

  constexpr void mark_evaluated(int id) {
    v[id].is_evaluated = true;
    if (!s.values[id].is_recorded) drop_inputs(id);
  }

  statement const& s;
  live_value* v;

 private:
  constexpr void drop_inputs(int id) {
    if (!v[id].has_inputs) return;
    v[id].has_inputs = false;
    for (int i = 0; i < s.values[id].inputs; ++i) release(s.input(id, i));
  }
  constexpr void release(int id) {
    if (--v[id].references != 0) return;
    v[id].next = dying_;
    dying_ = id;
    if (taking_apart_) return;
    taking_apart_ = true;
    while (dying_ >= 0) {
      int const x = dying_;
      dying_ = v[x].next;
      drop_inputs(x);
      if (v[x].storage < 0) continue;
      statement_storage& memory = m_[v[x].storage];
      if (--memory.references == 0 && !memory.is_borrowed) remove(memory.bytes);
    }
    taking_apart_ = false;
  }

  statement_storage* m_;
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t recent_ = 0;
  std::int64_t workspace_ = 0;
  std::int64_t value_peak_ = 0;
  int dying_ = -1;
  bool taking_apart_ = false;
};

}  // namespace ricci::detail
