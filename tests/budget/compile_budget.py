# SPDX-License-Identifier: Apache-2.0
"""Measures how long users' sources take to compile and fails at twice the budget.

  compile_budget.py INCLUDE_DIR [--nvcc NVCC]

Budgets, on two cores: a .cpp that links raggedgemm::compiled 2 s; a .cu with one header-only call 60 s."""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE = """
#include <raggedgemm/raggedgemm.hpp>
namespace rg = raggedgemm;
int call(const rg::bf16* lhs, const rg::bf16* rhs, const int* sizes, rg::bf16* out) {
  return rg::ragged_dot(rg::view(lhs, 512, 256), rg::view(rhs, 8, 256, 128), rg::GroupSizes(sizes, 8),
                        rg::view(out, 512, 128)).ok() ? 0 : 1;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--nvcc")
    args = parser.parse_args()
    cases = [("a .cpp that links raggedgemm::compiled", 2.0, "call.cpp",
              [args.cxx, "-std=c++20", "-O2", "-DRAGGEDGEMM_COMPILED"])]
    if args.nvcc:
        cases.append(("a .cu with one header-only call", 60.0, "call.cu",
                      [args.nvcc, "-std=c++20", "-O3", "-gencode=arch=compute_90a,code=sm_90a"]))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for title, budget, name, command in cases:
            source = pathlib.Path(folder, name)
            source.write_text(SOURCE)
            times = []
            for _ in range(3 if budget < 10 else 1):
                start = time.monotonic()
                subprocess.run([*command, f"-I{args.include}", "-c", source, "-o", f"{source}.o"], check=True)
                times.append(time.monotonic() - start)
            best = min(times)
            verdict = "ok" if best <= budget else "OVER BUDGET" if best <= 2 * budget else "FAIL"
            failed |= verdict == "FAIL"
            print(f"{title}: {best:.1f} s, budget {budget:.0f} s: {verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
