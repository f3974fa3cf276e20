#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the machine code of the CDNA kernels allows: a static report, no measurement.

  isa_report.py [--bar FRACTION] [--large MxN] [--csv FILE] FILE...

Each FILE is clang's assembly or an AMD code object of one target, as for tests/isa/check_hip_isa.py.
For each kernel with matrix instructions: registers, LDS, waves a SIMD, and for one turn of the main
loop the clocks that each part of a compute unit is busy:

  mfma     matrix pipes: 4 clocks a pass and instruction, all waves of a SIMD one after the other
  valu     vector ALUs: 4 clocks an instruction and wave
  issue    a wave issues at most one instruction in 4 clocks
  lds      bytes through LDS over its width
  global   bytes through the vector memory path over its width
  phases   where one block has a compute unit to itself: the sum, over what lies between two
           barriers, of the busiest of the above, because nothing passes a barrier; of ping_pong
           kernels half of the waves are one phase behind
  wave     one wave alone, by llvm-mca's model of latencies and dependencies (memory at once); of
           ping_pong kernels, phase by phase, a part of "phases"
  bound    mfma over the largest of these: no launch can reach a larger share of the matrix peak

What the model leaves out lowers the share further: memory latencies, LDS bank conflicts (the
exhaustive test unit/arch/cdna_banks says that there are none), HBM and the power limit.

With --bar, exits with 1 when a kernel of the tile given by --large (default 256x256, of any depth) has a lower
bound, spills vector registers, uses scratch or has no matrix instruction in a loop.

