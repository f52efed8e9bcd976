// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on rows, against a loop that copies the same rows: both read and write every element once, so where the
// rows exceed the caches the copy is the bound that memory sets. Where they do not, they stay there between calls, for
// all contenders alike.
#include "../support/contest.hpp"
#include "memory.hpp"
#include "onednn.hpp"

#include <invar/op/log_softmax.hpp>
#include <invar/op/rms_norm.hpp>
#include <invar/op/softmax.hpp>

#include <unistd.h>
#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace invar;
using namespace invar::perf;

struct Shape {
  std::int64_t rows, columns;
};

Case describe(const std::string& operation, Shape shape, std::size_t element) {
  const auto elements = static_cast<double>(shape.rows * shape.columns);
  return {
      operation, {{"columns", shape.columns}, {"rows", shape.rows}}, 2.0 * static_cast<double>(element) * elements, 0};
}

template <class T>
void measure(Contests& contests, const Case& work, const Matrix<T>& y, const Matrix<T>& x,
             const std::function<void()>& call, const std::vector<Contender>& peers = {}) {
  const Exec exec;
  // Their last 512 bytes count little.
  const std::int64_t bytes = static_cast<std::int64_t>(x.size() * sizeof(T)) / 512 * 512;
  std::vector<Contender> contenders{
      {"Invar", Role::invar, [&](std::int64_t) { call(); }, [y] { return sample(y); }, 0}};
  contenders.insert(contenders.end(), peers.begin(), peers.end());
  contenders.push_back({"copy loop", Role::limit, [=](std::int64_t) { copy_loop(exec, y.data(), x.data(), bytes); }});
  contenders.push_back({"memcpy", Role::limit, [=](std::int64_t) { copy_by_memcpy(exec, y.data(), x.data(), bytes); }});
  contests.run(work, contenders);
}

#ifdef INVAR_PERF_ONEDNN
/// oneDNN's softmax or log_softmax over rows.
Contender onednn_softmax(const Matrix<float>& y, const Matrix<float>& x, bool log) {
  using namespace dnnl;
  const engine cpu(engine::kind::cpu, 0);
  const stream queue(cpu);
  const memory::desc rows({static_cast<std::int64_t>(x.extent(0)), static_cast<std::int64_t>(x.extent(1))},
                          memory::data_type::f32, memory::format_tag::ab);
  const softmax_v2_forward::primitive_desc description(
      {prop_kind::forward_inference, log ? algorithm::softmax_log : algorithm::softmax_accurate, rows, rows, 1}, cpu);
  const softmax_v2_forward primitive(description);
  const std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, memory(rows, cpu, x.data())},
                                                  {DNNL_ARG_DST, memory(rows, cpu, y.data())}};
  return {"oneDNN", Role::peer,
          [=](std::int64_t) {
            primitive.execute(queue, arguments);
            stream(queue).wait();
          },
          [y] { return sample(y); }};
}
#endif

/// True where the machine has the memory for x and y now, twice over.
bool fits(Shape shape) {
  const double free = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return describe("", shape, sizeof(float)).bytes < free / 2;
}

void measure(Contests& contests, Shape shape, const std::vector<bool>& wanted) {
  const Exec exec;
  const Case names[] = {describe("rms_norm f32", shape, 4), describe("softmax f32", shape, 4),
                        describe("log_softmax f32", shape, 4), describe("rms_norm bf16", shape, 2)};
  if (!fits(shape)) {
    contests.skip(std::to_string(shape.rows) + " x " + std::to_string(shape.columns), "too little free memory");
    return;
  }
  {
    const Matrix<float> x("x", shape.rows, shape.columns), y("y", shape.rows, shape.columns);
    const Vector<float> weight("weight", shape.columns);
    fill(x, 1);
    fill(y, 2);
    fill(weight, 3);
    const auto finish = [&](const auto& operation) {
      return [&exec, operation] {
        operation();
        exec.fence();
      };
    };
    std::vector<Contender> softmax_peers, log_peers;
#ifdef INVAR_PERF_ONEDNN
    softmax_peers.push_back(onednn_softmax(y, x, false));
    log_peers.push_back(onednn_softmax(y, x, true));
#endif
    if (wanted[0]) measure(contests, names[0], y, x, finish([&] { rms_norm(exec, y, x, weight, 1e-6f); }));
    if (wanted[1]) measure(contests, names[1], y, x, finish([&] { softmax(exec, y, x); }), softmax_peers);
    if (wanted[2]) measure(contests, names[2], y, x, finish([&] { log_softmax(exec, y, x); }), log_peers);
  }
  if (wanted[3]) {
    const Matrix<bfloat16_t> x("x", shape.rows, shape.columns), y("y", shape.rows, shape.columns);
    const Vector<bfloat16_t> weight("weight", shape.columns);
    fill(x, 1);
    fill(y, 2);
    fill(weight, 3);
    measure(contests, names[3], y, x, [&] {
      rms_norm(exec, y, x, weight, 1e-6f);
      exec.fence();
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos;
  Contests contests(argc, argv);
  note_onednn(contests);
  const std::vector<Shape> all{{1, 576},    {16, 576},    {256, 576},    {4096, 576},   {1, 4096},    {16, 4096},
                               {256, 4096}, {4096, 4096}, {1, 49152},    {16, 49152},   {256, 49152}, {1024, 49152},
                               {1, 151936}, {16, 151936}, {256, 151936}, {4096, 151936}},
      few{{1, 576}, {256, 576}, {4096, 576}, {4096, 4096}, {1, 151936}, {64, 151936}};
  const std::vector<Shape>& shapes = contests.quick() ? few : all;
  std::vector<std::vector<bool>> wanted;
  for (const Shape shape : shapes) {
    wanted.emplace_back();
    for (const char* operation : {"rms_norm f32", "softmax f32", "log_softmax f32", "rms_norm bf16"})
      wanted.back().push_back(contests.announce(describe(operation, shape, 4)));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (wanted[i] != std::vector<bool>(4, false)) measure(contests, shapes[i], wanted[i]);
  return contests.finish();
}
