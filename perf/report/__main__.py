# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python3 perf/report --results FOLDER [--save PREFIX] [--readme FILE]: the tables and plots of perf/run's results.

Reads every *.json of a folder that a contest wrote. Prints the ratios, and writes cpu.json, cpu.md and, where
matplotlib is installed, a picture of each operation, cpu_NAME.svg. --save copies them to PREFIX.json, PREFIX.md,
PREFIX_NAME.svg, where the page names PREFIX_notes.md if there is one; --readme replaces the table of ratios in FILE, which stands between two comments.
"""
import argparse
import json
import pathlib
import platform
import re
import shutil
import subprocess
from collections import defaultdict

from comparisons import summary
from plots import plots


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
        ratios = [by_count.get(c, ("",))[0] for c in counts]
        yield f"| {title} | {' | '.join(ratios)} | {next(iter(by_count.values()))[1]} |"
    peers = [f"{name} {context[name].split(' NO_')[0].removeprefix(name + ' ')}"
             for name in ("OpenBLAS", "oneDNN", "llama.cpp") if name in context]
    yield (f"\n({context['machine']}; {context['date']}; {context['compiler']} `{context['flags']}`; "
           f"{', '.join(peers)}.)")


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
    context = {"machine": machine(), "system": platform.freedesktop_os_release().get("PRETTY_NAME", "?"),
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
    text += ["", "Written by perf/run. A ratio is the time of the best peer over Invar's: 1 is as fast, more is faster. "
             "All contenders of a case ran in one process, their repetitions in random order (a whole model: in processes "
             "that took turns); a time is the median. Mean: geometric, over the shapes.", ""]
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
    if args.save and args.save.with_name(prefix + "_notes.md").exists():
        text += ["", f"What limits the work, and what was tried: [{prefix}_notes.md]({prefix}_notes.md)"]
    if pictures:
        text += ["", "## Pictures", ""]
        text += [f"![{name}]({file.name.replace('cpu', prefix, 1)})" for name, file in pictures]
    if compile_time:
        text += ["", f"## Seconds to compile, {compile_time['compiler']}", "",
                 f"Beyond `Kokkos_Core.hpp` alone, which takes {compile_time['kokkos']:.2f}; with a call: and one call on "
                 f"views of float. Limit {compile_time['limit']:g}.", "",
                 "| header | alone | with a call |", "|---|---|---|"]
        for row in compile_time["headers"]:
            shown = ["" if row[kind] is None else f"{row[kind]:.2f}" for kind in ("alone", "with a call")]
            if any(shown):
                text.append(f"| {row['header']} | {' | '.join(shown)} |")
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
