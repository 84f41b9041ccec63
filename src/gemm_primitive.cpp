#include "src/gemm_primitive.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ricci::exec {

using dnnl::memory;
using kernels::contraction_axis;

namespace {

constexpr int most_batches = 6;  // batch axes handed to oneDNN, whose own limit is 12 dimensions

memory::data_type type_of(dtype type) {
  return type == dtype::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

// The description of one of the arrays: batch axes and two more. An axis that the array lacks has
// extent 1 there.
memory::desc describe(gemm_problem const& p, dtype type, std::int64_t contraction_axis::* stride,
                      contraction_axis const& row, contraction_axis const& column) {
  memory::dims dims;
  memory::dims strides;
  std::int64_t dense = 1;
  auto const push = [&](contraction_axis const& x) {
    std::int64_t const step = x.*stride;
    std::int64_t const extent = step == 0 ? 1 : x.extent;
    dims.insert(dims.begin(), extent);
    strides.insert(strides.begin(), extent == 1 ? dense : step);
    dense = std::max(dense, strides.front() * extent);
  };
  push(column);
  push(row);
  for (int i = p.batches - 1; i >= 0; --i) push(p.batch[i]);
  return memory::desc(dims, type_of(type), strides);
}

// oneDNN's kernels step over rows with numbers of 32 bits: up to 64 rows at a time.
bool has_long_rows(gemm_problem const& p) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) / (64 * sizeof(float));
  std::int64_t const steps[] = {p.m.a, p.k.a, p.k.b, p.n.b, p.m.c};
  return std::any_of(std::begin(steps), std::end(steps),
                     [](std::int64_t step) { return step > most; });
}

bool is_oneDNN_type(dtype type) { return type == dtype::f32 || type == dtype::bf16; }

dnnl::algorithm algorithm_of(opcode op) {
  switch (op) {
    case opcode::relu:
      return dnnl::algorithm::eltwise_relu;
    case opcode::silu:
      return dnnl::algorithm::eltwise_swish;
    case opcode::gelu_tanh:
      return dnnl::algorithm::eltwise_gelu_tanh;
    case opcode::gelu_erf:
      return dnnl::algorithm::eltwise_gelu_erf;
    case opcode::tanh:
      return dnnl::algorithm::eltwise_tanh;
    case opcode::sigmoid:
      return dnnl::algorithm::eltwise_logistic;
    default:
      return dnnl::algorithm::undef;
  }
}

// A bias along n alone is an argument of oneDNN's matmul, faster than the general addition and
// taken for any strides of c; it comes before the scale.
bool is_own_bias(gemm_problem const& p) {
  bool is_along_n = p.n.bias == 1 && p.m.bias == 0;
  for (int i = 0; i < p.batches; ++i) is_along_n = is_along_n && p.batch[i].bias == 0;
  return is_along_n && p.alpha == 1 && (p.bias.type == dtype::f32 || p.bias.type == p.in);
}

// The primitive's description, its epilogue fused or left out; nothing if oneDNN has none that is
// fast: its reference implementation is 800 times slower.
bool describe_matmul(gemm_problem const& p, bool fused, made_primitive& made,
                     dnnl::matmul::primitive_desc& result) try {
  dnnl::primitive_attr attributes;
  if (has_long_rows(p)) return false;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  made.a = describe(p, p.in, &contraction_axis::a, p.m, p.k);
  made.b = describe(p, p.in, &contraction_axis::b, p.k, p.n);
  made.c = describe(p, p.out, &contraction_axis::c, p.m, p.n);
  made.bias = made.residual = memory::desc();
  if (fused) {
    dnnl::post_ops steps;
    if (p.alpha != 1) attributes.set_output_scales(0, {static_cast<float>(p.alpha)});
    if (p.bias.data != nullptr) {
      if (!is_oneDNN_type(p.bias.type)) return false;
      made.bias = describe(p, p.bias.type, &contraction_axis::bias, p.m, p.n);
      made.has_own_bias = is_own_bias(p);
      if (!made.has_own_bias) steps.append_binary(dnnl::algorithm::binary_add, made.bias);
    }
    if (p.residual.data != nullptr) {
      if (!is_oneDNN_type(p.residual.type)) return false;
      made.residual = describe(p, p.residual.type, &contraction_axis::residual, p.m, p.n);
      steps.append_binary(dnnl::algorithm::binary_add, made.residual);
    }
    if (p.activation != opcode::convert)
      steps.append_eltwise(1.0f, algorithm_of(p.activation),
                           p.activation == opcode::silu ? 1.0f : 0.0f, 0.0f);
    attributes.set_post_ops(steps);
  }
  bool const with_bias = fused && p.bias.data != nullptr && made.has_own_bias;
  dnnl::matmul::desc const matmul = with_bias
                                        ? dnnl::matmul::desc(made.a, made.b, made.bias, made.c)
                                        : dnnl::matmul::desc(made.a, made.b, made.c);
  result = dnnl::matmul::primitive_desc(matmul, attributes, host_engine());
  made.implementation = result.impl_info_str();
  return !made.implementation.starts_with("ref");
} catch (dnnl::error const&) {
  return false;  // strides that overlap, or arguments that no implementation takes
}

