// Interface between an issue engine, which turns a loaded program into operations, and the back
// end, which executes the operations and reports their progress.
#pragma once

#include <string>
#include <vector>

#include "flowctl/wait_list.h"
#include "hw/counters.h"
#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "ni/engine_view.h"
#include "ni/operation.h"

namespace espalier {

// Work of an NI on its own memory: bytes that the memory port moves, and bytes that the reduction
// unit adds.
struct LocalWork {
  Bytes read = 0;
  Bytes written = 0;
  Bytes reduced = 0;
  // The latency of memory counts, because the context itself reads the data.
  bool waits_for_read = false;
};

// When the stages of the work end: the memory port has moved the bytes, the read data have arrived,
// the reduction is done. Each cycle is at or after the one before.
struct WorkTimes {
  Cycle moved = 0;
  Cycle read = 0;
  Cycle done = 0;
};

// The back end as an engine sees it: state for decisions, and the issue of operations.
class BackEnd {
 public:
  virtual ~BackEnd() = default;
  [[nodiscard]] virtual bool reduction_idle(Cycle now) const = 0;
  [[nodiscard]] virtual Cycle reduction_idle_at() const = 0;  // if it is not idle now
  // True if every operation issued so far has released its port.
  [[nodiscard]] virtual bool all_sent() const = 0;
  // True if the injection queues of the operation's routes have room for it.
  [[nodiscard]] virtual bool has_room(const Operation& operation) const = 0;
  // Messages that take any port: true if there are ports for as many. If the NI has fewer ports,
  // the remaining messages queue behind the others.
  [[nodiscard]] virtual bool has_ports_for(std::uint32_t messages) const = 0;
  // Precondition: has_room(operation).
  virtual void issue(const Operation& operation, Cycle now) = 0;
  // Starts the work in cycle `now`.
  virtual WorkTimes work(const LocalWork& work, Cycle now) = 0;
};

class EngineObserver;

// The interface of all issue engines. The back end does not know which engine it serves.
class IssueEngine {
 public:
  IssueEngine() = default;
  virtual ~IssueEngine() = default;
  IssueEngine(const IssueEngine&) = delete;
  IssueEngine& operator=(const IssueEngine&) = delete;

  // Issues what can be issued in cycle `now`. Returns the next cycle in which the outcome may
  // change without an event; kNever if an event is needed.
  virtual Cycle evaluate(Cycle now, BackEnd& back_end) = 0;
  // sent(): an operation of this NI has left it. completed(): an operation has arrived, and its
  // data are in memory. Both return true if evaluate() has something to do in the next cycle.
  virtual bool sent(const Operation& operation, Cycle now) = 0;
  virtual bool completed(const Operation& operation, Cycle now) = 0;
  // True if an arrived Reduce may be added to memory now, and if an arrived copy has a place there,
  // because its collective has begun. Until then the NI holds them.
  [[nodiscard]] virtual bool may_add(const Operation& operation) const = 0;
  [[nodiscard]] virtual bool has_begun(const Operation& /*operation*/) const { return true; }

  // Decisions taken so far: schedule-table entries read, or chunk stages picked from queues.
  [[nodiscard]] virtual std::uint64_t decisions() const { return 0; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  // True if everything has been issued.
  [[nodiscard]] virtual bool done() const = 0;
  // True if a full queue, or sends that have not left yet, stopped the last evaluation.
  [[nodiscard]] virtual bool waits_for_ports() const = 0;
  // True if the engine waits for time to pass.
  [[nodiscard]] virtual bool timer_running(Cycle now) const = 0;
  // For waveforms. prepare_to_show() is called before the simulation if show() will be called;
  // show() reports the hardware state after an evaluation.
  virtual void prepare_to_show() {}
  // To be called before the simulation. `observer` must outlive the simulation; there may be
  // several.
  void observe(EngineObserver& observer) { observers_.push_back(&observer); }
  virtual void show(EngineView& view) const = 0;
  // The Verilog models that decide for the engine. `scope` is the NI's name.
  [[nodiscard]] virtual std::vector<RtlPlace> rtl(const std::string& /*scope*/) { return {}; }
  // For the watchdog: adds what the engine waits for. `who` is this NI's name; `ni_names` are the
  // names of all nodes.
  virtual void explain(const std::string& who, const std::vector<std::string>& ni_names,
                       WaitList& waits) const = 0;

 protected:
  Counters counters_;
  std::vector<EngineObserver*> observers_;
};

}  // namespace espalier
