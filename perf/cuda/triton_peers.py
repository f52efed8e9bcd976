#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A batch-invariant matmul as it is usually made: one tile for all shapes, in Triton, against perf.cuda_matrix_unit.

    triton_peers.py [--program build/perf/perf/perf.cuda_matrix_unit | --invar FILE.json] [--json FILE]

--program starts that program first, for its section "products" only, so that both are measured on one device right after
each other; --invar takes the figures of an earlier run. Without either only Triton is measured. The kernel: 128 x 128
outputs from 64 positions of k at a time, 3 stages, 8 warps, tiles in groups of 8 rows of tiles, one persistent program
per multiprocessor. Timed as the other program does: "cold" is one call from a second-level cache emptied by reading,
"back to back" one of many in a graph, with weights in turn from more memory than the cache holds; medians over rounds.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

try:
    import torch
    import triton
    import triton.language as tl
except ImportError:
    print("SKIP: no PyTorch with Triton")
    sys.exit(0)
if not torch.cuda.is_available():
    print("SKIP: PyTorch sees no GPU")
    sys.exit(0)

WIDE = ((6144, 4096), (4096, 4096), (24576, 4096), (4096, 12288))
NARROW = ((1024, 4096), (768, 7168), (2048, 8192))
ROWS = [1 << i for i in range(14)]
ASKED = 2.2
TILE_M, TILE_N, TILE_K, STAGES, WARPS, GROUP = 128, 128, 64, 3, 8, 8


