// SPDX-License-Identifier: Apache-2.0
// Statistics of run times and comparisons of backends.
// The median of an even number of runs is the mean of the middle two.
#include "result.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace raggedgemm::bench {

Timing summarize(std::vector<double> us, int warmups) {
  std::sort(us.begin(), us.end());
  Timing timing;
  timing.warmups = warmups;
  timing.runs = static_cast<int>(us.size());
  const double count = static_cast<double>(us.size());
  timing.mean_us = std::accumulate(us.begin(), us.end(), 0.0) / count;
  timing.median_us = (us[(us.size() - 1) / 2] + us[us.size() / 2]) / 2;
  timing.min_us = us.front();
  double squares = 0;
  for (const double t : us) squares += (t - timing.mean_us) * (t - timing.mean_us);
  timing.stddev_us = us.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return timing;
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok: return "ok";
    case Outcome::out_of_memory: return "OOM";
    case Outcome::not_available: return "n/a";
    case Outcome::failed: return "FAIL";
  }
  return "unknown";
}

const CaseResult* sibling(const std::vector<CaseResult>& results,
                          const CaseResult& of,
                          BackendId backend) {
  for (const CaseResult& r : results)
    if (r.backend == backend && r.op == of.op && r.dtype == of.dtype &&
        r.sizes_name == of.sizes_name && r.shape.same_extents(of.shape))
      return r.ok() ? &r : nullptr;
  return nullptr;
}

double speedup(const std::vector<CaseResult>& results, const CaseResult& native, BackendId other) {
  const CaseResult* const slow = sibling(results, native, other);
  if (!native.ok() || slow == nullptr) return 0;
  return slow->timing.mean_us / native.timing.mean_us;
}

}  // namespace raggedgemm::bench
