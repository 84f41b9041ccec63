#include <nlohmann/json.hpp>

#include "src/plan/explained.hpp"

namespace ricci::detail {
namespace {

using json = nlohmann::ordered_json;

constexpr char const* kinds[] = {"view", "pack", "gemm",      "loops", "permute",
                                 "copy", "loop", "reduction", "kernel"};

json value_json(explained const& e, int value) {
  json axes = json::array();
  for (int i = 0; i < e.value(value).rank; ++i)
    axes.push_back({{"name", axis_name(e, value, i)}, {"extent", e.s().extent(value, i)}});
  return {{"step", e.step_of(value)}, {"dtype", name_of(e.value(value).type)}, {"axes", axes}};
}

json candidates_json(contraction_request const& request) {
  json all = json::array();
  candidate_list const list = candidates_of(request);
  for (int i = 0; i < list.count; ++i)
    all.push_back({{"lowering", name_of(list.at[i].code)},
                   {"predicted_seconds", list.at[i].seconds},
                   {"chosen", i == list.chosen}});
  return all;
}

}  // namespace

std::string explained_json(explained const& e) {
  json steps = json::array();
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    plan_step const& step = e.steps[i];
    json reads = json::array();
    for (int k = 0; k < step.operands; ++k) reads.push_back(value_json(e, e.reads(step)[k]));
    json row = {{"kind", kinds[static_cast<int>(step.kind)]},
                {"name", kind_text(e, step)},
                {"text", step_text(e, step)},
                {"backend", backend_text(e, step)},
                {"value", value_json(e, step.value)},
                {"reads", reads}};
    if (step.kind == step_kind::gemm || step.kind == step_kind::loops) {
      row["lowering"] = name_of(step.lowering);
      row["batch"] = step.batch;
      row["m"] = step.m;
      row["n"] = step.n;
      row["k"] = step.k;
      if (e.plans[i].kind != contraction_kind::invalid)
        row["candidates"] = candidates_json(e.requests[i]);
    }
    if (step.nodes > 0) row["fused"] = fused_text(e, step);
    row["operations"] = step.operations;
    row["bytes_read"] = step.bytes_read;
    row["bytes_written"] = step.bytes_written;
    row["temporary_bytes"] = step.temporary_bytes;
    row["live_bytes"] = step.live_bytes;
    steps.push_back(row);
  }
  plan_totals const& t = e.totals;
  json const all = {{"value", value_json(e, e.s().root())},
                    {"steps", steps},
                    {"totals",
                     {{"gemms", t.gemms},
                      {"copies", t.copies},
                      {"launches", t.launches},
                      {"views", t.views},
                      {"loops", t.loops},
                      {"reductions", t.reductions},
                      {"kernels", t.kernels},
                      {"operations", t.operations},
                      {"bytes", t.bytes},
                      {"result_bytes", t.result_bytes},
                      {"temporary_bytes", t.temporary_bytes},
                      {"result_is_view", t.result_is_view}}}};
  return all.dump(2) + "\n";
}

}  // namespace ricci::detail
