#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens per second of a whole model: perf.model and, where one is named, llama.cpp's llama-batched-bench take turns.

Writes JSON in the form of the other contests, with microseconds per token.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--program", required=True, help="perf.model")
parser.add_argument("--llama", help="llama-batched-bench, built by hand")
parser.add_argument("--llama-version", default="not said", help="its version and how it was built")
parser.add_argument("--f32", help="GGUF file with F32 weights")
parser.add_argument("--bf16", help="GGUF file with BF16 weights")
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--batches", default="1,8,32")
parser.add_argument("--prompt", type=int, default=32)
parser.add_argument("--tokens", type=int, default=32)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--out", required=True)
args = parser.parse_args()


def run(name, command):
    """One run of a contender: {batch: (prompt, answer)} in tokens per second."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads))
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        sys.exit(f"{name}: {' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return {line["pl"]: (line["speed_pp"], line["speed_tg"]) for line in lines}


cases, skipped = [], []
started = time.time()
for precision, model in (("f32", args.f32), ("bf16", args.bf16)):
    if not model:
        skipped.append(f"whole model, {precision}: no GGUF file was named")
        continue
    contenders = {"Invar": ("invar", [args.program, model, "--precision", precision, "--batches", args.batches,
                                      "--prompt", str(args.prompt), "--tokens", str(args.tokens)])}
    if args.llama:
        largest = max(int(batch) for batch in args.batches.split(","))
        llama = [args.llama, "-m", model, "-c", str(largest * (args.prompt + args.tokens)), "-b", "2048", "-ub", "512",
                 "-npp", str(args.prompt), "-ntg", str(args.tokens), "-npl", args.batches,
                 "-t", str(args.threads), "-tb", str(args.threads), "--output-format", "jsonl"]
        contenders["llama.cpp"] = ("peer", llama)
        contenders["llama.cpp -fa"] = ("peer", llama + ["-fa"])
    else:
        skipped.append(f"llama.cpp, {precision}: it is built by hand, and --llama did not name its llama-batched-bench")
    speeds = {name: [] for name in contenders}
    order = list(contenders)
    for round_ in range(args.rounds):
        random.shuffle(order)
        for name in order:
            speeds[name].append(run(name, contenders[name][1]))
        print(f"[round {round_ + 1}/{args.rounds}, {time.time() - started:.0f} s] model {precision}, {args.threads} threads: "
              + ", ".join(f"{name} {'/'.join(f'{s[1]:.0f}' for s in speeds[name][-1].values())}" for name in contenders)
              + " tokens/s", flush=True)
    for batch in (int(b) for b in args.batches.split(",")):
        for phase, which in (("prompt", 0), ("answer", 1)):
            entries = []
            for name, (role, _) in contenders.items():
                us = sorted(1e6 / s[batch][which] for s in speeds[name])
                entries.append({"name": name, "role": role, "us": round(statistics.median(us), 3),
                                "least": round(us[0], 3), "most": round(us[-1], 3), "count": len(us)})
            cases.append({"operation": f"model {phase} {precision}", "shape": {"batch": batch}, "threads": args.threads,
                          "bytes": 0, "flops": 0, "contenders": entries})
note = {"llama.cpp": args.llama_version, "llama.cpp options": " ".join(llama[3:]) + "; and with -fa"} if args.llama else {}
for reason in skipped:
    print("SKIP:", reason, file=sys.stderr)
with open(args.out, "w") as file:
    json.dump({"threads": args.threads, "quick": False, "repetitions": args.rounds, "skipped": skipped, "cases": cases, **note,
               "whole model": f"{args.prompt} tokens of prompt and {args.tokens} of answer for each request"}, file, indent=1)
