# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ratios that perf/run reports: what is compared with what, and what is to be reached."""
import math
from dataclasses import dataclass

F32_IN_PLACE = ["OpenBLAS sgemm", "OpenBLAS sgemv", "oneDNN f32"]
F32_PEERS = F32_IN_PLACE + ["oneDNN f32 packed"]
LONG = 64 * 2**20  # bytes that no cache of an ordinary processor holds


@dataclass
class Comparison:
    """A ratio: time of the best of `against` over time of the best of `ours`; 1 is as fast, more is faster."""
    title: str
    operation: str
    ours: list
    against: list
    x: str
    kind: str = "peer"  # or limit
    where: object = staticmethod(lambda case: True)
    least: float = 0  # the ratio to be reached at each shape
    mean: float = 0  # and by the geometric mean


def memory_bound(case):
    return case["bytes"] >= LONG


def product(title, ours, against, **goals):
    few, many = goals.pop("few", {}), goals.pop("many", {})
    return [Comparison(f"{title}, M 1…16", "matmul", ours, against, "M", where=lambda c: c["shape"]["M"] <= 16, **few),
            Comparison(f"{title}, M 32…1024", "matmul", ours, against, "M", where=lambda c: c["shape"]["M"] >= 32, **many)]


COMPARISONS = [
    *product("matmul f32, best of each", ["Invar f32", "Invar f32 packed"], F32_PEERS,
             few={"least": 1.0, "mean": 1.5}, many={"least": 0.9, "mean": 1.0}),
    *product("matmul f32, weights in place", ["Invar f32"], F32_IN_PLACE),
    *product("matmul f32, packed against peers with weights in place", ["Invar f32 packed"], F32_IN_PLACE),
    *product("matmul bf16 against f32 peers", ["Invar bf16", "Invar bf16 packed"], F32_PEERS,
             few={"mean": 1.0}, many={"mean": 1.0}),
    *product("matmul bf16 against oneDNN bf16", ["Invar bf16", "Invar bf16 packed"],
             ["oneDNN bf16", "oneDNN bf16 packed"]),
    Comparison("matmul f32, M = 1, against reading the weights", "matmul", ["Invar f32", "Invar f32 packed"],
               ["read loop f32"], "M", "limit", lambda c: c["shape"]["M"] == 1),
    Comparison("the best f32 peer, M 1…16, against reading the weights", "matmul", F32_PEERS, ["read loop f32"], "M",
               "limit", lambda c: c["shape"]["M"] <= 16),
    Comparison("matmul bf16, M = 1, against reading weights in f32", "matmul", ["Invar bf16", "Invar bf16 packed"],
               ["read loop f32"], "M", "limit", lambda c: c["shape"]["M"] == 1),
]
for name in ("rms_norm f32", "rms_norm bf16", "softmax f32", "log_softmax f32"):
    COMPARISONS += [Comparison(f"{name}, bandwidth of the copy loop, beyond the caches", name, ["Invar"], ["copy loop"],
                               "rows", "limit", memory_bound, least=0.8),
                    Comparison(f"{name}, bandwidth of the copy loop, in the caches", name, ["Invar"], ["copy loop"],
                               "rows", "limit", lambda c: not memory_bound(c))]
    if "softmax" in name:
        COMPARISONS.append(Comparison(f"{name} against oneDNN", name, ["Invar"], ["oneDNN"], "rows"))
for name in ("sum", "dot", "norm2"):
    COMPARISONS += [Comparison(f"{name} against Kokkos::parallel_reduce", name, ["Invar"], ["parallel_reduce"], "n",
                               least=0.95),
                    Comparison(f"{name}, bandwidth of the read loop, beyond the caches", name, ["Invar"], ["read loop"],
                               "n", "limit", memory_bound)]
COMPARISONS += [
    Comparison("attention prefill f32 against oneDNN", "attention prefill f32", ["Invar"], ["oneDNN"], "length"),
    Comparison("attention decode f32 against oneDNN", "attention decode f32", ["Invar"], ["oneDNN"], "length"),
    Comparison("attention decode f32, bandwidth of the read loop", "attention decode f32", ["Invar"], ["read loop"],
               "length", "limit"),
    Comparison("attention decode, bf16 cache, bandwidth of the read loop", "attention decode bf16 cache", ["Invar"],
               ["read loop"], "length", "limit"),
    Comparison("attention decode, fp16 cache, bandwidth of the read loop", "attention decode fp16 cache", ["Invar"],
               ["read loop"], "length", "limit"),
    *[Comparison(f"{name} f32 against {peer}", f"{name} f32", ["Invar"], [contender], "n")
      for name in ("exp", "sin", "cos")
      for peer, contender in ((f"std::{name}", f"loop over std::{name}"), ("libmvec", "libmvec"))],
    Comparison("silu_mul f32 against std::exp", "silu_mul f32", ["Invar"], ["loop over std::exp"], "rows"),
    Comparison("silu_mul f32, bandwidth of the copy loop", "silu_mul f32", ["Invar"], ["copy loop"], "rows", "limit"),
    Comparison("rope f32 against std::sin, std::cos", "rope f32", ["Invar"], ["loop over std::sin, std::cos"], "tokens"),
]
for precision in ("f32", "bf16"):
    for phase, goal in (("answer", 1.0), ("prompt", 1.0)):
        COMPARISONS.append(Comparison(f"whole model {precision}, {phase} tokens/s against llama.cpp",
                                      f"model {phase} {precision}", ["Invar"], ["llama.cpp", "llama.cpp -fa"], "batch",
                                      least=goal))


def microseconds(case, names):
    times = [c["us"] for c in case["contenders"] if c["name"] in names]
    return min(times) if times else None


def ratio(case, comparison):
    if case["operation"] != comparison.operation or not comparison.where(case):
        return None
    ours, against = microseconds(case, comparison.ours), microseconds(case, comparison.against)
    return against / ours if ours and against else None


def shape_text(case, but=()):
    return " ".join(f"{key} {value}" for key, value in case["shape"].items() if key not in but)


def summary(cases, threads):
    """Rows: title, cases, geometric mean, least, where, whether the goals are reached (None: no goal)."""
    for comparison in COMPARISONS:
        found = [(r, case) for case in cases if case["threads"] == threads and (r := ratio(case, comparison))]
        if not found:
            continue
        mean = math.exp(sum(math.log(r) for r, _ in found) / len(found))
        least, where = min(found, key=lambda f: f[0])
        goals = [f"≥ {g:g}{t}" for g, t in ((comparison.least, " at each"), (comparison.mean, " mean")) if g]
        reached = (least >= comparison.least and mean >= comparison.mean) if goals else None
        yield comparison.title, len(found), mean, least, shape_text(where), ", ".join(goals), reached
