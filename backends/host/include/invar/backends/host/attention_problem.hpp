// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// An attention call without the types of its views: kernels are compiled once for all layouts, integer types and
/// caches.
#ifndef INVAR_BACKENDS_HOST_ATTENTION_PROBLEM_HPP
#define INVAR_BACKENDS_HOST_ATTENTION_PROBLEM_HPP

#include <cstdint>
#include <type_traits>

namespace invar::backends::host::attention {

/// A view of integers, of rank 1 or 2.
class Integers {
 public:
  Integers() = default;
  template <class View>
  explicit Integers(const View& view)
      : data_(view.data()),
        row_(static_cast<std::int64_t>(view.stride(0))),
        read_([](const void* data, std::int64_t at) {
          return static_cast<std::int64_t>(static_cast<const typename View::non_const_value_type*>(data)[at]);
        }) {
    if constexpr (static_cast<int>(View::rank) == 2) column_ = static_cast<std::int64_t>(view.stride(1));
  }
  std::int64_t operator()(std::int64_t i, std::int64_t j = 0) const { return read_(data_, i * row_ + j * column_); }
  bool given() const { return read_ != nullptr; }

 private:
  const void* data_ = nullptr;
  std::int64_t row_ = 0, column_ = 0;
  std::int64_t (*read_)(const void* data, std::int64_t at) = nullptr;
};

/// [tokens, heads, elements].
template <class E>
struct Heads {
  E* data;
  std::int64_t token, head, element;  // strides

  template <class View>
  explicit Heads(const View& view)
      : data(view.data()),
        token(static_cast<std::int64_t>(view.stride(0))),
        head(static_cast<std::int64_t>(view.stride(1))),
        element(static_cast<std::int64_t>(view.stride(2))) {}
  E* at(std::int64_t t, int h) const { return data + t * token + h * head; }
};

/// Keys or values: [requests or pages, positions, heads, elements].
template <class E>
struct Cache {
  const E* data;
  std::int64_t page, position, head, element;  // strides
  std::int64_t page_size;

  template <class View>
  explicit Cache(const View& view)
      : data(view.data()),
        page(static_cast<std::int64_t>(view.stride(0))),
        position(static_cast<std::int64_t>(view.stride(1))),
        head(static_cast<std::int64_t>(view.stride(2))),
        element(static_cast<std::int64_t>(view.stride(3))),
        page_size(static_cast<std::int64_t>(view.extent(1))) {}
};

/// What the kernels know of a call; the names are those of detail::AttentionCall.
template <class Scalar, class Out, class Q, class K, class V>
struct Problem {
  using scalar = Scalar;
  using out_element = Out;
  Heads<Out> out;
  Heads<const Q> q;
  Cache<K> k;
  Cache<V> v;
  Integers query_begin, kv_length, page_table;
  Scalar scale_log2;
  bool causal;
  int kv_heads, group, head_dim, value_dim;
  std::int64_t capacity, requests, rows;
};

template <class Call>
auto problem_of(const Call& call) {
  using Out = typename decltype(call.out)::value_type;
  using Q = typename decltype(call.q)::non_const_value_type;
  using K = typename decltype(call.kv.k)::non_const_value_type;
  using V = typename decltype(call.kv.v)::non_const_value_type;
  using Scalar = std::remove_cv_t<decltype(call.scale_log2)>;
  Integers page_table;
  if constexpr (requires { call.kv.page_table; }) page_table = Integers(call.kv.page_table);
  return Problem<Scalar, Out, Q, K, V>{Heads<Out>(call.out),
                                       Heads<const Q>(call.q),
                                       Cache<K>(call.kv.k),
                                       Cache<V>(call.kv.v),
                                       Integers(call.query_begin),
                                       Integers(call.kv_length),
                                       page_table,
                                       call.scale_log2,
                                       call.causal,
                                       call.kv_heads,
                                       call.group,
                                       call.head_dim,
                                       call.value_dim,
                                       call.kv.capacity(),
                                       call.requests,
                                       call.rows};
}

}  // namespace invar::backends::host::attention

#endif
