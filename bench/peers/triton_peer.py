# SPDX-License-Identifier: Apache-2.0
"""A persistent grouped GEMM in Triton: TMA descriptors, groups looked up on the device, operands
swapped for short groups. Tuned per problem over the lists of configs below.

triton_peer.py INDEX COUNT compiles its share of all configs into Triton's cache.
"""

import sys

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

SLOTS = 512  # of groups, a power of two


@triton.jit
def ragged_mm(x_desc, w_desc, o_desc, out_ptr, ends_ptr, C, O, E,
              TRANS_W: tl.constexpr, SWAP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
              BK: tl.constexpr, GROUP_M: tl.constexpr, SLOTS: tl.constexpr):
    idx = tl.arange(0, SLOTS)
    ends = tl.load(ends_ptr + idx, mask=idx < E, other=0)
    starts = tl.load(ends_ptr + idx - 1, mask=(idx < E) & (idx > 0), other=0)
    sizes = tl.where(idx < E, ends - starts, 0)
    tiles = (sizes + BM - 1) // BM
    cum = tl.cumsum(tiles, 0)
    nn = (O + BN - 1) // BN
    total = tl.sum(tiles, 0) * nn
    for t in tl.range(tl.program_id(0), total, tl.num_programs(0)):
        g = tl.sum((cum * nn <= t).to(tl.int32), 0)
        here = idx == g
        first = tl.sum(tl.where(here, cum - tiles, 0), 0)
        mt = tl.sum(tl.where(here, tiles, 0), 0)
        start = tl.sum(tl.where(here, starts, 0), 0)
        size = tl.sum(tl.where(here, sizes, 0), 0)
        local = t - first * nn
        band = local // (GROUP_M * nn)
        rows = tl.minimum(mt - band * GROUP_M, GROUP_M)
        r = local - band * GROUP_M * nn
        mi = band * GROUP_M + r % rows
        ni = r // rows
        row = start + mi * BM
        if SWAP:
            acc = tl.zeros((BN, BM), tl.float32)
        else:
            acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, C, BK):
            a = x_desc.load([row, k])
            if TRANS_W:
                b = w_desc.load([g * O + ni * BN, k])  # [BN, BK]
                if SWAP:
                    acc = tl.dot(b, a.T, acc)
                else:
                    acc = tl.dot(a, b.T, acc)
            else:
                b = w_desc.load([g * C + k, ni * BN])  # [BK, BN]
                if SWAP:
                    acc = tl.dot(b.T, a.T, acc)
                else:
                    acc = tl.dot(a, b, acc)
        if SWAP:
            res = acc.to(tl.bfloat16).T
        else:
            res = acc.to(tl.bfloat16)
        if (mi + 1) * BM <= size:
            o_desc.store([row, ni * BN], res)
        else:
            rr = mi * BM + tl.arange(0, BM)
            cc = ni * BN + tl.arange(0, BN)
            ptrs = out_ptr + (start + rr).to(tl.int64)[:, None] * O + cc[None, :]
            tl.store(ptrs, res, mask=(rr < size)[:, None] & (cc < O)[None, :])


@triton.jit
def ragged_tn(x_desc, y_desc, o_desc, ends_ptr, C, O, E,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr):
    mt = (C + BM - 1) // BM
    nt = (O + BN - 1) // BN
    per = mt * nt
    for t in tl.range(tl.program_id(0), per * E, tl.num_programs(0)):
        g = t // per
        local = t - g * per
        band = local // (GROUP_M * nt)
        rows = tl.minimum(mt - band * GROUP_M, GROUP_M)
        r = local - band * GROUP_M * nt
        mi = band * GROUP_M + r % rows
        ni = r // rows
        end = tl.load(ends_ptr + g)
        start = tl.load(ends_ptr + g - 1, mask=g > 0, other=0)
        size = end - start
        full = (size // BK) * BK
        acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, full, BK):
            a = x_desc.load([start + k, mi * BM])
            b = y_desc.load([start + k, ni * BN])
            acc = tl.dot(a.T, b, acc)
        if full < size:
            a = x_desc.load([start + full, mi * BM])
            b = y_desc.load([start + full, ni * BN])
            keep = (tl.arange(0, BK) < size - full)[:, None]
            a = tl.where(keep, a, 0.0).to(tl.bfloat16)
            acc = tl.dot(a.T, b, acc)
        o_desc.store([g, mi * BM, ni * BN], acc.to(tl.bfloat16).reshape(1, BM, BN))


