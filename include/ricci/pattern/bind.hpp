#pragma once

#include <ricci/pattern/operands.hpp>

/// Binds the names of a pattern (grammar: pattern/scan.hpp) to the axes of the operands.
/// One plain function serves every operation, operand count and rank, so that a further pattern
/// costs the evaluation of a constant expression and nothing else.
namespace ricci::detail {

/// One binding: `binder(...).run()`. `why`, where there is one, receives the sentence of a refusal;
/// without it a refusal only leaves `valid` false, which is what the accepting path compiles.
///   operands, count  the axes of each operand
///   extra            the types after the pattern; bit i of `given`: the extent of the i-th is a
///   value
class binder : operand_groups {
 public:
  constexpr binder(word w, std::string_view text, axes_list const* operands, int count,
                   axes_list extra, std::uint32_t given, message* why)
      : operand_groups(w, text, operands, count, extra, given, why) {}

  constexpr bound_pattern run() {
    out_.spec.who = name_of(word_);
    out_.spec.text = text_.data();
    out_.spec.operands = static_cast<std::int16_t>(count_);
    out_.valid = sizes_fit() && one_type_a_name() && left_side() && result_group() &&
                 everything_used() && resolve_extents();
    return out_;
  }

 private:
  constexpr bool result_group() {
    int const place = out_.spec.code_size;
    if (!room_for(1)) return false;
    emit(0);
    bool dots = false;
    int dots_code = 0;
    int dots_axis = 0;
    while (peek() != '\0') {
      int const begin = at_;
      if (text_[at_] == ',' || at_arrow())
        return fail_at("one result group stands after `->`", at_,
                       at_ + (text_[at_] == ',' ? 1 : 2));
      if (text_[at_] == '.') {
        if (!scan_dots()) return false;
        if (dots) return fail_at("`...` stands twice in one group", begin, at_);
        if (!has_dots_)
          return fail_at("`...` stands in the result and in no operand: name the axes", begin, at_);
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
          n = factors(ids, graph::max_indices, true);
          if (n == 0) return false;
        } else {
          if (!starts_name(peek()))
            return fail_at("an index or its factors in parentheses stand after `=`", at_, at_ + 1);
          ids[0] = static_cast<std::int8_t>(result_index(scan_name(), index_begin));
          if (ids[0] < 0 || !use_in_result(ids[0], index_begin)) return false;
        }
      } else {
        at_ = name_end;
        ids[0] = static_cast<std::int8_t>(result_index(name, begin));
        if (ids[0] < 0 || !use_in_result(ids[0], begin)) return false;
      }
      if (!result_axis(name, begin) || !room_for(1 + n)) return false;
      emit_axis(ids, n);
    }
    if (dots && !insert_dots(dots_code, dots_axis)) return false;
    out_.spec.code[place] = static_cast<std::int8_t>(out_.result_rank);
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
    if (source < 0) return no_result_axis(name);
    for (int i = 0; i < out_.result_rank; ++i)
      if (equal(info(out_.source[i]), name))
        return fail_at("an axis stands twice in the result", begin, at_);
    if (!rank_fits()) return false;
    out_.source[out_.result_rank++] = static_cast<std::int16_t>(source);
    return true;
  }
  constexpr bool rank_fits() {
    if (out_.result_rank < max_rank) return true;
    if (why_) because() << "the result has more than " << max_rank << " axes";
    return false;
  }
  constexpr bool no_result_axis(std::string_view name) {
    if (!why_) return false;
    because() << "the result has an axis ";
    why_->quote(name) << " that no operand has";
    if (extra_.rank > 0) {
      *why_ << ", and its type is not among those after the pattern (";
      write_axes(*why_, extra_);
      *why_ << ")";
      suggest(*why_, name, extra_);
      return false;
    }
    for (int g = 0; g < count_; ++g)
      if (suggest(*why_, name, operands_[g])) return false;
    *why_ << ": give its type after the pattern";
    return false;
  }
  /// Axes that stood under `...`, not named in the result, in order of first appearance.
  constexpr bool insert_dots(int code, int axis) {
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (!(dotted_ >> id & 1) || (in_result_ >> id & 1)) continue;
      for (int i = 0; i < out_.result_rank; ++i) {
        if (!equal(info(out_.source[i]), index_name(id))) continue;
        if (why_) {
          because() << "axis ";
          why_->quote(index_name(id))
              << " stands under `...` and is the axis of another index in the result";
        }
        return false;
      }
      in_result_ |= std::uint32_t{1} << id;
      if (!rank_fits() || !room_for(2)) return false;
      for (int i = out_.result_rank; i > axis; --i) out_.source[i] = out_.source[i - 1];
      out_.source[axis++] = dot_source_[id];
      ++out_.result_rank;
      for (int i = out_.spec.code_size + 1; i > code + 1; --i)
        out_.spec.code[i] = out_.spec.code[i - 2];
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
        why_->quote(extra_.axes[i]->view())
            << " is given after the pattern, but the result has no such axis";
      }
      return false;
    }
    if (word_ != word::rearrange && word_ != word::repeat) return true;
    for (int id = 0; id < out_.spec.indices; ++id) {
      if (in_result_ >> id & 1) continue;
      if (why_) {
        because() << "index ";
        if (out_.spec.name_size[id] > 0)
          why_->quote(index_name(id));
        else
          *why_ << out_.spec.extent[id];
        *why_ << " is not in the result, but " << name_of(word_)
              << " keeps every element (reduce drops axes)";
      }
      return false;
    }
    return true;
  }

  std::uint32_t extra_used_ = 0;  // bit i: the result has the type i after the pattern
};

}  // namespace ricci::detail
