// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Panels of a matrix unit's operands in shared memory, for the instructions of warps and of warpgroups alike: how any
/// matrix is brought there.
#ifndef INVAR_BACKENDS_CUDA_MATRIX_MMA_PANEL_HPP
#define INVAR_BACKENDS_CUDA_MATRIX_MMA_PANEL_HPP

#include <invar/backends/cuda/matmul_instructions.hpp>
#include <invar/backends/cuda/matmul_operands.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace invar::backends::cuda::gemm {

/// A panel's lines are 128 bytes long, the span of the swizzle.
inline constexpr int panel_line = 128;
/// Positions of k in a panel: what a line holds along k.
template <class T>
inline constexpr int panel_depth_v = panel_line / static_cast<int>(sizeof(T));

/// `Rows` rows of a or b at panel_depth_v positions of k. A line is a row along k; or, AlongRows, 64 rows of a 16-bit
/// type at one k, blocks of 64 rows one behind the other. Piece p of 16 bytes in line r lies at p XOR r % 8: that is
/// Swizzle::bytes128 of matrix_unit.hpp where the panel starts on 1024 bytes, and reads of 8 lines meet every bank
/// once.
template <class T, int Rows, int Threads, bool AlongRows>
class Panel {
  static constexpr int depth = panel_depth_v<T>;
  static constexpr int element = static_cast<int>(sizeof(T));
  static constexpr int in_piece = 16 / element, in_half = 8 / element, in_word = 4 / element;
  static_assert(Rows % 8 == 0 && (!AlongRows || (element == 2 && Rows % 64 == 0)));

 public:
  static constexpr int bytes = Rows * panel_line;

  /// \param row0  the panel's first row of the input
  /// \param rows  rows of the input
  /// \param vectors  the memory allows copies of 16 bytes along the lines
  __device__ Panel(const MatmulInput<T>& input, std::int64_t row0, std::int64_t rows, bool vectors)
      : from_(input.data + row0 * input.row_stride),
        row_stride_(input.row_stride),
        k_stride_(input.k_stride),
        rows_(rows - row0 < Rows ? static_cast<int>(rows - row0) : Rows),
        way_(vectors                ? Way::pieces
             : is_made_of_columns() ? Way::columns
                                    : Way::elements) {}

  /// Starts to bring the positions k0 … k0 + valid − 1; zeros beyond them and beyond the last row.
  __device__ void fetch(unsigned char* panel, std::int64_t k0, int valid) const {
    if (AlongRows || way_ == Way::pieces)
      fetch_pieces(panel, k0, valid);
    else if constexpr (element == 4)
      fetch_words(panel, k0, valid);
    else if (way_ == Way::columns)
      fetch_columns(panel, k0, valid);
    else
      fetch_elements(panel, k0, valid);
  }

  /// Where the element of a row at a k lies.
  static constexpr __device__ int place(int row, int k) {
    if constexpr (AlongRows)
      return row / 64 * (depth * panel_line) + k * panel_line + ((row / 8 % 8) ^ (k & 7)) * 16 + row % 8 * 2;
    else
      return row * panel_line + ((k / in_piece) ^ (row & 7)) * 16 + k % in_piece * element;
  }

 private:
  enum class Way { pieces, columns, elements };
  /// True where rows are neighbours in memory, and words of 4 bytes hold whole ones.
  __device__ bool is_made_of_columns() const {
    return row_stride_ == 1 && k_stride_ * element % 4 == 0 && reinterpret_cast<std::uintptr_t>(from_) % 4 == 0;
  }

  /// A thread's pieces are `apart` lines from each other, at one place in their lines: so the swizzle does not move
  /// them, and from piece to piece both addresses grow by the same amounts.
  static constexpr int in_line = AlongRows ? Rows / 8 : 8;  // pieces along the memory
  static constexpr int lines = AlongRows ? depth : Rows, apart = Threads / in_line;
  static constexpr int pieces_of_thread = (lines + apart - 1) / apart;
  static_assert(Threads % in_line == 0 && apart % 8 == 0);

  __device__ void fetch_pieces(unsigned char* panel, std::int64_t k0, int valid) const {
    const int line = static_cast<int>(threadIdx.x) / in_line, at = static_cast<int>(threadIdx.x) % in_line * in_piece;
    const std::int64_t line_stride = AlongRows ? k_stride_ : row_stride_;
    const T* from = from_ + k0 * k_stride_ + line * line_stride + at;
    unsigned char* const to = panel + (AlongRows ? place(at, line) : place(line, at));
    const int all_lines = AlongRows ? valid : rows_, all_at = AlongRows ? rows_ : valid;
    if (all_lines == lines && all_at == (AlongRows ? Rows : depth)) {
#pragma unroll
      for (int i = 0; i < pieces_of_thread; ++i, from += apart * line_stride)
        if (lines % apart == 0 || line + i * apart < lines) copy_async<16>(to + i * apart * panel_line, from);
      return;
    }
#pragma unroll
    for (int i = 0; i < pieces_of_thread; ++i, from += apart * line_stride)
      if (lines % apart == 0 || line + i * apart < lines)
        copy_piece(to + i * apart * panel_line, from, line + i * apart < all_lines ? all_at - at : 0);
  }
  /// Copies the piece's elements that there are.
  __device__ void copy_piece(unsigned char* to, const T* from, int elements) const {
    const int there = elements < 0 ? 0 : elements < in_piece ? elements : in_piece;
    copy_async_part<16>(to, there == 0 ? from_ : from, there * element);
  }

