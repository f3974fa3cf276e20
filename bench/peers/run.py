#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times raggedgemm and its peers side by side and writes one CSV. See README.md, and run.sh --help.

Exit code: 0; 1 when a result is wrong or ours fails; 3 when time ran out.
"""

import argparse
import collections
import csv
import importlib.util
import os
import pathlib
import statistics
import subprocess
import sys
import time

from shapes import (CLASSES, COLUMNS, PATTERNS, dims, floor_us, group_sizes, order_of,
                    parse_numbers, parse_shapes, shape_name)

HERE = pathlib.Path(__file__).resolve().parent
ALL = ["ours", "torch", "triton", "cublas_grouped*", "cublas_loop*", "padded_bmm*", "dense"]
MIN_ROUNDS, MAX_ROUNDS = 5, 50
SLOW = 4  # a peer that takes this many times the fastest one's time gets MIN_ROUNDS
BEGIN = time.monotonic()


def options(arguments=None):
    parser = argparse.ArgumentParser(prog="run.sh", description="raggedgemm beside its peers")
    add = parser.add_argument
    add("--shapes", default="", help="indices of the list in shapes.py or MxKxNxE, by commas")
    add("--classes", help="by commas; default all: " + ",".join(CLASSES))
    add("--patterns", help="by commas; default both: " + ",".join(PATTERNS))
    add("--peers", help="by commas (a * may be left out); default all: " + ",".join(ALL))
    add("--seconds", type=float, default=540, help="start no cell that would end later (540)")
    add("--budget", type=float, default=1.0, help="seconds of timed rounds a cell (1)")
    add("--csv", default="peers.csv", help="is overwritten")
    add("--libs", default=".", help="folder of libours.so and libcublas_peers.so")
    add("--explain", action="store_true", help="print why the library runs each cell as it does")
    add("--rows-per-group", nargs="?", const="1,16:513:16,129,257", metavar="LIST",
        help="instead: fwd_wi of 32 equal groups, K 7168, N 4096, ours and dense; rows a group as "
             "numbers and FROM:TO:STEP, by commas (default 1,16:513:16,129,257)")
    a = parser.parse_args(arguments)
    sweep = a.rows_per_group is not None
    a.classes = a.classes.split(",") if a.classes else CLASSES[:1] if sweep else CLASSES
    a.patterns = a.patterns.split(",") if a.patterns else PATTERNS[:1] if sweep else PATTERNS
    a.peers = a.peers.split(",") if a.peers else ["ours", "dense"] if sweep else ALL
    a.peers = [peer + "*" if peer + "*" in ALL else peer for peer in a.peers]
    for kind, got, known in [("class", a.classes, CLASSES), ("pattern", a.patterns, PATTERNS),
                             ("peer", a.peers, ALL)]:
        for name in got:
            if name not in known:
                parser.error(f"no {kind} {name}; there are {', '.join(known)}")
    if sweep:
        a.shapes = [(32 * r, 7168, 4096, 32) for r in parse_numbers(a.rows_per_group)]
    else:
        a.shapes = parse_shapes(a.shapes)
    return a


def rounds_for(us, around_us, budget_s):
    """(rounds, those that sit out after MIN_ROUNDS), from times alone and with all around them."""
    best = min((us[name] for name in us if name != "dense"), default=0)
    slow = {name for name in us if name not in ("ours", "dense") and us[name] > SLOW * best}
    rest = 1e6 * budget_s - MIN_ROUNDS * sum(around_us[name] for name in slow)
    wanted = int(rest / sum(around_us[name] for name in us if name not in slow))
    return max(MIN_ROUNDS, min(MAX_ROUNDS, wanted)), slow


def interleave(clock, calls, budget_s):
    """{name: times in us}: one call of everyone a round, in changing order."""
    import torch
    for call in calls.values():
        clock.learn(call)

    def one_round(names):
        return dict(zip(names, clock.times_us([calls[name] for name in names])))
    names = list(calls)
    first, second = one_round(names), one_round(names[::-1])
    warm = {name: min(first[name], second[name]) for name in names}
    around = {name: warm[name] + clock.host_us[calls[name]] + 150 for name in names}
    rounds, slow = rounds_for(warm, around, budget_s)
    brisk = [name for name in names if name not in slow]
    for r in range(min(8, rounds // 5)):
        one_round(order_of(brisk, r))
    times = {name: [] for name in names}
    for r in range(rounds):
        for name, us in one_round(order_of(names if r < MIN_ROUNDS else brisk, r)).items():
            times[name].append(us)
    torch.cuda.synchronize()
    return times


class Run:
    """All cells, the peers that still take part, and what went wrong."""

    def __init__(self, arguments):
        import peers
        peers.libraries = arguments.libs
        self.a, self.peers, self.active = arguments, peers, list(arguments.peers)
        self.clock = peers.Clock()
        self.skipped = collections.Counter()
        self.failures = []

    def skip(self, name, where, error):
        """Names a peer's first failure; gives up on a peer that isn't there."""
        absent = isinstance(error, (ImportError, OSError, AttributeError))
        if absent:
            self.active.remove(name)
        if not self.skipped[name]:
            text = " ".join(str(error).split())[:200]
            print(f"{name}: {'not here' if absent else 'skipped'} at {where}: "
                  f"{type(error).__name__}: {text}", flush=True)
        self.skipped[name] += 1
        if name == "ours":
            self.failures.append(f"{where}: ours: {type(error).__name__}")

    def calls_of(self, problem, where):
        """{name: callable} and {name: row of the CSV} of those that ran and were right."""
        import torch
        calls, rows = {}, {}
        for name in list(self.active):
            try:
                call, note = self.peers.PEERS[name](problem, self.clock)
                problem.poison()
                out = call()
                torch.cuda.synchronize()
                status, error = ("ok", None) if name == "dense" else problem.check(out)
                del out
            except Exception as error:
                self.skip(name, where, error)
                torch.cuda.synchronize()  # raises where the device is lost
                torch.cuda.empty_cache()
                continue
            if name == "ours" and self.a.explain:
                print(problem.explanation, flush=True)
            if status == "partial":
                note = "; ".join(filter(None, [note, "empty groups' slabs left unwritten"]))
            rows[name] = {"peer": name, "status": status, "note": note.replace(",", " "),
                          "error": "" if error is None else f"{error:.2e}"}
            if status == "wrong" or (status == "partial" and name == "ours"):
                rows[name]["status"] = "wrong"
                self.failures.append(f"{where}: {name}: error {error:.2e}, {status}")
                print(f"WRONG: {self.failures[-1]}", flush=True)
            else:
                calls[name] = call
        return calls, rows

    def cell(self, shape, cls, pattern, data, rates):
        """The rows of one cell."""
        m, k, n, _ = shape
        where = f"{shape_name(shape)} {cls} {pattern}"
        problem = self.peers.Problem(shape, cls, pattern, *data)
        calls, rows = self.calls_of(problem, where)
        times = interleave(self.clock, calls, self.a.budget) if calls else {}
        self.clock.host_us.clear()
        problem.close()
        median = {name: statistics.median(values) for name, values in times.items()}
        floor, bound = floor_us(shape, cls, problem.sizes, rates)
        for name, row in rows.items():
            row.update({"class": cls, "shape": shape_name(shape), "groups": pattern,
                        "floor_us": f"{floor:.2f}", "bound": bound})
            if name in median:
                us = median[name]
                row.update(median_us=f"{us:.2f}", min_us=f"{min(times[name]):.2f}",
                           rounds=len(times[name]), tflops=f"{2e-6 * m * k * n / us:.2f}")
                if name != "dense":
                    row["of_floor"] = f"{floor / us:.4f}"
                if "dense" in median:
                    row["dense_us"] = f"{median['dense']:.2f}"
                    row["of_dense"] = f"{median['dense'] / us:.4f}"
        print(f"{time.monotonic() - BEGIN:5.0f} s  {where:38} floor {floor:.0f} ({bound})  " +
              "  ".join(f"{name} {us:.1f}" for name, us in median.items()), flush=True)
        return rows.values()


def precompile_triton():
    """Fills Triton's cache from several processes; a problem's types don't depend on its size."""
    if importlib.util.find_spec("triton") is None:
        return  # the peer says so
    count = max(1, min(13, os.cpu_count() or 1))
    script = str(HERE / "triton_peer.py")
    processes = [subprocess.Popen([sys.executable, script, str(i), str(count)])
                 for i in range(count)]
    for process in processes:
        process.wait()
    print(f"{time.monotonic() - BEGIN:5.0f} s  Triton's configs are compiled", flush=True)


