#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one bug at a time in a copy of the headers and demands that a named test fails.

    run_mutants.py                all mutants, one after the other, after each test without a mutant
    run_mutants.py --quick        a handful, for CI; tests without a mutant are CTest's own there
    run_mutants.py --only NAME …  these
    run_mutants.py --list

A test of Catch2 is named by its source and a filter, the fuzzer by its source and its arguments.
A mutant survives when the tests it names pass: then they do not test what they say. Fails on a
survivor, on a text that is not in its header exactly once, and on a mutant that does not compile.
The compiler is $CXX or c++; $CXXFLAGS is added (e.g. "-fsanitize=address").
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
TESTS = ROOT / "tests"


class Mutant(NamedTuple):
    name: str
    header: str  # below include/raggedgemm
    text: str  # exactly once in the header
    replacement: str
    test: str  # source below tests/
    filter: str  # of Catch2, by test name; the fuzzer's arguments
    quick: bool = False


OPTIONS = "conformance/options_test.cpp"
GENERAL = "conformance/general_test.cpp"
ROWS = "conformance/non_contracting_test.cpp"
DECODERS = "unit/kernel/decoders_test.cpp"
CURSOR = "unit/schedule/group_cursor_test.cpp"
SIZES = "unit/problem/group_sizes_test.cpp"
ORDER = "unit/schedule/tile_order_test.cpp"
CUT = "unit/schedule/cut_order_test.cpp"
SELECT = "unit/plan/select_test.cpp"
SERIALISE = "unit/plan/serialise_test.cpp"
PARTIAL = "unit/epilogue/partial_test.cpp"
FUZZER = "fuzz/fuzz_ragged_dot.cpp"
FUZZER_ARGUMENTS = "--mode call --runs 20000 --seed 1"
C_TEST = "out = alpha*"
ALPHA_TEST = "group_alpha scales*"
SHARD_TEST = "a shard of the groups*"
GATHER_TEST = "lhs_index gathers*"
SCATTER_TEST = "A scatter goes to*"
FAULT_TEST = "the fault report*"
DEFINITION_TEST = "ragged_dot_general equals its definition*"

