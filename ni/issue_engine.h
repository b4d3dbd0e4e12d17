// What turns a loaded program into operations, and what the back end tells it of their fate.
#pragma once

#include <string>
#include <vector>

#include "flowctl/wait_list.h"
#include "hw/counters.h"
#include "hw/ids.h"
#include "ni/engine_view.h"
#include "ni/operation.h"

namespace espalier {

// Work of an NI on its own memory: bytes that its memory port moves, and that its reduction unit
// adds.
struct LocalWork {
  Bytes read = 0;
  Bytes written = 0;
  Bytes reduced = 0;
  bool waits_for_read = false;  // the latency of memory counts: nothing else brings it in
};

// When it is done: the memory port has moved its bytes, what is read has come, it is reduced. Each
// is at or after the one before.
struct WorkTimes {
  Cycle moved = 0;
  Cycle read = 0;
  Cycle done = 0;
};

// What an engine sees of the back end when it decides, and how it issues.
class BackEnd {
 public:
  virtual ~BackEnd() = default;
  [[nodiscard]] virtual bool reduction_idle(Cycle now) const = 0;
  [[nodiscard]] virtual Cycle reduction_idle_at() const = 0;  // where it is not idle
  // Every operation issued so far has left this NI.
  [[nodiscard]] virtual bool all_sent() const = 0;
  // The injection queues of the operation's routes have room for it.
  [[nodiscard]] virtual bool has_room(const Operation& operation) const = 0;
  // Precondition: has_room(operation).
  virtual void issue(const Operation& operation, Cycle now) = 0;
  // Begins now.
  virtual WorkTimes work(const LocalWork& work, Cycle now) = 0;
};

class ContextObserver;

// The back end does not know which engine it executes operations for.
class IssueEngine {
 public:
  IssueEngine() = default;
  virtual ~IssueEngine() = default;
  IssueEngine(const IssueEngine&) = delete;
  IssueEngine& operator=(const IssueEngine&) = delete;

  // Issues what can be issued in cycle `now`. Returns the next cycle in which time alone may change
  // the outcome; kNever if an event must.
  virtual Cycle evaluate(Cycle now, BackEnd& back_end) = 0;
  // An operation of this NI has left it, or one has arrived and its data are in memory. True if
  // evaluate() has something to do in the next cycle.
  virtual bool sent(const Operation& operation, Cycle now) = 0;
  virtual bool completed(const Operation& operation, Cycle now) = 0;
  // An arrived Reduce may be added to memory now. Until then the NI holds it.
  [[nodiscard]] virtual bool may_add(const Operation& operation) const = 0;

  // Decisions taken so far: schedule-table entries read, or chunk stages picked from queues.
  [[nodiscard]] virtual std::uint64_t decisions() const { return 0; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  // Everything has been issued.
  [[nodiscard]] virtual bool done() const = 0;
  // The last evaluation was stopped by a full queue, or by sends that have not left yet.
  [[nodiscard]] virtual bool waits_for_ports() const = 0;
  // It waits for time to pass.
  [[nodiscard]] virtual bool timer_running(Cycle now) const = 0;
  // For waveforms: show() says what its hardware holds after an evaluation. Before the simulation
  // it is told that it will be asked.
  virtual void prepare_to_show() {}
  // Before the simulation, which `observer` must outlive; there may be several.
  virtual void observe_contexts(ContextObserver& /*observer*/) {}
  virtual void show(EngineView& view) const = 0;
  // For the watchdog: what it waits for. `who` is this NI's name, `ni_names` those of all nodes.
  virtual void explain(const std::string& who, const std::vector<std::string>& ni_names,
                       WaitList& waits) const = 0;

 protected:
  Counters counters_;
};

}  // namespace espalier
