#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of the CSV files that `raggedgemm_bench --csv FILE` writes.

    bench/plot.py result.csv [more.csv ...] [--out FOLDER]

One pair of PNGs for each dtype and distribution of group sizes found:
speedup-DTYPE-SIZES.png   native over padded:M and padded:max (and loop), by class and shape;
floor-DTYPE-SIZES.png     fraction of the floor that native reaches, by class and shape.
"""

import argparse
import collections
import csv
import pathlib
import re
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("plot.py needs matplotlib: pip install matplotlib (or apt-get install python3-matplotlib)")

CLASSES = ["fwd_wi", "fwd_wo", "dgrad_wi", "dgrad_wo", "wgrad_wi", "wgrad_wo"]
BASELINES = [
    ("native_over_padded_M", "padded:M", "#c44e52"),
    ("native_over_padded_max", "padded:max", "#dd8452"),
    ("native_over_loop", "loop", "#4c72b0"),
]
CLASS_COLOURS = ["#4c72b0", "#8da8d6", "#55a868", "#98cfa5", "#c44e52", "#e39a9c"]


def read(paths):
    """Rows of native that ran, by (dtype, sizes); shapes in the order of first appearance."""
    groups = collections.OrderedDict()
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                missing = {"class", "dtype", "sizes", "backend", "status", "fraction_of_floor"} - row.keys()
                if missing:
                    sys.exit(f"{path}: no column {', '.join(sorted(missing))}; is it from raggedgemm_bench --csv?")
                if row["backend"] == "native" and row["status"] == "ok":
                    groups.setdefault((row["dtype"], row["sizes"]), []).append(row)
    return groups


def shape_of(row):
    return "x".join(row[key] for key in ("m", "k", "n", "experts"))


def cells(rows, column):
    """{(shape, class): value} of a column; a later file wins."""
    return {(shape_of(r), r["class"]): float(r[column]) for r in rows if r.get(column)}


def bars(axis, shapes, series, width=0.8):
    """Groups of bars, one group a shape; a missing value leaves a gap."""
    step = width / len(series)
    for i, (label, colour, values) in enumerate(series):
        at = [s + (i - (len(series) - 1) / 2) * step for s in range(len(shapes))]
        axis.bar(at, [v if v is not None else 0 for v in values], step * 0.92, label=label, color=colour)
    axis.set_xticks(range(len(shapes)), shapes, rotation=35, ha="right", fontsize=8)
    axis.set_xlim(-0.6, len(shapes) - 0.4)
    axis.grid(axis="y", alpha=0.3)
    axis.set_axisbelow(True)


def draw_speedup(rows, title, path):
    shapes = list(dict.fromkeys(shape_of(r) for r in rows))
    classes = [c for c in CLASSES if any(r["class"] == c for r in rows)]
    tables = [(label, colour, cells(rows, column)) for column, label, colour in BASELINES]
    tables = [t for t in tables if t[2]]
    if not tables:
        print(f"{path.name}: no baseline ran; not drawn")
        return
    columns = 2 if len(classes) > 1 else 1
    lines = -(-len(classes) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(7.5 * columns, 3.3 * lines), squeeze=False, sharey=True)
    for axis, name in zip(axes.flat, classes):
        series = [(label, colour, [table.get((s, name)) for s in shapes]) for label, colour, table in tables]
        bars(axis, shapes, series)
        axis.set_title(name, fontsize=10)
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
        axis.axhline(1, color="black", linewidth=0.8)
    for axis in axes.flat[len(classes):]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("speed-up of native")
    figure.suptitle(f"native over the baselines, {title} (mean time; above 1x native is faster)")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="upper right", ncols=len(tables), fontsize=9)
    finish(figure, path)


def draw_floor(rows, title, path):
    shapes = list(dict.fromkeys(shape_of(r) for r in rows))
    table = cells(rows, "fraction_of_floor")
    series = [
        (name, CLASS_COLOURS[i], [table.get((s, name)) for s in shapes])
        for i, name in enumerate(CLASSES)
        if any(r["class"] == name for r in rows)
    ]
    figure, axis = plt.subplots(figsize=(max(7.0, 1.3 * len(shapes)), 4.6))
    bars(axis, shapes, series)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_ylim(0, max(1.05, 1.05 * max(table.values())))
    axis.set_ylabel("floor / median time")
    axis.set_title(f"fraction of the floor, native, {title} (1 is the least time the machine allows)", fontsize=11)
    axis.legend(ncols=len(series), fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.32))
    finish(figure, path)


def finish(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", nargs="+", help="files written by raggedgemm_bench --csv")
    parser.add_argument("--out", default=".", help="folder for the PNGs (default: here)")
    arguments = parser.parse_args()
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    groups = read(arguments.csv)
    if not groups:
        sys.exit("no row of native that ran")
    for (dtype, sizes), rows in groups.items():
        name = re.sub(r"[^A-Za-z0-9]+", "_", f"{dtype}-{sizes}".replace("-", "~")).replace("_", "-")
        title = f"{dtype}, sizes {sizes}"
        draw_speedup(rows, title, out / f"speedup-{name}.png")
        draw_floor(rows, title, out / f"floor-{name}.png")


if __name__ == "__main__":
    main()