MUTANTS = [
    # The engine.
    Mutant("accumulator not cleared", "engine/simple.hpp",
           "      block.clear(work.rows, work.cols);\n", "", OPTIONS, ALPHA_TEST),
    Mutant("depth tail dropped", "engine/simple.hpp",
           "for (offset_t k = 0; k < work.k_extent; k += block_k) {",
           "for (offset_t k = 0; k + block_k <= work.k_extent; k += block_k) {",
           ROWS, "ragged_dot is right for every depth*"),
    Mutant("depth steps along the columns of rhs", "engine/simple.hpp",
           "b + k * arguments.b.stride.row,", "b + k * arguments.b.stride.col,",
           ROWS, "ragged_dot is right for every depth*"),
    Mutant("slab of rhs ignored", "engine/simple.hpp",
           "at<const Rhs>(work.slab, work.k_begin, work.col_begin)",
           "at<const Rhs>(0, work.k_begin, work.col_begin)", OPTIONS, ALPHA_TEST),
    Mutant("depth segment of rhs ignored", "engine/simple.hpp",
           "work.outer.b + segment.b;", "work.outer.b;", GENERAL, DEFINITION_TEST),
    Mutant("groups of a depth segment ignored", "engine/simple.hpp",
           "groups.first_entry += work.outer.groups + segment.groups;",
           "groups.first_entry += work.outer.groups;", GENERAL, DEFINITION_TEST),
    Mutant("gather index read from its start", "engine/simple.hpp",
           "rows = {index + work.row_begin, stride.row, arguments.lhs_extent};",
           "rows = {index, stride.row, arguments.lhs_extent};", OPTIONS, GATHER_TEST),
    # Tiles.
    Mutant("32-bit element offsets", "tile/arguments.hpp",
           "+ slab * stride.slab + row * stride.row + col * stride.col;",
           "+ static_cast<index_t>(slab * stride.slab + row * stride.row + col * stride.col);",
           ROWS, "ragged_dot reaches elements past*"),
    Mutant("gather bound unchecked", "tile/copy.hpp",
           "return index == nullptr || (at >= 0 && at < extent);", "return true;",
           OPTIONS, GATHER_TEST),
    Mutant("gather bound off by one", "tile/copy.hpp", "at < extent);", "at <= extent);",
           FUZZER, FUZZER_ARGUMENTS),
    Mutant("chunk past the edge not zeroed", "tile/copy.hpp",
           "i * outer_stride]))\n                                   : Compute{};",
           "i * outer_stride]))\n                                   : Compute{1};",
           "unit/tile/copy_test.cpp", "copy fills whole chunks*", True),
    # The store.
    Mutant("column mask off by one", "epilogue/store.hpp",
           "if (v < count) to[v * d_strides_.col] = out[v];",
           "if (v <= count) to[v * d_strides_.col] = out[v];", OPTIONS, C_TEST),
    Mutant("alpha not applied", "epilogue/store.hpp",
           "++v) value[v] = detail::multiply(alpha<Compute>(), acc[v]);", "++v) value[v] = acc[v];",
           OPTIONS, C_TEST),
    Mutant("out read where beta is 0", "epilogue/store.hpp",
           "if (beta<Compute>() != Compute{})", "if (true)", OPTIONS, ALPHA_TEST),
    Mutant("product rounded before beta", "epilogue/store.hpp",
           "++v) value[v] = detail::multiply(alpha<Compute>(), acc[v]);",
           "++v) value[v] = static_cast<Compute>(Element<T>::widen(round_to<T>(alpha<Compute>() * acc[v])));",
           ROWS, "ragged_dot scales by alpha*"),
    Mutant("c read by out's strides", "epilogue/store.hpp",
           "c_ + row_of_c * c_strides_.row", "c_ + row_of_c * d_strides_.row", OPTIONS, C_TEST),
    Mutant("tail transformed by the epilogue", "epilogue/store.hpp",
           "    if (work_.is_tail) return value;\n", "",
           "conformance/epilogue_bias_test.cpp", "A shared bias adds*"),
    Mutant("group_alpha of the first group for all", "epilogue/store.hpp",
           "alpha_ *= arguments.group_alpha[work.slab];", "alpha_ *= arguments.group_alpha[0];",
           OPTIONS, ALPHA_TEST),
    Mutant("scatter index ignored", "epilogue/store.hpp",
           "static_cast<std::uint32_t>(out_index_[own]);", "static_cast<std::uint32_t>(own);",
           OPTIONS, GATHER_TEST),
    Mutant("scatter bound dropped", "epilogue/store.hpp",
           "return to < out_extent_ ?",
           "return static_cast<std::int32_t>(to) >= 0 ?", OPTIONS, SCATTER_TEST),
    Mutant("scatter bound off by one", "epilogue/store.hpp",
           "to < out_extent_", "to <= out_extent_", FUZZER, FUZZER_ARGUMENTS),
    Mutant("a sum of nothing keeps its factors", "epilogue/store.hpp",
           "if (work.is_tail || work.k_extent == 0) {", "if (work.is_tail) {",
           OPTIONS, "A sum of nothing*"),
    Mutant("the last segment decides whether a sum is one of nothing", "engine/simple.hpp",
           "depth = max_of(depth, work.k_extent);", "depth = work.k_extent;",
           GENERAL, "Only some depth dimensions*"),
    # Groups.
    Mutant("tile at a boundary goes to the group before", "schedule/group_cursor.hpp",
           "Wave::ballot(lane_first_tile_ <= tile)", "Wave::ballot(lane_first_tile_ < tile)",
           CURSOR, "*in waves of 32 and 64 lanes*"),
    Mutant("a lane's own tile found one group early", "schedule/group_cursor.hpp",
           "if (Wave::broadcast(lane_first_tile_, owner + step) <= tile) owner += step;",
           "if (Wave::broadcast(lane_first_tile_, owner + step) < tile) owner += step;",
           CURSOR, "GroupCursor finds a tile of each lane's own"),
    Mutant("tiles of a lane's earlier groups not counted", "schedule/group_cursor.hpp",
           "      tile -= tiles;\n", "", CURSOR, "GroupCursor counts in 32 bits*"),
    Mutant("a shard that ends past the last group", "schedule/group_cursor.hpp",
           "min_of(shard_begin + shard_groups, groups.count)", "shard_begin + shard_groups + 1",
           DECODERS, "contracting tiles cover*"),
    Mutant("sum not clamped to the extent", "schedule/group_cursor.hpp",
           "lane_begin_ = min_of(sum_ + before, ragged_extent_);", "lane_begin_ = sum_ + before;",
           CURSOR, "GroupCursor counts in 32 bits*"),
    Mutant("groups of an instance ignored", "schedule/group_cursor.hpp",
           "first_entry_ + instances_->offsets(instance_).groups;", "first_entry_;",
           GENERAL, DEFINITION_TEST),
    Mutant("next instance starts at the last sum", "schedule/group_cursor.hpp",
           "    sum_ = 0;\n    window_tiles_end_ += tail_tiles;\n",
           "    window_tiles_end_ += tail_tiles;\n", GENERAL, DEFINITION_TEST),
    Mutant("negative size not clamped", "problem/group_sizes.hpp",
           "if (bounds.upper <= bounds.lower) return 0;", "if (bounds.upper == bounds.lower) return 0;",
           SIZES, "Offsets that decrease*", True),
    Mutant("offsets read as end offsets", "problem/group_sizes.hpp",
           "entry(kind == GroupKind::offsets ? g + 1 : g);", "entry(g);",
           SIZES, "Sizes, end offsets and prefix offsets*"),
    Mutant("fault where the sum meets the extent", "schedule/group_check.hpp",
           "> extent - before) {", ">= extent - before) {", OPTIONS, FAULT_TEST),
    Mutant("fault of a depth dimension's groups not seen", "schedule/group_check.hpp",
           "instances.group_rows() * segment_rows;", "instances.group_rows();",
           GENERAL, "the fault report of a general call*"),
    # Decoders.
    Mutant("row mask off by one", "kernel/non_contracting.hpp",
           "min_of(offset_t{cut.rows}, at.extent - row)", "min_of(offset_t{cut.rows}, at.extent - row + 1)",
           DECODERS, "non_contracting tiles cover*"),
    Mutant("tail not zeroed", "kernel/non_contracting.hpp",
           "if (is_tail && keep_tail) return 0;", "if (is_tail) return 0;", OPTIONS, SHARD_TEST),
    Mutant("shard offset of rows ignored", "kernel/non_contracting.hpp",
           "at.group - arguments_.group_offset;", "at.group;", OPTIONS, SHARD_TEST),
    Mutant("shard offset of slabs ignored", "kernel/contracting.hpp",
           "work.slab = at.group - arguments_.group_offset;", "work.slab = at.group;",
           FUZZER, FUZZER_ARGUMENTS),
    Mutant("contracting groups start at 0", "kernel/contracting.hpp",
           "work.k_begin = at.begin;", "work.k_begin = 0;", OPTIONS, ALPHA_TEST),
    Mutant("live batches off by one", "kernel/batch.hpp",
           "work.is_tail = batch >= live_;", "work.is_tail = batch > live_;",
           DECODERS, "batch tiles cover*"),
    # Tile order.
    Mutant("band narrower than a supergroup walked as a whole one", "schedule/tile_order.hpp",
           "const index_t second = in_band / width;", "const index_t second = in_band / supergroup;",
           ORDER, "TileOrder is a bijection for every small shape"),
    Mutant("chiplets with a long run counted wrongly", "schedule/tile_order.hpp",
           "min_of(chiplet, long_runs)", "long_runs",
           ORDER, "TileOrder is a bijection for every small shape"),
    Mutant("supergroup off by one", "schedule/tile_order.hpp",
           "min_of(offset_t{supergroup} * along,", "min_of(offset_t{supergroup + 1} * along,",
           ORDER, "TileOrder is a bijection for every small shape", True),
    Mutant("bands of columns all begin at the same row", "schedule/tile_order.hpp",
           "where.row += where.col / supergroup % tile_rows;", "",
           ORDER, "Turned rows give every block*"),
    Mutant("a turned row is not brought back", "schedule/tile_order.hpp",
           "if (where.row >= tile_rows) where.row -= tile_rows;", "",
           ORDER, "TileOrder is a bijection for every small shape"),
    Mutant("a first round is cut", "schedule/cut_order.hpp",
           "rest == 0 || order.whole == 0", "rest == 0",
           CUT, "Turns cover every tile once*"),
    Mutant("more parts than a round has blocks", "schedule/cut_order.hpp",
           "min_of(blocks / rest, most_parts)", "most_parts",
           CUT, "Turns cover every tile once*"),
    Mutant("a decoder starts again amid the groups", "schedule/group_cursor.hpp",
           "    instance_ = 0;\n    next_group_ = 0;\n", "    instance_ = 0;\n",
           DECODERS, "A decoder past the last tile*"),
    # Plans.
    Mutant("shallow tiles of the last round are cut", "plan/select.hpp",
           "steps < least_steps ||\n", "",
           SELECT, "Tiles of the last round may be cut*"),
    Mutant("the last round of a shard is cut", "plan/select.hpp",
           "p.slabs < p.group_count || ", "", SELECT, "Tiles of the last round may be cut*"),
    Mutant("whole_depth forgotten", "plan/select.hpp",
           "  if (options.whole_depth) return 0;\n", "", SELECT, "The depth is split*"),
    Mutant("alignment not checked in bind", "plan/plan.hpp",
           "detail::alignment_of(operand.data) < operand.alignment_bytes)", "false)",
           SELECT, "bind refuses*"),
    Mutant("forced config row ignored", "plan/select.hpp",
           "    if (options.config_row >= 0 && options.config_row != entry.row) continue;\n", "",
           SELECT, "A forced row runs*"),
    Mutant("no report without output", "plan/select.hpp",
           "plan.problem.has_fault ? max_of(all_tiles, offset_t{1}) : all_tiles;", "all_tiles;",
           OPTIONS, "The fault report is written*"),
    # Split depth and aligned copies.
    Mutant("a step in two parts of the depth", "kernel/split.hpp",
           "const offset_t end = min_of(steps * (part + 1) / parts * block_k, work.k_extent);",
           "const offset_t end = min_of((steps * (part + 1) / parts + 1) * block_k, work.k_extent);",
           DECODERS, "Parts of the depth*", quick=True),
    Mutant("parts laid over each other", "epilogue/partial.hpp",
           "+ part * p.partials.part_stride +", "+", PARTIAL, "Parts are added up*"),
    Mutant("slabs of partial sums laid over each other", "epilogue/partial.hpp",
           "work.slab * p.partials.slab_stride + ", "", PARTIAL, "Parts are added up*"),
    Mutant("partial sums past the last column", "epilogue/partial.hpp",
           "if (col + v < cols_) to[v] = sums[v];", "to[v] = sums[v];", PARTIAL, "Parts are added up*"),
    Mutant("more parts than the workspace holds", "plan/select.hpp",
           "min_of(min_of(by_blocks, by_steps), min_of(by_bytes, offset_t{most_parts})));",
           "min_of(min_of(by_blocks, by_steps), offset_t{most_parts}));",
           SELECT, "The depth is split*"),
    Mutant("copies beyond the workspace", "plan/select.hpp",
           "if (bytes_of_copies(p, copies) > options.workspace_bytes) return {};", "",
           SELECT, "Operands that are not aligned*"),
    Mutant("pitch of a copy not rounded up", "plan/aligned_copies.hpp",
           "round_up(lines.length, offset_t{16 / bytes_of(dtype)})", "lines.length",
           SELECT, "Operands that are not aligned*"),
    Mutant("parts read into a row that has none", "plan/serialise.hpp",
           "if (in_parts != (plan.parts > 1))", "if (false)",
           SERIALISE, "A plan with parts or copies*"),
    Mutant("cut tiles read into a row that cuts none", "plan/serialise.hpp",
           "if (plan.cuts_last && (splits || entry.cut_tile_bytes == 0))", "if (false)",
           SERIALISE, "A plan that cuts the last tiles*"),
    Mutant("kernels of another variant accepted", "plan/serialise.hpp",
           "if (!set.is_for(plan.problem))", "if (false)", SERIALISE, "A set of kernels*"),
    # Numbers.
    Mutant("s32 factors not cut", "base/wrapping.hpp",
           "  if (value >= static_cast<double>(most)) return most;\n", "",
           "conformance/dtypes_test.cpp", "Group factors of integer*"),
    Mutant("bf16 ties away from zero", "numeric/bf16.hpp",
           "0x7FFFU + ((bits >> 16) & 1U)", "0x8000U",
           "unit/numeric/bf16_test.cpp", "to_bf16 rounds to nearest*", True),
    Mutant("fp16 subnormals cut off", "numeric/fp16.hpp",
           "bit_as<std::uint32_t>(bit_as<float>(magnitude) + 0.5F) - 0x3F000000U;",
           "static_cast<std::uint32_t>(bit_as<float>(magnitude & 0x7FFFFFFFU) * "
           "(magnitude < (113U << 23) ? 0x1p24F : 0.0F));",
           "unit/numeric/fp16_test.cpp", "to_fp16 rounds to nearest*", True),
    Mutant("double to a small float by two roundings", "numeric/convert.hpp",
           "  if (static_cast<double>(nearest) == value || nearest != nearest) return nearest;\n",
           "  if (value == value || nearest != nearest) return nearest;\n",
           "unit/numeric/fp8_test.cpp", "A double becomes a small float by one rounding"),
]


