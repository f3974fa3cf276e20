#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layers of include/raggedgemm and the rules of its headers.

    check_layers.py [include folder]

- A header includes its own folder and lower layers only; folders of one layer do not see each other.
- Below arch/, a target's folder sees itself and the folders that its family shares.
- Vendor and architecture #if stand in base/macros.hpp, platform/, arch/ and backend/ only; files at
  the top may ask RAGGEDGEMM_COMPILED.
- Macros are defined in base/macros.hpp only. No `using namespace`. The first line is the licence.
- A header has at most 400 lines, in arch/ and engine/ 600.
"""
import pathlib
import re
import sys

LAYER = {
    "base": 0,
    "platform": 1, "problem": 1,
    "numeric": 2, "arch": 2,
    "schedule": 3,
    "tile": 4,
    "epilogue": 5,
    "engine": 6,
    "kernel": 7,
    "dispatch": 8,
    "backend": 9,
    "plan": 10,
}
TOP = 11  # raggedgemm/*.hpp, what users include

# Folders of one layer that see each other all the same, in one direction.
ALSO_SEES = {
    # A device names its Platform, which is an option of a call.
    ("platform", "problem"),
    # A matrix instruction is named by the element types it multiplies.
    ("arch", "numeric"),
}

# What a folder below arch/ sees besides itself.
ARCH_SEES = {
    "host": set(),
    "simt": set(),
    "cdna": {"simt"},
    "sm80": {"simt"},
    "sm90": {"simt"},
    "gfx942": {"simt", "cdna"},
    "gfx950": {"simt", "cdna"},
}

# Single includes that the layers forbid and that are meant, each with its reason.
EXCEPTIONS = {
    # Picks the one target of the family that this compiler pass is for.
    ("arch/cdna/native.hpp", "arch/gfx942/matrix.hpp"),
    ("arch/cdna/native.hpp", "arch/gfx950/matrix.hpp"),
}

VENDOR_IF_FOLDERS = ("base/macros.hpp", "platform/", "arch/", "backend/")
# Headers outside those folders that must not exist for a compiler of another platform.
VENDOR_IF_EXCEPTIONS = {
    "dispatch/launch.hpp": "the runtime of GPUs exists for nvcc and hipcc only",
    "dispatch/gpu_kernels.hpp": "__global__ functions exist for nvcc and hipcc only",
    "engine/copy_lines.hpp": "a kernel of GPUs only",
    "engine/tma_wgmma.hpp": "Hopper's own engine is device code",
    "engine/wgmma_store.hpp": "a part of Hopper's engine",
    "engine/work_ring.hpp": "a part of Hopper's engine",
    "engine/lhs_gather.hpp": "a part of Hopper's engine",
    "engine/staged_piece.hpp": "a part of Hopper's engine",
    "engine/wgmma_main_loop.hpp": "a part of Hopper's engine",
    "engine/sum_parts.hpp": "a kernel of GPUs only",
    "engine/mfma.hpp": "CDNA's own engine is device code",
    "engine/mfma_block.hpp": "a part of CDNA's engine",
    "engine/mma_sync.hpp": "Ampere's own engine is device code",
}
VENDOR = re.compile(
    r"RG_PLATFORM_|RG_HOST_X86|__CUDA|__NVCC__|__HIP|__AMDGCN|__gfx\d|__GFX\d|__x86_64__|__AVX|__SSE"
)


def line_limit(name):
    return 600 if name.startswith(("arch/", "engine/")) else 400


def folder_of(name):
    return name.split("/")[0] if "/" in name else None


def layer_of(name):
    folder = folder_of(name)
    return TOP if folder is None else LAYER.get(folder)


def include_error(name, target):
    """Why `name` may not include `target` (both relative to include/raggedgemm), or None."""
    if (name, target) in EXCEPTIONS:
        return None
    own, other = folder_of(name), folder_of(target)
    if own == other == "arch":
        own_target, other_target = name.split("/")[1], target.split("/")[1]
        if own_target == other_target or other_target in ARCH_SEES.get(own_target, set()):
            return None
        return f"arch/{own_target} does not see arch/{other_target}"
    if own == other or (own, other) in ALSO_SEES:
        return None
    if layer_of(target) < layer_of(name):
        return None
    return f"layer {layer_of(name)} ({own or 'top'}) does not see layer {layer_of(target)} ({other or 'top'})"


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def check(name, text, exists):
    errors = []
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        errors.append((1, "the first line must be the SPDX line"))
    if "\n#pragma once\n" not in text and name.endswith(".hpp"):
        errors.append((1, "must have #pragma once"))
    if layer_of(name) is None:
        errors.append((1, f"the folder {folder_of(name)}/ has no layer; give it one in check_layers.py"))
        return errors
    lines = text.count("\n")
    if lines > line_limit(name):
        errors.append((lines, f"has {lines} lines, at most {line_limit(name)}"))
    # A directive over several lines is one directive.
    code = without_comments(text)
    joined = re.sub(r"\\\n", lambda m: " \x00", code)
    # An instruction whose text a template cannot make may take macros that end with the header.
    ended = set(re.findall(r"#\s*undef\s+(\w+)", code)) if name.startswith("arch/") else set()
    number = 1
    for line in joined.split("\n"):
        here = number
        number += 1 + line.count("\x00")
        include = re.match(r'\s*#\s*include\s*["<](raggedgemm/[^">]*)[">]', line)
        if include:
            target = include.group(1)[len("raggedgemm/"):]
            if not exists(target):
                errors.append((here, f"includes raggedgemm/{target}, which does not exist"))
            elif layer_of(target) is None:
                errors.append((here, f"includes {target}, whose folder has no layer"))
            else:
                error = include_error(name, target)
                if error:
                    errors.append((here, f"includes {target}: {error}"))
        elif re.match(r'\s*#\s*include\s*"', line):
            errors.append((here, "includes by a relative path; write raggedgemm/…"))
        if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line):
            vendor = VENDOR.search(line)
            allowed = name.startswith(VENDOR_IF_FOLDERS) or name in VENDOR_IF_EXCEPTIONS
            if vendor and not allowed:
                errors.append((here, f"#if on {vendor.group()} outside base/macros.hpp, platform/, arch/, backend/"))
            if "RAGGEDGEMM_COMPILED" in line and "/" in name and name != "base/macros.hpp":
                errors.append((here, "#if on RAGGEDGEMM_COMPILED belongs to the headers at the top"))
        macro = re.match(r"\s*#\s*(?:define|undef)\s+(\w+)", line)
        if macro and name != "base/macros.hpp" and macro.group(1) not in ended:
            errors.append((here, "defines a macro; only base/macros.hpp does"))
        if re.search(r"\busing\s+namespace\b", line):
            errors.append((here, "`using namespace` in a header"))
    return errors


def self_test():
    """The rules refuse what they must; a check that finds nothing would pass everything."""
    licence = "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n"
    known = {"base/index.hpp", "tile/copy.hpp", "numeric/bf16.hpp", "problem/options.hpp",
             "platform/arch.hpp", "arch/simt/wave.hpp", "arch/sm90/tma.hpp", "arch/host/wave.hpp"}
    bad = [
        ("schedule/a.hpp", '#include "raggedgemm/tile/copy.hpp"\n'),
        ("numeric/a.hpp", '#include "raggedgemm/arch/host/wave.hpp"\n'),
        ("problem/a.hpp", '#include "raggedgemm/platform/arch.hpp"\n'),
        ("arch/sm90/a.hpp", '#include "raggedgemm/arch/host/wave.hpp"\n'),
        ("arch/simt/a.hpp", '#include "raggedgemm/arch/sm90/tma.hpp"\n'),
        ("tile/a.hpp", '#include "raggedgemm/base/missing.hpp"\n'),
        ("tile/a.hpp", '#include "copy.hpp"\n'),
        ("tile/a.hpp", "#if defined(__CUDACC__)\n#endif\n"),
        ("tile/a.hpp", "#if defined(RAGGEDGEMM_COMPILED)\n#endif\n"),
        ("tile/a.hpp", "#define RG_X 1\n"),
        ("tile/a.hpp", "#define RG_X 1\n#undef RG_X\n"),
        ("arch/sm90/a.hpp", "#define RG_X 1\n#undef RG_Y\n"),
        ("tile/a.hpp", "using namespace std;\n"),
        ("tile/a.hpp", "\n" * 400),
        ("new_folder/a.hpp", ""),
    ]
    good = [
        ("tile/a.hpp", '#include "raggedgemm/numeric/bf16.hpp"\n// using namespace std;\n'),
        ("platform/a.hpp", '#include "raggedgemm/problem/options.hpp"\n#if RG_PLATFORM_CUDA\n#endif\n'),
        ("arch/sm90/a.hpp", '#include "raggedgemm/arch/simt/wave.hpp"\n' + "\n" * 450),
        ("arch/sm90/a.hpp", "#define RG_X 1\n#undef RG_X\n"),
        ("a.hpp", '#include "raggedgemm/tile/copy.hpp"\n#if defined(RAGGEDGEMM_COMPILED)\n#endif\n'),
    ]
    for name, text in bad:
        assert check(name, licence + text, known.__contains__), (name, text)
    for name, text in good:
        assert not check(name, licence + text, known.__contains__), (name, text)
    assert check("base/index.hpp", "#pragma once\n", known.__contains__)


def main():
    self_test()
    default = pathlib.Path(__file__).resolve().parents[2] / "include"
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else default) / "raggedgemm"
    headers = sorted(p for p in root.rglob("*") if p.suffix in (".hpp", ".h", ".cuh", ".inl", ".ipp"))
    failures = 0
    for header in headers:
        name = header.relative_to(root).as_posix()
        for line, message in check(name, header.read_text(), lambda t: (root / t).is_file()):
            print(f"include/raggedgemm/{name}:{line}: {message}")
            failures += 1
    print(f"{len(headers)} headers, {failures} violations")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
