// What the entries of a schedule table wait for: the messages that have come and the sends that
// have left, however early. hw/rtl/dependency_state.v decides the same (TableProgram::Place).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hw/ids.h"
#include "hw/rtl_probe.h"
#include "ni/engines/table_program.h"

namespace espalier {

class DependencyState {
 public:
  // `turnaround`: cycles from the write-back of a reduced chunk to the first in which a root's
  // Gather may read it. `program` must outlive the state.
  DependencyState(const TableProgram& program, Cycle turnaround);
  virtual ~DependencyState() = default;
  DependencyState(const DependencyState&) = delete;
  DependencyState& operator=(const DependencyState&) = delete;

  // `event`, in the table's names, has happened. Entries that wait for it may be clear from cycle
  // now + 1 on. The cycles of events and decisions never go back.
  void set(const TableEvent& event, Cycle now);
  // The decision: whether the entry's messages have come and are written back. Precondition: the
  // entries before it have issued, in this cycle or before.
  [[nodiscard]] virtual bool is_clear(std::size_t entry, Cycle now) { return knows(entry, now); }

  // The state by the events so far, for wake-up times, explanations and waves. Decides nothing.
  [[nodiscard]] bool knows(std::size_t entry, Cycle now) const {
    return pending_[entry] == 0 && clear_at_[entry] <= now;
  }
  [[nodiscard]] bool misses_events(std::size_t entry) const { return pending_[entry] != 0; }
  // The first cycle in which the entry is clear, if it misses no event.
  [[nodiscard]] Cycle clear_at(std::size_t entry) const { return clear_at_[entry]; }
  // Whether the event of this waiter has come.
  [[nodiscard]] bool has_come(std::size_t waiter) const { return seen_[waiter]; }
  // Whether the flows of the entry's `after` are complete.
  [[nodiscard]] bool flows_complete(std::size_t entry) const { return pending_flows_[entry] == 0; }

  // nullptr if no Verilog decides.
  [[nodiscard]] virtual RtlProbe* rtl_probe() { return nullptr; }

 protected:
  [[nodiscard]] const TableProgram& program() const { return program_; }
  [[nodiscard]] Cycle turnaround() const { return turnaround_; }

 private:
  // The event of a place has come. Called once for each place.
  virtual void set_place(std::uint32_t /*place*/, bool /*reads_back*/, Cycle /*now*/) {}

  const TableProgram& program_;
  Cycle turnaround_;
  std::vector<std::uint32_t> pending_;        // by entry: events still missing
  std::vector<std::uint32_t> pending_flows_;  // by entry: missing events that complete flows
  // By entry: first cycle in which it may issue, once no event is missing.
  std::vector<Cycle> clear_at_;
  std::vector<bool> seen_;                      // by waiter
  bool waits_for_sends_ = false;                // some entry waits for a send of this NI
  std::vector<std::uint32_t> waiters_of_flow_;  // by flow: its first waiter; one more at the end
};

// What makes the dependency state of an NI whose table issues up to `issue_per_cycle` entries in a
// cycle.
using MakeDependencies = std::function<std::unique_ptr<DependencyState>(
    const TableProgram& program, Cycle turnaround, std::uint32_t issue_per_cycle)>;
[[nodiscard]] std::unique_ptr<DependencyState> make_dependencies(const TableProgram& program,
                                                                 Cycle turnaround,
                                                                 std::uint32_t issue_per_cycle);

}  // namespace espalier
