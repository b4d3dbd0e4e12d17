// Observers of the program contexts of one NI, for timelines and for accounts of where time went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

// Called during evaluations, in order of time. Requests of a step end in the order in which they
// started.
class ContextObserver {
 public:
  virtual ~ContextObserver() = default;
  // In cycle `now`. The contexts of the call begin in cycle `begins`.
  virtual void call_launched(std::uint32_t call, Cycle now, Cycle begins) = 0;
  virtual void step_began(const StepPlace& place, const ProgramStep& step, Cycle now) = 0;
  virtual void request_ended(const StepPlace& place, const RequestTimes& times) = 0;
  virtual void step_ended(const StepPlace& place, const StepTimes& times) = 0;
};

}  // namespace espalier
