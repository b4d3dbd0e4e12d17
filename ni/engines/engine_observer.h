// Observers of the issue engine of one NI, for timelines and for accounts of where time went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "alg/plans/dimension_plan.h"
#include "alg/program/program.h"
#include "hw/ids.h"
#include "ni/engine_view.h"
#include "ni/issue_engine.h"

namespace espalier {

// A step of a block in one pass over the chunks.
struct StepPlace {
  std::size_t block = 0;
  std::uint64_t tile = 0;
  std::size_t step = 0;
};

// Cycles of a step, in ascending order.
struct StepTimes {
  Cycle turn = 0;  // the previous step has ended, or the call has been launched
  // The context sees that the step of another context, on which it depends, is done.
  Cycle ready = 0;
  Cycle decoded = 0;  // the first request may begin
  Cycle ended = 0;    // the next step may begin
  // By ContextStall: cycles that the step spent in this state.
  std::array<Cycle, kNumContextStalls> stalls{};
};

struct RequestTimes {
  Cycle taken = kNever;     // the proxy begins or waits to receive the slot; kNever: that is free
  Cycle received = kNever;  // the slot from the network is received
  Cycle started = 0;
  WorkTimes work;
  Cycle worked = 0;       // work.done, and the context's own loads and stores have ended
  Cycle fence = kNever;   // the fence begins; kNever: no fence
  Cycle fenced = kNever;  // the fence ends
  Cycle posted = kNever;  // the slot is posted to the network; kNever: posting is free
  Cycle issued = kNever;  // the message is issued; kNever: the request sends no message
  Cycle ended = 0;        // the request's place is free again, and its FIFO slot is given back
};

// What let an entry of a schedule table issue, or let a timestep begin: the condition that was the
// last to become true. If several became true in that cycle, the first of them in this list.
enum class Release : std::uint8_t {
  event,      // entry: a message, or a send of this NI, that it waited for
  slot,       // entry: the time of its slot
  step,       // entry: its timestep began
  rows,       // entry: the table's memory had passed rows that do not issue
  counter,    // timestep: the down-counter ran out
  reduction,  // timestep: the reduction unit ended its work
  port,       // entry: a message made room in the injection queue of one of its messages
  any_port,   // a message released a port, whichever it was
  doorbell,   // timestep: the host posted a later collective
  post,       // timestep: the hosts posted it when all messages before it had arrived
  start,      // timestep: the host had posted the collective
  order       // the entry or the timestep before it
};

inline constexpr std::uint32_t kNoEntry = 0xffff'ffff;

// Called during evaluations, in order of time.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  // Schedule tables. `entry` waits for the message that the NI has just received or sent, which is
  // waiter `number` of the table.
  virtual void event_came(std::uint32_t /*entry*/, std::size_t /*number*/, Cycle /*now*/) {}
  // `after`: the entry that loaded the counter (Release::counter), or the entry that issued last;
  // kNoEntry: none.
  virtual void timestep_began(Timestep /*step*/, Release /*why*/, std::uint32_t /*after*/,
                              Cycle /*now*/) {}
  // After the entry's messages were issued. `after`: the entry that issued before.
  virtual void entry_issued(std::uint32_t /*entry*/, Release /*why*/, std::uint32_t /*after*/,
                            Cycle /*now*/) {}

  // Dimension queues: a stage has entered its dimension's queue; its first operation is issued; all
  // its messages are sent, and all received ones are in memory.
  virtual void stage_ready(StageRef /*stage*/, Cycle /*now*/) {}
  virtual void stage_started(StageRef /*stage*/, Cycle /*now*/) {}
  virtual void stage_ended(StageRef /*stage*/, Cycle /*now*/) {}

  // Program contexts. Requests of a step end in the order in which they started. The contexts of
  // the call begin in cycle `begins`.
  virtual void call_launched(std::uint32_t /*call*/, Cycle /*now*/, Cycle /*begins*/) {}
  virtual void step_began(const StepPlace& /*place*/, const ProgramStep& /*step*/, Cycle /*now*/) {}
  virtual void request_ended(const StepPlace& /*place*/, const RequestTimes& /*times*/) {}
  virtual void step_ended(const StepPlace& /*place*/, const StepTimes& /*times*/) {}
};

}  // namespace espalier
