// Compares what explain prints and draws with the files beside this one, or writes them.
//
// usage: golden_plan FOLDER [--update]
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <ricci/plan/explain.hpp>
#include <ricci/ricci.hpp>

#include "tests/unit/plan/random_statement.hpp"

namespace {

using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Query : axis<"query"> {};
struct Key : axis<"key"> {};
struct Hidden : axis<"hidden", 768> {};
struct Qkv : axis<"qkv", 2304> {};
struct Which : axis<"which", 3> {};
struct Heads : axis<"heads", 12> {};
struct HeadDim : axis<"head_dim", 64> {};
struct Mlp : axis<"mlp", 3072> {};

template <class... A, class... Given> auto some(Given const&... given) {
  return random::uniform<f32, A...>(random::key(1), given...);
}

// Predicted times are fitted to a machine, and change with it.
std::string without_times(std::string const& text) {
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);)
    if (line.find("(predicted time)") == std::string::npos) kept += line + "\n";
  return kept;
}

class golden_files {
 public:
  golden_files(std::string folder, bool update) : folder_(std::move(folder)), update_(update) {}

  void check(std::string const& name, explanation const& e) {
    compare(name + ".txt", without_times(e.text()));
    compare(name + ".dot", e.dot());
  }
  int failures() const { return failures_; }

 private:
  void compare(std::string const& name, std::string const& now) {
    std::string const path = folder_ + "/" + name;
    if (update_) {
      std::ofstream(path) << now;
      return;
    }
    std::ifstream file(path);
    std::stringstream wanted;
    wanted << file.rdbuf();
    if (file && wanted.str() == now) return;
    ++failures_;
    std::printf("%s differs; now it is:\n%s\n", path.c_str(), now.c_str());
  }

  std::string folder_;
  bool update_;
  int failures_ = 0;
};

// An einsum of several operands of f32, indices and axes called by letters.
explanation contraction(std::string const& pattern, std::map<char, std::int64_t> const& extents) {
  graph_test::small_spec const spec(pattern);
  std::vector<graph::handle> operands;
  std::string const left = pattern.substr(0, pattern.find("->"));
  std::istringstream groups(left);
  for (std::string axes; std::getline(groups, axes, ',');) {
    std::vector<std::int64_t> of;
    for (char const c : axes) of.push_back(extents.at(c));
    operands.push_back(graph::make_leaf(dtype::f32, plan_test::axes_of_letters(axes), of.data()));
  }
  std::string const result = pattern.substr(pattern.find("->") + 2);
  return explanation(
      graph::einsum(spec.spec, plan_test::axes_of_letters(result), operands.data(), nullptr));
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::printf("usage: golden_plan FOLDER [--update]\n");
    return 2;
  }
  golden_files files(arguments[1], count > 2 && std::strcmp(arguments[2], "--update") == 0);

  tensor const x = some<Batch, Seq, Hidden>(Batch{8}, Seq{128});
  tensor const w = some<Hidden, Mlp>();
  tensor const b = some<Mlp>();
  tensor const wq = some<Hidden, Qkv>();
  files.check("gelu",
              explain(gelu(einsum<"batch seq hidden, hidden mlp -> batch seq mlp">(x, w) + b)));
  files.check("qkv", explain(rearrange<"batch seq qkv=(which heads head_dim) -> "
                                       "which batch heads seq head_dim",
                                       Which, Heads, HeadDim>(
                         einsum<"batch seq hidden, hidden qkv -> batch seq qkv">(x, wq))));
  tensor const q = some<Batch, Heads, Query, HeadDim>(Batch{8}, Query{128});
  tensor const k = some<Batch, Heads, Key, HeadDim>(Batch{8}, Key{128});
  auto scores = einsum<
                    "batch heads query head_dim, batch heads key head_dim -> "
                    "batch heads query key">(q, k) *
                0.125f;
  files.check(
      "attention",
      explain(
          rearrange<"batch heads query head_dim -> batch query hidden=(heads head_dim)", Hidden>(
              einsum<"batch heads query key, batch heads key head_dim -> "
                     "batch heads query head_dim">(softmax<Key>(std::move(scores)), k))));
  files.check(
      "rearrange",
      explain(
          rearrange<"batch heads query head_dim -> batch query hidden=(heads head_dim)", Hidden>(
              q)));

  // Drawn at random once: three to six operands.
  files.check("random_1", contraction("acd,dbe,be->cab",
                                      {{'a', 24}, {'b', 40}, {'c', 32}, {'d', 48}, {'e', 16}}));
  files.check("random_2", contraction("ab,bc,cd,de->ea",
                                      {{'a', 64}, {'b', 128}, {'c', 96}, {'d', 256}, {'e', 64}}));
  files.check("random_3", contraction("fab,bc,fc,ad->fd",
                                      {{'a', 32}, {'b', 64}, {'c', 48}, {'d', 64}, {'f', 8}}));
  files.check("random_4",
              contraction("abc,cde,ef,bd,af->",
                          {{'a', 20}, {'b', 24}, {'c', 28}, {'d', 12}, {'e', 16}, {'f', 32}}));
  files.check("random_5",
              contraction("ab,ac,ad,ae,bf,cf->def",
                          {{'a', 16}, {'b', 32}, {'c', 48}, {'d', 20}, {'e', 24}, {'f', 40}}));
  std::printf("%d golden files differ\n", files.failures());
  return files.failures() > 0;
}
