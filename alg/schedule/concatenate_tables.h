// Several collectives as one program of the NIs: each node takes the next one up when it has issued
// all of the one before, without waiting for the others.
#pragma once

#include <vector>

#include "alg/schedule/schedule_table.h"

namespace espalier {

struct TableSequence {
  ScheduleTables tables;
  // By part: where it begins in `tables`.
  std::vector<Timestep> first_step;
  std::vector<ChunkId> first_chunk;
};

// The parts' tables one after the other: steps, flows, chunks and addresses of each start behind
// those of the part before. Preconditions: there are parts; all are of one operation, on
// `topology`.
[[nodiscard]] TableSequence concatenate(const Topology& topology,
                                        const std::vector<const ScheduleTables*>& parts);

}  // namespace espalier
