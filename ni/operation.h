// What an issue engine asks of the back end: send these chunks there, and what the receiver does
// with them.
#pragma once

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

struct Operation {
  FlowId flow;
  NodeId from;
  NodeId to;
  RouteId route;
  // Over so many parallel routes, `route` and those numbered after it; each carries an even share.
  std::uint32_t stripes = 1;
  TransferKind on_arrival = TransferKind::copy;
  ChunkId first_chunk;
  std::uint32_t num_chunks = 0;
  Bytes bytes = 0;
  // Of lower rank first, where several wait at an injection port; equal ones in order.
  std::uint64_t rank = 0;
  // Beside the gradients, of no flow and no chunks: of the control plane, or of other tenants.
  bool is_control = false;
  Cycle ready = 0;  // when it could be sent: issued by its engine, or posted by the host
};

}  // namespace espalier
