#include "src/contract_terms.hpp"

#include <string>

#include <ricci/error/exceptions.hpp>

namespace ricci::exec {
namespace {

using kernels::contraction_axis;

[[noreturn]] void reject_count(char const* what) {
  throw shape_error(std::string("contract: the extents of ") + what +
                    " have a product beyond 63 bits; make the array smaller.");
}

std::int64_t checked_product(std::int64_t const* extents, int rank, char const* what) {
  std::int64_t count = 1;
  bool is_empty = false;
  for (int i = 0; i < rank; ++i) {
    if (extents[i] < 0)
      throw shape_error(std::string("contract: ") + what + " has the extent " +
                        std::to_string(extents[i]) + "; an extent is at least 0.");
    if (extents[i] == 0)
      is_empty = true;
    else if (__builtin_mul_overflow(count, extents[i], &count))
      reject_count(what);
  }
  return is_empty ? 0 : count;
}

void check_rank(int rank, char const* what) {
  if (rank < 0 || rank > max_rank)
    throw value_error(std::string("contract: ") + what + " has " + std::to_string(rank) +
                      " axes; an array has at most 24.");
}

void set_extent(std::int64_t (&extents)[max_indices], int id, std::int64_t extent,
                char const* what) {
  if (id >= max_indices)
    throw value_error(std::string("contract: ") + what + " has the index id " + std::to_string(id) +
                      "; ids are below 32.");
  if (extents[id] >= 0 && extents[id] != extent)
    throw shape_error("contract: index " + std::to_string(id) + " has extent " +
                      std::to_string(extents[id]) + " and, in " + what + ", " +
                      std::to_string(extent) + "; an index has one extent.");
  extents[id] = extent;
}

}  // namespace

contraction_terms read_terms(contraction_operand const& a, contraction_operand const* b,
                             contraction_result const& result,
                             contraction_epilogue const& epilogue) {
  contraction_terms terms;
  std::int64_t extents[max_indices];
  for (std::int64_t& e : extents) e = -1;
  std::uint32_t present[2] = {0, 0};
  terms.has_layouts = true;
  contraction_operand const* const operands[2] = {&a, b};
  char const* const names[2] = {"the first operand", "the second operand"};
  for (int which = 0; which < 2; ++which) {
    if (operands[which] == nullptr) continue;
    contraction_operand const& x = *operands[which];
    check_rank(x.rank, names[which]);
    checked_product(x.extents, x.rank, names[which]);
    terms.has_layouts = terms.has_layouts && x.known != nullptr;
    std::uint8_t* const ids = which == 0 ? terms.a_ids : terms.b_ids;
    int& rank = which == 0 ? terms.a_rank : terms.b_rank;
    for (int i = 0; i < x.rank; ++i) {
      int const id = x.indices[i];
      set_extent(extents, id, x.extents[i], names[which]);
      contraction_axis& axis = terms.of[id];
      (which == 0 ? axis.a : axis.b) += x.strides[i];
      bool const is_diagonal = present[which] >> id & 1;
      if (is_diagonal) terms.has_layouts = false;
      if (!is_diagonal && x.extents[i] != 1) ids[rank++] = static_cast<std::uint8_t>(id);
      present[which] |= std::uint32_t{1} << id;
    }
    if (!terms.has_layouts) continue;
    layout& known = which == 0 ? terms.a_known : terms.b_known;
    known = *x.known;
    for (int i = x.rank - 1; i >= 0; --i)
      if (x.extents[i] == 1) known = without_unit_axis(known, i);
  }
  check_rank(result.rank, "the result");
  terms.result_count = checked_product(result.extents, result.rank, "the result");
  std::uint32_t in_result = 0;
  std::int64_t stride = 1;
  for (int i = result.rank - 1; i >= 0; --i) {
    int const id = result.indices[i];
    set_extent(extents, id, result.extents[i], "the result");
    if (!((present[0] | present[1]) >> id & 1))
      throw value_error("contract: index " + std::to_string(id) +
                        " of the result stands in no operand; broadcast an operand first.");
    if (in_result >> id & 1)
      throw value_error("contract: index " + std::to_string(id) +
                        " stands twice in the result; a result's indices are all different.");
    in_result |= std::uint32_t{1} << id;
    contraction_axis& axis = terms.of[id];
    axis.c = stride;
    if (epilogue.bias.data != nullptr) axis.bias = epilogue.bias.strides[i];
    if (epilogue.residual.data != nullptr) axis.residual = epilogue.residual.strides[i];
    stride *= result.extents[i];
  }
  for (int i = 0; i < result.rank; ++i)
    if (result.extents[i] != 1) terms.result[terms.result_rank++] = result.indices[i];
  for (int id = 0; id < max_indices; ++id) {
    if (extents[id] < 0) continue;
    terms.of[id].extent = extents[id];
    terms.operations *= static_cast<double>(extents[id]);
    if (extents[id] == 0 && !(in_result >> id & 1)) terms.has_empty_sum = true;
    if (extents[id] != 1) continue;
    present[0] &= ~(std::uint32_t{1} << id);
    present[1] &= ~(std::uint32_t{1} << id);
    in_result &= ~(std::uint32_t{1} << id);
  }
  terms.in_a = present[0];
  terms.in_b = present[1];
  terms.in_result = in_result;
  return terms;
}

contraction_tensor tensor_of(contraction_terms const& terms, std::uint8_t const* ids, int rank,
                             std::int64_t contraction_axis::* stride) {
  contraction_tensor t;
  int order[max_rank];
  int ordered = 0;
  auto const magnitude = [&](int axis) {
    std::int64_t const s = terms.of[ids[axis]].*stride;
    return s < 0 ? -s : s;
  };
  for (int axis = 0; axis < rank; ++axis) {
    t.index[axis] = ids[axis];
    if (magnitude(axis) == 0) continue;
    int place = ordered++;
    for (; place > 0 && magnitude(order[place - 1]) < magnitude(axis); --place)
      order[place] = order[place - 1];
    order[place] = axis;
  }
  t.known.rank = static_cast<std::uint8_t>(rank);
  for (int axis = 0; axis < rank; ++axis)
    if (magnitude(axis) == 0) t.known.set_link(axis, link::broadcast);
  for (int place = 0; place < ordered; ++place) {
    contraction_axis const& x = terms.of[ids[order[place]]];
    std::int64_t dense = 1;
    if (place + 1 < ordered) {
      contraction_axis const& next = terms.of[ids[order[place + 1]]];
      dense = next.*stride * next.extent;
    }
    std::int64_t const own = x.*stride;
    t.known.push(order[place], own < 0 ? link::reversed : own == dense ? link::dense : link::gap);
  }
  return t;
}

contraction_tensor planned_tensor(contraction_terms const& terms, bool is_a) {
  std::uint8_t const* const ids = is_a ? terms.a_ids : terms.b_ids;
  int const rank = is_a ? terms.a_rank : terms.b_rank;
  if (!terms.has_layouts)
    return tensor_of(terms, ids, rank, is_a ? &contraction_axis::a : &contraction_axis::b);
  contraction_tensor t;
  t.known = is_a ? terms.a_known : terms.b_known;
  for (int axis = 0; axis < rank; ++axis) t.index[axis] = ids[axis];
  return t;
}

}  // namespace ricci::exec