@triton.jit
def pinned_tile(x, w, c, m, n, k, programs: tl.constexpr, tile_m: tl.constexpr, tile_n: tl.constexpr,
                tile_k: tl.constexpr, group: tl.constexpr):
    """c[m, n] = x[m, k] · w[n, k]ᵀ, all by rows without gaps."""
    tiles_m = tl.cdiv(m, tile_m)
    tiles_n = tl.cdiv(n, tile_n)
    steps = tl.cdiv(k, tile_k)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, programs, flatten=True):
        # Tiles by groups of rows of tiles, so that neighbours share what they read.
        per_group = group * tiles_n
        first = tile // per_group * group
        height = min(tiles_m - first, group)
        rows = (first + tile % per_group % height) * tile_m + tl.arange(0, tile_m)
        columns = tile % per_group // height * tile_n + tl.arange(0, tile_n)
        from_x = tl.max_contiguous(tl.multiple_of(tl.where(rows < m, rows, 0), tile_m), tile_m)
        from_w = tl.max_contiguous(tl.multiple_of(tl.where(columns < n, columns, 0), tile_n), tile_n)
        total = tl.zeros((tile_m, tile_n), dtype=tl.float32)
        for step in range(steps):
            depth = step * tile_k + tl.arange(0, tile_k)
            inside = depth < k
            a = tl.load(x + from_x[:, None].to(tl.int64) * k + depth[None, :], mask=inside[None, :], other=0.0)
            b = tl.load(w + from_w[:, None].to(tl.int64) * k + depth[None, :], mask=inside[None, :], other=0.0)
            total = tl.dot(a, b.T, total)
        to = c + rows[:, None].to(tl.int64) * n + columns[None, :]
        tl.store(to, total.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


PROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count
FLUSH = torch.ones(128 << 20, dtype=torch.int32, device="cuda")


def matmul(x, w, c):
    (m, k), n = x.shape, w.shape[0]
    tiles = triton.cdiv(m, TILE_M) * triton.cdiv(n, TILE_N)
    pinned_tile[(min(PROCESSORS, tiles),)](x, w, c, m, n, k, PROCESSORS, TILE_M, TILE_N, TILE_K, GROUP,
                                           num_stages=STAGES, num_warps=WARPS)


def events(work):
    """Microseconds of the device."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return 1e3 * begin.elapsed_time(end)


def measure(x, weights, c):
    """(cold, back to back) in microseconds."""
    matmul(x, weights[0], c)
    torch.cuda.synchronize()
    cold = []
    for _ in range(15):
        FLUSH.sum()  # keeps the device busy until the host has launched what follows
        FLUSH.sum()
        cold.append(events(lambda: matmul(x, weights[0], c)))
    in_a_row = max(4, min(int(3000 / statistics.median(cold)), max(24, len(weights))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(in_a_row):
            matmul(x, weights[i % len(weights)], c)
    graph.replay()
    rotated = [events(graph.replay) / in_a_row for _ in range(7)]
    return statistics.median(cold), statistics.median(rotated)


def figures_of_invar(options):
    """{(n, k, m): (cold, back to back)} and the type."""
    path = options.invar
    if options.program:
        path = os.path.join(tempfile.mkdtemp(), "products.json")
        subprocess.run([options.program, "--sections", "products", "--type", options.type, "--json", path], check=True)
    if not path:
        return {}
    with open(path) as file:
        data = json.load(file)
    if data["type"] != options.type:
        sys.exit(f"{path} is of {data['type']}, not {options.type}")
    return {(row["n"], row["k"], row["m"]): (row["invar_cold"], row["invar_rotated"]) for row in data["products"]}


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="perf.cuda_matrix_unit, to be run first")
    parser.add_argument("--invar", help="its JSON from an earlier run")
    parser.add_argument("--type", choices=("bf16", "fp16"), default="bf16")
    parser.add_argument("--json", help="file to write")
    options = parser.parse_args()
    invar = figures_of_invar(options)
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[options.type]
    torch.manual_seed(1)
    print(f"\n## A pinned tile in Triton {triton.__version__}, {options.type}, weights [N, K], "
          f"{torch.cuda.get_device_name()}: microseconds, cold / back to back\n")
    print("| N | K | M | pinned tile | Invar | pinned tile / Invar |\n|---|---|---|---|---|---|")
    table = []
    for n, k in WIDE + NARROW:
        copies = max(3, (300 << 20) // (2 * n * k))
        weights = [(0.02 * torch.randn(n, k, device="cuda")).to(dtype) for _ in range(copies)]
        x = torch.randn(ROWS[-1], k, device="cuda").to(dtype)
        c = torch.empty(ROWS[-1], n, dtype=dtype, device="cuda")
        for m in ROWS:
            cold, rotated = measure(x[:m], weights, c[:m])
            row = {"n": n, "k": k, "m": m, "pinned_cold": cold, "pinned_rotated": rotated}
            if m == 512:
                matmul(x[:m], weights[0], c[:m])
                expected = x[:m].float() @ weights[0].float().T
                if not torch.allclose(c[:m].float(), expected, rtol=0.02, atol=0.05):
                    sys.exit(f"the pinned tile is wrong for N {n}, K {k}")
            own = invar.get((n, k, m))
            if own:
                row["invar_cold"], row["invar_rotated"] = own
                row["pinned_over_invar_cold"], row["pinned_over_invar_rotated"] = cold / own[0], rotated / own[1]
            table.append(row)
            print(f"| {n} | {k} | {m} | {cold:.1f} / {rotated:.1f} | "
                  + (f"{own[0]:.1f} / {own[1]:.1f} | {cold / own[0]:.2f} / {rotated / own[1]:.2f} |" if own else "| |"),
                  flush=True)
        del weights, x, c
    means = {}
    if all("invar_cold" in row for row in table):
        print(f"\n| geometric means of pinned tile / Invar (asked: {ASKED} overall) | cold | back to back |\n|---|---|---|")
        for name, shapes in (("wide", WIDE), ("narrow", NARROW), ("all", WIDE + NARROW)):
            for rows, first, last in (("M up to 64", 1, 64), ("M = 128", 128, 128), ("M from 256 on", 256, 8192),
                                      ("all M", 1, 8192)):
                chosen = [r for r in table if (r["n"], r["k"]) in shapes and first <= r["m"] <= last]
                pair = [geometric_mean([r[f"pinned_over_invar_{how}"] for r in chosen]) for how in ("cold", "rotated")]
                means[f"{name}, {rows}"] = pair
                print(f"| {name}, {rows} | {pair[0]:.2f} | {pair[1]:.2f} |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "triton": triton.__version__,
                       "torch": torch.__version__, "type": options.type, "means": means, "pinned_tile": table}, file,
                      indent=1)
            file.write("\n")


main()
