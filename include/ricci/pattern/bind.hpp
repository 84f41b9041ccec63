#pragma once

#include <ricci/error/message.hpp>
#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/pattern_spec.hpp>

#include <cstdint>
#include <string_view>

/// Reads a pattern (design: the grammar below) and binds its names to the axes of the operands.
///   pattern := group (',' group)* '->' group
///   group   := item*
///   item    := name | name '=' index | '...'
///   index   := name | '(' (name | integer)+ ')'
///   name    := [a-z_][a-z0-9_]* followed by any number of '
/// One plain function serves every operation, operand count and rank, so that a further pattern
/// costs the evaluation of a constant expression and nothing else.
namespace ricci {

/// The operations that take a pattern.
enum class word : std::uint8_t { einsum, rearrange, reduce, repeat };

namespace detail {

constexpr char const* name_of(word w) {
  constexpr char const* names[] = {"einsum", "rearrange", "reduce", "repeat"};
  return names[static_cast<int>(w)];
}


/// A pattern with its names resolved.
struct bound_pattern {
  static constexpr int extra = 1024;

  graph::pattern_spec spec{};
  int result_rank = 0;
  /// Where the type of each result axis stands: operand * 32 + axis, or `extra` + place among the
  /// types after the pattern.
  std::int16_t source[max_rank]{};
  bool valid = false;
};

/// The state of one binding. `why`, where there is one, receives the sentence of a refusal; without
/// it a refusal only leaves `valid` false, which is what the accepting path compiles.
class binder {
 public:
  constexpr binder(word w, std::string_view text, axes_list const* operands, int count,
                   axes_list extra, std::uint32_t given, message* why)
      : word_(w), text_(text), operands_(operands), count_(count), extra_(extra), given_(given),
        why_(why) {}

  constexpr bound_pattern run() {
    out_.spec.who = name_of(word_);
    out_.spec.text = text_.data();
    out_.spec.operands = static_cast<std::int16_t>(count_);
    out_.valid = one_type_a_name() && left_side() && result_group() && everything_used() &&
                 resolve_extents();
    return out_;
  }

 private:
  graph::pattern_spec& spec() { return out_.spec; }

  // --- failing --------------------------------------------------------------------------------
  constexpr message& because() { return *why_ << name_of(word_) << ": "; }
  /// The pattern with the place marked: `i k -> i >>k<<`.
  constexpr void show_place(int begin, int end) {
    *why_ << ", in `" << text_.substr(0, begin) << ">>" << text_.substr(begin, end - begin) << "<<"
          << text_.substr(end) << "`";
  }
  constexpr bool fail_at(std::string_view fact, int begin, int end) {
    if (why_) {
      because() << fact;
      show_place(begin, end);
    }
    return false;
  }
  constexpr message& operand(int g) { return *why_ << "operand " << g + 1; }

