#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times JAX's ragged_dot and adds its rows to a CSV that run.py wrote. See README.md.

    jax_peers.py --csv peers.csv [--shapes 0,4,7] [--peers jax_default,jax_mosaic] [--seconds 240]

A time is the sum over the kernels of one call, as CUPTI counts them: JAX runs them on a stream of
its own, where an event of another framework sees nothing. Launch gaps are in nobody's time.
Exit code: 0; 1 when a result is wrong; 3 when time ran out.
"""

import argparse
import csv
import os
import re
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_PYTHON_CLIENT_ALLOCATOR", "platform")

import torch

torch.cuda.init()  # before JAX, which then shares the device's context

import jax
import jax.numpy as jnp

import peers as torch_peers
from shapes import (CLASSES, COLUMNS, PATTERNS, floor_us, parse_shapes, shape_name)

MOST_DENSE_FLOPS = 3e13  # the default lowering multiplies every group by all rows
ROUNDS = 20
BEGIN = time.monotonic()


def options():
    parser = argparse.ArgumentParser(description="JAX's ragged_dot beside raggedgemm")
    add = parser.add_argument
    add("--csv", required=True, help="of run.py; rows are added")
    add("--shapes", default="0,1,4,5,7,8,11", help="as run.py's (0,1,4,5,7,8,11)")
    add("--classes", default=",".join(CLASSES))
    add("--patterns", default=",".join(PATTERNS))
    add("--peers", default="jax_default,jax_mosaic")
    add("--seconds", type=float, default=240, help="start no cell later than this (240)")
    return parser.parse_args()


class KernelClock:
    """Device time of a call's kernels, with L2 evicted before each call."""

    def __init__(self):
        from jax._src.lib import mosaic_gpu
        self.cupti = mosaic_gpu._mosaic_gpu_ext
        self.memory = jnp.zeros((64 << 20,), jnp.float32)
        self.evict = jax.jit(jnp.sum).lower(self.memory).compile()
        self.evict_kernels = len(self.trace([lambda: self.evict(self.memory)]))

    def trace(self, calls):
        """Times in ms of all kernels that the calls start, in their order."""
        self.cupti._cupti_init()
        try:
            for call in calls:
                call().block_until_ready()
        finally:
            timings = self.cupti._cupti_get_timings(True)
        return [ms for _, ms in timings]

    def times_us(self, call, count):
        """(times, kernels of a call)."""
        kernels = len(self.trace([call]))
        each = self.evict_kernels + kernels
        all_ms = self.trace([lambda: self.evict(self.memory), call] * count)
        if len(all_ms) != count * each:
            raise RuntimeError(f"{len(all_ms)} kernels in {count} calls of {each}")
        return [1e3 * sum(all_ms[i * each + self.evict_kernels:(i + 1) * each])
                for i in range(count)], kernels


def default_lowering(p, x, w, sizes):
    """[(callable, note)] of lax.ragged_dot_general as XLA compiles it."""
    if p.e * 2 * p.m * p.c * p.o > MOST_DENSE_FLOPS:
        raise RuntimeError("left out: it multiplies every group by all rows")
    contract = {"nn": ((1,), (1,)), "nt": ((1,), (2,)), "tn": ((0,), (0,))}[p.variant]
    dims = jax.lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=(contract, ((), ())), lhs_ragged_dimensions=[0],
        rhs_group_dimensions=[] if p.variant == "tn" else [0])
    call = jax.jit(lambda a, b, g: jax.lax.ragged_dot_general(a, b, g, dims))
    compiled = call.lower(x, w, sizes).compile()
    return [(lambda: compiled(x, w, sizes), "default lowering")]


