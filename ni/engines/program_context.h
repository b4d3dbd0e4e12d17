// One program context of an NI: the command processor that stands for a thread block (GC3, section
// 4). It runs the block's steps in order, once for each pass over the chunks.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "ni/engine_view.h"
#include "ni/engines/context_observer.h"
#include "ni/engines/context_program.h"
#include "ni/engines/program_memory.h"
#include "ni/issue_engine.h"

namespace espalier {

// Progress of a block that others can see: of passes and steps together, ascending.
class ProgramScoreboard {
 public:
  explicit ProgramScoreboard(const std::vector<ThreadBlock>& blocks) : done_(blocks.size(), 0) {
    for (const ThreadBlock& block : blocks) lengths_.push_back(block.steps.size());
  }
  // What was published in earlier cycles can be seen from now on.
  void show_published();
  // Step `step` of pass `tile` is done; seen from the next cycle on.
  void publish(std::size_t block, std::uint64_t tile, std::size_t step) {
    published_.push_back({block, value(block, tile, step)});
  }
  [[nodiscard]] bool is_done(std::size_t block, std::uint64_t tile, std::size_t step) const {
    return done_[block] >= value(block, tile, step);
  }
  [[nodiscard]] bool has_news() const { return !published_.empty(); }

 private:
  struct News {
    std::size_t block;
    std::uint64_t value;
  };
  [[nodiscard]] std::uint64_t value(std::size_t block, std::uint64_t tile, std::size_t step) const {
    return tile * lengths_[block] + step + 1;
  }
  std::vector<std::uint64_t> lengths_;
  std::vector<std::uint64_t> done_;
  std::vector<News> published_;
};

class ProgramContext {
 public:
  // What the contexts of an NI share.
  struct Shared {
    const ContextProgram& program;
    NodeId rank;
    ProgramScoreboard& scoreboard;
    ProgramMemory& memory;
    SlotCredits& credits;
    Cycle network_free = 0;       // posts of slots to the network, one after the other
    BackEnd* back_end = nullptr;  // during an evaluation
    std::vector<ContextObserver*> observers = {};
  };

  ProgramContext(const ContextProgram& program, NodeId rank, std::size_t block);

  // Its call has been launched: it begins in cycle `at`.
  void launch(Cycle at) { begins_ = at; }
  // Does what can be done in cycle `now`, but starts and issues one request at most: contexts take
  // turns. Returns the next cycle in which time alone may let it go on; kNever if an event must.
  Cycle advance(Cycle now, Shared& shared);
  // Request `number` of its sending connection has left the NI.
  void sent(std::uint64_t number);

  [[nodiscard]] std::uint32_t call() const { return block_->call; }
  [[nodiscard]] bool done() const { return tile_ == tiles_; }
  [[nodiscard]] bool waits_for_port() const { return stall_ == ContextStall::port; }
  // In the last advance. Where it has moved at all, there may be more to do in the same cycle.
  [[nodiscard]] bool has_issued() const { return issued_; }
  [[nodiscard]] bool has_moved() const { return issued_ || has_started_; }
  [[nodiscard]] std::uint64_t steps_done() const { return steps_done_; }
  [[nodiscard]] std::size_t block() const { return number_; }
  [[nodiscard]] ContextView view() const;
  // The step it is at. Precondition: not done.
  [[nodiscard]] const ProgramStep& step() const { return block_->steps[step_]; }

 private:
  enum class Phase : std::uint8_t { turn, fetch, decode, move };
  // A request under way, from the start of its work to its end.
  struct UnderWay {
    Request request;
    RequestTimes times;
    std::uint64_t number = 0;     // of the sending connection
    bool has_flag = false;        // it goes behind a fence
    bool is_for_network = false;  // its slot has to be posted
    bool performed = false;
    bool issued = false;
    bool ended = false;
    std::vector<DataTag> data;  // received, then to be sent
  };

  void begin_step(Cycle now, const Shared& shared);
  // The step's turn has come: true when it is decoded. `next` is when to ask again.
  [[nodiscard]] bool is_decoded(Cycle now, const Shared& shared, Cycle& next);
  Cycle move(Cycle now, Shared& shared);
  // Starts what may be under way; returns when time alone may let more start.
  Cycle start_requests(Cycle now, Shared& shared);
  void start_request(Cycle now, Shared& shared);
  [[nodiscard]] Cycle move_by_context(ProgramOp op, Bytes bytes, Cycle now, const Shared& shared);
  // Memory and ALU are done, or the port has room: in order.
  Cycle carry_on(Cycle now, Shared& shared);
  // What comes between the work on a request and its issue: true when it is over. `next` is when to
  // ask again.
  [[nodiscard]] bool may_leave(UnderWay& request, Cycle now, Shared& shared, Cycle& next);
  [[nodiscard]] bool issue(UnderWay& request, Cycle now, Shared& shared);
  // True if any has ended.
  bool end_requests(Cycle now, Shared& shared);
  void end_step(Cycle now, Shared& shared);
  [[nodiscard]] StepPlace place() const { return {number_, tile_, step_}; }

  const ThreadBlock* block_;
  std::size_t number_;
  ConnectionId send_connection_;
  ConnectionId recv_connection_;
  std::uint64_t tiles_;
  Cycle begins_ = kNever;
  std::uint64_t tile_ = 0;
  std::size_t step_ = 0;
  Phase phase_ = Phase::turn;
  StepTimes times_;    // of the step
  Cycle counted_ = 0;  // stalls of the step, up to here
  RequestGrid grid_;
  std::uint64_t started_ = 0;  // requests of the step
  Cycle mover_free_ = 0;
  std::deque<UnderWay> under_way_;
  std::uint64_t next_number_ = 0;  // of the sending connection's requests
  std::uint64_t steps_done_ = 0;
  ContextStall stall_ = ContextStall::launch;
  bool issued_ = false;       // in this advance
  bool has_started_ = false;  // the same
};

}  // namespace espalier