class Builder:
    def __init__(self, folder):
        self.folder = folder
        self.compiler = shlex.split(os.environ.get("CXX", "c++"))
        self.flags = ["-std=c++20", "-O1", "-w", "-pthread",
                      f'-DSUPPORT_GOLDEN_DIR="{TESTS}/data/golden"',
                      *shlex.split(os.environ.get("CXXFLAGS", ""))]
        self.objects = []
        self.first = []

    def call(self, *arguments, include=INCLUDE):
        command = [*self.compiler, *self.flags, *self.first, f"-I{include}", f"-I{TESTS}", *arguments]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)

    def prepare(self, main_files):
        """main(), unless it is given, and Catch2 as a precompiled header."""
        self.objects = main_files
        for source in () if main_files else ("main", "needs_nothing"):
            done = self.call("-O0", "-c", TESTS / "support" / f"{source}.cpp", "-o",
                             self.folder / f"{source}.o")
            if done.returncode != 0:
                sys.exit(done.stderr)
            self.objects.append(self.folder / f"{source}.o")
        header = self.folder / "catch_first.hpp"
        header.write_text('#include "support/catch.hpp"\n')
        if self.call("-x", "c++-header", header, "-o", f"{header}.gch").returncode == 0:
            self.first = ["-include", header]

    def build(self, test, include, program):
        """The text of what went wrong, or nothing."""
        if test == FUZZER:
            done = self.call("-DRAGGEDGEMM_FUZZ_PROGRAM", TESTS / test, "-o", program, include=include)
            return done.stderr if done.returncode != 0 else ""
        sources = [TESTS / test]
        if "erased.hpp" in (TESTS / test).read_text():
            sources.append(TESTS / "mutants" / "minimal_library.cpp")
        done = self.call(*sources, *self.objects, "-o", program, include=include)
        return done.stderr if done.returncode != 0 else ""


