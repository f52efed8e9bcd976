#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same work in PyTorch, timed the same way: CUDA-graph replays from a cold cache, median of 15."""
import statistics
import sys

try:
    import torch
except ImportError:
    print("SKIP: no PyTorch")
    sys.exit(0)
if not torch.cuda.is_available():
    print("SKIP: PyTorch sees no GPU")
    sys.exit(0)

flush = torch.ones(64 << 20, dtype=torch.int32, device="cuda")


def microseconds(calls):
    """Microseconds per call of a graph of the given calls."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call()
    times = []
    for _ in range(16):
        flush.sum()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end) / len(calls))
    return statistics.median(times[1:])


def rows(name, shape, dtype, operation):
    size = shape[0] * shape[1] * torch.empty(0, dtype=dtype).element_size() * 2
    calls = 20 if size < 32e6 else max(1, int(600e6 / size))  # as in graph_timer.hpp
    inputs = [torch.randn(shape, dtype=dtype, device="cuda") for _ in range(calls)]
    time = microseconds([lambda x=x: operation(x) for x in inputs])
    print(f"{name} {shape[0]}x{shape[1]}: {time:.2f} us, {size / time * 1e-6:.2f} TB/s")


print("PyTorch", torch.__version__, torch.cuda.get_device_name())
weights = {n: torch.randn(n, dtype=torch.bfloat16, device="cuda") for n in (4096, 16384)}
for shape in ((1, 4096), (8, 4096), (1, 16384), (8192, 4096), (65536, 4096)):
    rows("rms_norm bf16", shape, torch.bfloat16,
         lambda x: torch.nn.functional.rms_norm(x, (x.shape[1],), weights[x.shape[1]], 1e-6))
for count in (1, 8, 64, 256):
    rows("log_softmax f32", (count, 151936), torch.float32, lambda x: torch.log_softmax(x, -1))
vector = torch.randn(100_000_000, device="cuda")
other = torch.randn(100_000_000, device="cuda")
print(f"sum f32 1e8: {microseconds([lambda: vector.sum()]):.1f} us")
print(f"dot f32 1e8: {microseconds([lambda: torch.dot(vector, other)]):.1f} us")
