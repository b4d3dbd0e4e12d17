// Operations, which an NI's back end executes, and the hosts' sources of operations.
#pragma once

#include "alg/schedule/schedule.h"
#include "hw/ids.h"

namespace espalier {

// The purpose of an operation. All classes except `collective` are background traffic: they carry
// no chunks, and the run does not wait for them.
enum class TrafficClass : std::uint8_t {
  collective,  // the run itself: a collective, a program, or the flows of a traffic pattern
  control,     // short messages of the control plane, on the control lane
  host,        // messages of the hosts that coordinate collectives
  tenant,      // flows of other tenants
  probe,       // measurements of round trips
  socket,      // messages of TLM initiators, beside the run
};

// Chunks to send, and what the receiver does with them.
struct Operation {
  FlowId flow;
  NodeId from;
  NodeId to;
  RouteId route;
  // Number of parallel routes; they are numbered from `route` on. Each carries a share in
  // proportion to its rate (share_of_route()).
  std::uint32_t stripes = 1;
  TransferKind on_arrival = TransferKind::copy;
  ChunkId first_chunk;
  std::uint32_t num_chunks = 0;
  Bytes bytes = 0;
  // NiRules::authors: chooses the receiver's ejection port. The messages that a node receives in a
  // timestep are numbered, and its ports take turns.
  std::uint32_t arrival = 0;
  // Operations that wait at an injection port leave in ascending rank; equal ranks keep their
  // order.
  std::uint64_t rank = 0;
  TrafficClass traffic = TrafficClass::collective;
  Cycle ready = 0;  // when the engine can issue it, or when the host posts it

  [[nodiscard]] bool is_background() const { return traffic != TrafficClass::collective; }
};

// Background messages that a host posts while the simulation runs. Only the host's NI reads them.
class MessageSource {
 public:
  MessageSource() = default;
  virtual ~MessageSource() = default;
  MessageSource(const MessageSource&) = delete;
  MessageSource& operator=(const MessageSource&) = delete;

  // The cycle in which the next message is posted; kNever if none is known. If the cycle becomes
  // earlier, the source tells the NI (NetworkInterface::wake_source).
  [[nodiscard]] virtual Cycle next_ready() const = 0;
  // Precondition of both: the cycle next_ready() has come. Messages ascend in Operation::ready.
  [[nodiscard]] virtual const Operation& front() = 0;
  virtual void pop() = 0;
};

}  // namespace espalier