Sources: AMD Instinct MI300 (CDNA3) and CDNA4 instruction set architecture documents, passes of the
matrix instructions, which agree with peak rate / compute units / clock (304 units, 2.1 GHz, 1307
TFLOP/s; 256 units, 2.4 GHz, 2.5 PFLOP/s, bf16); LDS 128 bytes a clock (CDNA4 reads: 256); vector
memory path 64 bytes a clock. Assumptions, not measurements: nobody has run this on a chip here.
"""

import argparse
import csv
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "isa"))
import check_hip_isa as isa  # noqa: E402

SIMDS = 4
REGISTERS = 512  # vector registers of a SIMD lane, accumulation registers included
LDS_BYTES = {"gfx942": 64 * 1024, "gfx950": 160 * 1024}
LDS_READ_WIDTH = {"gfx942": 128, "gfx950": 256}  # bytes a clock
LDS_WRITE_WIDTH = {"gfx942": 128, "gfx950": 128}
GLOBAL_WIDTH = 64

# Passes (4 clocks each) of a matrix instruction, by rows x columns x depth and operand type; where the
# chips differ, by chip.
PASSES = {
    ("32x32x8", "f16"): 8, ("32x32x8", "bf16"): 8, ("16x16x16", "f16"): 4, ("16x16x16", "bf16"): 4,
    ("32x32x16", "f16"): 8, ("32x32x16", "bf16"): 8, ("16x16x32", "f16"): 4, ("16x16x32", "bf16"): 4,
    ("32x32x16", "fp8_fp8"): 8, ("32x32x16", "bf8_bf8"): 8, ("32x32x16", "i8"): 8,
    ("32x32x32", "i8"): 8, ("32x32x2", "f32"): 16, ("32x32x4", "xf32"): 8,
    ("32x32x64", "f8f6f4"): 16,  # of 8-bit formats; 6 and 4 bits take half
    ("16x16x4", "f64"): {"gfx942": 8, "gfx950": 16},
}
WORDS = {"b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4, "b64": 8, "b96": 12,
         "b128": 16}
DWORDS = {"ubyte": 1, "sbyte": 1, "ushort": 2, "sshort": 2, "short": 2, "byte": 1, "dword": 4,
          "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}


def mfma_passes(opcode, target):
    """Passes of a v_mfma opcode; an unknown one ends the program: a guess would be a wrong report."""
    found = re.match(r"v_mfma_(?:f32|i32|f64)_(\d+x\d+x\d+)_?(\w+)", opcode)
    passes = PASSES.get((found.group(1), re.sub(r"_1k$", "", found.group(2)))) if found else None
    if isinstance(passes, dict):
        passes = passes.get(target)
    if passes is None:
        sys.exit(f"isa_report.py: the passes of {opcode} are not in its table")
    return passes


def lds_bytes(opcode):
    """(bytes read, bytes written) of a lane."""
    if opcode.startswith(("ds_bpermute", "ds_permute", "ds_swizzle")):
        return 4, 0
    twice = 2 if re.match(r"ds_(read|write)2", opcode) else 1
    width = re.match(r"ds_(read|write)(?:2(?:st64)?)?_(?:addtid_)?((?:b|u|i)\d+)", opcode)
    if not width:
        sys.exit(f"isa_report.py: the width of {opcode} is not in its table")
    size = WORDS[width.group(2)] * twice
    return (size, 0) if width.group(1) == "read" else (0, size)


def global_bytes(line):
    opcode = line.split()[0]
    width = re.match(r"(?:buffer|global|flat)_(?:load|store)_(?:lds_)?(\w+)", opcode)
    size = next((DWORDS[w] for w in sorted(DWORDS, key=len, reverse=True)
                 if width and width.group(1).startswith(w)), None)
    if size is None:
        sys.exit(f"isa_report.py: the width of {opcode} is not in its table")
    return size


def clocks(loop, target, waves):
    """Clocks of one turn for a compute unit with `waves` waves, by part."""
    per_simd = max(1, waves // SIMDS)
    mfma = valu = read = written = moved = issued = 0
    for line in loop:
        opcode = line.split()[0]
        issued += 1
        if opcode.startswith("v_mfma"):
            mfma += 4 * mfma_passes(opcode, target)
        elif opcode.startswith("v_"):
            valu += 4
        elif opcode.startswith("ds_"):
            got, put = lds_bytes(opcode)
            read += got
            written += put
        elif re.match(r"(buffer|global|flat)_(load|store)", opcode):
            size = global_bytes(line)
            moved += size
            if "lds" in line.split()[-1] or "_lds_" in opcode:
                written += size
    lanes = 64 * waves
    return {
        "mfma": mfma * per_simd,
        "valu": valu * per_simd,
        "issue": 4 * issued,
        "lds": lanes * (read / LDS_READ_WIDTH[target] + written / LDS_WRITE_WIDTH[target]),
        "global": lanes * moved / GLOBAL_WIDTH,
    }


def phases_of(loop):
    """The instructions between barriers. The loop is a ring: what comes after its last barrier and
    before its first one is one phase."""
    phases = [[]]
    for line in loop:
        if line.startswith("s_barrier"):
            phases.append([])
        else:
            phases[-1].append(line)
    if len(phases) > 1:
        phases[0] = phases.pop() + phases[0]
    return phases


def phase_clocks(loop, target, waves):
    """The sum over the phases of the clocks of the busiest part."""
    return sum(max(clocks(phase, target, waves).values()) for phase in phases_of(loop))


def ping_pong_clocks(loop, target, waves):
    """The same where half of the waves are one phase behind: what both groups need of a part adds
    up, but each wave issues for itself. Phases are also as long as the longer of the two waves takes
    alone."""
    phases = phases_of(loop)
    total = 0
    for phase, behind in zip(phases, phases[-1:] + phases[:-1]):
        one, other = clocks(phase, target, waves // 2), clocks(behind, target, waves // 2)
        together = [one[p] + other[p] for p in one if p != "issue"]
        alone = [wave_clocks(x, target) or 0 for x in (phase, behind)]
        total += max(together + [one["issue"], other["issue"]] + alone)
    return total


def wave_clocks(loop, target):
    """Clocks of one turn of a wave that has its SIMD to itself, or None without llvm-mca."""
    mca = isa.tool("llvm-mca")
    if not mca:
        return None
    body = "\n".join(x for x in loop if not x.startswith(("s_cbranch", "s_branch")))
    text = isa.run([mca, "-mtriple=amdgcn", f"-mcpu={target}", "-iterations=50",
                    "-all-views=false", "-summary-view"], body)
    return 4 * int(re.search(r"Total Cycles:\s+(\d+)", text).group(1)) / 50


def tile_lds_bytes(demangled):
    """LDS of a block of this library's kernels, which ask for it at the launch: rows of 128 bytes for
    both tiles, of every stage."""
    tile = re.search(r"TileConfig\{\([\w:]+\)\d+, (\d+), (\d+), \d+, (\d+),", demangled)
    if not tile:
        return 0
    m, n, stages = map(int, tile.groups())
    return (m + n) * 128 * stages


def report(path, rows):
    metadata, lines = isa.read(path)
    found = isa.kernels(metadata)
    target = re.search(r"amdhsa\.target:\s+\S*?(gfx\w+)", metadata)
    target = target.group(1) if target else "?"
    if not found or target not in LDS_BYTES:
        sys.exit(f"{path}: no kernels of {', '.join(LDS_BYTES)}")
    bodies = isa.bodies(lines, found)
    full_names = dict(zip(found, isa.demangled(list(found))))
    names = {name: isa.short_name(full) for name, full in full_names.items()}
    for name, fields in sorted(found.items(), key=lambda item: names[item[0]]):
        number = lambda key, fields=fields: int(fields.get(key, 0))
        loop = isa.matrix_loop(bodies.get(name, []))
        lds = number("group_segment_fixed_size")
        if lds == isa.MISSING_KERNEL_SHARED_BYTES:
            continue
        if not loop and not names[name].startswith("mfma"):
            continue
        lds = lds or tile_lds_bytes(full_names[name])
        registers = max(number("vgpr_count"), 1)  # accumulation registers included
        block_waves = max(1, number("max_flat_workgroup_size") // 64)
        by_registers = REGISTERS // (-(-registers // 8) * 8) * SIMDS // block_waves
        by_lds = LDS_BYTES[target] // lds if lds else by_registers
        blocks = max(1, min(by_registers, by_lds, 32 // block_waves))
        row = {"target": target, "kernel": names[name], "vgpr": number("vgpr_count"),
               "agpr": number("agpr_count"), "sgpr": number("sgpr_count"), "lds_bytes": lds,
               "scratch": number("private_segment_fixed_size"),
               "spilled": number("vgpr_spill_count"), "spilled_s": number("sgpr_spill_count"),
               "waves_simd": blocks * block_waves / SIMDS}
        if loop:
            parts = clocks(loop, target, blocks * block_waves)
            ping_pong = "ping_pong" in names[name].split()
            if ping_pong:
                parts["phases"] = ping_pong_clocks(loop, target, block_waves)
            elif blocks == 1:
                parts["phases"] = phase_clocks(loop, target, block_waves)
            alone = None if ping_pong else wave_clocks(loop, target)
            if alone is not None:
                parts["wave"] = alone
            row.update({part: round(value) for part, value in parts.items()})
            row["bound"] = round(parts["mfma"] / max(parts.values()), 3)
            row["waits"] = sum(x.startswith("s_waitcnt") for x in loop)
            row["barriers"] = sum(x.startswith("s_barrier") for x in loop)
        rows.append(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bar", type=float, help="least bound of the kernels of --large")
    parser.add_argument("--large", default="256x256", metavar="MxN")
    parser.add_argument("--csv")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    rows = []
    for path in arguments.files:
        report(path, rows)
    if not rows:
        sys.exit("no kernel with matrix instructions")
    columns = ("vgpr", "agpr", "sgpr", "lds_bytes", "scratch", "spilled", "spilled_s", "waves_simd",
               "mfma", "valu", "issue", "lds", "global", "phases", "wave", "waits", "barriers", "bound")
    print(f"{'':7s}{'kernel':64s}" + "".join(f"{c:>11s}" for c in columns))
    failures = []
    for row in rows:
        print(f"{row['target']:7s}{row['kernel']:64s}" +
              "".join(f"{row.get(c, '-')!s:>11s}" for c in columns))
        if arguments.bar is None or f" {arguments.large}x" not in row["kernel"]:
            continue
        if row.get("bound", 0) < arguments.bar:
            failures.append(f"{row['target']} {row['kernel']}: bound {row.get('bound', 'none')}")
        if row["scratch"] or row["spilled"]:
            failures.append(f"{row['target']} {row['kernel']}: spills")
    if arguments.csv:
        with open(arguments.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["target", "kernel", *columns])
            writer.writeheader()
            writer.writerows(rows)
    for failure in failures:
        print(f"BELOW THE BAR {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
