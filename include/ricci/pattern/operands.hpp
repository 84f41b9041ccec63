#pragma once

#include <ricci/pattern/extents.hpp>

namespace ricci::detail {

/// Reads the operands' groups of a pattern and gives each of their axes its indices.
///   has_dots_, dotted_    was there an `...`; the indices (bits) of axes that stood under one
///   dot_source_[id]       the first such axis: operand * 32 + axis
///   in_result_            the indices that the result has used
class operand_groups : protected index_extents {
 protected:
  using index_extents::index_extents;

  // --- before reading -------------------------------------------------------------------------
  constexpr bool sizes_fit() {
    if (count_ > graph::max_operands) {
      if (why_) because() << count_ << " operands; a call has at most " << graph::max_operands;
      return false;
    }
    for (int i = 0; i < extra_.rank; ++i)
      for (int j = 0; j < i; ++j) {
        if (!equal(extra_.axes[i], extra_.axes[j]->view())) continue;
        if (!why_) return false;
        if (is_same_axis(extra_.axes[i], extra_.axes[j])) {
          because() << "the axis ";
          why_->quote(extra_.axes[i]->view()) << " is given twice after the pattern";
        } else {
          place_name const where{"the types after the pattern"};
          write_two_types(*why_, name_of(word_), extra_.axes[j], where, extra_.axes[i], where);
        }
        return false;
      }
    if (extra_.rank <= max_rank) return true;
    if (why_)
      because() << extra_.rank << " types after the pattern; a tensor has at most " << max_rank
                << " axes";
    return false;
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
            if (is_same_axis(a, b) || a->name_size != b->name_size || a->name[0] != b->name[0])
              continue;
            if (!equal(a, b->view())) continue;
            if (why_)
              write_two_types(
                  *why_, name_of(word_), b, operand_place(h), a,
                  g < count_ ? operand_place(g) : place_name{"the types after the pattern"});
            return false;
          }
        }
    }
    return true;
  }

  // --- the operands ---------------------------------------------------------------------------
  constexpr bool left_side() {
    if (peek() == '\0') {
      if (why_) because() << "the pattern is empty: write `operand axes -> result axes`";
      return false;
    }
    // Said first: the result would look like more axes of the last operand.
    if (text_.find_first_of("->") == std::string_view::npos)
      return fail_at("the pattern has no `->`", size(), size());
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
      return fail_at("the pattern has no `->`", size(), size());
    }
  }
  constexpr bool count_differs(int groups) {
    if (why_)
      because() << "the pattern has " << groups << (groups == 1 ? " operand" : " operands")
                << ", the call has " << count_;
    return false;
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
        has_dots_ = true;
        continue;
      }
      if (!starts_name(text_[at_])) return unexpected();
      std::string_view const name = scan_name();
      int const axis = find(op, name);
      if (axis < 0) return no_axis(g, name);
      if (length[axis] > 0) return fail_at("an axis is named twice in one operand", begin, at_);
      start[axis] = static_cast<std::int8_t>(used);
      int n = 1;
      if (peek() == '=') {
        ++at_;
        if (peek() == '(') {
          n = factors(ids + used, graph::max_indices - used, false);
          if (n == 0) return false;
        } else {
          if (!starts_name(peek()))
            return fail_at("an index or its factors in parentheses stand after `=`", at_, at_ + 1);
          if (!add_operand_index(ids, used, scan_name())) return false;
        }
      } else if (!add_operand_index(ids, used, name)) {
        return false;
      }
      length[axis] = static_cast<std::int8_t>(n);
      used += n;
      // One factor alone is the axis itself.
      if (n == 1 && out_.spec.name_size[ids[used - 1]] > 0 &&
          !set_extent(ids[used - 1], op.axes[axis]->extent, g * 32 + axis))
        return false;
    }
    for (int axis = 0; axis < op.rank; ++axis) {
      if (length[axis] > 0) continue;
      if (!dots) return unnamed(g, axis);
      std::string_view const name = op.axes[axis]->view();
      int const id = index_of(name);
      if (id < 0) return false;
      for (int i = 0; i < used; ++i)
        if (ids[i] == id) return dots_clash(g, name);
      if (!few_factors(used, graph::max_indices)) return false;
      start[axis] = static_cast<std::int8_t>(used);
      length[axis] = 1;
      ids[used++] = static_cast<std::int8_t>(id);
      if (!set_extent(id, op.axes[axis]->extent, g * 32 + axis)) return false;
      dotted_ |= std::uint32_t{1} << id;
      dot_source_[id] = static_cast<std::int16_t>(g * 32 + axis);
    }
    if (!room_for(1 + op.rank + used)) return false;
    emit(op.rank);
    for (int axis = 0; axis < op.rank; ++axis) emit_axis(ids + start[axis], length[axis]);
    return true;
  }
  constexpr bool add_operand_index(std::int8_t* ids, int used, std::string_view name) {
    int const id = index_of(name);
    if (id < 0 || !few_factors(used, graph::max_indices)) return false;
    ids[used] = static_cast<std::int8_t>(id);
    return true;
  }
  constexpr bool few_factors(int used, int most) {
    if (used < most) return true;
    if (why_) because() << "more than " << graph::max_indices << " indices stand in one group";
    return false;
  }

  /// Reads `(p q 2)` and writes the ids behind `ids`. @return how many, 0 for a refusal.
  constexpr int factors(std::int8_t* ids, int most, bool in_result) {
    int const open = at_++;
    int n = 0;
    for (char c = peek(); c != ')'; c = peek()) {
      int const begin = at_;
      int id = -1;
      if (starts_name(c)) {
        std::string_view const name = scan_name();
        id = in_result ? result_index(name, begin) : index_of(name);
      } else if (is_digit(c)) {
        std::int64_t value = 0;
        if (!scan_number(value) || !number_fits(in_result, begin)) return 0;
        id = number_index(value);
      } else {
        if (c == '\0' || c == ',' || c == '-')
          fail_at("a `(` without its `)`", open, open + 1);
        else if (c == '(')
          fail_at("parentheses do not nest", begin, begin + 1);
        else
          unexpected();
        return 0;
      }
      if (id < 0 || !few_factors(n, most) || (in_result && !use_in_result(id, begin))) return 0;
      ids[n++] = static_cast<std::int8_t>(id);
    }
    ++at_;
    if (n == 0) fail_at("an axis has at least one factor", open, at_);
    return n;
  }
  constexpr bool number_fits(bool in_result, int begin) {
    if (in_result && word_ != word::repeat)
      return fail_at("a number in the result is an axis without a name (only repeat has it)", begin,
                     at_);
    if (!in_result && word_ == word::rearrange)
      return fail_at("a number is an index without a name, which rearrange cannot keep: name it",
                     begin, at_);
    return true;
  }

  // --- indices of the result ---------------------------------------------------------------
  /// @return the index's id, -1 for a refusal.
  constexpr int result_index(std::string_view name, int begin) {
    int const id = find_index(name);
    if (id >= 0) return id;
    if (word_ == word::repeat) return add_index(name, -1);
    if (why_) {
      because() << "the result has an index ";
      why_->quote(name) << " that no operand has";
      show_place(begin, at_);
      suggest_index(name);
    }
    return -1;
  }
  constexpr void suggest_index(std::string_view name) {
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (out_.spec.name_size[id] == 0 || !is_near(name, index_name(id))) continue;
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

  // --- the code -------------------------------------------------------------------------------
  constexpr bool room_for(int more) {
    // The result's group is written behind: at most its count and two entries an axis.
    if (out_.spec.code_size + more <= graph::pattern_spec::code_capacity) return true;
    if (why_) because() << "the pattern names too many axes in all";
    return false;
  }
  constexpr void emit(int code) {
    out_.spec.code[out_.spec.code_size++] = static_cast<std::int8_t>(code);
  }
  constexpr void emit_axis(std::int8_t const* ids, int n) {
    emit(n);
    for (int i = 0; i < n; ++i) emit(ids[i]);
  }

  // --- sentences about operands ---------------------------------------------------------------
  constexpr bool no_axis(int g, std::string_view name) {
    if (!why_) return false;
    because() << operand_place(g) << " has no axis ";
    why_->quote(name);
    write_has(*why_, operands_[g]);
    suggest(*why_, name, operands_[g]);
    return false;
  }
  constexpr bool unnamed(int g, int axis) {
    if (!why_) return false;
    because() << operand_place(g) << " has an axis ";
    why_->quote(operands_[g].axes[axis]->view()) << " that the pattern does not name";
    write_has(*why_, operands_[g]);
    *why_ << "; name it or write `...`";
    return false;
  }
  constexpr bool dots_clash(int g, std::string_view name) {
    if (!why_) return false;
    because() << "axis ";
    why_->quote(name)
        << " of " << operand_place(g)
        << " stands under `...` and another of its axes is indexed by that name: name both";
    return false;
  }

  bool has_dots_ = false;
  std::uint32_t dotted_ = 0;
  std::uint32_t in_result_ = 0;
  std::int16_t dot_source_[graph::max_indices]{};
};

}  // namespace ricci::detail
