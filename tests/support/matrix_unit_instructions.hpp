// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instructions of a matrix unit as kernels over tiles: each block makes one tile's chain of products.
#ifndef INVAR_TESTS_SUPPORT_MATRIX_UNIT_INSTRUCTIONS_HPP
#define INVAR_TESTS_SUPPORT_MATRIX_UNIT_INSTRUCTIONS_HPP

#include "support/environment.hpp"

#include <invar/backends/cuda/launch.hpp>
#include <invar/backends/cuda/matrix_unit.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace invar::test {

/// Tiles of one size: a[tile][row][k], b[tile][column][k], c[tile][row][column] and d = the chain over k from c.
template <class A, class B>
struct UnitTiles {
  int tiles, rows, columns, depth;
  A* a;
  B* b;
  float* c;
  float* d;
};

/// An operand's format in a message.
template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bfloat16_t>) return "bf16";
  if constexpr (std::is_same_v<T, float16_t>) return "fp16";
  if constexpr (std::is_same_v<T, float>) return "tf32";
  if constexpr (std::is_same_v<T, float8_e4m3_t>) return "e4m3";
  return "e5m2";
}
/// Where an instruction finds its operands.
enum class UnitForm {
  plain,                ///< shared memory, no swizzle
  swizzled,             ///< shared memory, 128-byte swizzle
  registers,            ///< a in registers; b as in swizzled, where it is not in registers too
  transposed,           ///< shared memory, both along the rows, 128-byte swizzle
  registers_transposed  ///< a in registers, b as in transposed
};
inline constexpr const char* unit_form_names[] = {"shared", "shared, swizzled", "registers", "shared, transposed",
                                                  "registers, transposed"};

namespace detail {

/// The 32-bit word at a byte of a line of elements.
template <class T>
__device__ std::uint32_t word_at(const T* line, int byte) {
  return *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const unsigned char*>(line) + byte);
}

/// The registers of a for a lane of a warp that owns 16 rows, at a step of 32 bytes of k.
template <class A>
__device__ void load_rows(std::uint32_t (&a)[4], const A* rows, int depth, int lane, int step) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    a[i] = word_at(rows + (lane / 4 + i % 2 * 8) * depth, 32 * step + lane % 4 * 4 + i / 2 * 16);
}

template <class T>
struct MmaTile {
  static constexpr int max_threads = 32, min_blocks = 1;

  UnitTiles<T, T> tiles;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x), depth = tiles.depth;
    const T* const rows = tiles.a + std::int64_t{blockIdx.x} * 16 * depth;
    const T* const columns = tiles.b + std::int64_t{blockIdx.x} * 8 * depth;
    const std::int64_t out = std::int64_t{blockIdx.x} * 16 * 8 + lane / 4 * 8 + lane % 4 * 2;
    float sums[4];
    for (int i = 0; i < 4; ++i) sums[i] = tiles.c[out + i / 2 * 64 + i % 2];
    for (int step = 0; step < depth / backends::cuda::unit_depth_v<T>; ++step) {
      std::uint32_t a[4], b[2];
      load_rows(a, rows, depth, lane, step);
      for (int i = 0; i < 2; ++i) b[i] = word_at(columns + lane / 4 * depth, 32 * step + lane % 4 * 4 + i * 16);
      backends::cuda::mma<T>(sums, a, b);
    }
    for (int i = 0; i < 4; ++i) tiles.d[out + i / 2 * 64 + i % 2] = sums[i];
  }
};

/// An operand of wgmma in shared memory.
template <class T>
struct SharedTile {
  unsigned char* to;
  int lines;  ///< rows of a, or columns of b
  int depth;

  /// The bytes it takes with whole atoms. What there is beyond the lines must not be read.
  static __host__ __device__ std::size_t bytes(int lines, int depth) {
    const std::size_t line = depth * sizeof(T);
    return static_cast<std::size_t>((lines + 63) / 64 * 64) * ((line + 127) / 128 * 128);
  }

  __device__ void store(const T* from, UnitForm form) const {
    for (int i = static_cast<int>(threadIdx.x); i < lines * depth; i += static_cast<int>(blockDim.x))
      *reinterpret_cast<T*>(to + offset(i / depth, i % depth, form)) = from[i];
  }

