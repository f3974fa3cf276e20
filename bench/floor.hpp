// SPDX-License-Identifier: Apache-2.0
// The floor: the least time that this machine allows a workload, from ceilings measured in the same
// run: floor = max(useful flops / R, bytes / W, output bytes / S).
#pragma once

#include <string>

#include "workload.hpp"

namespace raggedgemm::bench {

struct Ceilings {
  double matmul_flops = 0;  ///< R: flops per second of one large product
  double copy_bytes = 0;    ///< W: bytes per second of a large copy, read and written
  double write_bytes = 0;   ///< S: bytes per second of a large fill, the best way found
  std::string matmul_name;  ///< what R was measured with

  [[nodiscard]] double floor_us(const Workload& workload) const;
  [[nodiscard]] std::string text() const;
};

/// Measures them. A ceiling whose buffers do not fit is 0 and bounds nothing.
Ceilings measure_ceilings(DType dtype);

}  // namespace raggedgemm::bench
