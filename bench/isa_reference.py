#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A compiler's grouped GEMM for CDNA, to hold isa_report.py against: a persistent Triton kernel,
cross-compiled (no GPU is needed, only the `triton` package).

  isa_reference.py FOLDER      writes FOLDER/triton_TARGET_MxNxK_WARPS.s
  isa_report.py FOLDER/*.s
"""

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def ragged_mm(x_ptr, w_ptr, out_ptr, ends_ptr, C, O, E,
              BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """x[M, C] w[E, C, O] -> out[M, O], tiles of one group after the other."""
    columns = tl.cdiv(O, BN)
    tile = tl.program_id(0)
    start = 0
    before = 0
    for g in range(E):
        end = tl.load(ends_ptr + g)
        tiles = tl.cdiv(end - start, BM) * columns
        while tile < before + tiles:
            local = tile - before
            rows = start + local // columns * BM + tl.arange(0, BM)
            cols = local % columns * BN + tl.arange(0, BN)
            depth = tl.arange(0, BK)
            a = x_ptr + rows[:, None] * C + depth[None, :]
            b = w_ptr + g * C * O + depth[:, None] * O + cols[None, :]
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(0, C, BK):
                acc = tl.dot(tl.load(a, mask=rows[:, None] < end, other=0.0),
                             tl.load(b, mask=cols[None, :] < O, other=0.0), acc)
                a += BK
                b += BK * O
            keep = (rows[:, None] < end) & (cols[None, :] < O)
            tl.store(out_ptr + rows[:, None] * O + cols[None, :], acc.to(tl.bfloat16), mask=keep)
            tile += tl.num_programs(0)
        before += tiles
        start = end


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    signature = {"x_ptr": "*bf16", "w_ptr": "*bf16", "out_ptr": "*bf16", "ends_ptr": "*i32",
                 "C": "i32", "O": "i32", "E": "i32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(6)}
    for target in ("gfx942", "gfx950"):
        for bm, bn, bk, warps, stages in ((256, 256, 64, 8, 2), (128, 128, 64, 4, 2)):
            source = ASTSource(ragged_mm, {**signature, "BM": "constexpr", "BN": "constexpr",
                                           "BK": "constexpr"},
                               {"BM": bm, "BN": bn, "BK": bk}, aligned)
            kernel = triton.compile(source, target=GPUTarget("hip", target, 64),
                                    options={"num_warps": warps, "num_stages": stages,
                                             "matrix_instr_nonkdim": 32})
            path = folder / f"triton_{target}_{bm}x{bn}x{bk}_{warps}.s"
            path.write_text(kernel.asm["amdgcn"])
            print(path)


if __name__ == "__main__":
    main()
