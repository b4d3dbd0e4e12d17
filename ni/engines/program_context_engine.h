// The issue engine of collective programs: an NI's program contexts, their scoreboard, and the
// calls, which are launched one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/ids.h"
#include "ni/engines/program_context.h"
#include "ni/issue_engine.h"

namespace espalier {

// Observes the end of a rank's program.
class ProgramObserver {
 public:
  virtual ~ProgramObserver() = default;
  // Every context of `rank` has executed its last step, and all data are in memory.
  virtual void program_done(NodeId rank, Cycle now) = 0;
};

class ProgramContextEngine : public IssueEngine {
 public:
  // All arguments must outlive the engine. `memory` belongs to the rank; all NIs share `credits`.
  // `observer`: nullptr where the owner of the engine asks for done().
  ProgramContextEngine(const ContextProgram& program, NodeId rank, ProgramMemory& memory,
                       SlotCredits& credits, ProgramObserver* observer);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  // Contexts reduce; arriving messages are never reduced, so they need not be held.
  [[nodiscard]] bool may_add(const Operation&) const override { return true; }

  [[nodiscard]] std::uint64_t decisions() const override;
  [[nodiscard]] bool done() const override { return active_.empty() && call_ + 1 >= num_calls_; }
  [[nodiscard]] bool waits_for_ports() const override;
  [[nodiscard]] bool timer_running(Cycle now) const override {
    return next_ != kNever && next_ > now;
  }
  void show(EngineView& view) const override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

 private:
  void launch_calls(Cycle now);
  void explain_context(const ProgramContext& context, const std::string& who,
                       const std::vector<std::string>& ni_names, WaitList& waits) const;

  const ContextProgram& program_;
  NodeId rank_;
  ProgramMemory& memory_;
  ProgramObserver* observer_;
  ProgramScoreboard scoreboard_;
  ProgramContext::Shared shared_;
  std::vector<ProgramContext> contexts_;  // by block
  std::uint32_t num_calls_ = 0;           // including calls without blocks at this rank
  std::uint32_t call_ = 0;
  bool launched_ = false;              // call_ has been launched
  std::vector<std::uint32_t> active_;  // contexts of the call that are not done, ascending
  std::size_t turn_ = 0;               // block whose turn it is at ports and memory
  Cycle next_ = 0;
};

}  // namespace espalier
