// Collectives that a host posts while the simulation runs. They run one after the other in the
// order of the posts, as on a stream of an accelerator. The schedule-table engine of this NI
// executes each of them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "ni/engines/schedule_table_engine.h"
#include "ni/issue_engine.h"
#include "ni/node_memory.h"

namespace espalier {

// A collective that the NIs of a system may execute any number of times. It is loaded once for all
// NIs.
struct StreamProgram {
  // Tables of the whole system, for node frames. The tables of single nodes are in `programs`.
  ScheduleTables tables;
  std::vector<TableProgram> programs;  // one per node, or a single one that fits all nodes
  TableEngine::Spec engine;
  // By route number in the tables: route number in the network.
  std::vector<RouteId> bound;
  std::vector<std::vector<TableEvent>> arrivals;  // by node: its messages, ascending
  std::uint64_t operations = 0;                   // of all nodes
  std::size_t numbers = 0;                        // flow and chunk numbers are below this value

  [[nodiscard]] const TableProgram& program(NodeId node) const {
    return programs.size() == 1 ? programs.front() : programs[node.index()];
  }
};

// Fills in all members except `engine` and `bound`. Precondition: the tables pass the certifier.
[[nodiscard]] StreamProgram load_stream(ScheduleTables tables, std::size_t nodes);

// A collective that a host has posted, and the data of all ranks.
struct StreamCollective {
  // `nodes` is the number of participants. `program` must outlive the collective.
  StreamCollective(const StreamProgram& stream_program, std::uint32_t host_number,
                   ChunkId first_number, std::size_t nodes);

  [[nodiscard]] bool has(FlowId flow) const {
    return flow >= FlowId(first.index()) && flow.index() - first.index() < program.numbers;
  }

  const StreamProgram& program;
  std::uint32_t number;  // its number at the hosts
  ChunkId first;         // first number of its chunks and flows; no two collectives share a number
  std::vector<NodeMemory> memories;  // by node
  Cycle first_issue = kNever;        // earliest of all nodes
  Cycle last_visible = 0;            // reduction included
};

// The host side, which posts collectives to the streams of a system.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  // Node `node` has sent everything and has its result. The node's engine accepts posts again.
  virtual void collective_done(NodeId node, StreamCollective& collective, Cycle now) = 0;
  // A message for a collective that this NI does not execute: a copy for a collective that it has
  // not begun.
  virtual void out_of_turn(NodeId node, const Operation& operation) = 0;
  // Texts for messages to the user.
  [[nodiscard]] virtual std::string name_of(const StreamCollective& collective) const = 0;
  [[nodiscard]] virtual std::string host_of(NodeId node) const = 0;
};

// A collective is over at this NI when all its entries have issued, its sends have left and all its
// arrivals are in memory. The next collective starts in the following cycle. Other NIs may be
// ahead: this NI holds their Reduces for a collective that has not begun here, because the
// collective's buffer does not exist yet. A copy cannot come early: it replaces this rank's
// contribution, and the certifier has proven that the contribution has left before.
class StreamEngine : public IssueEngine, public DataMemory {
 public:
  // `observer` must outlive the engine.
  StreamEngine(NodeId node, StreamObserver& observer) : node_(node), observer_(observer) {}

  // Adds a collective at the end of the stream, in cycle `at`, which is later than now and not
  // before the cycle of the last post. Returns true if the NI must wake the engine in this cycle.
  // `collective` must outlive its execution.
  [[nodiscard]] bool post(StreamCollective& collective, Cycle at);

  Cycle evaluate(Cycle now, BackEnd& back_end) override;
  bool sent(const Operation& operation, Cycle now) override;
  bool completed(const Operation& operation, Cycle now) override;
  [[nodiscard]] bool may_add(const Operation& operation) const override;
  void read(const Operation& operation, std::vector<DataTag>& data) const override;
  void write(const Operation& operation, const std::vector<DataTag>& data) override;

  [[nodiscard]] std::uint64_t decisions() const override;
  // Hosts may always post more.
  [[nodiscard]] bool done() const override { return false; }
  [[nodiscard]] bool waits_for_ports() const override {
    return issue_ && issue_->waits_for_ports();
  }
  [[nodiscard]] bool timer_running(Cycle now) const override;
  void prepare_to_show() override { is_shown_ = true; }
  void show(EngineView& view) const override;
  void explain(const std::string& who, const std::vector<std::string>& ni_names,
               WaitList& waits) const override;

 private:
  class Outlet;
  struct Posted {
    StreamCollective* collective;
    Cycle at;
  };

  void begin();
  [[nodiscard]] bool is_over() const { return issue_->done() && unsent_ == 0 && unreceived_ == 0; }
  void end(Cycle now);
  // True if evaluate() has something to do in the next cycle.
  bool end_if_over(Cycle now);
  [[nodiscard]] bool runs(const Operation& operation) const {
    return running_ != nullptr && running_->has(operation.flow);
  }
  // Translate between the collective's own numbers and the network's numbers.
  [[nodiscard]] Operation in_network(Operation operation) const;
  [[nodiscard]] Operation in_collective(Operation operation) const;
  void explain_missing(const std::string& who, const std::vector<std::string>& ni_names,
                       WaitList& waits) const;

  NodeId node_;
  StreamObserver& observer_;
  std::deque<Posted> posted_;  // not begun
  StreamCollective* running_ = nullptr;
  std::optional<ScheduleTableEngine> issue_;  // of the running collective
  std::uint32_t unsent_ = 0;
  std::uint32_t unreceived_ = 0;
  std::vector<TableEvent> received_;  // of the running collective, in its own numbers
  std::uint64_t decided_ = 0;         // decisions in collectives that are over
  bool is_shown_ = false;
};

}  // namespace espalier