  /// The descriptor for a step of 32 bytes of k.
  template <UnitForm Form>
  __device__ backends::cuda::SharedOperand at(int step) const {
    using backends::cuda::SharedOperand;
    using backends::cuda::Swizzle;
    const auto line = static_cast<std::uint32_t>(depth * sizeof(T));
    const auto s = static_cast<std::uint32_t>(step);
    if constexpr (Form == UnitForm::plain) return SharedOperand(to, Swizzle::none, 128, 8 * line) + s * 256;
    if constexpr (Form == UnitForm::transposed)
      return SharedOperand(to, Swizzle::bytes128, static_cast<std::uint32_t>(depth) * 128, 1024) + s * 2048;
    return SharedOperand(to, Swizzle::bytes128, 0, 1024) +
           (s / 4 * static_cast<std::uint32_t>(lines) * 128 + s % 4 * 32);
  }

 private:
  __device__ int offset(int line, int k, UnitForm form) const {
    const int byte = k * static_cast<int>(sizeof(T));
    if (form == UnitForm::plain)
      return line / 8 * 8 * depth * static_cast<int>(sizeof(T)) + byte / 16 * 128 + line % 8 * 16 + byte % 16;
    if (form == UnitForm::transposed)
      return line / 64 * depth * 128 + k / 8 * 1024 + k % 8 * 128 + ((line / 8 % 8) ^ (k % 8)) * 16 + line % 8 * 2;
    return byte / 128 * lines * 128 + line / 8 * 1024 + line % 8 * 128 + ((byte / 16 % 8) ^ (line % 8)) * 16 +
           byte % 16;
  }
};

template <class A, class B, int N>
struct WgmmaTile {
  static constexpr int max_threads = 128, min_blocks = 1;

  UnitTiles<A, B> tiles;
  UnitForm form;
  bool accumulate;  ///< c is where the chain starts; otherwise it starts from +0

  static std::size_t shared_bytes(int depth) {
    return 1024 + SharedTile<A>::bytes(64, depth) + SharedTile<B>::bytes(N, depth);
  }

  __device__ void operator()() const {
    if constexpr (!backends::cuda::has_wgmma()) __trap();
    extern __shared__ __align__(16) unsigned char unit_shared[];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int depth = tiles.depth;
    const A* const rows = tiles.a + std::int64_t{blockIdx.x} * 64 * depth;
    const B* const columns = tiles.b + std::int64_t{blockIdx.x} * N * depth;
    const std::int64_t out =
        std::int64_t{blockIdx.x} * 64 * N + (warp * 16 + lane / 4) * std::int64_t{N} + lane % 4 * 2;

    unsigned char* const base =
        unit_shared + (1024 - static_cast<unsigned>(__cvta_generic_to_shared(unit_shared)) % 1024) % 1024;
    const SharedTile<A> a{base, 64, depth};
    const SharedTile<B> b{base + SharedTile<A>::bytes(64, depth), N, depth};
    const int bytes = static_cast<int>(SharedTile<A>::bytes(64, depth) + SharedTile<B>::bytes(N, depth));
    for (int i = static_cast<int>(threadIdx.x); i < bytes; i += max_threads) base[i] = 0xff;  // NaN of every type
    __syncthreads();
    const bool is_transposed = form == UnitForm::transposed || form == UnitForm::registers_transposed;
    const UnitForm shared = is_transposed ? UnitForm::transposed : form;
    a.store(rows, shared);
    b.store(columns, shared);
    backends::cuda::fence_shared_stores();
    __syncthreads();

    float sums[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; ++i) sums[i] = tiles.c[out + i / 2 % 2 * 8 * N + i / 4 * 8 + i % 2];
    using backends::cuda::Major;
    switch (form) {
      case UnitForm::plain: from_shared<UnitForm::plain, Major::k>(sums, a, b); break;
      case UnitForm::swizzled: from_shared<UnitForm::swizzled, Major::k>(sums, a, b); break;
      case UnitForm::registers: from_registers<UnitForm::swizzled, Major::k>(sums, rows + warp * 16 * depth, b); break;
      default:
        if constexpr (sizeof(A) == 2) {
          if (form == UnitForm::transposed)
            from_shared<UnitForm::transposed, Major::mn>(sums, a, b);
          else
            from_registers<UnitForm::transposed, Major::mn>(sums, rows + warp * 16 * depth, b);
        }
    }
#pragma unroll
    for (int i = 0; i < N / 2; ++i) tiles.d[out + i / 2 % 2 * 8 * N + i / 4 * 8 + i % 2] = sums[i];
  }

 private:
  /// Three instructions of the chain under way at once, then the rest one by one.
  template <UnitForm Form, backends::cuda::Major Direction>
  __device__ void from_shared(float (&sums)[N / 2], const SharedTile<A>& a, const SharedTile<B>& b) const {
    const int steps = tiles.depth / backends::cuda::unit_depth_v<A>;
    int step = 0;
#pragma unroll 1
    for (; step + 3 <= steps; step += 3) multiply<3, Form, Direction>(sums, a, b, step);
#pragma unroll 1
    for (; step < steps; ++step) multiply<1, Form, Direction>(sums, a, b, step);
  }

