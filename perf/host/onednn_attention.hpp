// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as oneDNN's users write it: scores by a matmul, a mask, softmax, and a second matmul.
#ifndef INVAR_PERF_HOST_ONEDNN_ATTENTION_HPP
#define INVAR_PERF_HOST_ONEDNN_ATTENTION_HPP

#include "onednn.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace invar::perf {

/// What both contenders know of an attention: heads of queries share kv_heads, each request has `tokens` queries at the
/// end of `length` positions.
struct AttentionShape {
  std::int64_t heads, kv_heads, dim, requests, tokens, length;
  std::int64_t group() const { return heads / kv_heads; }
};

#ifdef INVAR_PERF_ONEDNN

/// out and q are [tokens of all requests, heads, dim], k and v [requests, length, kv_heads, dim], all in float. Either
/// requests have one token each, or there is one request with as many as it has positions.
class OnednnAttention {
 public:
  OnednnAttention(const AttentionShape& s, float* out, const float* q, const std::vector<const float*>& k,
                  const std::vector<const float*>& v)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    using Dims = memory::dims;
    constexpr auto f32 = memory::data_type::f32;
    const bool decode = s.tokens == 1;
    const std::int64_t width = s.kv_heads * s.dim, query_width = s.heads * s.dim, group = s.group();
    // The heads of a group are rows of one product in a decode step; otherwise K and V are broadcast over them.
    const Dims query_dims =
        decode ? Dims{s.requests, s.kv_heads, group, s.dim} : Dims{s.kv_heads, group, s.tokens, s.dim};
    const Dims query_strides =
        decode ? Dims{query_width, group * s.dim, s.dim, 1} : Dims{group * s.dim, s.dim, query_width, 1};
    const std::int64_t outer = decode ? s.requests : s.kv_heads, inner = decode ? s.kv_heads : 1;
    const Dims kv_outer = decode ? Dims{s.length * width, s.dim} : Dims{s.dim, s.dim};
    const memory::desc query(query_dims, f32, query_strides);
    const memory::desc keys({outer, inner, s.dim, s.length}, f32, Dims{kv_outer[0], kv_outer[1], 1, width});
    const memory::desc values({outer, inner, s.length, s.dim}, f32, Dims{kv_outer[0], kv_outer[1], width, 1});
    const memory::desc scores({query_dims[0], query_dims[1], query_dims[2], s.length}, f32, memory::format_tag::abcd);
    const memory::desc mask({1, 1, s.tokens, s.length}, f32, memory::format_tag::abcd);

    // The mask is a primitive of its own: added in the product's epilogue, oneDNN takes its reference kernel.
    dnnl::post_ops scale;
    scale.append_eltwise(1.0f, dnnl::algorithm::eltwise_linear, 1.0f / std::sqrt(static_cast<float>(s.dim)), 0.0f);
    dnnl::primitive_attr scaled;
    scaled.set_post_ops(scale);
    first_ = dnnl::matmul({{query, keys, scores}, scaled, engine_});
    masked_ = !decode;
    if (masked_) mask_ = dnnl::binary({{dnnl::algorithm::binary_add, scores, mask, scores}, engine_});
    softmax_ = dnnl::softmax_v2_forward(
        {{dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, scores, scores, 3}, engine_});
    second_ = dnnl::matmul({{scores, values, query}, engine_});

    const memory score_memory(scores, engine_), mask_memory(mask, engine_);
    auto* const m = static_cast<float*>(mask_memory.get_data_handle());
    for (std::int64_t i = 0; i < s.tokens; ++i)
      for (std::int64_t j = 0; j < s.length; ++j)
        m[i * s.length + j] = j <= i + s.length - s.tokens ? 0 : -std::numeric_limits<float>::infinity();
    const memory q_memory(query, engine_, const_cast<float*>(q)), out_memory(query, engine_, out);
    mask_arguments_ = {{DNNL_ARG_SRC_0, score_memory}, {DNNL_ARG_SRC_1, mask_memory}, {DNNL_ARG_DST, score_memory}};
    softmax_arguments_ = {{DNNL_ARG_SRC, score_memory}, {DNNL_ARG_DST, score_memory}};
    for (std::size_t i = 0; i < k.size(); ++i) {
      first_arguments_.push_back({{DNNL_ARG_SRC, q_memory},
                                  {DNNL_ARG_WEIGHTS, memory(keys, engine_, const_cast<float*>(k[i]))},
                                  {DNNL_ARG_DST, score_memory}});
      second_arguments_.push_back({{DNNL_ARG_SRC, score_memory},
                                   {DNNL_ARG_WEIGHTS, memory(values, engine_, const_cast<float*>(v[i]))},
                                   {DNNL_ARG_DST, out_memory}});
    }
  }

  void operator()(std::int64_t turn) {
    const std::size_t copy = static_cast<std::size_t>(turn) % first_arguments_.size();
    first_.execute(stream_, first_arguments_[copy]);
    if (masked_) mask_.execute(stream_, mask_arguments_);
    softmax_.execute(stream_, softmax_arguments_);
    second_.execute(stream_, second_arguments_[copy]);
    stream_.wait();
  }

 private:
  using Arguments = std::unordered_map<int, dnnl::memory>;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul first_, second_;
  dnnl::binary mask_;
  dnnl::softmax_v2_forward softmax_;
  bool masked_;
  Arguments mask_arguments_, softmax_arguments_;
  std::vector<Arguments> first_arguments_, second_arguments_;
};

#endif

}  // namespace invar::perf

#endif
