#pragma once

// GPT-2, pre-norm, over bytes, as a user of Ricci writes it. Every tensor says its axes; a shape
// that does not fit does not compile. The device D is a type parameter.

#include "sizes.hpp"

#include <ricci/ricci.hpp>

#include <cmath>
#include <string_view>
#include <vector>

namespace gpt {

using namespace ricci;

struct Batch : axis<"batch"> {};
struct Seq : axis<"seq"> {};
struct Key : axis<"key"> {};           // Seq, as the keys and values of attention see it
struct Vocab : axis<"vocab", 256> {};  // bytes
struct Width : axis<"width"> {};
struct Inner : axis<"inner"> {};  // of the feed-forward block, 4 Width
struct Heads : axis<"heads"> {};
struct HeadDim : axis<"head_dim"> {};  // Width / Heads
struct Qkv : axis<"qkv", 3> {};        // queries, keys, values

/// Causal multi-head self-attention with one projection for queries, keys and values.
template <class D> struct Attention {
  using project_type = nn::linear<f32, Width, pack<Qkv, Heads, HeadDim>, D>;
  using out_type = nn::linear<f32, pack<Heads, HeadDim>, Width, D>;
  BOOST_HANA_DEFINE_STRUCT(Attention, (project_type, project), (out_type, out));

  auto operator()(auto&& x) const {
    tensor<f32, Batch, Seq, Qkv, Heads, HeadDim, D> qkv = project(static_cast<decltype(x)>(x));
    auto q = at<Qkv>(qkv, 0);  // [batch seq heads head_dim], a view, as k and v are
    auto k = rename<Seq, Key>(at<Qkv>(qkv, 1));  // [batch key heads head_dim]
    auto v = rename<Seq, Key>(at<Qkv>(qkv, 2));
    tensor<f32, Batch, Seq, Heads, HeadDim, D> y =
        attention<Seq, Key, HeadDim>(q, k, v, mask::causal);
    return out(y);
  }
};

template <class D> struct FeedForward {
  using up_type = nn::linear<f32, Width, Inner, D>;
  using down_type = nn::linear<f32, Inner, Width, D>;
  BOOST_HANA_DEFINE_STRUCT(FeedForward, (up_type, up), (down_type, down));

  auto operator()(auto&& x) const {
    tensor<f32, Batch, Seq, Inner, D> h = gelu_tanh(up(static_cast<decltype(x)>(x)));
    return down(h);
  }
};

template <class D> struct Block {
  using norm_type = nn::layer_norm<f32, Width, D>;
  BOOST_HANA_DEFINE_STRUCT(Block, (norm_type, norm1), (Attention<D>, attention), (norm_type, norm2),
                           (FeedForward<D>, feed_forward));

  tensor<f32, Batch, Seq, Width, D> operator()(tensor<f32, Batch, Seq, Width, D> const& x) const {
    tensor<f32, Batch, Seq, Width, D> h = x + attention(norm1(x));
    return h + feed_forward(norm2(h));
  }
};

/// Logits of the next byte at every position; the output head is tied to the embedding.
template <class D = host> struct Gpt {
  using token_type = tensor<f32, Vocab, Width, D>;
  using position_type = tensor<f32, Seq, Width, D>;
  using norm_type = nn::layer_norm<f32, Width, D>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (token_type, token), (position_type, position),
                           (std::vector<Block<D>>, blocks), (norm_type, norm));

  tensor<f32, Batch, Seq, Vocab, D> operator()(tensor<i32, Batch, Seq, D> const& ids) const {
    auto here = slice<Seq>(position, 0, extent_of<Seq>(ids));
    tensor<f32, Batch, Seq, Width, D> x = take<Vocab>(token, ids) + here;
    for (Block<D> const& block : blocks) x = block(x);
    return einsum<"batch seq width, vocab width -> batch seq vocab">(norm(x), token);
  }
};

/// The mean loss in nats per byte.
template <class D = host> struct Loss {
  tensor<f32> operator()(Gpt<D> const& model, tensor<i32, Batch, Seq, D> const& ids,
                         tensor<i32, Batch, Seq, D> const& targets) const {
    return cross_entropy<Vocab>(model(ids), targets);
  }
};

/// GPT-2's initialization: weights N(0, 0.02), residual projections N(0, 0.02 / sqrt(2 layers)),
/// biases 0, norms 1.
template <class D = host> Gpt<D> make_gpt(Sizes const& s, random::key key) {
  Gpt<D> model;
  model.blocks.resize(static_cast<std::size_t>(s.layers));
  initialize(model, key, Seq{s.seq}, Width{s.width}, Inner{4 * s.width}, Heads{s.heads},
             HeadDim{s.width / s.heads});
  for_each_parameter(model, [&](std::string_view name, auto& leaf) {
    bool const residual = name.ends_with("out.weight") || name.ends_with("down.weight");
    if (name.ends_with("bias"))
      init::zeros(leaf);
    else if (!name.ends_with("norm.weight") && !name.ends_with("norm1.weight") &&
             !name.ends_with("norm2.weight"))
      init::normal(leaf, key.fold(name),
                   residual ? 0.02 / std::sqrt(2.0 * static_cast<double>(s.layers)) : 0.02);
  });
  return model;
}

}  // namespace gpt