def run_test(program, test, test_filter):
    """(whether it passed, how it ended)."""
    named = [test_filter.replace(",", r"\,"), "-w", "NoTests"]
    try:
        done = subprocess.run([program, *(test_filter.split() if test == FUZZER else named)],
                              cwd=Path(program).parent, capture_output=True, text=True,
                              timeout=120, errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return False, "runs for over 120 s"
    if done.returncode == 0:
        return True, "passes"
    if done.returncode < 0:
        return False, f"ends by signal {-done.returncode}"
    if "Sanitizer" in done.stderr:
        return False, "sanitizer report"
    if "No test" in done.stdout + done.stderr:
        return True, "no such test"
    return False, "fails"


def plant(mutant, include):
    """The text of what went wrong, or nothing."""
    header = include / "raggedgemm" / mutant.header
    text = header.read_text()
    if text.count(mutant.text) != 1:
        return f"text found {text.count(mutant.text)} times in {mutant.header}"
    header.write_text(text.replace(mutant.text, mutant.replacement))
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--main", nargs="+", default=[], help="objects or libraries with main()")
    arguments = parser.parse_args()
    chosen = [m for m in MUTANTS if (m.quick or not arguments.quick)
              and (m.name in arguments.only or not arguments.only)]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.name}: {mutant.header}; {mutant.test}, \"{mutant.filter}\"")
        return 0
    if not chosen:
        sys.exit("no such mutant")
    failures = 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="raggedgemm_mutants_") as name:
        folder = Path(name)
        include = folder / "include"
        program = folder / "test"
        builder = Builder(folder)
        builder.prepare(arguments.main)
        if not arguments.quick:  # each named test passes without a mutant, and exists
            for test in dict.fromkeys(m.test for m in chosen):
                error = builder.build(test, INCLUDE, program)
                for test_filter in dict.fromkeys(m.filter for m in chosen if m.test == test):
                    passed, how = (False, "does not compile") if error else run_test(program, test, test_filter)
                    if not passed or how == "no such test":
                        print(f"without a mutant: {test}, \"{test_filter}\": {how}\n{error[:2000]}")
                        failures += 1
        for mutant in chosen:
            begin = time.monotonic()
            shutil.rmtree(include, ignore_errors=True)
            shutil.copytree(INCLUDE, include)
            error = plant(mutant, include)
            if error:
                verdict = f"ERROR: {error}"
            else:
                error = builder.build(mutant.test, include, program)
                if error:
                    first = [line for line in error.splitlines() if "error" in line][:1]
                    verdict = f"ERROR: does not compile: {' '.join(first)}"
                else:
                    passed, how = run_test(program, mutant.test, mutant.filter)
                    verdict = f"SURVIVED: the test {how}" if passed else f"killed: {how}"
            failures += not verdict.startswith("killed")
            print(f"{mutant.name:55} {mutant.header:28} {Path(mutant.test).stem:22} {verdict} "
                  f"({time.monotonic() - begin:.0f} s)", flush=True)
    killed = len(chosen) if failures == 0 else "not all"
    print(f"{killed} of {len(chosen)} mutants killed, {failures} failures, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
