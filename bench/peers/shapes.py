# SPDX-License-Identifier: Apache-2.0
"""The problems and how they are judged: shapes, classes, group sizes, floor, order. No torch."""

import random

SHAPES = [  # rows, K, N, groups
    (128, 7168, 2048, 32),
    (512, 4096, 1536, 128),
    (1280, 5120, 8192, 16),
    (1920, 5120, 1536, 160),
    (3840, 2048, 1408, 64),
    (5120, 512, 512, 256),
    (6400, 2048, 512, 512),
    (8192, 7168, 4096, 32),
    (10240, 2048, 768, 128),
    (10240, 2816, 704, 128),
    (10240, 2880, 2880, 128),
    (20480, 4096, 1536, 128),
    (15360, 6144, 20480, 32),
    (65536, 7168, 4096, 256),
    (40960, 8192, 28672, 64),
]
CLASSES = ["fwd_wi", "fwd_wo", "dgrad_wi", "dgrad_wo", "wgrad_wi", "wgrad_wo"]
PATTERNS = ["balanced", "skewed"]
VARIANTS = {"fwd": "nn", "dgrad": "nt", "wgrad": "tn"}
COLUMNS = ("class,shape,groups,peer,status,median_us,min_us,rounds,tflops,dense_us,of_dense,"
           "floor_us,of_floor,bound,error,note").split(",")


def shape_name(shape):
    return "x".join(map(str, shape))


def parse_shapes(text):
    """'0,13' are indices of SHAPES, '20480x4096x1536x128' is a shape; empty: all."""
    if not text:
        return SHAPES
    return [tuple(map(int, t.split("x"))) if "x" in t else SHAPES[int(t)] for t in text.split(",")]


def parse_numbers(text):
    """'16:513:16,129' is a range of Python and a number; sorted, each once."""
    parts = [[int(n) for n in part.split(":")] for part in text.split(",")]
    return sorted({n for part in parts for n in (range(*part) if len(part) > 1 else part)})


def dims(shape, cls):
    """(variant, C, O): nn is x[M,C] w[E,C,O] -> [M,O], nt the same with w[E,O,C], tn is x[M,C]
    w[M,O] -> [E,C,O]."""
    _, k, n, _ = shape
    kind, which = cls.split("_")
    swapped = (which == "wo") != (kind == "dgrad")
    return (VARIANTS[kind], n, k) if swapped else (VARIANTS[kind], k, n)


def group_sizes(shape, pattern):
    """Balanced, or rows drawn from Zipf's law over 7/8 of the groups in a random order, the rest
    empty; the same at each call."""
    m, _, _, e = shape
    if pattern == "balanced":
        return [m // e + (i < m % e) for i in range(e)]
    rng = random.Random(20240 + m + 7 * e)
    live = max(1, e - e // 8)
    order = rng.sample(range(e), live)
    sizes = [0] * e
    for rank in rng.choices(range(live), weights=[1 / (i + 1) for i in range(live)], k=m):
        sizes[order[rank]] += 1
    return sizes


def floor_us(shape, cls, sizes, rates):
    """(us, what binds): flops at the matmul rate; operands (weights of non-empty groups only) and
    output once at the copy rate; output at the fill rate. rates: flops, bytes, bytes a second."""
    m, _, _, e = shape
    variant, c, o = dims(shape, cls)
    slabs = e if variant == "tn" else sum(s > 0 for s in sizes)
    out = 2 * (e * c * o if variant == "tn" else m * o)
    total = 2 * (m * c + m * o + slabs * c * o)
    times = [1e6 * amount / rate for amount, rate in zip((2 * m * c * o, total, out), rates)]
    return max(zip(times, ("flops", "bytes", "output")))


def order_of(items, round_number):
    """Rotated by one each round, and reversed every second one: places and neighbours change."""
    at = round_number % len(items)
    rotated = items[at:] + items[:at]
    return rotated[::-1] if round_number % 2 else rotated