def main():
    a = options()
    try:
        import torch
    except ImportError:
        sys.exit("run.py needs PyTorch")
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        sys.exit("run.py needs a Hopper GPU")
    torch.set_float32_matmul_precision("highest")  # the reference is f32
    torch.manual_seed(1)
    if "triton" in a.peers:
        precompile_triton()
    run = Run(a)
    rates = run.peers.ceilings(run.clock)
    torch.cuda.empty_cache()
    empty = statistics.median(run.clock.times_us([lambda: 0] * 9))
    head = (f"{torch.cuda.get_device_name()}, torch {torch.__version__}; ceilings: 8192^3 matmul "
            f"{rates[0] / 1e12:.0f} TFLOP/s, copy {rates[1] / 1e9:.0f} GB/s, fill "
            f"{rates[2] / 1e9:.0f} GB/s; an empty call takes {empty:.2f} us")
    print(head, flush=True)
    missing, longest = [], 0.0
    pathlib.Path(a.csv).parent.mkdir(parents=True, exist_ok=True)
    with open(a.csv, "w", newline="") as file:
        file.write(f"# {head}\n")
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for shape in a.shapes:
            longest, data = 0.0, None
            for cls in a.classes:
                for pattern in a.patterns:
                    begin = time.monotonic()
                    if begin - BEGIN + 1.3 * longest + 3 > a.seconds:
                        missing.append(f"{shape_name(shape)} {cls} {pattern}")
                        continue
                    data = data or run.peers.operands(shape)
                    writer.writerows(run.cell(shape, cls, pattern, data, rates))
                    file.flush()
                    longest = max(longest, time.monotonic() - begin)
            del data
            torch.cuda.empty_cache()
    for name, cells in run.skipped.items():
        rest = "" if name in run.active else " and of the rest"
        print(f"{name}: left out of {cells} cells{rest}")
    if missing:
        print(f"OUT OF TIME, {len(missing)} cells are missing:\n  " + "\n  ".join(missing))
    if run.failures:
        print(f"FAILED in {len(run.failures)} cells:\n  " + "\n  ".join(run.failures))
    sys.exit(1 if run.failures else 3 if missing else 0)


if __name__ == "__main__":
    main()
