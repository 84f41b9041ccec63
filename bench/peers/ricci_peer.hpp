#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include <ricci/exec/threads.hpp>
#include <ricci/plan/explain.hpp>
#include <ricci/ricci.hpp>

#include "bench/peers/contestant.hpp"

/// Ricci as a contestant, `tensor r = einsum<...>(a, b)` with the result's memory taken and given
/// back each time; and beside it, where that is one matrix product, oneDNN called directly with
/// the same sizes.
namespace peers {

using namespace ricci;

/// What the language says of a tensor type: how it is filled.
template <class X> struct tensor_maker;
template <class T, class... Axes> struct tensor_maker<tensor<T, Axes...>> {
  using element = T;
  static tensor<T, Axes...> filled(std::int64_t count, int operand) {
    std::vector<T> values(static_cast<std::size_t>(count));
    fill(values.data(), count, operand);
    return from<T, Axes...>(std::span<T const>(values));
  }
};

template <class First, class Second, class Einsum> class ricci_contestant : public contestant {
 public:
  explicit ricci_contestant(contraction const& c)
      : first_(tensor_maker<First>::filled(c.count(c.first), 0)),
        second_(tensor_maker<Second>::filled(c.count(c.second), 1)) {}

  void run() override {
    result_.reset();
    result_.emplace(Einsum{}(first_, second_));
  }
  std::vector<double> samples() override {
    auto const values = result_->values();
    return samples_of(values.data(), static_cast<std::int64_t>(values.size()));
  }
  nlohmann::ordered_json facts() override {
    auto const plan = explain(Einsum{}(first_, second_));
    nlohmann::ordered_json facts{{"gemms", plan.gemms()}, {"copies", plan.copies()}};
    for (int i = 0; i < plan.step_count(); ++i) {
      plan_step const& step = plan.step(i);
      if (step.kind != step_kind::gemm && step.kind != step_kind::loops) continue;
      facts["lowering"] = name_of(step.lowering);
      facts["sizes"] = {step.batch, step.m, step.n, step.k};
    }
    return facts;
  }

 private:
  using result_type = decltype(eval(Einsum{}(std::declval<First&>(), std::declval<Second&>())));

  First first_;
  Second second_;
  std::optional<result_type> result_;
};

/// oneDNN's matmul of [batch, m, k] and [batch, k, n], packed, kept as a primitive.
class onednn_contestant : public contestant {
 public:
  onednn_contestant(dtype type, std::vector<std::int64_t> const& sizes)
      : engine_(dnnl::engine::kind::cpu, 0) {
    auto const [batch, m, n, k] = std::array{sizes[0], sizes[1], sizes[2], sizes[3]};
    using memory = dnnl::memory;
    auto const kind = type == dtype::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
    auto const make = [&](std::int64_t rows, std::int64_t columns, int operand) {
      std::int64_t const count = batch * rows * columns;
      data_.push_back(allocate(checked_bytes(count, type), role::data));
      if (operand < 2 && type == dtype::bf16)
        fill(static_cast<bf16*>(data_.back().data()), count, operand);
      else if (operand < 2)
        fill(static_cast<float*>(data_.back().data()), count, operand);
      return batch == 1 ? memory::desc({rows, columns}, kind, memory::dims{columns, 1})
                        : memory::desc({batch, rows, columns}, kind,
                                       memory::dims{rows * columns, columns, 1});
    };
    auto const a = make(m, k, 0);
    auto const b = make(k, n, 1);
    auto const c = make(m, n, 2);
    matmul_ = dnnl::matmul({{a, b, c}, engine_});
    stream_ = dnnl::stream(engine_);
    arguments_ = {{DNNL_ARG_SRC, memory(a, engine_, data_[0].data())},
                  {DNNL_ARG_WEIGHTS, memory(b, engine_, data_[1].data())},
                  {DNNL_ARG_DST, memory(c, engine_, data_[2].data())}};
  }
  void run() override {
    matmul_.execute(stream_, arguments_);
    stream_.wait();
  }
  // Of its own sizes: not comparable with the other contestants'.
  std::vector<double> samples() override { return {}; }
  nlohmann::ordered_json facts() override {
    return {{"version", std::to_string(DNNL_VERSION_MAJOR) + "." +
                            std::to_string(DNNL_VERSION_MINOR) + "." +
                            std::to_string(DNNL_VERSION_PATCH)}};
  }

 private:
  dnnl::engine engine_;
  std::vector<storage_handle> data_;
  dnnl::matmul matmul_;
  dnnl::stream stream_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

using case_table = std::map<std::string, contestant_handle (*)(contraction const&)>;

template <class First, class Second, class Einsum>
contestant_handle make_case(contraction const& c) {
  return std::make_unique<ricci_contestant<First, Second, Einsum>>(c);
}

/// The main of a generated program.
///   threads  its first argument
inline int serve_cases(dtype type, case_table const& table, int count, char** arguments) {
  set_threads(count > 1 ? std::stoi(arguments[1]) : threads());
  nlohmann::ordered_json plan;
  auto const ours = [&](contraction const& c) {
    plan = nullptr;
    auto const found = table.find(c.text);
    if (found == table.end()) throw skipped("not among the cases that were compiled");
    contestant_handle made = found->second(c);
    plan = made->facts();
    return made;
  };
  auto const direct = [&](contraction const&) -> contestant_handle {
    if (type != dtype::f32 && type != dtype::bf16) throw skipped("oneDNN has no matmul of it");
    if (!plan.is_object() || plan["gemms"] != 1 || plan["copies"] != 0)
      throw skipped("the contraction is not one matrix product");
    return std::make_unique<onednn_contestant>(type,
                                               plan["sizes"].get<std::vector<std::int64_t>>());
  };
  return serve({{"ricci", ours}, {"onednn", direct}});
}

}  // namespace peers
