#include <unordered_map>

#include "src/graph/value.hpp"
#include "src/plan/explained.hpp"

namespace ricci::detail {
namespace {

using graph::kind;
using graph::value;

// Unevaluated values in an order in which inputs come first.
std::vector<value const*> in_order(value const& root, std::unordered_map<value const*, int>& ids) {
  struct frame {
    value const* v;
    int next;
  };
  std::vector<value const*> order;
  std::vector<frame> stack{{&root, 0}};
  ids.emplace(&root, -1);
  while (!stack.empty()) {
    frame& top = stack.back();
    if (!top.v->evaluated && top.next < top.v->input_count) {
      value const* const in = top.v->inputs[top.next++].get();
      if (ids.emplace(in, -1).second) stack.push_back({in, 0});
      continue;
    }
    ids[top.v] = static_cast<int>(order.size());
    order.push_back(top.v);
    stack.pop_back();
  }
  return order;
}

int storage_of(value const& v, statement_arrays& to,
               std::unordered_map<void const*, int>& storages) {
  if (!v.storage) return -1;
  auto const [found, is_new] =
      storages.emplace(v.storage.data(), static_cast<int>(to.storages.size()));
  if (is_new)
    to.storages.push_back(
        {v.storage.bytes(), static_cast<int>(v.storage.use_count()), v.storage.is_borrowed()});
  return found->second;
}

value_kind kind_of(value const& v) {
  if (v.evaluated) return value_kind::leaf;
  switch (v.computed_by) {
    case kind::leaf:
      return value_kind::leaf;
    case kind::number:
      return value_kind::number;
    case kind::pointwise:
      return value_kind::pointwise;
    default:
      return value_kind::other;
  }
}

}  // namespace

void read_graph(graph::handle const& x, statement_arrays& to) {
  std::unordered_map<value const*, int> ids;
  std::vector<value const*> const order = in_order(graph::checked(x), ids);
  std::unordered_map<void const*, int> storages;
  for (value const* v : order) {
    statement_value d;
    d.kind = kind_of(*v);
    d.type = v->type;
    d.is_recorded = v->levels != 0;
    d.rank = v->rank;
    d.axes = v->axes;
    d.count = v->count;
    d.references = v->references.load();
    d.first_input = static_cast<int>(to.inputs.size());
    d.first_extent = static_cast<int>(to.extents.size());
    to.extents.insert(to.extents.end(), v->extents, v->extents + v->rank);
    if (d.kind == value_kind::leaf) {
      d.order = v->order;
      d.storage = storage_of(*v, to, storages);
      d.is_whole_storage = v->data == v->storage.data();
    } else {
      d.inputs = v->input_count;
      for (int i = 0; i < v->input_count; ++i) to.inputs.push_back(ids[v->inputs[i].get()]);
    }
    if (d.kind == value_kind::pointwise) {
      d.op = static_cast<std::uint8_t>(v->op);
      d.axis = v->along;
    }
    if (d.kind == value_kind::number) d.is_number_one = v->floating == 1;
    if (d.kind == value_kind::other && v->how) {
      statement_contraction contraction;
      v->how->describe(d, contraction);
      if (d.kind == value_kind::contraction) {
        d.contraction = static_cast<int>(to.contractions.size());
        to.contractions.push_back(contraction);
      }
    }
    to.values.push_back(d);
  }
  statement& s = to.s;
  s.values = to.values.data();
  s.inputs = to.inputs.data();
  s.extents = to.extents.data();
  s.contractions = to.contractions.data();
  s.storages = to.storages.data();
  s.value_count = static_cast<int>(to.values.size());
  s.input_count = static_cast<int>(to.inputs.size());
  s.extent_count = static_cast<int>(to.extents.size());
  s.contraction_count = static_cast<int>(to.contractions.size());
  s.storage_count = static_cast<int>(to.storages.size());
  s.root_value = s.value_count - 1;
}

explained::explained(graph::handle const& x) {
  read_graph(x, arrays);
  std::size_t const values = arrays.values.size();
  std::vector<live_value> live(values);
  std::vector<statement_storage> storages(values + arrays.storages.size());
  std::vector<statement_planner::frame> frames(values + 1);
  plan_record counted;
  statement_planner(arrays.s, live.data(), storages.data(), frames.data(), counted).run();
  steps.resize(static_cast<std::size_t>(counted.step_count));
  requests.resize(steps.size());
  plans.resize(steps.size());
  lists.resize(static_cast<std::size_t>(counted.list_size));
  plan_record kept;
  kept.steps = steps.data();
  kept.max_steps = counted.step_count;
  kept.lists = lists.data();
  kept.max_list = counted.list_size;
  kept.requests = requests.data();
  kept.plans = plans.data();
  live.assign(values, {});
  totals = statement_planner(arrays.s, live.data(), storages.data(), frames.data(), kept).run();
  for (live_value const& v : live) orders.push_back(v.order);
}

}  // namespace ricci::detail
