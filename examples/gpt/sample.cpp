#include "sample.hpp"

#include <algorithm>
#include <vector>

namespace gpt {

std::string sample(Gpt<> const& model, std::string const& prompt, std::int64_t count, random::key key) {
  std::int64_t const window = extent_of<Seq>(model.position);
  std::string text = prompt;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const seen = std::min<std::int64_t>(window, static_cast<std::int64_t>(text.size()));
    std::vector<i32> context;
    for (char c : text.substr(text.size() - static_cast<std::size_t>(seen)))
      context.push_back(static_cast<unsigned char>(c));
    tensor ids = from<i32, Batch, Seq>(std::span<i32 const>(context), Batch{1}, Seq{seen});
    tensor<f32, Batch, Seq, Vocab> logits = model(ids);
    tensor<f32, Vocab> p = softmax<Vocab>(at<Seq>(at<Batch>(logits, 0), seen - 1) / 0.8);
    // The first byte at which the cumulated probability passes a uniform number.
    tensor<f32, Vocab> cumulated = cumsum<Vocab>(p);
    float const u = random::uniform<f32>(key.fold("sample", i)).item() * cumulated(Vocab{255});
    std::span<f32 const> const c = cumulated.values();
    auto const at = std::upper_bound(c.begin(), c.end(), u);
    text.push_back(static_cast<char>(std::min<std::ptrdiff_t>(at - c.begin(), 255)));
  }
  return text.substr(prompt.size());
}

}  // namespace gpt
