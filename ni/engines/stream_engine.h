// Collectives that a host posts while the simulation runs, one after the other in the order of the
// posts, as on a stream of an accelerator: each by the schedule-table engine of this NI.
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

// A collective that the NIs of a system may execute any number of times: loaded once for all.
struct StreamProgram {
  // What node frames need of the tables; those of the nodes are in `programs`.
  ScheduleTables tables;
  std::vector<TableProgram> programs;  // one per node, or the one that all hold
  ScheduleTableEngine::Spec engine;
  std::vector<RouteId> bound;                     // by route of the tables: what operations call it
  std::vector<std::vector<TableEvent>> arrivals;  // by node: messages, ascending
  std::uint64_t operations = 0;                   // of all nodes
  std::size_t numbers = 0;                        // flows and chunks are numbered below it

  [[nodiscard]] const TableProgram& program(NodeId node) const {
    return programs.size() == 1 ? programs.front() : programs[node.index()];
  }
};

// All but `engine` and `bound`. Precondition: the tables pass the certifier.
[[nodiscard]] StreamProgram load_stream(ScheduleTables tables, std::size_t nodes);

// A collective that a host has posted, and its data at all ranks.
struct StreamCollective {
  // `nodes` take part. `program` must outlive it.
  StreamCollective(const StreamProgram& stream_program, std::uint32_t host_number,
                   ChunkId first_number, std::size_t nodes);

  [[nodiscard]] bool has(FlowId flow) const {
    return flow >= FlowId(first.index()) && flow.index() - first.index() < program.numbers;
  }

  const StreamProgram& program;
  std::uint32_t number;  // what hosts call it
  ChunkId first;         // its chunks and flows are numbered from here on, apart from all others'
  std::vector<NodeMemory> memories;  // by node
  Cycle first_issue = kNever;        // of all nodes
  Cycle last_visible = 0;            // reduction included
};

// The host side, which posts collectives to the streams of a system.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  // Node `node` has sent everything and has its result. Its engine accepts posts again.
  virtual void collective_done(NodeId node, StreamCollective& collective, Cycle now) = 0;
  // A message that this NI does not execute: a copy of a collective that it has not begun.
  virtual void out_of_turn(NodeId node, const Operation& operation) = 0;
  // For people.
  [[nodiscard]] virtual std::string name_of(const StreamCollective& collective) const = 0;
  [[nodiscard]] virtual std::string host_of(NodeId node) const = 0;
};

// A collective is over at this NI when all its entries have issued, its sends have left and all its
// arrivals are in memory; the next one starts in the following cycle. Other NIs may be ahead: the
// NI holds their Reduces for a collective that has not begun here, because its buffer does not
// exist yet. A copy cannot come early: it replaces this rank's contribution, and the certifier has
// proven that the contribution has left before.
class StreamEngine : public IssueEngine, public DataMemory {
 public:
  // `observer` must outlive it.
  StreamEngine(NodeId node, StreamObserver& observer) : node_(node), observer_(observer) {}

  // At the end of the stream, in cycle `at`, later than now and not before that of the last post.
  // True if the NI has to wake the engine then. The collective must outlive its execution.
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
  // True where evaluate() has something to do in the next cycle.
  bool end_if_over(Cycle now);
  [[nodiscard]] bool runs(const Operation& operation) const {
    return running_ != nullptr && running_->has(operation.flow);
  }
  // Between the collective's own numbers and those of the network.
  [[nodiscard]] Operation in_network(Operation operation) const;
  [[nodiscard]] Operation in_collective(Operation operation) const;
  void explain_missing(const std::string& who, const std::vector<std::string>& ni_names,
                       WaitList& waits) const;

  NodeId node_;
  StreamObserver& observer_;
  std::deque<Posted> posted_;  // not begun
  StreamCollective* running_ = nullptr;
  std::optional<ScheduleTableEngine> issue_;  // of the running one
  std::uint32_t unsent_ = 0;
  std::uint32_t unreceived_ = 0;
  std::vector<TableEvent> received_;  // of the running one, in its own numbers
  std::uint64_t decided_ = 0;         // in those that are over
  bool is_shown_ = false;
};

}  // namespace espalier