// Does the order of oneDNN's sums stay the same for any number of threads? Its AVX-512 kernels cut
// k into blocks that depend on k alone, except that for a transposed `a` with k >= 2048 they may
// share k out among the threads. The others (gemm:jit, AMX) may always do so. Measured with oneDNN
// 2.6.3, 1 to 16 threads; tests/unit/exec/contract.cpp watches it.
bool is_free_of_threads(gemm_problem const& p, std::string_view implementation) {
  if (implementation != "brg:avx512_core" && implementation != "brg:avx512_core_bf16") return false;
  return p.m.a != 1 || p.k.a == 1 || p.k.extent < 2048;
}

// Tiles of c: about sixteen or more, each with enough work for its packing to vanish. They depend
// on the shape alone, as the bits may depend on them.
void choose_tiles(gemm_problem const& p, std::int64_t batch, made_primitive& made) {
  std::int64_t const least = 192;
  std::int64_t const most = 512;
  double const area = static_cast<double>(batch) * static_cast<double>(p.m.extent) *
                      static_cast<double>(p.n.extent) / 16;
  std::int64_t side = least;
  while (side < most && static_cast<double>(side) * static_cast<double>(side) * 2 < area)
    side += 64;
  auto const cut = [&](std::int64_t extent, std::int64_t step) {
    std::int64_t const parts = (extent + side - 1) / side;
    std::int64_t const even = (extent + parts - 1) / parts;
    return std::min(extent, (even + step - 1) / step * step);
  };
  made.tile_m = cut(p.m.extent, 16);
  made.tile_n = cut(p.n.extent, 64);
}

// Tiles at the ends are smaller: up to four shapes.
bool takes_tiles(gemm_problem const& p, bool fused, made_primitive& made) {
  thread_scope const scope(1);
  gemm_problem tile = without_batch(p);
  for (std::int64_t const m : {p.m.extent % made.tile_m, made.tile_m}) {
    for (std::int64_t const n : {p.n.extent % made.tile_n, made.tile_n}) {
      if (m == 0 || n == 0) continue;
      tile.m.extent = m;
      tile.n.extent = n;
      dnnl::matmul::primitive_desc described;
      if (!describe_matmul(tile, fused, made, described)) return false;
    }
  }
  return true;
}

}  // namespace

dnnl::engine const& host_engine() {
  static auto const& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::int64_t batch_of(gemm_problem const& p) {
  std::int64_t batch = 1;
  for (int i = 0; i < p.batches; ++i) batch *= p.batch[i].extent;
  return batch;
}

gemm_problem without_batch(gemm_problem p) {
  p.batches = 0;
  return p;
}

std::shared_ptr<made_primitive> make_primitive(gemm_problem const& p, bool may_be_plain,
                                               int threads) {
  auto made = std::make_shared<made_primitive>();
  for (bool const fused : {true, false}) {
    if (!fused && !may_be_plain) break;
    made->is_plain = !fused;
    dnnl::matmul::primitive_desc one;
    if (p.batches <= most_batches) {
      thread_scope const scope(1);
      bool const described = describe_matmul(p, fused, *made, one);
      if (described && (threads == 0 || is_free_of_threads(p, made->implementation))) {
        made->way = gemm_way::threaded;
        made->primitive = dnnl::matmul(one);
        made->scratch = one.scratchpad_desc();
        break;
      }
      if (threads == 0) continue;
    }
    choose_tiles(p, batch_of(p), *made);
    if (!takes_tiles(p, fused, *made)) continue;
    made->way = gemm_way::tiles;
    break;
  }
  if (made->way != gemm_way::threaded || threads <= 1) return made;
  // The same on more threads, if oneDNN then takes the same kernels.
  auto more = std::make_shared<made_primitive>();
  dnnl::matmul::primitive_desc many;
  thread_scope const scope(threads);
  if (!describe_matmul(p, !made->is_plain, *more, many) ||
      more->implementation != made->implementation)
    return made;
  more->way = made->way;
  more->is_plain = made->is_plain;
  more->primitive = dnnl::matmul(many);
  more->scratch = many.scratchpad_desc();
  return more;
}

}  // namespace ricci::exec
