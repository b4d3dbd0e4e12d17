// Works out what a certificate proves. Shares no code with the searches that find certificates: it
// reads the topology and the certificate, and nothing else.
#pragma once

#include <string>

#include "alg/bounds/certificate.h"
#include "hw/topology/dimensions.h"
#include "hw/topology/topology.h"

namespace espalier {

struct ProvenBound {
  double seconds = 0;   // no schedule of the certificate's class takes less
  std::string problem;  // why the certificate proves nothing; empty if it is sound
};

// The certificate may be any. Preconditions: every vertex reaches every other one, and every link
// has a bandwidth.
[[nodiscard]] ProvenBound prove(const Topology& topology, const Demand& demand,
                                const BoundCertificate& certificate);

// Every NPU sends `demand.size` / N to each other one, or less where data are added on the way. An
// all_gather, a reduce_scatter or an all_reduce.
[[nodiscard]] ProvenBound prove(const DimensionedShape& shape, const Demand& demand,
                                const DimensionCertificate& certificate);

}  // namespace espalier
