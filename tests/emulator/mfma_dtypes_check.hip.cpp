// SPDX-License-Identifier: Apache-2.0
// Config rows of the CDNA engine for 8-, 32- and 64-bit dtypes: rows and depths ragged for one
// dtype of each size on every edge of a tile, the rest on fewer.
//
//   mfma_dtypes_check [NAME]     only cases whose printed name contains NAME
//
// Prints a line a case; exit code 1 when any failed, 2 when no row of this device was found.

#include "mfma_cases.hpp"

namespace {

template <class In, class Out>
void check_dtype(rg::Arch arch, const Effort& effort) {
  check_rows<rg::Variant::non_contracting, In, Out>(arch, effort);
  check_rows<rg::Variant::contracting, In, Out>(arch, effort);
}

}  // namespace

int main(int argument_count, char** arguments) {
  return check_device(argument_count, arguments, [](rg::Arch arch) {
    const Effort all{.as_planned = false};
    const Effort two{.cases_at_most = 2, .as_planned = false};
    check_dtype<rg::fp8_e4m3fnuz, float>(arch, all);
    check_dtype<rg::fp8_e5m2fnuz, rg::bf16>(arch, two);
    check_dtype<rg::fp8_e4m3fn, float>(arch, all);
    check_dtype<rg::fp8_e5m2, rg::bf16>(arch, two);
    check_dtype<std::int8_t, std::int32_t>(arch, all);
    check_rows<rg::Variant::batch, std::int8_t, std::int8_t>(arch, two);
    check_dtype<float, float>(arch, all);
    check_dtype<float, float>(arch, {.cases_at_most = 2, .as_planned = false, .tf32 = true});
    check_dtype<double, double>(arch, all);
  });
}