  template <int Count, UnitForm Form, backends::cuda::Major Direction>
  __device__ void multiply(float (&sums)[N / 2], const SharedTile<A>& a, const SharedTile<B>& b, int step) const {
    const bool add = (static_cast<int>(accumulate) | step) != 0;
    backends::cuda::pin(sums);
    backends::cuda::fence_products();
#pragma unroll
    for (int i = 0; i < Count; ++i)
      backends::cuda::wgmma<A, B, Direction, Direction>(sums, a.template at<Form>(step + i),
                                                        b.template at<Form>(step + i), i > 0 || add);
    backends::cuda::commit_products();
    backends::cuda::wait_products<0>();
    backends::cuda::pin(sums);
  }

  /// One instruction after the other, as their registers are filled.
  template <UnitForm Form, backends::cuda::Major Direction>
  __device__ void from_registers(float (&sums)[N / 2], const A* rows, const SharedTile<B>& b) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, steps = tiles.depth / backends::cuda::unit_depth_v<A>;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      std::uint32_t words[4];
      load_rows(words, rows, tiles.depth, lane, step);
      const auto y = b.template at<Form>(step);
      backends::cuda::pin(sums);
      backends::cuda::fence_products();
      backends::cuda::wgmma<A, B, Direction>(sums, words, y, (static_cast<int>(accumulate) | step) != 0);
      backends::cuda::commit_products();
      backends::cuda::wait_products<0>();
      backends::cuda::pin(sums);
    }
  }
};

struct ProbeWgmma {
  static constexpr int max_threads = 1, min_blocks = 1;
  int* found;
  __device__ void operator()() const { *found = backends::cuda::has_wgmma() ? 1 : 0; }
};

}  // namespace detail

/// Why this program has no wgmma on this device; empty where it has.
inline std::string why_no_wgmma() {
  const Execution exec;
  const cudaDeviceProp& device = exec.cuda_device_prop();
  if (device.major != 9) return "compute capability is " + std::to_string(device.major) + ", wgmma is in 9 alone";
  const Kokkos::View<int, Kokkos::SharedHostPinnedSpace> found("found");
  backends::cuda::launch("probe wgmma", exec, {dim3(1), dim3(1)}, detail::ProbeWgmma{found.data()});
  exec.fence("wgmma is known");
  return found() != 0 ? "" : "this program was not compiled for sm_90a";
}

/// `mma.sync` m16n8 by its type.
template <class T>
struct Mma {
  using A = T;
  using B = T;
  static constexpr int rows = 16, columns = 8;

  static std::string name() { return "mma.sync m16n8k" + std::to_string(backends::cuda::unit_depth_v<T>); }
  static std::vector<UnitForm> forms() { return {UnitForm::registers}; }
  static void run(const UnitTiles<A, B>& tiles, UnitForm, bool = true) {
    backends::cuda::launch("mma.sync", Execution(), {dim3(static_cast<unsigned>(tiles.tiles)), dim3(32)},
                           detail::MmaTile<T>{tiles});
  }
};

/// `wgmma` m64 by its types and width.
template <class A_, class B_, int N>
struct Wgmma {
  using A = A_;
  using B = B_;
  static constexpr int rows = 64, columns = N;

  static std::string name() {
    return "wgmma m64n" + std::to_string(N) + "k" + std::to_string(backends::cuda::unit_depth_v<A>);
  }
  static std::vector<UnitForm> forms() {
    std::vector<UnitForm> list{UnitForm::plain, UnitForm::swizzled, UnitForm::registers};
    if (sizeof(A) == 2) list.insert(list.end(), {UnitForm::transposed, UnitForm::registers_transposed});
    return list;
  }
  static void run(const UnitTiles<A, B>& tiles, UnitForm form, bool accumulate = true) {
    using Tile = detail::WgmmaTile<A, B, N>;
    backends::cuda::launch(
        "wgmma", Execution(),
        {dim3(static_cast<unsigned>(tiles.tiles)), dim3(Tile::max_threads), Tile::shared_bytes(tiles.depth)},
        Tile{tiles, form, accumulate});
  }
};

/// An instruction and its form in a message.
template <class Instruction>
std::string name_of(UnitForm form) {
  return Instruction::name() + " of " + type_name<typename Instruction::A>() + " x " +
         type_name<typename Instruction::B>() + ", " + unit_form_names[static_cast<int>(form)];
}

}  // namespace invar::test

#endif
