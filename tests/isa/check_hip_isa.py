#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the compiler made of the HIP kernels.

  check_hip_isa.py FILE...

Each FILE is clang's assembly or an AMD code object of one target:
  clang++ -x hip --offload-arch=gfx942 ... --cuda-device-only --no-gpu-bundle-output -S (or -c)

Prints a line a kernel and exits 1 on a violation:
  every kernel        no scratch memory, no spilled vector registers
  kernels of mfma     matrix instructions in a loop, and in that loop no scratch, no moves to or from
                      accumulator registers, no spilled scalar registers (v_readlane, v_writelane)
Scalar registers that are spilled to lanes of a vector register outside the loop are counted only:
they cost a few clocks a tile.
"""

import os
import re
import shutil
import subprocess
import sys

LAYOUTS = ("nn", "nt", "tn", "tt", "any")
ENGINES = ("simple", "tma_wgmma", "mfma")
FP8_NAMES = {
    "Fp8<3, 7, false>": "e4m3fn", "Fp8<2, 15, false>": "e5m2",
    "Fp8<3, 8, true>": "e4m3fnuz", "Fp8<2, 16, true>": "e5m2fnuz",
}
MISSING_KERNEL_SHARED_BYTES = 4112  # arch/simt/shared_memory.hpp


def tool(name):
    """An LLVM tool: the newest with a version suffix, ROCm's own, or the plain name."""
    candidates = [f"{name}-{version}" for version in range(30, 17, -1)]
    candidates += [os.path.join("/opt/rocm/llvm/bin", name), name]
    for candidate in candidates:
        path = shutil.which(candidate)
        if path:
            return path
    return None


def run(arguments, text=None):
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True).stdout


def demangled(names):
    for name in ("llvm-cxxfilt", "c++filt"):
        path = tool(name)
        if path:
            return run([path], "\n".join(names) + "\n").splitlines()
    return list(names)


def short_name(name):
    """'mfma nn 256x256x64 non_contracting bf16,bf16->f32', from a demangled kernel name."""
    config = re.search(
        r"TileConfig\{\(\w+::EngineId\)(\d+), (\d+), (\d+), (\d+), \d+, (\d+), \(\w+::Layout\)(\d+)",
        name,
    )
    if not config:
        return re.sub(r"\b(\w+::)+", "", name)[:70]
    engine, m, n, k, lanes, layout = (int(x) for x in config.groups())
    variant = re.search(r"kernel::(\w+)", name)
    found = re.search(r"Types<((?:<[^>]*>|[^<>])*)>", name)
    epilogue = re.search(r"(\w+)>\(", name)
    text = f"{ENGINES[engine]} {LAYOUTS[layout]} {m}x{n}x{k}/{lanes}"
    # Fields of TileConfig; the demangler leaves out those at the end that are zero.
    fields = re.search(r"TileConfig\{([^}]*)\}", name).group(1).split(", ")
    for index, word in ((11, "direct"), (12, "tf32"), (13, "splits"), (14, "ping_pong")):
        if fields[index:index + 1] == ["true"]:
            text += " " + word
    if variant:
        text += " " + re.sub(r"(?<!^)([A-Z])", r"_\1", variant.group(1)).lower()
    if found:
        types = found.group(1)
        for fp8, format_name in FP8_NAMES.items():
            types = re.sub(re.escape(fp8), format_name, types)
        lhs, rhs, out = (t.strip().split("::")[-1] for t in types.split(","))
        text += f" {lhs},{rhs}->{out}"
    if epilogue and epilogue.group(1) not in ("Identity", "Prepared"):
        text += " " + epilogue.group(1)
    return text


def read(path):
    """(metadata text, assembly lines) of an assembly file or a code object."""
    with open(path, "rb") as file:
        start = file.read(4)
    if start != b"\x7fELF":
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        begin = text.find("amdhsa.kernels:")
        return text[begin:] if begin >= 0 else "", text.splitlines()
    objdump, readobj = tool("llvm-objdump"), tool("llvm-readobj")
    if not objdump or not readobj:
        sys.exit("check_hip_isa.py: reading a code object takes llvm-objdump and llvm-readobj")
    notes = run([readobj, "--notes", path])
    lines = []
    for line in run([objdump, "-d", "--symbolize-operands", "--no-leading-addr", path]).splitlines():
        line = re.sub(r"//.*", "", line)
        line = re.sub(r"^\s*(?:[0-9a-f]+ )?<(\w+)>:", r"\1:", line)
        lines.append(re.sub(r"<(L\d+)>", r"\1", line))
    return notes[notes.find("amdhsa.kernels:"):], lines


