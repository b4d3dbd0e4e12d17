// One program context of an NI: a command processor that executes one thread block (GC3, section
// 4). It runs the block's steps in order, once for each pass over the chunks.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "ni/engine_view.h"
#include "ni/engines/context_program.h"
#include "ni/engines/engine_observer.h"
#include "ni/engines/program_memory.h"
#include "ni/issue_engine.h"

namespace espalier {

// The progress of blocks as other contexts see it: steps done, over all passes, and requests of the
// next step.
class ProgramScoreboard {
 public:
  explicit ProgramScoreboard(const std::vector<ThreadBlock>& blocks) : done_(blocks.size()) {
    for (const ThreadBlock& block : blocks) lengths_.push_back(block.steps.size());
  }
  // Makes everything that was published in earlier cycles visible. Returns whether that was
  // anything.
  bool show_published();
  // Step `step` of pass `tile` is done, or so many requests of it. Other contexts see it from the
  // next cycle on.
  void publish(std::size_t block, std::uint64_t tile, std::size_t step,
               std::uint64_t requests = kAll) {
    published_.push_back({block, value(block, tile, step, requests)});
  }
  [[nodiscard]] bool is_done(std::size_t block, std::uint64_t tile, std::size_t step,
                             std::uint64_t requests = kAll) const {
    return done_[block] >= value(block, tile, step, requests);
  }
  [[nodiscard]] bool has_news() const { return !published_.empty(); }

 private:
  static constexpr std::uint64_t kAll = UINT64_MAX;
  using Progress = std::pair<std::uint64_t, std::uint64_t>;
  struct News {
    std::size_t block;
    Progress value;
  };
  [[nodiscard]] Progress value(std::size_t block, std::uint64_t tile, std::size_t step,
                               std::uint64_t requests) const {
    const std::uint64_t before = tile * lengths_[block] + step;
    return requests == kAll ? Progress{before + 1, 0} : Progress{before, requests};
  }
  std::vector<std::uint64_t> lengths_;
  std::vector<Progress> done_;
  std::vector<News> published_;
};

class ProgramContext {
 public:
  // State that the contexts of an NI share.
  struct Shared {
    const ContextProgram& program;
    NodeId rank;
    ProgramScoreboard& scoreboard;
    ProgramMemory& memory;
    SlotCredits& credits;
    const std::vector<EngineObserver*>& observers;
    Cycle network_free = 0;       // from this cycle on, the proxy can handle the next slot
    BackEnd* back_end = nullptr;  // set during an evaluation
  };

  ProgramContext(const ContextProgram& program, NodeId rank, std::size_t block);

  // The call has been launched: the context begins in cycle `at`.
  void launch(Cycle at) { begins_ = at; }
  // Makes all progress possible in cycle `now`, but starts and issues at most one request, because
  // contexts take turns. Returns the next cycle in which the context can go on without an event;
  // kNever if it needs an event.
  Cycle advance(Cycle now, Shared& shared);
  // Request `number` of the context's sending connection has left the NI.
  void sent(std::uint64_t number);
  // A message has come, or a step of another context has been published.
  void wake() { asleep_until_ = 0; }

  [[nodiscard]] std::uint32_t call() const { return block_->call; }
  [[nodiscard]] bool done() const { return tile_ == tiles_; }
  [[nodiscard]] bool waits_for_port() const { return stall_ == ContextStall::port; }
  // Both describe the last advance(). If it moved at all, there may be more to do in the same
  // cycle.
  [[nodiscard]] bool has_issued() const { return issued_; }
  [[nodiscard]] bool has_moved() const { return issued_ || has_started_; }
  [[nodiscard]] std::uint64_t steps_done() const { return steps_done_; }
  [[nodiscard]] std::size_t block() const { return number_; }
  [[nodiscard]] ContextView view() const;
  // The current step. Precondition: not done.
  [[nodiscard]] const ProgramStep& step() const { return block_->steps[step_]; }

 private:
  enum class Phase : std::uint8_t { turn, fetch, decode, move };
  // A request in flight, from the start of its work to its end.
  struct UnderWay {
    Request request;
    RequestTimes times;
    std::uint64_t number = 0;     // on the sending connection
    bool has_flag = false;        // follows a fence
    bool is_for_network = false;  // its slot must be posted to the network
    bool performed = false;
    bool issued = false;
    bool ended = false;
    std::vector<DataTag> data;  // received data, replaced by the data to send
  };

  Cycle proceed(Cycle now, Shared& shared);
  void begin_step(Cycle now, const Shared& shared);
  // True once the current step is decoded. Otherwise `next` is the cycle in which to ask again.
  [[nodiscard]] bool is_decoded(Cycle now, const Shared& shared, Cycle& next);
  Cycle move(Cycle now, Shared& shared);
  // Starts requests while there is room for them in flight. Returns the cycle in which more can
  // start without an event.
  Cycle start_requests(Cycle now, Shared& shared);
  void start_request(Cycle now, Shared& shared);
  // The cycle in which the proxy has handled the slot from another server with which the next
  // request begins; `now` if there is nothing to handle.
  [[nodiscard]] Cycle post_receive(Cycle now, Shared& shared);
  [[nodiscard]] Cycle move_by_context(ProgramOp op, Bytes bytes, Cycle now, const Shared& shared);
  // Moves requests on, in order, whose work in memory and ALU is done or whose port has room.
  Cycle carry_on(Cycle now, Shared& shared);
  // The fence and the network post between a request's work and its issue: true when both are over.
  // Otherwise `next` is the cycle in which to ask again.
  [[nodiscard]] bool may_leave(UnderWay& request, Cycle now, Shared& shared, Cycle& next);
  [[nodiscard]] bool issue(UnderWay& request, Cycle now, Shared& shared);
  // True if a request has ended.
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
  StepTimes times_;    // of the current step
  Cycle counted_ = 0;  // stalls of the step are counted up to this cycle
  RequestGrid grid_;
  std::uint64_t started_ = 0;  // requests of the step that have started
  std::uint64_t ended_ = 0;
  // Times of the request that starts next, as in RequestTimes.
  Cycle taken_ = kNever;
  Cycle received_ = kNever;
  Cycle mover_free_ = 0;
  std::deque<UnderWay> under_way_;
  std::uint64_t next_number_ = 0;  // of the next request on the sending connection
  std::uint64_t steps_done_ = 0;
  ContextStall stall_ = ContextStall::launch;
  bool issued_ = false;          // in the last advance()
  bool has_started_ = false;     // in the last advance()
  bool waits_for_room_ = false;  // of a port, or of the receiver: no event tells when it is there
  Cycle asleep_until_ = 0;       // before this cycle only sent() and wake() change anything
};

}  // namespace espalier