  /// Where rows are neighbours in memory: a thread reads words of neighbours at the positions of half a piece, turns
  /// them, and stores half a piece for each row.
  __device__ void fetch_columns(unsigned char* panel, std::int64_t k0, int valid) const {
    constexpr int blocks = Rows / in_word * 16, each = (blocks + Threads - 1) / Threads;
    constexpr int most = 8 / in_half, held = each < most ? each : most;
    static_assert(each % held == 0);
    const T* const from = from_ + k0 * k_stride_;
#pragma unroll 1
    for (int first = 0; first < each; first += held) {
      std::uint32_t words[held][in_half];
#pragma unroll
      for (int i = 0; i < held; ++i) {
        const Place at = block_at(first + i);
        const T* next = from + at.k * k_stride_ + at.row;
#pragma unroll
        for (int k = 0; k < in_half; ++k, next += k_stride_)
          words[i][k] = at.k + k < valid ? neighbours(next, rows_ - at.row) : 0u;
      }
#pragma unroll
      for (int i = 0; i < held; ++i) {
        if (blocks % Threads != 0 && static_cast<int>(threadIdx.x) + (first + i) * Threads >= blocks) return;
        const Place at = block_at(first + i);
#pragma unroll
        for (int r = 0; r < in_word; ++r)
          *reinterpret_cast<uint2*>(panel + place(at.row + r, at.k)) =
              make_uint2(turned(words[i], r, 0), turned(words[i], r, 1));
      }
    }
  }
  struct Place {
    int row, k;
  };
  /// The thread's block of half a piece's positions for a word of rows. 8 lanes read along the rows and 4 along k, so
  /// that the stores of a warp spread over the banks.
  static __device__ Place block_at(int i) {
    constexpr int words = Rows / in_word, wide = words < 8 ? words : 8;
    const int block = static_cast<int>(threadIdx.x) + i * Threads, rest = block / (4 * wide);
    return {(rest % (words / wide) * wide + block % wide) * in_word,
            (rest / (words / wide) * 4 + block / wide % 4) * in_half};
  }
  /// A word of neighbours in memory, of which there are `rows`; zeros for what there is not.
  static __device__ std::uint32_t neighbours(const T* from, int rows) {
    if (rows >= in_word) return *reinterpret_cast<const std::uint32_t*>(from);
    std::uint32_t word = 0;
#pragma unroll
    for (int r = 0; r + 1 < in_word; ++r)
      if (r < rows) word |= std::uint32_t{from[r].bits} << (8 * element * r);
    return word;
  }
  /// Word j of the half piece of row r of a block.
  static __device__ std::uint32_t turned(const std::uint32_t (&words)[in_half], int r, int j) {
    if constexpr (element == 2) {
      return __byte_perm(words[2 * j], words[2 * j + 1], r == 0 ? 0x5410u : 0x7632u);
    } else {
      const auto pick = static_cast<unsigned>(r | (4 + r) << 4);
      return __byte_perm(__byte_perm(words[4 * j], words[4 * j + 1], pick),
                         __byte_perm(words[4 * j + 2], words[4 * j + 3], pick), 0x5410u);
    }
  }

  /// Any strides, for elements that are words: asynchronous copies, lanes along the memory.
  __device__ void fetch_words(unsigned char* panel, std::int64_t k0, int valid) const {
    static_assert(element == 4 && Threads % Rows == 0 && Rows % (Threads / 32) == 0);
    const bool along_k = k_stride_ == 1;
    const int thread = static_cast<int>(threadIdx.x);
    int row = along_k ? thread / 32 : thread % Rows, k = along_k ? thread % 32 : thread / Rows;
    const int next_row = along_k ? Threads / 32 : 0, next_k = along_k ? 0 : Threads / Rows;
    const std::int64_t step = next_row * row_stride_ + next_k * k_stride_;
    const T* from = from_ + row * row_stride_ + (k0 + k) * k_stride_;
#pragma unroll 4
    for (int i = 0; i < Rows * 32 / Threads; ++i, row += next_row, k += next_k, from += step) {
      const bool is_there = row < rows_ && k < valid;
      copy_async_part<4>(panel + place(row, k), is_there ? from : from_, is_there ? 4 : 0);
    }
  }

  /// Any strides and addresses, for smaller elements: one by one, lanes along the memory, words of 4 bytes along k at a
  /// time.
  __device__ void fetch_elements(unsigned char* panel, std::int64_t k0, int valid) const {
    constexpr int words = Rows * 32, each = words / Threads, held = each < 4 ? each : 4;
    static_assert(words % Threads == 0 && each % held == 0);
    const bool along_k = k_stride_ == 1;
    const T* const from = from_ + k0 * k_stride_;
#pragma unroll 1
    for (int first = 0; first < each; first += held) {
      std::uint32_t word[held];
#pragma unroll
      for (int i = 0; i < held; ++i) {
        const Place at = word_at(first + i, along_k);
        word[i] = elements(from + at.row * row_stride_ + at.k * k_stride_, at.row < rows_ ? valid - at.k : 0);
      }
#pragma unroll
      for (int i = 0; i < held; ++i) {
        const Place at = word_at(first + i, along_k);
        *reinterpret_cast<std::uint32_t*>(panel + place(at.row, at.k)) = word[i];
      }
    }
  }
  static __device__ Place word_at(int i, bool along_k) {
    const int word = static_cast<int>(threadIdx.x) + i * Threads;
    return along_k ? Place{word / 32, word % 32 * in_word} : Place{word % Rows, word / Rows * in_word};
  }
  __device__ std::uint32_t elements(const T* from, int there) const {
    std::uint32_t word = 0;
#pragma unroll
    for (int e = 0; e < in_word; ++e)
      if (e < there) word |= std::uint32_t{from[e * k_stride_].bits} << (8 * element * e);
    return word;
  }

  const T* from_;
  std::int64_t row_stride_, k_stride_;
  int rows_;
  Way way_;
};

}  // namespace invar::backends::cuda::gemm

#endif
