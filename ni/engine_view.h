// What an engineer sees of an issue engine: the state of its hardware in one cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/ids.h"

namespace espalier {

// Why the head entry of a schedule table does not issue. step: the next timestep begins with the
// next cycle, or the entries of a cycle are used up. lockstep: the down-counter runs, or the step
// waits for reductions or sends of the last one. parent, children: a message of theirs has not
// come. dma: a reduced chunk is being written back. injection: a send of this NI has not left, or
// its queue is full. doorbell: the host has not posted the collective yet.
// event: a message or a send that view() has not told apart.
enum class StallReason : std::uint8_t {
  none,
  step,
  lockstep,
  parent,
  children,
  dma,
  injection,
  doorbell,
  event
};

inline constexpr unsigned kReadyBits = 16;

struct TableView {
  std::uint64_t timestep = 0;
  Cycle lockstep_until = 0;  // the down-counter is 0 from here on
  std::size_t head = 0;
  bool done = false;    // there is no head entry; what follows means nothing then
  std::uint8_t op = 0;  // Reduce, Gather, NOP (TableOp)
  FlowId flow;          // invalid of a NOP
  std::uint64_t head_step = 0;
  std::uint64_t ready_bits = 0;  // one for each message that the entry waits for: it has come
  StallReason stall = StallReason::none;
};

struct DimensionView {
  std::uint64_t depth = 0;              // stages that wait in the queue
  std::optional<std::uint64_t> head;    // chunk of the stage that is next: with an enforced order
                                        // it need not be there yet
  std::optional<std::uint64_t> chosen;  // chunk of the stage that the arbiter has picked last
  std::uint64_t in_flight = 0;          // stages
};

// Why a program context does not go on. launch: its call has not been launched. dependency: a step
// of another context. message: what it receives has not come. slot: no credit for the remote
// buffer. requests: all it may have under way are. port: the injection port's queue is full. busy:
// it decodes, memory or the reduction unit work for it, or a fence runs. none: all its requests are
// leaving.
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
  std::uint64_t pc = 0;        // the step it is at
  std::uint8_t op = 0;         // ProgramOp
  std::uint64_t requests = 0;  // under way
  bool done = false;
  ContextStall stall = ContextStall::none;
};

struct EngineView {
  std::optional<TableView> table;
  std::vector<DimensionView> dimensions;
  std::vector<ContextView> contexts;
};

}  // namespace espalier