def mosaic(p, x, w, sizes):
    """[(callable, note)] of the Mosaic kernels that JAX ships, in a few configurations."""
    from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu, transposed_ragged_dot_mgpu
    found = []
    for block_m, block_n, steps in [(64, 128, 5), (128, 128, 4), (64, 64, 4)]:
        if p.o % block_n or (p.variant == "tn" and p.c % block_m):
            continue
        tiles = p.o // block_n
        across = 1 if p.variant == "tn" else max(d for d in range(1, 17) if tiles % d == 0)
        config = {"block_m": block_m, "block_n": block_n, "block_k": 64,
                  "max_concurrent_steps": steps, "grid_block_n": across}
        if p.variant == "tn":
            def product(a, b, g, config=config):
                return transposed_ragged_dot_mgpu.transposed_ragged_dot(
                    a, b, group_sizes=g, **config)
        else:
            def product(a, b, g, config=config):
                return ragged_dot_mgpu.ragged_dot(
                    a, b, group_sizes=g, transpose_rhs=p.variant == "nt", **config)
        try:
            compiled = jax.jit(product).lower(x, w, sizes).compile()
        except Exception as error:  # a config that does not fit
            print(f"jax_mosaic {config}: {str(error)[:120]}", flush=True)
            continue
        found.append((lambda compiled=compiled: compiled(x, w, sizes),
                      " ".join(f"{key}={value}" for key, value in config.items())))
    if not found:
        raise RuntimeError("no config compiles")
    return found


MAKERS = {"jax_default": default_lowering, "jax_mosaic": mosaic}


def rates_of(path):
    """flops, bytes and bytes of output a second, from the first line that run.py writes."""
    with open(path, encoding="utf-8") as file:
        head = file.readline()
    found = re.search(r"matmul (\d+) TFLOP/s, copy (\d+) GB/s, fill (\d+) GB/s", head)
    if not found:
        sys.exit(f"{path} does not begin with run.py's ceilings")
    tera, copy, fill = map(float, found.groups())
    return tera * 1e12, copy * 1e9, fill * 1e9


def row_of(clock, name, p):
    """The columns that hold what was measured."""
    x, w = jax.dlpack.from_dlpack(p.x), jax.dlpack.from_dlpack(p.w)
    sizes = jnp.asarray(p.sizes, dtype=jnp.int32)
    best = None
    for call, note in MAKERS[name](p, x, w, sizes):
        status, error = p.check(torch.from_dlpack(call().block_until_ready()))
        if status == "wrong":
            return {"status": status, "error": f"{error:.2e}", "note": note}
        times, kernels = clock.times_us(call, 3)
        us = statistics.median(times)
        if best is None or us < best[0]:
            best = us, call, note, kernels, status, error
    _, call, note, kernels, status, error = best
    times, _ = clock.times_us(call, ROUNDS if best[0] < 1e4 else 5)
    if status == "partial":
        note += "; empty groups' slabs left unwritten"
    us = statistics.median(times)
    return {"status": status, "error": f"{error:.2e}", "note": f"{note}; {kernels} kernels",
            "median_us": f"{us:.2f}", "min_us": f"{min(times):.2f}", "rounds": len(times),
            "tflops": f"{2e-6 * p.m * p.c * p.o / us:.2f}"}


def main():
    a = options()
    rates = rates_of(a.csv)
    clock = KernelClock()
    wrong, missing, given_up = 0, [], {}
    with open(a.csv, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        for shape in parse_shapes(a.shapes):
            data = None
            for cls in a.classes.split(","):
                for pattern in a.patterns.split(","):
                    for name in a.peers.split(","):
                        where = f"{shape_name(shape)} {cls} {pattern} {name}"
                        if time.monotonic() - BEGIN > a.seconds:
                            missing.append(where)
                            continue
                        if given_up.get((name, shape)):
                            continue
                        data = data or torch_peers.operands(shape)
                        p = torch_peers.Problem(shape, cls, pattern, *data)
                        torch.cuda.synchronize()
                        try:
                            row = row_of(clock, name, p)
                        except Exception as error:
                            print(f"{where}: {type(error).__name__}: "
                                  f"{' '.join(str(error).split())[:200]}", flush=True)
                            given_up[name, shape] = isinstance(error, RuntimeError)
                            continue
                        floor, bound = floor_us(shape, cls, p.sizes, rates)
                        row.update({"class": cls, "shape": shape_name(shape), "groups": pattern,
                                    "peer": name, "floor_us": f"{floor:.2f}", "bound": bound})
                        row["note"] = row["note"].replace(",", " ")
                        writer.writerow(row)
                        file.flush()
                        wrong += row["status"] == "wrong"
                        print(f"{time.monotonic() - BEGIN:5.0f} s  {where:52} "
                              f"{row.get('median_us', row['status'])}", flush=True)
            del data
            torch.cuda.empty_cache()
    if missing:
        print(f"OUT OF TIME, {len(missing)} are missing, the first: {missing[0]}")
    sys.exit(1 if wrong else 3 if missing else 0)


if __name__ == "__main__":
    main()
