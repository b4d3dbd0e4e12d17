// Which tensors are reduced together: Horovod's tensor fusion (Romero et al., sections 2.2.2, 3.2).
#pragma once

#include <vector>

#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

// One all-reduce.
struct Response {
  std::vector<TensorId> tensors;
  Bytes bytes = 0;
};

struct FusionSpec {
  Bytes threshold = 0;      // size of the fusion buffer; 0: nothing is fused
  bool fuse_groups = true;  // groups may share a buffer with each other and with other tensors
};

// `ready` in the global order. A buffer takes the first unit that is left, then every later one
// that still fits. A unit larger than the threshold has buffers of its own: as many of its tensors,
// in order, as fit in each; a single tensor that is larger is reduced as it is.
[[nodiscard]] std::vector<Response> fuse(const std::vector<UnitId>& ready,
                                         const std::vector<TensorUnit>& units, const TensorSet& set,
                                         const FusionSpec& spec);

}  // namespace espalier
