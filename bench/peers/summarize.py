#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the tables (markdown) of the CSV files that run.py writes; a later file's cells win.

    summarize.py peers.csv [more.csv ...] [--plot FOLDER]

--plot draws the fraction of the floor by class and shape with ../plot.py (needs matplotlib).
Exit code 1 when a result is wrong or no cell of ours was timed.
"""

import argparse
import csv
import math
import pathlib
import sys

from shapes import CLASSES, PATTERNS

SLOWER = 0.97  # of the best peer's time over ours
NO_PEERS = ("ours", "dense")


def read(paths):
    """({(shape, class, groups): {peer: row}}, the files' first lines)."""
    cells, heads = {}, []
    for path in paths:
        here = {}
        with open(path, newline="") as file:
            lines = list(file)
        heads += [line[1:].strip() for line in lines if line.startswith("#")]
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            here.setdefault((row["shape"], row["class"], row["groups"]), {})[row["peer"]] = row
        cells.update(here)
    return cells, heads


def time_of(cell, peer):
    return float(cell[peer]["median_us"]) if peer in cell and cell[peer]["median_us"] else None


def best_peer(cell):
    """(us, name), or None without peers."""
    timed = [(time_of(cell, peer), peer) for peer in cell if peer not in NO_PEERS]
    return min((entry for entry in timed if entry[0] is not None), default=None)


def lead(cell, peer):
    """The peer's time over ours (above 1: ours is faster), or None. `best` is the best peer."""
    mine = time_of(cell, "ours")
    best = best_peer(cell)
    other = (best and best[0]) if peer == "best" else time_of(cell, peer)
    return other / mine if mine and other else None


def mean(values):
    """Geometric, of those that are not None, as text."""
    values = [value for value in values if value]
    return f"{math.exp(sum(map(math.log, values)) / len(values)):.3f}" if values else "–"


def number(cell, column):
    text = cell.get("ours", {}).get(column)
    return float(text) if text else None


def table(head, lines):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |")
    print()


def line_of(title, cells):
    bound = [cell for cell in cells if cell.get("ours", {}).get("bound") == "flops"]
    return [title, len(cells),
            *(mean(lead(cell, peer) for cell in cells)
              for peer in ("best", "torch", "triton", "cublas_grouped*", "cublas_loop*",
                           "jax_default", "jax_mosaic")),
            mean(number(cell, "of_floor") for cell in cells),
            mean(number(cell, "of_dense") for cell in bound), len(bound)]


def cell_line(key, cell):
    best = best_peer(cell)
    ratios = [lead(cell, peer) for peer in ("best", "torch", "triton")]
    return [*key, cell["ours"]["median_us"], cell["ours"]["tflops"],
            f"{cell['ours']['of_floor']} {cell['ours']['bound']}",
            cell["ours"]["of_dense"] or "–",
            f"{best[1]} {best[0]:.2f}" if best else "–",
            *("–" if ratio is None else f"{ratio:.3f}" for ratio in ratios), cell["ours"]["note"]]


def plot(cells, folder):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    import plot as figures
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in PATTERNS:
        rows = []
        for (shape, cls, groups), cell in cells.items():
            if groups == pattern and number(cell, "of_floor"):
                extents = dict(zip(("m", "k", "n", "experts"), shape.split("x")))
                of_floor = cell["ours"]["of_floor"]
                rows.append({**extents, "class": cls, "fraction_of_floor": of_floor})
        if rows:
            figures.draw_floor(rows, f"bf16, {pattern}", folder / f"peers-floor-{pattern}.png")


def main():
    parser = argparse.ArgumentParser(description="the tables of run.py's CSV files")
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--plot", metavar="FOLDER")
    a = parser.parse_args()
    cells, heads = read(a.csv)
    timed = {key: cell for key, cell in cells.items() if time_of(cell, "ours")}
    print("\n".join(heads) + "\n\n## Geometric means over the shapes\n\n"
          "Times of the best peer, torch, Triton, cuBLAS and JAX over ours: above 1, ours is faster. "
          "`*`: knows the sizes on the host.\n")
    head = ["class, groups", "cells", "best/ours", "torch/ours", "triton/ours",
            "cublas grouped*/ours", "cublas loop*/ours", "JAX default/ours", "JAX Mosaic/ours",
            "of floor", "of dense where flops bind", "cells there"]
    lines = []
    for pattern in PATTERNS:
        of_pattern = {key: cell for key, cell in timed.items() if key[2] == pattern}
        for cls in CLASSES:
            chosen = [cell for key, cell in of_pattern.items() if key[1] == cls]
            if chosen:
                lines.append(line_of(f"{cls}, {pattern}", chosen))
        if of_pattern:
            lines.append(line_of(f"**all, {pattern}**", list(of_pattern.values())))
    table(head, lines)
    cell_head = ["shape", "class", "groups", "ours us", "TFLOP/s", "of floor", "of dense",
                 "best peer us", "best/ours", "torch/ours", "triton/ours", "row"]
    slow = sorted((lead(cell, "best"), key) for key, cell in timed.items()
                  if (lead(cell, "best") or 1) < SLOWER)
    print(f"## Where ours is slower than {SLOWER} of the best peer: {len(slow)} of {len(timed)}\n")
    table(cell_head, [cell_line(key, timed[key]) for _, key in slow])
    print("## All cells\n")
    table(cell_head, [cell_line(key, cell) for key, cell in timed.items()])
    wrong = [f"{' '.join(key)}: {peer}, error {row['error']}" for key, cell in cells.items()
             for peer, row in cell.items() if row["status"] == "wrong"]
    if wrong:
        print(f"## WRONG RESULTS: {len(wrong)}\n\n- " + "\n- ".join(wrong))
    if a.plot:
        plot(timed, a.plot)
    sys.exit(1 if wrong or not timed else 0)


if __name__ == "__main__":
    main()
