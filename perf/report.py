#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""perf/report.py --results FOLDER [--save PREFIX] [--readme FILE]: the tables and plots of perf/run's results.

Reads every *.json of a folder that a contest wrote. Prints the ratios, and writes cpu.json, cpu.md and, where matplotlib
is installed, a picture of each operation, cpu_NAME.svg. --save copies them to PREFIX.json, PREFIX.md, PREFIX_NAME.svg;
--readme replaces the table of ratios in FILE, which stands between two comments.
"""
import argparse
import json
import math
import pathlib
import platform
import re
import shutil
import subprocess
import sys
from collections import defaultdict
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
    *product("matmul bf16 against f32 peers", ["Invar bf16", "Invar bf16 packed"], F32_PEERS,
             few={"mean": 1.0}, many={"mean": 1.0}),
    *product("matmul bf16 against oneDNN bf16", ["Invar bf16", "Invar bf16 packed"], ["oneDNN bf16", "oneDNN bf16 packed"]),
    Comparison("matmul f32, M = 1, against reading the weights", "matmul", ["Invar f32", "Invar f32 packed"],
               ["read loop f32"], "M", "limit", lambda c: c["shape"]["M"] == 1),
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


def machine():
    name = platform.machine()
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
        name = re.search(r"model name\s*: (.*)", text).group(1)
        flags = re.search(r"flags\s*: (.*)", text).group(1).split()
        vectors = [f for f in ("avx512_bf16", "avx512f", "avx2", "fma") if f in flags]
        name += f", family {re.search(r'cpu family.*: (.*)', text).group(1)}, " + " ".join(vectors)
    except (OSError, AttributeError):
        pass
    lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
    caches = [" ".join(line.split()[0:4]) for line in lines if re.match(r"L[123]d? cache", line.strip())]
    return name + "; " + ", ".join(c.replace(" cache:", "") for c in caches)


def table(cases, operation):
    """Markdown: every time, a table for each set of contenders and threads."""
    groups = defaultdict(list)
    for case in cases:
        if case["operation"] == operation:
            groups[case["threads"]].append(case)
    for threads in sorted(groups):
        names = []
        for case in groups[threads]:
            names += [c["name"] for c in case["contenders"] if c["name"] not in names]
        keys = list(groups[threads][0]["shape"])
        yield f"\n{threads} thread{'s' if threads > 1 else ''}:\n"
        yield "| " + " | ".join(keys + names) + " |"
        yield "|" + "---|" * len(keys + names)
        for case in groups[threads]:
            us = {c["name"]: c["us"] for c in case["contenders"]}
            yield "| " + " | ".join([str(case["shape"][k]) for k in keys]
                                    + [f"{us[n]:.4g}" if n in us else "" for n in names]) + " |"


README_BEGIN, README_END = "<!-- This table is written by perf/run --readme. -->", "<!-- End of the table. -->"


def readme_table(cases, context):
    """The ratios in a few lines: work, then for each number of threads mean and least."""
    counts = sorted({case["threads"] for case in cases})
    rows = defaultdict(dict)
    for count in counts:
        for title, _, mean, least, _, goals, _ in summary(cases, count):
            if not goals and not title.startswith(("matmul", "attention")):
                continue
            rows[title][count] = (f"{mean:.2f}, {least:.2f}", goals)
    yield "| mean and least ratio | " + " | ".join(f"{c} thread{'s' if c > 1 else ''}" for c in counts) + " | aim |"
    yield "|---|" + "---|" * (len(counts) + 1)
    for title, by_count in rows.items():
        yield f"| {title} | " + " | ".join(by_count.get(c, ("",))[0] for c in counts) + f" | {next(iter(by_count.values()))[1]} |"
    peers = [f"{name} {context[name].split(' NO_')[0].removeprefix(name + ' ')}" for name in ("OpenBLAS", "oneDNN", "llama.cpp")
             if name in context]
    yield f"\n({context['machine']}; {context['date']}; {context['compiler']} `{context['flags']}`; {', '.join(peers)}.)"


def plots(cases, folder):
    try:
        import matplotlib
    except ImportError:
        print("SKIP: plots: matplotlib is not installed (Debian: python3-matplotlib)")
        return []
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "invar", "font.size": 9})
    import matplotlib.pyplot as plt
    written = []
    # One picture an operation; of matmul one a precision, against the best peer of f32.
    pictures = {"matmul_f32": ["matmul f32, best of each"], "matmul_bf16": ["matmul bf16 against f32 peers"]}
    for comparison in COMPARISONS:
        if comparison.operation != "matmul" and "caches" not in comparison.title:
            pictures.setdefault(re.sub(r"\W+", "_", comparison.operation), []).append(comparison.title)
        elif "beyond the caches" in comparison.title and "copy" in comparison.title:
            title = comparison.title.split(",")[0]
            pictures.setdefault(re.sub(r"\W+", "_", comparison.operation), []).append(title + ", bandwidth of the copy loop")
    for name, titles in pictures.items():
        wanted = [c for c in COMPARISONS if any(c.title.startswith(t) for t in titles)]
        figure, axes = plt.subplots(1, len(titles), figsize=(6.4 * len(titles), 3.4), squeeze=False)
        drawn = False
        for axis, title in zip(axes[0], titles):
            lines = defaultdict(dict)
            for comparison in (c for c in wanted if c.title.startswith(title)):
                for case in cases:
                    if r := ratio(case, comparison):
                        rest = shape_text(case, but=(comparison.x,))
                        lines[rest, case["threads"]][case["shape"][comparison.x]] = r
                x = comparison.x
            # One colour for a shape in all panels of a picture.
            rests = dict.fromkeys(shape_text(case, but=(x,)) for case in cases if case["operation"] == wanted[0].operation)
            colours = {rest: f"C{i}" for i, rest in enumerate(rests)}
            for (rest, threads), points in lines.items():
                drawn = True
                axis.plot(sorted(points), [points[k] for k in sorted(points)], marker="o", markersize=3,
                          color=colours[rest], linestyle="-" if threads > 1 else "--",
                          label=f"{rest or name}, {threads} thread{'s' if threads > 1 else ''}")
            axis.axhline(1, color="black", linewidth=0.8)
            values = sorted({value for points in lines.values() for value in points})
            axis.set(xscale="log", xlabel=x, ylabel="peer's time / Invar's", title=title)
            axis.set_xticks(values, [f"{v:g}" if v < 1e5 else f"{v:.0e}".replace("e+0", "e") for v in values], rotation=45)
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
            axis.grid(True, alpha=0.3)
            if lines:
                axis.legend(fontsize=6, loc="upper left", bbox_to_anchor=(1, 1))
        if drawn:
            figure.tight_layout()
            file = folder / f"cpu_{name}.svg"
            figure.savefig(file, metadata={"Date": None})
            written.append((name, file))
        plt.close(figure)
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--readme", type=pathlib.Path)
    args = parser.parse_args()
    files = [json.loads(f.read_text()) for f in sorted(args.results.glob("*.json")) if f.name != "cpu.json"]
    contests = [f for f in files if "cases" in f]
    compile_time = next((f for f in files if "headers" in f), None)
    cases = [case for f in contests for case in f["cases"]]
    skipped = sorted({reason for f in contests for reason in f["skipped"]})
    context = {"machine": machine(), "system": " ".join(platform.freedesktop_os_release().get("PRETTY_NAME", "?").split()),
               "date": subprocess.run(["date", "-u", "+%Y-%m-%d"], capture_output=True, text=True).stdout.strip()}
    for f in contests:
        context.update({k: v for k, v in f.items() if k not in ("cases", "skipped", "threads", "others")})
    others = max((f.get("others", 0) for f in contests), default=0)
    context["processors at work for other programs"] = f"up to {others:.2f}"
    (args.results / "cpu.json").write_text(
        json.dumps({"context": context, "skipped": skipped, "compile time": compile_time}, indent=1)[:-2]
        + ',\n "cases": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]}\n")
    pictures = plots(cases, args.results)

    text = ["# CPU: ratios to peers in the same run", ""]
    text += [f"- {key}: {value}" for key, value in context.items()]
    text += ["", "Written by perf/run. A ratio is the time of the best peer over Invar's: 1 is as fast, more is faster. All "
             "contenders of a case ran in one process, their repetitions in random order; a time is the median, in "
             "microseconds. Mean: geometric, over the shapes.", ""]
    text += [f"- SKIP {reason}" for reason in skipped]
    missed = 0
    for threads in sorted({case["threads"] for case in cases}):
        rows = list(summary(cases, threads))
        text += ["", f"## {threads} thread{'s' if threads > 1 else ''}", "",
                 "| work | cases | mean | least | at | goal | |", "|---|---|---|---|---|---|---|"]
        print(f"\n{threads} thread{'s' if threads > 1 else ''}: ratios to the best peer, or to a limit of memory")
        print(f"  {'':72} {'cases':>5} {'mean':>6} {'least':>6}  goal")
        for title, count, mean, least, where, goals, reached in rows:
            verdict = "" if reached is None else "reached" if reached else "MISSED"
            missed += reached is False
            text.append(f"| {title} | {count} | {mean:.2f} | {least:.2f} | {where} | {goals} | {verdict} |")
            print(f"  {title:72} {count:5} {mean:6.2f} {least:6.2f}  {goals} {verdict}  (least at {where})")
    prefix = args.save.name if args.save else "cpu"
    if pictures:
        text += ["", "## Pictures", ""]
        text += [f"![{name}]({file.name.replace('cpu', prefix, 1)})" for name, file in pictures]
    if compile_time:
        text += ["", f"## Seconds to compile, {compile_time['compiler']}", "",
                 f"Beyond `Kokkos_Core.hpp` alone, which takes {compile_time['kokkos']:.2f}; with a call: and one call on "
                 f"views of float. Limit {compile_time['limit']:g}.", "", "| header | alone | with a call |", "|---|---|---|"]
        text += [f"| {row['header']} | " + " | ".join("" if row[k] is None else f"{row[k]:.2f}" for k in ("alone", "with a call"))
                 + " |" for row in compile_time["headers"] if row["alone"] is not None or row["with a call"] is not None]
    text += ["", "## All times", ""]
    for operation in dict.fromkeys(case["operation"] for case in cases):
        unit = "microseconds per token" if operation.startswith("model") else "microseconds"
        text += [f"### {operation}, {unit}", *table(cases, operation), ""]
    (args.results / "cpu.md").write_text("\n".join(text) + "\n")
    for reason in skipped:
        print("SKIP:", reason)
    if others > 0.1:
        print(f"the machine was busy: up to {others:.2f} processors worked for other programs")
    print(f"goals missed: {missed}")
    if args.readme:
        page = args.readme.read_text()
        before, rest = page.split(README_BEGIN)
        args.readme.write_text("\n".join([before + README_BEGIN, *readme_table(cases, context), README_END])
                               + rest.split(README_END)[1])
    if args.save:
        args.save.parent.mkdir(parents=True, exist_ok=True)
        for file in [args.results / "cpu.json", args.results / "cpu.md", *(f for _, f in pictures)]:
            shutil.copy(file, args.save.parent / file.name.replace("cpu", args.save.name, 1))
        print(f"saved: {args.save}.json, .md, _*.svg")
    else:
        print(f"results: {args.results}/cpu.json, cpu.md, cpu_*.svg")


if __name__ == "__main__":
    main()
