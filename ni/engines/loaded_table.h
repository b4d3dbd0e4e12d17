// A schedule table in an NI with the messages that have come: what every engine of schedule tables
// needs, whichever entry it issues next.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ni/engine_view.h"
#include "ni/engines/dependency_state.h"
#include "ni/engines/table_program.h"
#include "ni/issue_engine.h"

namespace espalier {

// The doorbells of collectives that the host posts while others run.
class Doorbells {
 public:
  // The first step of a collective does not start before its doorbell, in any lockstep mode.
  struct Release {
    Timestep step;
    Cycle at;
  };
  // In ascending order of steps.
  explicit Doorbells(std::vector<Release> releases) : releases_(std::move(releases)) {}

  // 0 if the step waits for none.
  [[nodiscard]] Cycle rings_at(Timestep step) const {
    return next_ < releases_.size() && releases_[next_].step == step ? releases_[next_].at : 0;
  }
  void step_begins(Timestep step) {
    if (next_ < releases_.size() && releases_[next_].step == step) ++next_;
  }

 private:
  std::vector<Release> releases_;
  std::size_t next_ = 0;
};

class LoadedTable {
 public:
  // `program` and the tables of `frame` must outlive it.
  LoadedTable(const TableProgram& program, const NodeFrame& frame,
              std::unique_ptr<DependencyState> dependencies)
      : program_(program), frame_(frame), dependencies_(std::move(dependencies)) {}

  [[nodiscard]] std::size_t size() const { return program_.entries.size(); }
  [[nodiscard]] const ProgramEntry& entry(std::size_t index) const {
    return program_.entries[index];
  }
  [[nodiscard]] DependencyState& dependencies() const { return *dependencies_; }

  // Whether the queues of all sends of the entry have room.
  [[nodiscard]] bool has_room(std::size_t entry, const BackEnd& back_end) const;
  void issue(std::size_t entry, Cycle now, BackEnd& back_end) const;
  // As IssueEngine::sent, completed and may_add.
  void sent(const Operation& operation, Cycle now);
  void completed(const Operation& operation, Cycle now);
  [[nodiscard]] bool may_add(const Operation& operation) const;
  // The events, in the table's names, that the entry still waits for.
  [[nodiscard]] std::vector<TableEvent> missing(std::size_t entry) const;

  void prepare_to_show();
  // Precondition: prepare_to_show() was called. Fills in what `view` shows of its head entry.
  void show(TableView& view) const;
  void explain(std::size_t entry, Timestep timestep, const std::string& who,
               const std::vector<std::string>& ni_names, WaitList& waits) const;

 private:
  const TableProgram& program_;
  NodeFrame frame_;  // between the table and the rest of the NI
  std::unique_ptr<DependencyState> dependencies_;
  std::vector<std::vector<std::uint32_t>> waiters_of_entry_;  // filled only for show()
};

}  // namespace espalier
