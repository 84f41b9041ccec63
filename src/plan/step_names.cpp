#include "src/plan/explained.hpp"

namespace ricci::detail {
namespace {

constexpr char const* reduction_names[] = {"sum",    "mean",   "max",       "min",
                                           "prod",   "any",    "all",       "logsumexp",
                                           "argmax", "argmin", "user's own"};
constexpr char const* view_names[] = {"permute", "rename",   "at",       "slice",
                                      "reverse", "diagonal", "broadcast"};

std::string kernel_name(value_kind kind) {
  switch (kind) {
    case value_kind::take:
      return "take";
    case value_kind::softmax:
      return "softmax";
    case value_kind::log_softmax:
      return "log_softmax";
    case value_kind::layer_norm:
      return "layer_norm";
    case value_kind::rms_norm:
      return "rms_norm";
    case value_kind::cross_entropy:
      return "cross_entropy";
    case value_kind::attention:
      return "attention";
    default:
      return "gradient";
  }
}

// `+ [mlp]`, `gelu`, `x number`
std::string operation_text(explained const& e, int value, int before) {
  statement_value const& v = e.value(value);
  opcode const op = static_cast<opcode>(v.op);
  if (op == opcode::convert) return "to " + std::string(name_of(v.type));
  if (v.inputs != 2 || before < 0) {
    std::string_view const name = name_of(op);
    return std::string(name == "gelu_erf" ? "gelu" : name);
  }
  int const other = e.s().input(value, e.s().input(value, 0) == before ? 1 : 0);
  bool const is_number = e.value(other).kind == value_kind::number;
  std::string const with = is_number ? "a number" : value_text(e, other);
  switch (op) {
    case opcode::add:
      return "+ " + with;
    case opcode::subtract:
      return e.s().input(value, 0) == before ? "- " + with : with + " - that";
    case opcode::multiply:
      return "x " + with;
    default:
      return std::string(name_of(op)) + " " + with;
  }
}

// The axes of a role with their extent: `m = batch seq (1024)`.
class role_list {
 public:
  role_list(explained const& e, int contraction)
      : names_(index_names(e, contraction)),
        rule_(e.arrays.contractions[static_cast<std::size_t>(e.value(contraction).contraction)]) {}
  void add(int id) {
    if (!indices_.empty()) indices_ += " ";
    indices_ += names_[static_cast<std::size_t>(id)];
    extent_ = saturating_product(extent_, rule_.extent[id]);
  }
  void add_all(std::uint32_t ids, indexed_axes const& order) {
    std::uint32_t left = ids;
    for (int i = 0; i < order.size(); ++i) {
      int const id = order.ids[i];
      if (left >> id & 1) add(id);
      left &= ~(std::uint32_t{1} << id);
    }
  }
  std::string end(char const* role) {
    std::string const text = indices_.empty() ? ""
                                              : std::string(role) + " = " + indices_ + " (" +
                                                    std::to_string(extent_) + ")";
    indices_.clear();
    extent_ = 1;
    return text;
  }

