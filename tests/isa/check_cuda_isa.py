# SPDX-License-Identifier: Apache-2.0
"""Checks what nvcc made of the CUDA kernels: no spills in any, no note on WGMMA or setmaxnreg (C7508, C7512, C7514, C7515: serialised, ignored), and
matrix instructions inside the K loop of every tensor-core kernel.

  check_cuda_isa.py --log BUILD_LOG [PTX …]

BUILD_LOG is the output of a build with -Xptxas=-v; PTX files come from nvcc -ptx. Prints a table, exits non-zero on a
violation and when there was nothing to check."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

MATRIX_ENGINE = re.compile(r"TmaWgmma|MmaSync")
SERIALISED = re.compile(r"\(C75\d\d\).*")  # ptxas notes on WGMMA pipelines and setmaxnreg
RESOURCES = re.compile(
    r"Compiling entry function '(\w+)' for '(sm_\w+)'.*?\n(?:.*\n)*?"
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r".*?Used (\d+) registers")


def demangle(names):
    tool = shutil.which("c++filt") or shutil.which("llvm-cxxfilt-22")
    if not tool or not names:
        return dict(zip(names, names))
    text = subprocess.run([tool], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, text.splitlines()))


def short(name):
    """The engine, tile, variant and types of a demangled ragged_kernel."""
    engine = re.search(r"ragged_kernel<\w[\w:]*::(\w+)<", name)
    tile = re.search(r"TileConfig\{\(?[^,]*\)?\d*, (\d+), (\d+), (\d+)", name)
    variant = re.search(r"kernel::(\w+)", name)
    types = re.search(r"Types<([^>]*)>", name)
    parts = [m.group(1) if m else "?" for m in (engine, variant)]
    return " ".join([parts[0], "x".join(tile.groups()) if tile else "?", parts[1],
                     types.group(1).replace("raggedgemm::", "") if types else "?"])


def k_loop_counts(ptx):
    """For each kernel: (mangled name, matrix instructions, those in the smallest loop that holds any)."""
    for entry in re.split(r"(?=\.entry )", ptx)[1:]:
        name = re.match(r"\.entry (\w+)", entry).group(1)
        lines = entry.splitlines()
        labels = {m.group(1): i for i, l in enumerate(lines) if (m := re.match(r"\s*(\$L\w+):", l))}
        matrix = [i for i, l in enumerate(lines) if "wgmma.mma_async" in l or "mma.sync.aligned" in l]
        loops = []
        for i, line in enumerate(lines):
            m = re.search(r"\bbra(?:\.uni)?\s+(\$L\w+)", line)
            if m and labels.get(m.group(1), i + 1) <= i:
                inside = sum(labels[m.group(1)] <= x <= i for x in matrix)
                if inside:
                    loops.append((i - labels[m.group(1)], inside))
        yield name, len(matrix), min(loops)[1] if loops else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("ptx", type=pathlib.Path, nargs="*")
    args = parser.parse_args()
    log = args.log.read_text(errors="replace")
    bad = []

    rows = RESOURCES.findall(log)
    names = demangle([r[0] for r in rows])
    print(f"{'kernel':<64} {'arch':<7} {'regs':>4} {'stack':>5} {'spills':>6}")
    for mangled, arch, stack, stores, loads, registers in rows:
        spills = int(stores) + int(loads)
        print(f"{short(names[mangled]):<64} {arch:<7} {registers:>4} {stack:>5} {spills:>6}")
        if spills:
            bad.append(f"{short(names[mangled])}: {spills} bytes of spills")
    if not rows:
        bad.append(f"{args.log}: no ptxas resource lines; build with -Xptxas=-v")
    bad += [f"serialised WGMMA: {m.group(0)[:200]}" for m in SERIALISED.finditer(log)]

    for path in args.ptx:
        found = list(k_loop_counts(path.read_text()))
        named = demangle([f[0] for f in found])
        for mangled, total, inside in found:
            if MATRIX_ENGINE.search(named[mangled]):
                print(f"{short(named[mangled]):<64} matrix instructions {total}, in the K loop {inside}")
                if not inside:
                    bad.append(f"{short(named[mangled])}: no matrix instruction inside a loop")
        if not any(MATRIX_ENGINE.search(named[f[0]]) for f in found):
            bad.append(f"{path}: no tensor-core kernel in it")
    for line in bad:
        print(f"FAIL {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
