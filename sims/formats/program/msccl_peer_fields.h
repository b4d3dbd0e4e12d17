// The pair of a step that is no local memory, but tells what its peer does.
#pragma once

#include "alg/program/program.h"

namespace espalier {

// s, rrs: where at the peer the data land; r, rcs: where from. Fills in what `program` leaves open
// (offset -1) from the peer's step, or else from the step's own other pair. Precondition: peers are
// ranks of the program.
void fill_peer_fields(Program& program);

}  // namespace espalier
