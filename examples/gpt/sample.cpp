#include "sample.hpp"

#include <algorithm>
#include <vector>

namespace gpt {

void sample(Gpt<> const& model, std::string const& prompt, std::int64_t count, double temperature,
            random::key key, std::function<void(char)> const& write) {
  std::int64_t const longest = extent_of<Seq>(model.position);
  std::vector<i32> text;
  for (char c : prompt) text.push_back(static_cast<unsigned char>(c));
  for (std::int64_t i = 0; i < count; ++i) {
    // The model looks back a window; what went before it is forgotten.
    auto const seen = std::min(longest, static_cast<std::int64_t>(text.size()));
    text.erase(text.begin(), text.end() - seen);
    tensor ids = from<i32, Batch, Seq>(std::span<i32 const>(text), Batch{1}, Seq{seen});
    tensor<f32, Batch, Seq, Vocab> logits = model(ids);
    tensor<f32, Vocab> last = at<Seq>(at<Batch>(logits, 0), seen - 1);
    std::span<f32 const> const l = last.values();
    auto const likeliest = std::max_element(l.begin(), l.end());
    std::ptrdiff_t next = likeliest - l.begin();
    if (temperature > 1e-6) {
      // The largest logit becomes 0: a low temperature overflows nothing.
      tensor<f32, Vocab> p = exp((last - *likeliest) / temperature);
      // The first byte at which the cumulated weight passes a uniform share of all of it.
      tensor<f32, Vocab> cumulated = cumsum<Vocab>(p);
      std::span<f32 const> const c = cumulated.values();
      float const share = random::uniform<f32>(key.fold("sample", i)).item() * c.back();
      next = std::min<std::ptrdiff_t>(std::upper_bound(c.begin(), c.end(), share) - c.begin(), 255);
    }
    text.push_back(static_cast<i32>(next));
    write(static_cast<char>(next));
  }
}

}  // namespace gpt
