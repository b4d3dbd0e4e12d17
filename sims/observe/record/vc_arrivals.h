// Flits on their way into a VC's buffer and in it, oldest first.
#pragma once

#include <deque>

#include "flowctl/flit.h"
#include "flowctl/flit_run.h"
#include "flowctl/framing.h"

namespace espalier {

// What is shown of a message.
struct MessageFacts {
  std::uint64_t flow = 0;
  std::uint32_t out_port = 0;  // of the router behind the buffer
  PacketGrid grid;
};

// Flits of one message that land in the buffer one after the other.
struct ArrivingRun {
  MessageFacts message;
  std::uint64_t offset = 0;  // of the first, in the message
  // A flit by itself says its own type; a run's follow from the grid.
  bool has_type = false;
  FlitType type = FlitType::body;
  FlitRun landing;

  [[nodiscard]] FlitType type_of_first() const;
};

class VcArrivals {
 public:
  void add(const ArrivingRun& run) { runs_.push_back(run); }
  // The last `n` flits do not come.
  void cut(std::uint64_t n);
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Precondition: not empty.
  [[nodiscard]] const ArrivingRun& front() const { return runs_.front(); }
  // The first `n` flits, of one run, have left. Precondition: they are there.
  void leave(std::uint64_t n);
  // Flits of the front run before its packet ends, the last one included.
  [[nodiscard]] std::uint64_t left_in_packet() const;

 private:
  std::deque<ArrivingRun> runs_;
};

}  // namespace espalier