# (BM, BN, BK, warps, stages, programs per SM, swap)
CONFIGS_MM = [
    (16, 128, 64, 4, 5, 2, True), (16, 128, 128, 4, 5, 1, True), (16, 256, 64, 8, 5, 1, True),
    (32, 128, 64, 4, 4, 2, True), (32, 256, 64, 8, 4, 1, True), (64, 128, 64, 4, 4, 2, False),
    (64, 256, 64, 4, 4, 1, False), (64, 64, 128, 4, 4, 2, False), (128, 128, 64, 4, 3, 2, False),
    (128, 128, 64, 8, 4, 1, False), (128, 256, 64, 8, 3, 1, False), (128, 256, 64, 8, 4, 1, False),
    (256, 128, 64, 8, 4, 1, False),
]
# (BM, BN, BK, warps, stages, programs per SM)
CONFIGS_TN = [
    (128, 128, 32, 4, 4, 2), (128, 128, 64, 4, 3, 2), (128, 128, 64, 8, 4, 1),
    (128, 256, 32, 8, 4, 1), (128, 256, 64, 8, 3, 1), (128, 256, 64, 8, 4, 1),
    (256, 128, 64, 8, 3, 1), (256, 128, 64, 8, 4, 1), (64, 256, 32, 4, 4, 2),
    (64, 128, 64, 4, 4, 2), (128, 64, 64, 4, 4, 2), (128, 128, 16, 4, 4, 2),
]


def configs(variant):
    return CONFIGS_TN if variant == "tn" else CONFIGS_MM


def launcher(variant, config, x, w, out, ends, c, o, e, warmup=False):
    """A callable that launches the kernel with this config; with `warmup`, only compiles it."""
    m = x.shape[0]
    bm, bn, bk, warps, stages, per_sm, *swap = config
    options = dict(BM=bm, BN=bn, BK=bk, GROUP_M=8, num_warps=warps, num_stages=stages)
    if variant == "tn":
        kernel = ragged_tn
        args = (TensorDescriptor(x, [m, c], [c, 1], [bk, bm]),
                TensorDescriptor(w, [m, o], [o, 1], [bk, bn]),
                TensorDescriptor(out, [e, c, o], [c * o, o, 1], [1, bm, bn]), ends, c, o, e)
    else:
        kernel = ragged_mm
        w_desc = (TensorDescriptor(w, [e * o, c], [c, 1], [bn, bk]) if variant == "nt"
                  else TensorDescriptor(w, [e * c, o], [o, 1], [bk, bn]))
        args = (TensorDescriptor(x, [m, c], [c, 1], [bm, bk]), w_desc,
                TensorDescriptor(out, [m, o], [o, 1], [bm, bn]), out, ends, c, o, e)
        options.update(TRANS_W=variant == "nt", SWAP=swap[0], SLOTS=SLOTS)
    grid = (torch.cuda.get_device_properties(x.device).multi_processor_count * per_sm,)
    if warmup:
        return kernel.warmup(*args, grid=grid, **options)
    return lambda: kernel[grid](*args, **options)


def precompile(index, count):
    x = torch.zeros(256, 256, device="cuda", dtype=torch.bfloat16)
    w = torch.zeros(16 * 256, 256, device="cuda", dtype=torch.bfloat16)
    ends = torch.zeros(16, device="cuda", dtype=torch.int32)
    for variant, config in [(v, c) for v in ("nn", "nt", "tn") for c in configs(v)][index::count]:
        operands = (x, x, w) if variant == "tn" else (x, w, x)
        try:
            launcher(variant, config, *operands, ends, 256, 256, 16, warmup=True)
        except Exception as error:  # the tuner skips it
            print("triton: does not compile:", variant, config, type(error).__name__, flush=True)


if __name__ == "__main__":
    precompile(int(sys.argv[1]), int(sys.argv[2]))