def kernels(metadata):
    """The metadata of each kernel: name -> {field: value}."""
    result = {}
    for block in re.split(r"\n  - ", metadata)[1:]:
        # Arguments are lists deeper down; fields of the kernel have four spaces.
        fields = dict(re.findall(r"(?:^|\n    )\.(\w+):\s+'?([^'\n]*?)'?(?=\n|$)", block))
        if "name" in fields:
            result[fields["name"]] = fields
    return result


def bodies(lines, names):
    """The instructions and labels of each kernel: name -> [line]."""
    result, current = {}, None
    for line in lines:
        label = re.match(r"^([\w.$]+):", line)
        if label and label.group(1) in names:
            current = result.setdefault(label.group(1), [])
        elif label and not re.match(r"^(\.?L|BB)", label.group(1)):
            current = None
        elif re.match(r"^\s*\.(section|end_amdhsa|size)\b", line):
            current = None
        elif current is not None:
            code = line.split(";")[0].strip()
            if code and not re.match(r"^\.(?!L)", code):
                current.append(code)
    return result


def matrix_loop(body):
    """The instructions of the innermost loop with the most matrix instructions, or None."""
    labels = {line[:-1]: i for i, line in enumerate(body) if line.endswith(":")}
    loops = []
    for i, line in enumerate(body):
        branch = re.match(r"s_c?branch\S*\s+(\S+)", line)
        if branch and labels.get(branch.group(1), len(body)) < i:
            begin = labels[branch.group(1)]
            count = sum(x.startswith("v_mfma") for x in body[begin:i])
            if count:
                loops.append((begin, i, count))
    innermost = [
        a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)
    ]
    if not innermost:
        return None
    begin, end, _ = max(innermost, key=lambda loop: loop[2])
    return [x for x in body[begin : end + 1] if not x.endswith(":")]


def check(path):
    """Prints the table of one file; returns the violations."""
    metadata, lines = read(path)
    found = kernels(metadata)
    if not found:
        return [f"{path}: no kernels"]
    body_of = bodies(lines, found)
    names = {n: short_name(d) for n, d in zip(found, demangled(list(found)))}
    target = re.search(r"amdhsa\.target:\s+\S*?(gfx\w+)", metadata)
    print(f"{path}: {target.group(1) if target else 'unknown target'}")
    columns = ("vgpr", "agpr", "sgpr", "lds", "scratch", "spill v", "spill s", "mfma", "vmcnt(0)")
    print(f"  {'kernel':64s}" + "".join(f"{c:>9s}" for c in columns))
    violations = []
    for name, fields in sorted(found.items(), key=lambda item: names[item[0]]):
        number = lambda key: int(fields.get(key, 0))
        title = names[name]
        is_mfma = title.startswith("mfma")
        if number("group_segment_fixed_size") == MISSING_KERNEL_SHARED_BYTES:
            print(f"  {title:64s}  not for this target")
            continue
        loop = matrix_loop(body_of.get(name, []))
        mfma = sum(x.startswith("v_mfma") for x in loop) if loop else 0
        waits = sum(bool(re.match(r"s_waitcnt.*vmcnt\(0\)", x)) for x in loop) if loop else 0
        row = (
            number("vgpr_count"),
            number("agpr_count"),
            number("sgpr_count"),
            number("group_segment_fixed_size"),
            number("private_segment_fixed_size"),
            number("vgpr_spill_count"),
            number("sgpr_spill_count"),
            mfma if loop else "-",
            waits if loop else "-",
        )
        print(f"  {title:64s}" + "".join(f"{x!s:>9s}" for x in row))
        if number("private_segment_fixed_size"):
            violations.append(f"{title}: {fields['private_segment_fixed_size']} bytes of scratch")
        if number("vgpr_spill_count"):
            violations.append(f"{title}: {fields['vgpr_spill_count']} vector registers spilled")
        if not is_mfma:
            continue
        if not loop:
            violations.append(f"{title}: no matrix instruction in a loop")
            continue
        for pattern, what in (
            (r"scratch_|buffer_store", "scratch accesses"),
            (r"v_accvgpr", "moves of accumulator registers"),
            (r"v_(read|write)lane", "spilled scalar registers"),
        ):
            count = sum(bool(re.match(pattern, x)) for x in loop)
            if count:
                violations.append(f"{title}: {count} {what} in the loop")
    return [f"{path}: {v}" for v in violations]


def main():
    paths = sys.argv[1:]
    if not paths or paths[0].startswith("-"):
        print(__doc__)
        return 2
    violations = [v for path in paths for v in check(path)]
    for violation in violations:
        print("VIOLATION " + violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
