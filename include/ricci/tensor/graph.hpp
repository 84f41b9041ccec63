#pragma once

#include <ricci/axis/axis.hpp>
#include <ricci/tensor/dtype.hpp>
#include <ricci/tensor/layout.hpp>
#include <ricci/tensor/opcode.hpp>
#include <ricci/tensor/pattern_spec.hpp>
#include <ricci/tensor/storage.hpp>

#include <cstdint>
#include <utility>

/// The untyped layer below the language: a lazy graph of values. Every tensor, view and expression
/// is a handle to one of its values; the typed layer has checked the axes before it calls in here.
/// All functions are compiled once (src/graph). They throw what design.md 2.6 says.
namespace ricci::random {
class key;
}

namespace ricci::graph {

struct value;
void retain(value* v) noexcept;
void release(value* v) noexcept;

/// A counted reference to a value, or none.
class handle {
 public:
  constexpr handle() = default;
  explicit handle(value* adopted) noexcept : value_(adopted) {}
  handle(handle const& other) noexcept : value_(other.value_) {
    if (value_) retain(value_);
  }
  handle(handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  handle& operator=(handle other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~handle() {
    if (value_) release(value_);
  }
  value* get() const { return value_; }
  value* operator->() const { return value_; }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  value* value_ = nullptr;
};

/// The axes of a value: descriptions in order, with static storage duration.
struct axes_view {
  axis_info const* const* axes;
  int rank;
};

// --- questions -------------------------------------------------------------------------------
// Each throws value_error on an empty handle ("an empty tensor is used").
dtype dtype_of(handle const& x);
axes_view axes_of(handle const& x);
std::int64_t const* extents(handle const& x);
std::int64_t const* strides(handle const& x);  // evaluated values only; in elements
bool is_evaluated(handle const& x);
std::int64_t element_count(handle const& x);
/// Evaluates where that has not happened; the pointer to element (0, ..., 0).
void const* data(handle const& x);
/// Writable data of a packed value that nothing else is computed from yet (fills, optimizers).
void* mutable_data(handle const& x);
/// x itself where nobody else holds it or its storage and it is packed (pass it by std::move), else
/// a packed copy. Whoever writes in place starts here.
handle unshared(handle x);

// --- leaves ----------------------------------------------------------------------------------
/// New packed storage, not initialised. @pre extents[i] >= 0 (else shape_error); the byte count is
/// checked for overflow (shape_error). The role is the thread's current one.
handle make_leaf(dtype type, axes_view axes, std::int64_t const* extents);
/// A packed value in storage of somebody else's.
handle make_leaf(dtype type, axes_view axes, std::int64_t const* extents, storage_handle storage,
                 std::int64_t byte_offset);
/// A rank-0 number that fuses into whatever takes it. `integer` counts for integer dtypes.
handle constant(dtype type, double floating, std::int64_t integer);
/// Every element the same number.
handle full(dtype type, axes_view axes, std::int64_t const* extents, double floating,
            std::int64_t integer);
/// The position along axis `along` at every place.
handle iota(dtype type, axes_view axes, std::int64_t const* extents, int along);

// --- statements ------------------------------------------------------------------------------
/// Computes the value, once; afterwards it is evaluated. Fuses what it can reach.
void evaluate(handle const& x);
/// An evaluated packed value equal to x: x itself where it is packed, a copy where it is a view.
handle packed(handle const& x);

// --- pointwise -------------------------------------------------------------------------------
/// The result has the axes of the operand whose axes contain all others' (by type), the first of
/// such; constants have none. Extents of one axis differ: shape_error naming axis, operands and
/// both extents, `who` being the operation's name in the sentence.
handle pointwise(char const* who, opcode op, handle const* operands, int count);
handle convert(handle const& x, dtype to);

// --- views: evaluated operands give views, unevaluated ones stay lazy -------------------------
/// `axes` are the result's axes. permutation[i]: which axis of x result axis i is.
handle permute(handle const& x, axes_view axes, std::int8_t const* permutation);
/// The same places under other names; extents must agree with static ones (shape_error).
handle rename(handle const& x, axes_view axes);
handle at(handle const& x, axes_view axes, int axis, std::int64_t position);
handle slice(handle const& x, axes_view axes, int axis, std::int64_t begin, std::int64_t count,
             std::int64_t step);
handle reverse(handle const& x, int axis);
handle diagonal(handle const& x, axes_view axes, int first, int second);
/// `count` new axes in front, of the extents given.
handle broadcast(handle const& x, axes_view axes, int count, std::int64_t const* new_extents);

// --- patterns --------------------------------------------------------------------------------
/// Extents given by value for axes of the result: -1 where none was.
/// Throws shape_error: two extents of one index differ; a split does not divide; two unknown
/// factors; a result axis of static extent gets another one.
handle einsum(pattern_spec const& spec, axes_view axes, handle const* operands,
              std::int64_t const* given);
/// One operand, every index in the result: a view where strides allow, else one copy.
handle rearrange(pattern_spec const& spec, axes_view axes, handle const& x,
                 std::int64_t const* given);
handle repeat(pattern_spec const& spec, axes_view axes, handle const& x, std::int64_t const* given);

enum class reduction : std::uint8_t { sum, mean, max, min, prod, any, all, logsumexp, argmax, argmin, user };
/// A reduction that a user wrote: accumulators and elements are of the value's dtype.
struct user_reduction {
  void const* identity;
  void (*combine)(void* accumulators, void const* elements, std::int64_t count);  // acc[i] op= x[i]
};
/// Indices that the result lacks are reduced.
handle reduce(reduction op, user_reduction const* user, pattern_spec const& spec, axes_view axes,
              handle const& x, std::int64_t const* given, dtype result);
/// Short form: bit i of `reduced` stands for axis i of x; `axes` are those kept.
handle reduce(reduction op, handle const& x, axes_view axes, std::uint32_t reduced, dtype result);
handle cumsum(handle const& x, int axis, dtype result);

// --- gathers and joins -------------------------------------------------------------------------
/// The axes of ids replace `axis` of the table at its place.
handle take(handle const& table, handle const& ids, axes_view axes, int axis);
handle concat(handle const* parts, int count, axes_view axes, int axis);
handle stack(handle const* parts, int count, axes_view axes);

// --- operations with a kernel of their own -----------------------------------------------------
handle softmax(handle const& x, int axis);
handle log_softmax(handle const& x, int axis);
/// scale and bias may be none; both have the one axis `axis` of x.
handle layer_norm(handle const& x, handle const& scale, handle const& bias, int axis, double epsilon);
handle rms_norm(handle const& x, handle const& scale, int axis, double epsilon);
/// Per-place losses: x without its axis `axis`; targets are integers with exactly those axes.
handle cross_entropy(handle const& logits, handle const& targets, axes_view axes, int axis);
/// q [b..., query, d], k and v [b..., key, d], found by position: permute first. -> like q; its axes
/// lie in memory as those of q do. scale 0: 1 / sqrt(d).
handle attention(handle const& q, handle const& k, handle const& v, double scale, bool causal);

// --- random ----------------------------------------------------------------------------------
handle random_normal(dtype, axes_view, std::int64_t const* extents, random::key const&, double mean, double deviation);
handle random_uniform(dtype, axes_view, std::int64_t const* extents, random::key const&, double low, double high);
handle random_truncated_normal(dtype, axes_view, std::int64_t const* extents, random::key const&, double mean,
                               double deviation, double low, double high);
handle random_bernoulli(axes_view, std::int64_t const* extents, random::key const&, double probability);
handle random_permutation(dtype, axes_view, std::int64_t const* extents, random::key const&);

// --- gradients -------------------------------------------------------------------------------
/// Opens a level of differentiation on this thread: what is computed from its tracked values
/// remembers how. Levels nest; closing forgets.
class level {
 public:
  level();
  ~level();
  level(level const&) = delete;
  level& operator=(level const&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};
/// A leaf of this level with the data of x; outer levels see it as x itself.
handle track(handle const& x, level const& l);
/// d(sum of y * seed) / d(leaf) for each leaf, evaluated and packed; zeros where y does not depend
/// on it. seed none: ones. Releases the graph as it goes where no outer level needs it.
/// The results have role `gradient`.
void backward(handle const& y, handle const& seed, handle const* leaves, int count, handle* gradients,
              level const& l);
handle stop_gradient(handle const& x);
/// y computed elsewhere, with a rule for its gradient.
struct callback {
  virtual ~callback() = default;
  /// custom_vjp: dx for x, y, dy.   recompute: y for x (dy none).
  virtual handle call(handle const& x, handle const& y, handle const& dy) = 0;
};
handle custom_vjp(handle const& x, handle const& y, callback* rule);
/// Runs body(x) and forgets what it computed on the way; its gradient runs body again.
handle recompute(handle const& x, callback* body);

// --- what ran --------------------------------------------------------------------------------
/// Counts since the program began, of this thread's evaluations.
struct counters {
  std::int64_t statements, loops, gemms, gemm_calls, small_contractions, packs, copies, reductions, kernels;
};
counters const& counted();

}  // namespace ricci::graph
