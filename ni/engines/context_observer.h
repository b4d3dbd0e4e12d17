// Who looks at the program contexts of one NI: for timelines and accounts of where time went.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "alg/program/program.h"
#include "hw/ids.h"
#include "ni/engine_view.h"
#include "ni/issue_engine.h"

namespace espalier {

// A step in one pass of a block.
struct StepPlace {
  std::size_t block = 0;
  std::uint64_t tile = 0;
  std::size_t step = 0;
};

// Cycles of a step; each is at or after the one before.
struct StepTimes {
  Cycle turn = 0;     // the step before it has ended, or its call has been launched
  Cycle ready = 0;    // the step of another context that it waits for is seen to be done
  Cycle decoded = 0;  // its first request may begin
  Cycle ended = 0;    // in which the next step has its turn
  // In between, by ContextStall: cycles for which it was shown.
  std::array<Cycle, kNumContextStalls> stalls{};
};

struct RequestTimes {
  Cycle started = 0;
  WorkTimes work;
  Cycle worked = 0;       // work.done, and the context itself has moved it
  Cycle fence = kNever;   // its fence begins; kNever: there is none
  Cycle fenced = kNever;  // and ends
  Cycle posted = kNever;  // its slot is posted to the network; kNever: that costs nothing
  Cycle issued = kNever;  // its message; kNever where it sends none
  Cycle ended = 0;        // it makes room, and gives its slot back
};

// Told during evaluations, in order; requests of a step in the order in which they end, which is
// that in which they started.
class ContextObserver {
 public:
  virtual ~ContextObserver() = default;
  // In cycle `now`; its contexts begin in cycle `begins`.
  virtual void call_launched(std::uint32_t call, Cycle now, Cycle begins) = 0;
  virtual void step_began(const StepPlace& place, const ProgramStep& step, Cycle now) = 0;
  virtual void request_ended(const StepPlace& place, const RequestTimes& times) = 0;
  virtual void step_ended(const StepPlace& place, const StepTimes& times) = 0;
};

}  // namespace espalier