  // --- scanning -------------------------------------------------------------------------------
  constexpr int size() const { return static_cast<int>(text_.size()); }
  constexpr char peek() {
    while (at_ < size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < size() ? text_[at_] : '\0';
  }
  constexpr bool at_arrow() { return peek() == '-' && at_ + 1 < size() && text_[at_ + 1] == '>'; }
  constexpr bool at_group_end() {
    char const c = peek();
    return c == '\0' || c == ',' || at_arrow();
  }
  static constexpr bool starts_name(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  constexpr std::string_view scan_name() {
    int const begin = at_;
    while (at_ < size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    while (at_ < size() && text_[at_] == '\'') ++at_;
    return text_.substr(begin, at_ - begin);
  }
  constexpr bool scan_dots() {
    if (at_ + 2 < size() && text_[at_ + 1] == '.' && text_[at_ + 2] == '.') {
      at_ += 3;
      return true;
    }
    return fail_at("an ellipsis has three dots", at_, at_ + 1);
  }
  constexpr bool unexpected() {
    int const begin = at_;
    switch (text_[begin]) {
      case '(': return fail_at("parentheses hold the factors of an axis: write `axis=(p q)`", begin, begin + 1);
      case ')': return fail_at("a `)` without its `(`", begin, begin + 1);
      case '=': return fail_at("the left of `=` is an axis, its right an index", begin, begin + 1);
      default: break;
    }
    if (is_digit(text_[begin])) {
      while (at_ < size() && is_digit(text_[at_])) ++at_;
      return fail_at("a number stands for no axis by itself: write `axis=(p 2)`", begin, at_);
    }
    if (text_[begin] >= 'A' && text_[begin] <= 'Z')
      return fail_at("names are of small letters, digits and `_`", begin, begin + 1);
    return fail_at("a character that patterns do not have", begin, begin + 1);
  }

  // --- names ----------------------------------------------------------------------------------
  static constexpr bool equal(axis_info const* a, std::string_view name) {
    if (a->name_size != static_cast<int>(name.size())) return false;
    for (int i = 0; i < a->name_size; ++i)
      if (a->name[i] != name[i]) return false;
    return true;
  }
  static constexpr int find(axes_list const& list, std::string_view name) {
    for (int i = 0; i < list.rank; ++i)
      if (equal(list.axes[i], name)) return i;
    return -1;
  }
  constexpr std::string_view index_name(int id) const {
    return {out_.spec.name[id], static_cast<std::size_t>(out_.spec.name_size[id])};
  }
  constexpr int find_index(std::string_view name) const {
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (out_.spec.name_size[id] != static_cast<int>(name.size()) || !out_.spec.name[id]) continue;
      bool same = true;
      for (std::size_t i = 0; same && i < name.size(); ++i) same = out_.spec.name[id][i] == name[i];
      if (same) return id;
    }
    return -1;
  }
  constexpr int add_index(std::string_view name, std::int64_t extent) {
    if (out_.spec.indices == graph::max_indices) return -1;
    int const id = out_.spec.indices++;
    out_.spec.extent[id] = extent;
    out_.spec.name[id] = name.data();
    out_.spec.name_size[id] = static_cast<std::int8_t>(name.size());
    return id;
  }
  constexpr bool too_many() {
    if (why_) because() << "a pattern has at most " << graph::max_indices << " indices";
    return false;
  }
  constexpr axis_info const* info(int source) const {
    return source >= bound_pattern::extra ? extra_.axes[source - bound_pattern::extra]
                                          : operands_[source >> 5].axes[source & 31];
  }

  /// One name, one type, over all that meet here.
  constexpr bool one_type_a_name() {
    for (int g = 0; g <= count_; ++g) {
      axes_list const& list = g < count_ ? operands_[g] : extra_;
      for (int h = 0; h < g; ++h)
        for (int i = 0; i < list.rank; ++i) {
          axis_info const* const a = list.axes[i];
          for (int j = 0; j < operands_[h].rank; ++j) {
            axis_info const* const b = operands_[h].axes[j];
            if (a == b || a->name_size != b->name_size || a->name[0] != b->name[0]) continue;
            if (equal(a, b->view())) return two_types(b, h, a, g);
          }
        }
    }
    return true;
  }
  constexpr bool two_types(axis_info const* a, int first, axis_info const* b, int second) {
    if (!why_) return false;
    if (a->extent != b->extent && a->extent >= 0 && b->extent >= 0) {
      because() << "axis ";
      why_->quote(a->view()) << " has extent " << a->extent << " in ";
      operand(first) << " and " << b->extent << " in ";
      if (second < count_) operand(second);
      else *why_ << "the types after the pattern";
      return false;
    }
    because() << "two axis types are named ";
    why_->quote(a->view()) << " (in ";
    operand(first) << " and ";
    if (second < count_) operand(second);
    else *why_ << "the types after the pattern";
    *why_ << "): one name is one type";
    return false;
  }

  // --- extents --------------------------------------------------------------------------------
  constexpr bool set_extent(int id, std::int64_t extent, int source) {
    std::int64_t& have = out_.spec.extent[id];
    known_[id] = true;
    if (have < 0 || extent < 0) {
      if (have < 0) {
        have = extent;
        if (extent >= 0) origin_[id] = static_cast<std::int16_t>(source);
      }
      return true;
    }
    if (have == extent) return true;
    if (why_) two_extents(id, extent, source);
    return false;
  }
  constexpr void name_place(int source) {
    if (source >= result_place) *why_ << "the result";
    else operand(source >> 5);
  }
  constexpr void two_extents(int id, std::int64_t extent, int source) {
    axis_info const* const a = place_info(origin_[id]);
    axis_info const* const b = place_info(source);
    if (equal(a, b->view())) {
      because() << "axis ";
      why_->quote(a->view()) << " has extent " << out_.spec.extent[id] << " in ";
      name_place(origin_[id]);
      *why_ << " and " << extent << " in ";
      name_place(source);
    } else {
      because() << "index ";
      why_->quote(index_name(id)) << " has extent " << out_.spec.extent[id] << " as axis ";
      why_->quote(a->view()) << " of ";
      name_place(origin_[id]);
      *why_ << " and " << extent << " as axis ";
      why_->quote(b->view()) << " of ";
      name_place(source);
    }
  }
  constexpr axis_info const* place_info(int place) const {
    return place >= result_place ? info(out_.source[place - result_place]) : info(place);
  }

  // --- the operands ---------------------------------------------------------------------------
  constexpr bool left_side() {
    if (peek() == '\0') {
      if (why_) because() << "the pattern is empty: write `operand axes -> result axes`";
      return false;
    }
    for (int g = 0;; ++g) {
      if (g == count_) return count_differs(g + 1 + commas_left());
      if (!operand_group(g)) return false;
      if (peek() == ',') {
        ++at_;
        continue;
      }
      if (at_arrow()) {
        at_ += 2;
        return g + 1 == count_ || count_differs(g + 1);
      }
      if (peek() == '\0') return fail_at("the pattern has no `->`", size(), size());
      return unexpected();
    }
  }
  constexpr int commas_left() {
    int more = 0;
    for (int i = at_; i < size(); ++i) {
      if (text_[i] == ',') ++more;
      if (text_[i] == '-') break;
    }
    return more;
  }
  constexpr bool count_differs(int groups) {
    if (why_)
      because() << "the pattern has " << groups << (groups == 1 ? " operand" : " operands")
                << ", the call has " << count_;
    return false;
  }

  /// An index by its name, made where it is new. Returns -1 when there are too many.
  constexpr int index_of(std::string_view name) {
    int const id = find_index(name);
    return id >= 0 ? id : add_index(name, -1);
  }

  /// Reads `(p q 2)` and writes the ids behind `ids`. @return how many, 0 for a refusal.
  constexpr int factors(std::int8_t* ids, bool in_result) {
    int const open = at_++;
    int n = 0;
    for (;;) {
      char const c = peek();
      if (c == ')') break;
      int const begin = at_;
      int id = -1;
      if (starts_name(c)) {
        std::string_view const name = scan_name();
        id = in_result ? result_index(name, begin) : index_of(name);
        if (id < 0) return in_result ? 0 : (too_many(), 0);
      } else if (is_digit(c)) {
        std::int64_t value = 0;
        while (at_ < size() && is_digit(text_[at_])) {
          value = value * 10 + (text_[at_++] - '0');
          if (value > (std::int64_t{1} << 40)) {
            fail_at("a number beyond 2^40", begin, at_);
            return 0;
          }
        }
        if (in_result && word_ != word::repeat) {
          fail_at("a number in the result is an axis without a name (only repeat has it)", begin, at_);
          return 0;
        }
        if (!in_result && word_ == word::rearrange) {
          fail_at("a number is an index without a name, which rearrange cannot keep: name it", begin, at_);
          return 0;
        }
        id = add_index({}, value);
        if (id < 0) return too_many(), 0;
        out_.spec.name[id] = nullptr;
        known_[id] = true;
      } else if (c == '(') {
        fail_at("parentheses do not nest", begin, begin + 1);
        return 0;
      } else {
        if (c == '\0' || c == ',' || c == '-') fail_at("a `(` without its `)`", open, open + 1);
        else unexpected();
        return 0;
      }
      if (in_result && !use_in_result(id, begin)) return 0;
      ids[n++] = static_cast<std::int8_t>(id);
    }
    ++at_;
    if (n == 0) fail_at("an axis has at least one factor", open, at_);
    return n;
  }

  constexpr bool operand_group(int g) {
    axes_list const& op = operands_[g];
    std::int8_t ids[graph::max_indices + 1]{};
    std::int8_t start[max_rank]{};
    std::int8_t length[max_rank]{};
    int used = 0;
    bool dots = false;
    while (!at_group_end()) {
      int const begin = at_;
      if (text_[at_] == '.') {
        if (!scan_dots()) return false;
        if (dots) return fail_at("`...` stands twice in one group", begin, at_);
        dots = true;
        continue;
      }
      if (!starts_name(text_[at_])) return unexpected();
      std::string_view const name = scan_name();
      int const axis = find(op, name);
      if (axis < 0) return no_axis(g, name);
      if (length[axis] > 0) return fail_at("an axis is named twice in one operand", begin, at_);
      start[axis] = static_cast<std::int8_t>(used);
      if (peek() == '=') {
        ++at_;
        char const c = peek();
        if (c == '(') {
          int const n = factors(ids + used, false);
          if (n == 0) return false;
          length[axis] = static_cast<std::int8_t>(n);
          used += n;
          // One factor alone is the axis itself.
          if (n == 1 && out_.spec.name[ids[used - 1]] &&
              !set_extent(ids[used - 1], op.axes[axis]->extent, g * 32 + axis))
            return false;
          continue;
        }
        if (!starts_name(c))
          return fail_at("an index or its factors in parentheses stand after `=`", at_, at_ + 1);
        int const id = index_of(scan_name());
        if (id < 0) return too_many();
        ids[used++] = static_cast<std::int8_t>(id);
      } else {
        int const id = index_of(name);
        if (id < 0) return too_many();
        ids[used++] = static_cast<std::int8_t>(id);
      }
      length[axis] = 1;
      if (!set_extent(ids[used - 1], op.axes[axis]->extent, g * 32 + axis)) return false;
    }
    for (int axis = 0; axis < op.rank; ++axis) {
      if (length[axis] > 0) continue;
      if (!dots) return unnamed(g, axis);
      std::string_view const name = op.axes[axis]->view();
      int const id = index_of(name);
      if (id < 0) return too_many();
      for (int i = 0; i < used; ++i)
        if (ids[i] == id) return dots_clash(g, name);
      start[axis] = static_cast<std::int8_t>(used);
      length[axis] = 1;
      ids[used++] = static_cast<std::int8_t>(id);
      if (!set_extent(id, op.axes[axis]->extent, g * 32 + axis)) return false;
      dotted_ |= std::uint32_t{1} << id;
      dot_source_[id] = static_cast<std::int16_t>(g * 32 + axis);
    }
    emit(op.rank);
    for (int axis = 0; axis < op.rank; ++axis) emit_axis(ids + start[axis], length[axis]);
    return true;
  }
  constexpr void emit(int code) { out_.spec.code[out_.spec.code_size++] = static_cast<std::int8_t>(code); }
  constexpr void emit_axis(std::int8_t const* ids, int n) {
    emit(n);
    for (int i = 0; i < n; ++i) emit(ids[i]);
  }
  constexpr bool no_axis(int g, std::string_view name) {
    if (!why_) return false;
    because();
    operand(g) << " has no axis ";
    why_->quote(name);
    has_axes(operands_[g]);
    suggest(*why_, name, operands_[g].axes, operands_[g].rank);
    return false;
  }
  constexpr void has_axes(axes_list const& list) {
    if (list.rank == 0) {
      *why_ << " (it is a scalar)";
      return;
    }
    *why_ << " (it has: ";
    write_axes(*why_, list.axes, list.rank);
    *why_ << ")";
  }
  constexpr bool unnamed(int g, int axis) {
    if (!why_) return false;
    because();
    operand(g) << " has an axis ";
    why_->quote(operands_[g].axes[axis]->view()) << " that the pattern does not name";
    has_axes(operands_[g]);
    *why_ << "; name it or write `...`";
    return false;
  }
  constexpr bool dots_clash(int g, std::string_view name) {
    if (!why_) return false;
    because() << "axis ";
    why_->quote(name) << " of ";
    operand(g) << " stands under `...` and another of its axes is indexed by that name: name both";
    return false;
  }

  // --- the result -----------------------------------------------------------------------------
  constexpr int result_index(std::string_view name, int begin) {
    int const id = find_index(name);
    if (id >= 0) return id;
    if (word_ == word::repeat) {
      int const added = add_index(name, -1);
      if (added < 0) too_many();
      return added;
    }
    if (why_) {
      because() << "the result has an index ";
      why_->quote(name) << " that no operand has";
      suggest_index(name);
      show_place(begin, at_);
    }
    return -1;
  }
  constexpr void suggest_index(std::string_view name) {
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (!out_.spec.name[id] || !is_near(name, index_name(id))) continue;
      *why_ << "; did you mean ";
      why_->quote(index_name(id)) << "?";
      return;
    }
  }
  constexpr bool use_in_result(int id, int begin) {
    if (in_result_ >> id & 1) return fail_at("an index stands twice in the result", begin, at_);
    in_result_ |= std::uint32_t{1} << id;
    return true;
  }
  /// The type of a result axis: among the types after the pattern, then among the operands' axes.
  constexpr bool result_axis(std::string_view name, int begin) {
    int source = find(extra_, name);
    if (source >= 0) {
      extra_used_ |= std::uint32_t{1} << source;
      source += bound_pattern::extra;
    }
    for (int g = 0; source < 0 && g < count_; ++g)
      if (int const axis = find(operands_[g], name); axis >= 0) source = g * 32 + axis;
    if (source < 0) {
      if (why_) {
        because() << "the result has an axis ";
        why_->quote(name) << " that no operand has";
        if (extra_.rank > 0) {
          *why_ << ", and its type is not among those after the pattern (";
          write_axes(*why_, extra_.axes, extra_.rank);
          *why_ << ")";
          suggest(*why_, name, extra_.axes, extra_.rank);
        } else {
          for (int g = 0; g < count_; ++g) {
            int const before = why_->size;
            suggest(*why_, name, operands_[g].axes, operands_[g].rank);
            if (why_->size != before) return false;
          }
          *why_ << ": give its type after the pattern";
        }
      }
      return false;
    }
    for (int i = 0; i < out_.result_rank; ++i)
      if (equal(info(out_.source[i]), name))
        return fail_at("an axis stands twice in the result", begin, at_);
    if (out_.result_rank == max_rank) {
      if (why_) because() << "a tensor has at most " << max_rank << " axes";
      return false;
    }
    out_.source[out_.result_rank++] = static_cast<std::int16_t>(source);
    return true;
  }
  constexpr bool result_group() {
    int const place = out_.spec.code_size;
    emit(0);
    bool dots = false;
    int dots_code = 0;
    int dots_axis = 0;
    while (peek() != '\0') {
      int const begin = at_;
      if (text_[at_] == ',' || at_arrow()) return fail_at("one result group stands after `->`", at_, at_ + 1);
      if (text_[at_] == '.') {
        if (!scan_dots()) return false;
        if (dots) return fail_at("`...` stands twice in one group", begin, at_);
        dots = true;
        dots_code = out_.spec.code_size;
        dots_axis = out_.result_rank;
        continue;
      }
      if (!starts_name(text_[at_])) return unexpected();
      std::string_view const name = scan_name();
      int const name_end = at_;
      std::int8_t ids[graph::max_indices]{};
      int n = 1;
      if (peek() == '=') {
        ++at_;
        int const index_begin = (peek(), at_);
        if (peek() == '(') {
          n = factors(ids, true);
          if (n == 0) return false;
        } else {
          if (!starts_name(peek()))
            return fail_at("an index or its factors in parentheses stand after `=`", at_, at_ + 1);
          int const id = result_index(scan_name(), index_begin);
          if (id < 0 || !use_in_result(id, index_begin)) return false;
          ids[0] = static_cast<std::int8_t>(id);
        }
      } else {
        at_ = name_end;
        int const id = result_index(name, begin);
        if (id < 0 || !use_in_result(id, begin)) return false;
        ids[0] = static_cast<std::int8_t>(id);
      }
      if (!result_axis(name, begin)) return false;
      emit_axis(ids, n);
    }
    if (dots && !insert_dots(dots_code, dots_axis)) return false;
    out_.spec.code[place] = static_cast<std::int8_t>(out_.result_rank);
    return true;
  }
  /// Axes that stood under `...`, not named in the result, in order of first appearance.
  constexpr bool insert_dots(int code, int axis) {
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (!(dotted_ >> id & 1) || (in_result_ >> id & 1)) continue;
      for (int i = 0; i < out_.result_rank; ++i)
        if (equal(info(out_.source[i]), index_name(id))) {
          if (why_) {
            because() << "axis ";
            why_->quote(index_name(id)) << " stands under `...` and is another index's axis in the result";
          }
          return false;
        }
      in_result_ |= std::uint32_t{1} << id;
      if (out_.result_rank == max_rank) {
        if (why_) because() << "a tensor has at most " << max_rank << " axes";
        return false;
      }
      for (int i = out_.result_rank; i > axis; --i) out_.source[i] = out_.source[i - 1];
      out_.source[axis++] = dot_source_[id];
      ++out_.result_rank;
      for (int i = out_.spec.code_size + 1; i > code + 1; --i) out_.spec.code[i] = out_.spec.code[i - 2];
      out_.spec.code[code++] = 1;
      out_.spec.code[code++] = static_cast<std::int8_t>(id);
      out_.spec.code_size = static_cast<std::int16_t>(out_.spec.code_size + 2);
    }
    return true;
  }
  constexpr bool everything_used() {
    for (int i = 0; i < extra_.rank; ++i) {
      if (extra_used_ >> i & 1) continue;
      if (why_) {
        because() << "the axis ";
        why_->quote(extra_.axes[i]->view()) << " is given after the pattern, but the result has no such axis";
      }
      return false;
    }
    if (word_ == word::rearrange || word_ == word::repeat)
      for (int id = 0; id < out_.spec.indices; ++id) {
        if (in_result_ >> id & 1) continue;
        if (why_) {
          because() << "index ";
          if (out_.spec.name[id]) why_->quote(index_name(id));
          else *why_ << out_.spec.extent[id];
          *why_ << " is not in the result, but " << name_of(word_)
                << " keeps every element (reduce drops axes)";
        }
        return false;
      }
    return true;
  }

