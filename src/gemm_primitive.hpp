#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <oneapi/dnnl/dnnl.hpp>

#include "src/gemm.hpp"

// Of the OpenMP runtime that oneDNN itself is linked with. oneDNN lays a primitive out for the
// number of threads that is set while it is made; no parallel region is opened here.
extern "C" {
void omp_set_num_threads(int);
int omp_get_max_threads();
int omp_in_parallel();
}

/// Private to src/gemm*: how oneDNN is to run a product.
namespace ricci::exec {

/// While it lives, what oneDNN makes and runs in this thread uses `count` threads.
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

/// The one engine; never destroyed, as threads may end after it would be.
dnnl::engine const& host_engine();

/// How a problem runs.
///   threaded  one primitive, oneDNN shares it out among the threads
///   tiles     primitives of two dimensions made for one thread, on tiles of c that we share out
enum class gemm_way { threaded, tiles, unsupported };

/// A primitive of oneDNN, or the tiles that stand for one.
struct made_primitive {
  gemm_way way = gemm_way::unsupported;
  bool is_plain = false;      // without the epilogue
  bool has_own_bias = false;  // matmul's argument, not an addition after it
  std::string implementation;
  std::int64_t tile_m = 0, tile_n = 0;
  dnnl::matmul primitive;
  dnnl::memory::desc a, b, c, bias, residual, scratch;
  std::uint64_t used = 0;
};

/// How many products the problem's batch axes stand for.
std::int64_t batch_of(gemm_problem const& p);

gemm_problem without_batch(gemm_problem p);

/// Decides how a problem runs and makes the primitive.
///   threads  for how many threads; 0: one part of c that one thread computes, of two dimensions
std::shared_ptr<made_primitive> make_primitive(gemm_problem const& p, bool may_be_plain,
                                               int threads);

}  // namespace ricci::exec