 private:
  std::vector<std::string> names_;
  statement_contraction const& rule_;
  std::string indices_;
  std::int64_t extent_ = 1;
};

void append(std::string& text, std::string const& part, char const* between = ", ") {
  if (part.empty()) return;
  if (!text.empty()) text += between;
  text += part;
}

bool is_unit_axis(contraction_tensor const& t, contraction_plan const& plan, int group) {
  if (group < 0 || t.known.ordered == 0) return false;
  int const axis = t.known.axis_at(t.known.ordered - 1);
  return t.known.link_of(axis) == link::dense &&
         t.index[axis] == plan.indices[plan.groups[group].last].id;
}

// Which operands are read transposed: first is [.., m, k] as it lies, second [.., k, n].
std::string transposes(contraction_request const& r, contraction_plan const& plan) {
  bool const left = !plan.pack_left && is_unit_axis(plan.swapped ? r.b : r.a, plan, plan.m);
  bool const right = !plan.pack_right && is_unit_axis(plan.swapped ? r.a : r.b, plan, plan.k);
  bool const first = plan.swapped ? right : left;
  bool const second = plan.swapped ? left : right;
  // Of a swapped product the first operand is the right one: m is what the second brings.
  if (first && second) return "both operands transposed";
  if (first || second) return first ? "operand 1 transposed" : "operand 2 transposed";
  return {};
}

std::string gemm_text(explained const& e, plan_step const& step, contraction_request const& request,
                      contraction_plan const& plan) {
  role_list roles(e, step.origin);
  std::string text;
  auto const take = [&](char const* role, auto wanted) {
    for (int g = 0; g < plan.group_count; ++g)
      if (wanted(g))
        for (int i = plan.groups[g].first; i <= plan.groups[g].last; ++i)
          roles.add(plan.indices[i].id);
    append(text, roles.end(role));
  };
  take("batch", [&](int g) { return g != plan.m && g != plan.n && g != plan.k; });
  take("m", [&](int g) { return g == plan.m; });
  take("n", [&](int g) { return g == plan.n; });
  take("k", [&](int g) { return g == plan.k; });
  append(text, transposes(request, plan), "; ");
  return text;
}

std::string loops_text(explained const& e, plan_step const& step) {
  statement_value const& v = e.value(step.origin);
  statement_contraction const& c = e.arrays.contractions[static_cast<std::size_t>(v.contraction)];
  std::uint32_t const a = c.group[0].mask();
  std::uint32_t const result = c.result.mask();
  role_list roles(e, step.origin);
  std::string text;
  if (c.operands == 1) {
    roles.add_all(a & result, c.result);
    append(text, roles.end("for"));
    roles.add_all(a & ~result, c.group[0]);
    append(text, roles.end("over"));
    return "sum " + text;
  }
  std::uint32_t const b = c.group[1].mask();
  bool const has_m = (a & ~b & result) != 0;
  bool const has_n = (b & ~a & result) != 0;
  bool const has_k = (a & b & ~result) != 0;
  bool const has_batch = (a & b & result) != 0;
  char const* const kind = !has_k ? (has_m && has_n ? "outer product" : "elementwise product")
                           : !has_m && !has_n ? (has_batch ? "dot products" : "dot product")
                           : has_m && has_n   ? "contraction"
                                              : "matrix-vector product";
  roles.add_all(a & b & result, c.result);
  append(text, roles.end("batch"));
  roles.add_all(a & ~b & result, c.result);
  append(text, roles.end("m"));
  roles.add_all(b & ~a & result, c.result);
  append(text, roles.end("n"));
  roles.add_all(a & b & ~result, c.group[0]);
  append(text, roles.end("k"));
  roles.add_all(a & ~b & ~result, c.group[0]);
  append(text, roles.end("summed"));
  roles.add_all(b & ~a & ~result, c.group[1]);
  append(text, roles.end("summed"));
  return std::string(kind) + (text.empty() ? "" : ": ") + text;
}

std::string view_text(explained const& e, plan_step const& step) {
  statement_value const& v = e.value(step.value);
  std::string const from = value_text(e, e.reads(step)[0]);
  std::string const name =
      v.kind == value_kind::view ? std::string(view_names[v.op]) : std::string("rearrange");
  return name + " " + from + " -> [" + axes_text(e, step.value) + "]";
}

std::string list_of_reads(explained const& e, plan_step const& step) {
  std::string text;
  for (int i = 0; i < step.operands; ++i) append(text, value_text(e, e.reads(step)[i]));
  return text;
}

}  // namespace

std::string fused_text(explained const& e, plan_step const& step) {
  std::string text;
  bool const is_epilogue = step.kind == step_kind::gemm || step.kind == step_kind::loops ||
                           step.kind == step_kind::permute;
  constexpr int most = planned_chain::most_shown;
  for (int i = 0; i < step.nodes && i < most; ++i) {
    int const node = e.nodes(step)[i];
    int const before = !is_epilogue ? -1 : i == 0 ? step.origin : e.nodes(step)[i - 1];
    append(text, operation_text(e, node, before));
  }
  int const all = is_epilogue ? step.fused : step.nodes;
  if (all > most) text += ", ... (" + std::to_string(all) + " operations)";
  return text;
}

std::string kind_text(explained const& e, plan_step const& step) {
  switch (step.kind) {
    case step_kind::view:
      return "view";
    case step_kind::pack:
      return "pack";
    case step_kind::gemm:
      return "gemm";
    case step_kind::loops:
      return "loops";
    case step_kind::permute:
      return "permute";
    case step_kind::copy:
      return "copy";
    case step_kind::loop:
      return e.value(step.value).kind == value_kind::number ? "fill" : "loop";
    case step_kind::reduction:
      return e.value(step.value).kind == value_kind::cumsum ? "cumsum" : "reduce";
    default:
      return kernel_name(e.value(step.value).kind);
  }
}

std::string backend_text(explained const& e, plan_step const& step) {
  switch (step.kind) {
    case step_kind::view:
      return "";
    case step_kind::gemm:
      return "oneDNN";
    case step_kind::loops:
      return "kernels/contract";
    case step_kind::pack:
    case step_kind::permute:
    case step_kind::copy:
      return "kernels/copy";
    case step_kind::loop:
      return "kernels/pointwise";
    case step_kind::reduction:
      return "kernels/reduce";
    default:
      switch (e.value(step.value).kind) {
        case value_kind::take:
          return "kernels/embedding";
        case value_kind::log_softmax:
          return "kernels/softmax";
        case value_kind::other:
          return "kernels";
        default:
          return "kernels/" + kernel_name(e.value(step.value).kind);
      }
  }
}

std::string step_text(explained const& e, plan_step const& step) {
  std::size_t const i = static_cast<std::size_t>(&step - e.steps.data());
  statement_value const& v = e.value(step.value);
  switch (step.kind) {
    case step_kind::view:
      return view_text(e, step);
    case step_kind::gemm:
      return gemm_text(e, step, e.requests[i], e.plans[i]);
    case step_kind::loops:
      return loops_text(e, step);
    case step_kind::pack:
      return "operand " + std::to_string(step.operand) + ", " + value_text(e, e.reads(step)[0]) +
             ", for the product" + (step.operations > 0 ? ", summed first" : "");
    case step_kind::permute:
      return "the product into [" + axes_text(e, step.value) + "]";
    case step_kind::copy:
      if (v.kind == value_kind::join && step.origin == step.value)
        return list_of_reads(e, step) + " joined to [" + axes_text(e, step.value) + "]";
      if (step.origin != step.value) return list_of_reads(e, step) + " packed for the kernel";
      return list_of_reads(e, step) + " -> [" + axes_text(e, step.value) + "]";
    case step_kind::loop:
      if (v.kind == value_kind::number) return "[" + axes_text(e, step.value) + "]";
      return fused_text(e, step) + (step.operands > 0 ? "; of " : "") + list_of_reads(e, step);
    case step_kind::reduction: {
      if (v.kind == value_kind::cumsum)
        return "along " + axis_name(e, step.value, v.axis) + " of " + list_of_reads(e, step);
      int const x = e.s().input(step.value, 0);
      std::string over;
      for (int axis = 0; axis < e.value(x).rank; ++axis)
        if (v.mask >> axis & 1)
          append(over, axis_name(e, x, axis) + " (" + std::to_string(e.s().extent(x, axis)) + ")",
                 " ");
      std::string const what = step.nodes > 0 ? fused_text(e, step) + "; of " : "";
      return std::string(reduction_names[v.op]) + " over " + over + ": " + what +
             list_of_reads(e, step);
    }
    default: {
      bool const has_axis = v.kind == value_kind::softmax || v.kind == value_kind::log_softmax;
      int const last = v.rank - 1;
      std::string along;
      if (has_axis) along = "along " + axis_name(e, step.value, v.axis) + ": ";
      if (v.kind == value_kind::layer_norm || v.kind == value_kind::rms_norm)
        along = "along " + axis_name(e, step.value, last) + ": ";
      return along + list_of_reads(e, step);
    }
  }
}

}  // namespace ricci::detail
