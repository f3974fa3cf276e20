// SPDX-License-Identifier: Apache-2.0
// Runs a call with its plan changed so that tiles of the last round are cut, and says what was.
#pragma once

#include <algorithm>
#include <vector>

#include "raggedgemm/ragged_dot.hpp"
#include "raggedgemm/schedule/cut_order.hpp"
#include "support/device_array.hpp"
#include "support/workspace.hpp"

namespace support {

/// What the kernel left in the workspace.
struct CutTilesSeen {
  bool row_cuts = false;          ///< the row is for this call, and its kernel cuts tiles
  raggedgemm::index_t tiles = 0;  ///< that were cut
  raggedgemm::index_t parts = 0;  ///< of each
  raggedgemm::index_t rows = 0;   ///< of the cut tile with the most rows
};

/// The plan with a grid of `blocks` and its last tiles in up to `parts` parts.
inline raggedgemm::Plan with_cut_tiles(raggedgemm::Plan plan,
                                       raggedgemm::index_t parts,
                                       raggedgemm::index_t blocks) {
  plan.parts = parts;
  plan.cuts_last = true;
  plan.blocks = blocks;
  return plan;
}

/// Reads what cut tiles left in `memory`, the workspace of a plan without copies.
inline void look_at_cut_tiles(const std::vector<unsigned char>& memory,
                              const raggedgemm::Plan& plan,
                              CutTilesSeen& seen) {
  std::vector<unsigned char> copy = memory;
  const auto cut = raggedgemm::CutSums::of(copy.data(), plan.blocks);
  seen.tiles = cut.tiles_and_parts[0];
  seen.parts = cut.tiles_and_parts[1];
  REQUIRE(seen.tiles >= 0);
  REQUIRE(seen.tiles <= plan.blocks / 2);
  for (raggedgemm::index_t i = 0; i < seen.tiles; ++i)
    seen.rows = std::max<raggedgemm::index_t>(seen.rows, cut.tiles[i].rows);
}

/// Runs the call by options.config_row and waits; a row that does not cut tiles does not run.
template <class Call, class E = raggedgemm::Identity>
raggedgemm::Status run_with_cut_tiles(const Call& call,
                                      const raggedgemm::Options& options,
                                      raggedgemm::index_t parts,
                                      raggedgemm::index_t blocks,
                                      CutTilesSeen& seen,
                                      const E& epilogue = {}) {
  seen = {};
  const raggedgemm::Result<raggedgemm::Plan> plan = raggedgemm::make_plan<E>(call, options);
  if (!plan.ok() || plan.value().kernel.cut_tile_bytes == 0) return {};
  const raggedgemm::Plan cut = with_cut_tiles(plan.value(), parts, blocks);
  const auto bytes = static_cast<std::size_t>(raggedgemm::workspace_bytes(cut));
  DeviceArray<unsigned char> workspace(bytes);
  raggedgemm::Pointers pointers = call.pointers;
  pointers.workspace = workspace.data();
  const raggedgemm::Result<raggedgemm::BoundCall> bound = raggedgemm::bind(cut, pointers);
  if (!bound.ok()) return bound.status();
  const raggedgemm::Status status = raggedgemm::run(bound.value(), &epilogue, options.stream);
  if (!status.ok()) return status;
  const raggedgemm::Status done = runtime::synchronize();
  if (!done.ok()) return done;
  CHECK(workspace.guards_intact());
  seen.row_cuts = true;
  look_at_cut_tiles(workspace.get(), cut, seen);
  return {};
}

}  // namespace support
