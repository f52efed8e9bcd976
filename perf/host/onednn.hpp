// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// oneDNN as a peer, where CMake found it.
#ifndef INVAR_PERF_HOST_ONEDNN_HPP
#define INVAR_PERF_HOST_ONEDNN_HPP

#include "../support/contest.hpp"

#ifdef INVAR_PERF_ONEDNN

#include <oneapi/dnnl/dnnl.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace invar::perf {

inline std::string onednn_version() {
  const dnnl_version_t* const v = dnnl_version();
  return std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
}

/// c [m, n] in float = a [m, k] · wᵀ, with w [n, k], for several copies of w. Primitive and memory objects are made
/// beforehand, as a user with a loop would.
class OnednnMatmul {
 public:
  using Type = dnnl::memory::data_type;
  using Tag = dnnl::memory::format_tag;

  /// \param prepack  the weights are brought into the layout that oneDNN likes best, before anything is timed
  OnednnMatmul(Type type, float* c, const void* a, const std::vector<const void*>& weights, std::int64_t m,
               std::int64_t n, std::int64_t k, bool prepack)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const memory::desc a_desc({m, k}, type, Tag::ab), c_desc({m, n}, Type::f32, Tag::ab), rows({k, n}, type, Tag::ba);
    const memory::desc wanted = prepack ? memory::desc({k, n}, type, Tag::any) : rows;
    const dnnl::matmul::primitive_desc description({a_desc, wanted, c_desc}, engine_);
    product_ = dnnl::matmul(description);
    const memory source(a_desc, engine_, const_cast<void*>(a)), target(c_desc, engine_, c);
    for (const void* w : weights) {
      memory in_place(rows, engine_, const_cast<void*>(w)), used = in_place;
      if (prepack && description.weights_desc() != rows) {
        used = memory(description.weights_desc(), engine_);
        dnnl::reorder(in_place, used).execute(stream_, in_place, used);
      }
      arguments_.push_back({{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, used}, {DNNL_ARG_DST, target}});
    }
    stream_.wait();
  }

  void operator()(std::int64_t turn) {
    product_.execute(stream_, arguments_[static_cast<std::size_t>(turn) % arguments_.size()]);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::vector<std::unordered_map<int, dnnl::memory>> arguments_;
};

}  // namespace invar::perf

#endif

namespace invar::perf {

/// Says which oneDNN takes part, or that none does.
inline void note_onednn(Contests& contests) {
#ifdef INVAR_PERF_ONEDNN
  contests.note("oneDNN", onednn_version());
#else
  contests.skip("oneDNN", "CMake found no oneDNN (Debian: libdnnl-dev)");
#endif
}

}  // namespace invar::perf

#endif