  // --- composite axes -------------------------------------------------------------------------
  constexpr bool resolve_extents() {
    int at = 0;
    for (int g = 0; g < count_; ++g) skip_group(at);
    // The result's own axes: static extents, and those given by value.
    int const result = at;
    ++at;
    for (int i = 0; i < out_.result_rank; ++i) {
      int const n = out_.spec.code[at];
      int const source = out_.source[i];
      bool const is_given = source >= bound_pattern::extra && (given_ >> (source - bound_pattern::extra) & 1);
      if (n == 1 && out_.spec.name[out_.spec.code[at + 1]]) {
        int const id = out_.spec.code[at + 1];
        if (info(source)->extent >= 0) {
          if (!set_extent(id, info(source)->extent, result_place + i)) return false;
        } else if (is_given) {
          known_[id] = true;
        }
      }
      at += n + 1;
    }
    for (bool changed = true; changed;) {
      changed = false;
      at = 0;
      for (int g = 0; g < count_; ++g) {
        int const rank = out_.spec.code[at++];
        for (int axis = 0; axis < rank; ++axis)
          if (!composite(at, info(g * 32 + axis), true, changed)) return false;
      }
      at = result + 1;
      for (int i = 0; i < out_.result_rank; ++i) {
        int const source = out_.source[i];
        bool const is_given =
            source >= bound_pattern::extra && (given_ >> (source - bound_pattern::extra) & 1);
        if (!composite(at, info(source), is_given, changed)) return false;
      }
    }
    for (int id = 0; id < out_.spec.indices; ++id)
      if (!known_[id]) return unknown_extent(id);
    return true;
  }
  constexpr void skip_group(int& at) const {
    int const rank = out_.spec.code[at++];
    for (int axis = 0; axis < rank; ++axis) at += out_.spec.code[at] + 1;
  }
  /// One axis of several factors: the product of their extents is the axis's.
  constexpr bool composite(int& at, axis_info const* axis, bool is_known, bool& changed) {
    int const n = out_.spec.code[at];
    std::int8_t const* const ids = out_.spec.code + at + 1;
    at += n + 1;
    if (n == 1 && out_.spec.name[ids[0]]) return true;
    std::int64_t product = 1;
    int unknown = -1;
    int unknown_count = 0;
    bool all_static = true;
    for (int i = 0; i < n; ++i) {
      if (!known_[ids[i]]) {
        unknown = ids[i];
        ++unknown_count;
      } else if (out_.spec.extent[ids[i]] < 0) {
        all_static = false;
      } else if (__builtin_mul_overflow(product, out_.spec.extent[ids[i]], &product)) {
        if (why_) {
          because() << "the factors of axis ";
          why_->quote(axis->view()) << " have a product beyond 2^63";
        }
        return false;
      }
    }
    std::int64_t const extent = axis->extent;
    if (unknown_count == 0) {
      if (extent >= 0 && all_static && product != extent) return wrong_product(axis, ids, n, product);
      return true;
    }
    if (unknown_count > 1 || !(is_known || extent >= 0)) return true;
    known_[unknown] = true;
    changed = true;
    if (extent >= 0 && all_static) {
      if (product == 0 || extent % product != 0) {
        if (why_) {
          because() << "axis ";
          why_->quote(axis->view()) << " of extent " << extent << " does not divide into chunks of " << product;
        }
        return false;
      }
      out_.spec.extent[unknown] = extent / product;
    }
    return true;
  }
  constexpr bool wrong_product(axis_info const* axis, std::int8_t const* ids, int n, std::int64_t product) {
    if (!why_) return false;
    because() << "axis ";
    why_->quote(axis->view()) << " has extent " << axis->extent << ", its factors (";
    for (int i = 0; i < n; ++i) {
      if (i > 0) *why_ << " ";
      if (out_.spec.name[ids[i]]) *why_ << index_name(ids[i]) << " ";
      *why_ << out_.spec.extent[ids[i]];
    }
    *why_ << ") make " << product;
    return false;
  }
  constexpr bool unknown_extent(int id) {
    if (!why_) return false;
    because() << "the extent of index ";
    why_->quote(index_name(id)) << " is not known: give it as an axis of static extent after the "
                                   "pattern, or as an axis value at the end of the call";
    return false;
  }

  static constexpr int result_place = 4096;  // + axis: a place in the result, for messages

  word word_;
  std::string_view text_;
  axes_list const* operands_;
  int count_;
  axes_list extra_;
  std::uint32_t given_;  // bit i: the extent of the extra axis i is given by value
  message* why_;
  int at_ = 0;
  std::uint32_t dotted_ = 0;
  std::uint32_t in_result_ = 0;
  std::uint32_t extra_used_ = 0;
  std::int16_t origin_[graph::max_indices]{};
  std::int16_t dot_source_[graph::max_indices]{};
  bool known_[graph::max_indices]{};
  bound_pattern out_{};
};

}  // namespace detail
}  // namespace ricci
