#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/storage.hpp>

#include "kernels/parallel/parallel.hpp"
#include "src/gemm.hpp"

// Of the OpenMP runtime that oneDNN itself is linked with. oneDNN lays a primitive out for the
// number of threads that is set while it is made; no parallel region is opened here.
extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads();
int omp_in_parallel();
}

namespace ricci::exec {
namespace {

using dnnl::memory;
using kernels::contraction_axis;

constexpr int most_batches = 6;  // batch axes handed to oneDNN, whose own limit is 12 dimensions
constexpr std::size_t most_primitives = 1024;

// While it lives, what oneDNN makes and runs in this thread uses `count` threads.
class thread_scope {
 public:
  explicit thread_scope(int count) : previous_(omp_get_max_threads()) {
    if (count != previous_) omp_set_num_threads(count);
  }
  ~thread_scope() {
    if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
  }
  thread_scope(thread_scope const&) = delete;
  thread_scope& operator=(thread_scope const&) = delete;

 private:
  int previous_;
};

dnnl::engine const& host_engine() {
  static auto const& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::data_type type_of(dtype type) {
  return type == dtype::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

// All that a primitive depends on, as numbers.
struct primitive_key {
  std::int64_t words[64] = {};
  int count = 0;
  std::uint64_t hash = 0;

  void add(std::int64_t word) {
    words[count++] = word;
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  friend bool operator==(primitive_key const& x, primitive_key const& y) {
    return x.count == y.count && x.hash == y.hash &&
           std::equal(x.words, x.words + x.count, y.words);
  }
};

struct key_hash {
  std::size_t operator()(primitive_key const& key) const { return key.hash; }
};

void add_axis(primitive_key& key, contraction_axis const& x, bool bias, bool residual) {
  key.add(x.extent);
  key.add(x.a);
  key.add(x.b);
  key.add(x.c);
  if (bias) key.add(x.bias);
  if (residual) key.add(x.residual);
}

primitive_key key_of(gemm_problem const& p, bool may_be_plain, int threads) {
  primitive_key key;
  bool const bias = p.bias.data != nullptr;
  bool const residual = p.residual.data != nullptr;
  key.add(static_cast<int>(p.in) | static_cast<int>(p.out) << 4 |
          static_cast<int>(p.activation) << 8 |
          (bias ? 1 + static_cast<int>(p.bias.type) : 0) << 16 |
          (residual ? 1 + static_cast<int>(p.residual.type) : 0) << 20 | may_be_plain << 24 |
          p.batches << 25);
  key.add(threads);
  key.add(std::bit_cast<std::int64_t>(p.alpha));
  for (contraction_axis const* x : {&p.m, &p.n, &p.k}) add_axis(key, *x, bias, residual);
  for (int i = 0; i < p.batches; ++i) add_axis(key, p.batch[i], bias, residual);
  return key;
}

// How a problem runs.
//   threaded  one primitive, oneDNN shares it out among the threads
//   tiles     primitives of two dimensions made for one thread, on tiles of c that we share out
enum class gemm_way { threaded, tiles, unsupported };

struct made_primitive {
  gemm_way way = gemm_way::unsupported;
  bool is_plain = false;
  std::string implementation;
  std::int64_t tile_m = 0, tile_n = 0;
  dnnl::matmul primitive;
  memory::desc a, b, c, bias, residual, scratch;
  std::uint64_t used = 0;
};

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

// The primitive's description, its epilogue fused or left out; nothing if oneDNN has none that is
// fast: its reference implementation is 800 times slower.
bool describe_matmul(gemm_problem const& p, bool fused, made_primitive& made,
                     dnnl::matmul::primitive_desc& result) try {
  dnnl::primitive_attr attributes;
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
      steps.append_binary(dnnl::algorithm::binary_add, made.bias);
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
  result = dnnl::matmul::primitive_desc(dnnl::matmul::desc(made.a, made.b, made.c), attributes,
                                        host_engine());
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

std::int64_t batch_of(gemm_problem const& p) {
  std::int64_t batch = 1;
  for (int i = 0; i < p.batches; ++i) batch *= p.batch[i].extent;
  return batch;
}

gemm_problem without_batch(gemm_problem p) {
  p.batches = 0;
  return p;
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

std::shared_ptr<made_primitive> make(gemm_problem const& p, bool may_be_plain, int threads) {
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

class primitive_cache {
 public:
  std::shared_ptr<made_primitive> find(primitive_key const& key, gemm_problem const& p,
                                       bool may_be_plain, int threads) {
    std::lock_guard const lock(mutex_);
    auto& entry = entries_[key];
    if (!entry) {
      entry = make(p, may_be_plain, threads);
      if (entries_.size() > most_primitives) drop_oldest(key);
    }
    entry->used = ++clock_;
    return entry;
  }

 private:
  void drop_oldest(primitive_key const& newest) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it)
      if (!(it->first == newest) &&
          (oldest == entries_.end() || it->second->used < oldest->second->used))
        oldest = it;
    if (oldest != entries_.end()) entries_.erase(oldest);
  }

  std::mutex mutex_;
  std::unordered_map<primitive_key, std::shared_ptr<made_primitive>, key_hash> entries_;
  std::uint64_t clock_ = 0;
};

primitive_cache& cache() {
  static auto& all = *new primitive_cache;
  return all;
}

// A primitive with the memory objects through which this thread hands it pointers.
struct ready_primitive {
  primitive_key key;
  std::shared_ptr<made_primitive> made;
  memory objects[6];
  dnnl_exec_arg_t arguments[6];
  int count = 0;

  void prepare() {
    count = 0;
    if (made->way != gemm_way::threaded) return;
    int step = 0;
    auto const add = [&](int argument, memory::desc const& desc) {
      objects[count] = memory(desc, host_engine(), nullptr);
      arguments[count] = {argument, objects[count].get()};
      ++count;
    };
    add(DNNL_ARG_SRC, made->a);
    add(DNNL_ARG_WEIGHTS, made->b);
    add(DNNL_ARG_DST, made->c);
    add(DNNL_ARG_SCRATCHPAD, made->scratch);
    for (memory::desc const* desc : {&made->bias, &made->residual})
      if (desc->data.ndims > 0) add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(step++) | DNNL_ARG_SRC_1, *desc);
  }

  void execute(gemm_problem const& p) {
    storage_handle const scratch =
        allocate(static_cast<std::int64_t>(made->scratch.get_size()), role::workspace);
    void const* const pointers[4] = {p.a, p.b, p.c, scratch.data()};
    int next = 0;
    for (; next < 4; ++next) objects[next].set_data_handle(const_cast<void*>(pointers[next]));
    if (made->bias.data.ndims > 0) objects[next++].set_data_handle(const_cast<void*>(p.bias.data));
    if (made->residual.data.ndims > 0)
      objects[next++].set_data_handle(const_cast<void*>(p.residual.data));
    thread_local dnnl::stream const stream(host_engine());
    dnnl_status_t const status =
        dnnl_primitive_execute(made->primitive.get(), stream.get(), count, arguments);
    if (status != dnnl_success)
      throw device_error("gemm: oneDNN's matmul (" + made->implementation +
                         ") failed with status " + std::to_string(static_cast<int>(status)) + ".");
  }
};

ready_primitive& ready_for(gemm_problem const& p, bool may_be_plain, int threads) {
  thread_local auto const recent = std::make_unique<ready_primitive[]>(64);
  primitive_key const key = key_of(p, may_be_plain, threads);
  ready_primitive& slot = recent[key.hash % 64];
  if (slot.made && slot.key == key) return slot;
  slot.made = cache().find(key, p, may_be_plain, threads);
  slot.key = key;
  slot.prepare();
  return slot;
}

void const* moved(void const* data, dtype type, std::int64_t elements) {
  return data == nullptr ? nullptr : static_cast<char const*>(data) + elements * size_of(type);
}

void run_tiles(gemm_problem const& p, made_primitive const& made) {
  std::int64_t const down = (p.m.extent - 1) / made.tile_m + 1;
  std::int64_t const across = (p.n.extent - 1) / made.tile_n + 1;
  bool const is_plain = made.is_plain;
  kernels::parallel_for(batch_of(p) * down * across, [&](std::int64_t task) {
    std::int64_t const i = task / across % down * made.tile_m;
    std::int64_t const j = task % across * made.tile_n;
    std::int64_t a = i * p.m.a;
    std::int64_t b = j * p.n.b;
    std::int64_t c = i * p.m.c + j * p.n.c;
    std::int64_t bias = i * p.m.bias + j * p.n.bias;
    std::int64_t residual = i * p.m.residual + j * p.n.residual;
    std::int64_t item = task / (down * across);
    for (int axis = p.batches - 1; axis >= 0 && item > 0; --axis) {
      contraction_axis const& x = p.batch[axis];
      std::int64_t const at = item % x.extent;
      item /= x.extent;
      a += at * x.a;
      b += at * x.b;
      c += at * x.c;
      bias += at * x.bias;
      residual += at * x.residual;
    }
    gemm_problem tile = without_batch(p);
    tile.m.extent = std::min(made.tile_m, p.m.extent - i);
    tile.n.extent = std::min(made.tile_n, p.n.extent - j);
    tile.a = moved(p.a, p.in, a);
    tile.b = moved(p.b, p.in, b);
    tile.c = const_cast<void*>(moved(p.c, p.out, c));
    tile.bias.data = is_plain ? nullptr : moved(p.bias.data, p.bias.type, bias);
    tile.residual.data = is_plain ? nullptr : moved(p.residual.data, p.residual.type, residual);
    if (is_plain) {
      tile.alpha = 1;
      tile.activation = opcode::convert;
    }
    thread_scope const scope(1);  // gemm:jit asks for the number of threads while it runs
    ready_primitive& ready = ready_for(tile, false, 0);
    if (ready.made->way != gemm_way::threaded)
      throw device_error("gemm: oneDNN has no fast matmul for a part of a product that it takes.");
    ready.execute(tile);
  });
}

// Products below this many operations run on one thread: waking the others costs more.
constexpr double least_shared = 2e6;

int threads_for(gemm_problem const& p) {
  double const operations = 2.0 * static_cast<double>(batch_of(p)) *
                            static_cast<double>(p.m.extent) * static_cast<double>(p.n.extent) *
                            static_cast<double>(p.k.extent);
  return operations < least_shared || omp_in_parallel() ? 1 : kernels::threads();
}

}  // namespace

gemm_outcome gemm(gemm_problem const& p, bool may_be_plain) {
  ready_primitive& ready = ready_for(p, may_be_plain, threads_for(p));
  std::shared_ptr<made_primitive> const made = ready.made;
  if (made->way == gemm_way::unsupported) return gemm_outcome::unsupported;
  if (made->way == gemm_way::tiles)
    run_tiles(p, *made);
  else
    ready.execute(p);
  return made->is_plain ? gemm_outcome::plain : gemm_outcome::done;
}

char const* gemm_implementation(gemm_problem const& p) {
  return ready_for(p, true, threads_for(p)).made->implementation.c_str();
}

}  // namespace ricci::exec
