// SPDX-License-Identifier: Apache-2.0
// Every config row of the CDNA engine for 16-bit dtypes, on every edge of a tile.
//
//   mfma_check [NAME]     only cases whose printed name contains NAME
//
// Prints a line a case; exit code 1 when any failed, 2 when no row of this device was found.

#include "mfma_cases.hpp"

int main(int argument_count, char** arguments) {
  return check_device(argument_count, arguments, [](rg::Arch arch) {
    check_rows<rg::Variant::non_contracting, rg::bf16, rg::bf16>(arch);
    check_rows<rg::Variant::contracting, rg::bf16, rg::bf16>(arch);
    check_rows<rg::Variant::batch, rg::bf16, rg::bf16>(arch);
    check_rows<rg::Variant::non_contracting, rg::fp16, float>(arch, {.cases_at_most = 2});
    check_rows<rg::Variant::contracting, rg::bf16, float>(arch, {.cases_at_most = 2});
  });
}
