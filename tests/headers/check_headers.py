#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header of include/raggedgemm alone, twice in one source, warnings as errors.

    check_headers.py --compiler C++ --include DIR [--platform host|cuda|hip] [--jobs N] [-- flags …]

Headers that belong to another vendor's compiler are skipped, and named.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

# Headers that only one platform's compiler can read.
ONLY = {
    "platform/runtime_cuda.hpp": "cuda",
    "platform/runtime_hip.hpp": "hip",
}

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--platform", default="host")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    root = pathlib.Path(arguments.include).resolve()
    headers = sorted(p.relative_to(root).as_posix() for p in (root / "raggedgemm").rglob("*.hpp"))
    skipped = [h for h in headers
               if ONLY.get(h[len("raggedgemm/"):], arguments.platform) != arguments.platform]
    if arguments.platform == "cuda":
        command = [arguments.compiler, "-x", "cu", "-std=c++20", "-c", "-o", os.devnull]
    else:
        command = [arguments.compiler, "-std=c++20", "-fsyntax-only", *WARNINGS]
    command += ["-I", str(root), *arguments.flags]

    def compile_alone(header):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "alone.cpp"
            # Twice: #pragma once, and nothing left open at the end.
            source.write_text(f'#include "{header}"\n#include "{header}"\nint main() {{ return 0; }}\n')
            done = subprocess.run([*command, str(source)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            return header, done.returncode, done.stdout

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for header, code, output in pool.map(compile_alone, [h for h in headers if h not in skipped]):
            if code != 0:
                failures += 1
                print(f"{header} does not compile alone:\n{output[:3000]}")
    for header in skipped:
        print(f"skipped {header}: only {ONLY[header[len('raggedgemm/'):]]} can compile it")
    print(f"{len(headers) - len(skipped)} headers compiled alone, {failures} failed, {len(skipped)} skipped")
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
