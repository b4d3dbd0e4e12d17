// The state of an issue engine's hardware in one cycle, for waveforms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// The reason why the head entry of a schedule table does not issue. step: the next timestep begins
// in the next cycle, or this cycle's issue limit is reached. lockstep: the down-counter runs, or
// the step waits for reductions or sends of the last step. parent, children: a message from the
// parent or a child has not arrived. dma: a reduced chunk is being written back. injection: a send
// of this NI has not left, or its queue is full. doorbell: the host has not posted the collective
// yet. event: a message or a send; show() replaces this value by a more precise one.
enum class StallReason : std::uint8_t {
  none,
  step,
  lockstep,
  parent,
  children,
  dma,
  injection,
  doorbell,
  event,
  slot
};

inline constexpr unsigned kReadyBits = 16;

struct TableView {
  std::uint64_t timestep = 0;
  Cycle lockstep_until = 0;  // the down-counter is 0 from this cycle on
  std::size_t head = 0;
  bool done = false;    // there is no head entry, and the members below have no meaning
  std::uint8_t op = 0;  // Reduce, Gather, NOP (TableOp)
  FlowId flow;          // invalid for a NOP
  std::uint64_t head_step = 0;
  // One bit for each message that the entry waits for; 1: it has arrived.
  std::uint64_t ready_bits = 0;
  StallReason stall = StallReason::none;
};

struct DimensionView {
  std::uint64_t depth = 0;  // stages that wait in the queue
  // Chunk of the next stage; in an enforced order, the stage may not be in the queue yet.
  std::optional<std::uint64_t> head;
  std::optional<std::uint64_t> chosen;  // chunk of the stage that started last
  std::uint64_t in_flight = 0;          // stages
};

// The reason why a program context does not go on. launch: its call has not been launched.
// dependency: it waits for a step of another context. message: the message to receive has not
// arrived. slot: no credit for the remote buffer. requests: the limit of requests in flight is
// reached. port: the injection port's queue is full. busy: the context decodes, memory or the
// reduction unit works for it, or a fence runs. none: all its requests are leaving.
enum class ContextStall : std::uint8_t {
  none,
  launch,
  dependency,
  message,
  slot,
  requests,
  port,
  busy
};
inline constexpr std::size_t kNumContextStalls = 8;

struct ContextView {
  std::uint64_t tile = 0;
  std::uint64_t pc = 0;        // index of the current step
  std::uint8_t op = 0;         // ProgramOp
  std::uint64_t requests = 0;  // in flight
  bool done = false;
  ContextStall stall = ContextStall::none;
};

struct EngineView {
  std::optional<TableView> table;
  std::vector<DimensionView> dimensions;
  std::vector<ContextView> contexts;
};

}  // namespace espalier
