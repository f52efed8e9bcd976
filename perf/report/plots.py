# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A picture of each operation: ratios against the batch."""
import re
from collections import defaultdict

from comparisons import COMPARISONS, ratio, shape_text


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
