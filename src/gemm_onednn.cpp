#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <ricci/error/exceptions.hpp>
#include <ricci/tensor/storage.hpp>

#include "kernels/parallel/parallel.hpp"
#include "src/gemm_primitive.hpp"

namespace ricci::exec {
namespace {

using dnnl::memory;
using kernels::contraction_axis;

constexpr std::size_t most_primitives = 1024;

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

class primitive_cache {
 public:
  std::shared_ptr<made_primitive> find(primitive_key const& key, gemm_problem const& p,
                                       bool may_be_plain, int threads) {
    std::lock_guard const lock(mutex_);
    auto& entry = entries_[key];
    if (!entry) {
      entry = make_primitive(p, may_be_plain, threads);
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
    if (made->bias.data.ndims > 0)
      add(made->has_own_bias ? DNNL_ARG_BIAS
                             : DNNL_ARG_ATTR_MULTIPLE_POST_OP(step++) | DNNL_ARG_SRC_1,
          made->bias);
    if (made->residual.data.ndims > 0)
      add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(step) | DNNL_ARG_SRC_1, made->residual);
  }

  void execute(gemm_problem const& p) {
    storage_handle const scratch =
        allocate(static_cast<std::int64_t>(made->scratch.get_size()), role::scratch);
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

}  // namespace ricci::exec
