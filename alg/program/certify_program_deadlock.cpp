// Proves that the program ends with the slots of its connections.
//
// It is executed once, without time. Every block runs until it must wait for a semaphore, a
// message, a free slot or the end of an earlier call. One execution decides for all: semaphores
// only rise, and the data and the room of a connection are taken by one block alone, so a step that
// can run stays able to run. Every execution that continues as long as possible therefore ends in
// the same state (a bounded process network is confluent).
//
// One tile decides for any number of tiles. If one tile ends, all slots are empty, because every
// message has its receive; so executing tile after tile ends, and by the above every execution
// does. If one tile is stuck, several are, too: a block that has finished the tile has sent,
// received and signalled all that others need in this tile. Every stuck block thus waits for
// another stuck block, and finished blocks cannot help in later tiles. Calls are separate networks,
// one after the other, and the same holds for each call.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLongestPrintedCycle = 64;

class Execution {
 public:
  Execution(const FlatProgram& flat, std::uint32_t slots, std::uint32_t chunks_per_slot)
      : flat_(flat),
        slots_(slots),
        chunks_per_slot_(chunks_per_slot),
        state_(flat.blocks.size()),
        sent_(flat.connections.size()),
        received_(flat.connections.size()),
        first_waiter_(flat.steps.size(), kNone) {
    order_.reserve(flat.steps.size());
    calls_.resize(flat.first_block.size() - 1);
    for (std::uint32_t r = 0; r < calls_.size(); ++r) start_next_call(r);
  }

  // Returns whether every block has ended.
  bool run() {
    while (!ready_.empty()) {
      const std::uint32_t block = ready_.front();
      ready_.pop_front();
      state_[block].is_ready = false;
      advance(block);
    }
    return order_.size() == flat_.steps.size();
  }

  // Steps in the order of their ends.
  [[nodiscard]] std::vector<std::uint32_t>& order() { return order_; }

  // A cycle of blocks: each waits for the next one, and the last for the first. Precondition: run()
  // returned false.
  [[nodiscard]] std::vector<std::uint32_t> cycle() const {
    std::uint32_t block = 0;
    while (state_[block].next == flat_.blocks[block].end) ++block;
    std::vector<std::uint32_t> path;
    std::vector<std::uint32_t> place(flat_.blocks.size(), kNone);
    while (place[block] == kNone) {
      place[block] = static_cast<std::uint32_t>(path.size());
      path.push_back(block);
      block = obstacle(block);
    }
    path.erase(path.begin(), path.begin() + place[block]);
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    return path;
  }

  [[nodiscard]] std::uint32_t next_step(std::uint32_t block) const { return state_[block].next; }

  // Why a block of the cycle waits, as a line of text.
  [[nodiscard]] std::string reason(std::uint32_t block) const {
    const std::uint32_t step = state_[block].next;
    const FlatStep& at = flat_.steps[step];
    const std::string name = flat_.name(step);
    if (!state_[block].has_begun) {
      return fmt::format("{} waits for {}", name, flat_.name(at.waits_for));
    }
    if (lacks_message(block)) {
      return fmt::format("{} waits for the message of {}", name, flat_.name(at.message_of));
    }
    const FlatConnection& out = flat_.connections[flat_.blocks[block].out];
    return fmt::format("{} waits for a free slot, which {} would free", name,
                       flat_.name(oldest_receive(out, received_[flat_.blocks[block].out])));
  }

 private:
  struct BlockState {
    std::uint32_t next = 0;        // step
    std::uint32_t left = 0;        // transactions of the step
    std::uint32_t waiter = kNone;  // the next block that waits for the same semaphore
    bool has_begun = false;        // the step's wait is over
    bool is_waiting = false;       // for a semaphore
    bool is_started = false;
    bool is_ready = false;
  };
  // The running call of a rank.
  struct CallState {
    bool is_running = false;
    std::uint32_t call = 0;
    std::uint32_t unfinished = 0;  // blocks of the call
  };

  [[nodiscard]] std::uint32_t transactions(std::uint32_t step) const {
    const ProgramStep& s = *flat_.steps[step].step;
    if (!sends(s.op) && !receives(s.op)) return 0;
    // A signal without chunks is one, too.
    return chunks_per_slot_ == 0 || s.count == 0 ? 1 : (s.count - 1) / chunks_per_slot_ + 1;
  }

  // Starts a rank's blocks of its lowest remaining call.
  void start_next_call(std::uint32_t rank) {
    CallState& running = calls_[rank];
    bool has_next = false;
    std::uint32_t call = 0;
    for (std::uint32_t b = flat_.first_block[rank]; b < flat_.first_block[rank + 1]; ++b) {
      const FlatBlock& block = flat_.blocks[b];
      if (running.is_running && block.call <= running.call) continue;
      if (!has_next || block.call < call) call = block.call;
      has_next = true;
    }
    if (!has_next) return;
    running = {true, call, 0};
    for (std::uint32_t b = flat_.first_block[rank]; b < flat_.first_block[rank + 1]; ++b) {
      if (flat_.blocks[b].call != call) continue;
      ++running.unfinished;
      state_[b].next = flat_.blocks[b].first;
      state_[b].is_started = true;
      wake(b);
    }
  }

  void wake(std::uint32_t block) {
    if (!state_[block].is_started || state_[block].is_ready) return;
    state_[block].is_ready = true;
    ready_.push_back(block);
  }

  [[nodiscard]] bool is_done(std::uint32_t step) const {
    const BlockState& of_block = state_[flat_.steps[step].block];
    return of_block.is_started && of_block.next > step;
  }

  // Runs the block until it must wait or has ended.
  void advance(std::uint32_t block) {
    BlockState& state = state_[block];
    if (state.next == flat_.blocks[block].end) {
      if (!state.has_begun) end_block(block);
      return;
    }
    while (begin_step(block) && move_messages(block)) {
      const std::uint32_t step = state.next++;
      order_.push_back(step);
      state.has_begun = false;
      wake_waiters(step);
      if (state.next == flat_.blocks[block].end) {
        end_block(block);
        return;
      }
    }
  }

  void end_block(std::uint32_t block) {
    state_[block].has_begun = true;  // its end
    const std::uint32_t rank = flat_.blocks[block].rank;
    if (--calls_[rank].unfinished == 0) start_next_call(rank);
  }

  // Returns whether the step's wait is over.
  bool begin_step(std::uint32_t block) {
    BlockState& state = state_[block];
    if (state.has_begun) return true;
    const std::uint32_t target = flat_.steps[state.next].waits_for;
    if (target != kNone && !is_done(target)) {
      if (state.is_waiting) return false;  // a message may have woken it
      state.is_waiting = true;
      state.waiter = first_waiter_[target];
      first_waiter_[target] = block;
      return false;
    }
    state.has_begun = true;
    state.left = transactions(state.next);
    return true;
  }

  void wake_waiters(std::uint32_t step) {
    for (std::uint32_t b = first_waiter_[step]; b != kNone; b = state_[b].waiter) {
      state_[b].is_waiting = false;
      wake(b);
    }
    first_waiter_[step] = kNone;
  }

  // A fused step passes each transaction on before it takes the next one. Returns whether all
  // transactions of the step have moved.
  bool move_messages(std::uint32_t block) {
    BlockState& state = state_[block];
    const FlatBlock& of_block = flat_.blocks[block];
    const ProgramOp op = flat_.steps[state.next].step->op;
    std::uint32_t moved = state.left;
    if (receives(op)) moved = std::min(moved, sent_[of_block.in] - received_[of_block.in]);
    if (sends(op))
      moved = std::min(moved, slots_ - (sent_[of_block.out] - received_[of_block.out]));
    if (moved != 0 && receives(op)) {
      received_[of_block.in] += moved;
      wake(flat_.connections[of_block.in].sender);
    }
    if (moved != 0 && sends(op)) {
      sent_[of_block.out] += moved;
      wake(flat_.connections[of_block.out].receiver);
    }
    state.left -= moved;
    return state.left == 0;
  }

  [[nodiscard]] bool lacks_message(std::uint32_t block) const {
    const FlatBlock& of_block = flat_.blocks[block];
    return receives(flat_.steps[state_[block].next].step->op) &&
           sent_[of_block.in] == received_[of_block.in];
  }

  // The block for which a stuck block waits. It is stuck too.
  [[nodiscard]] std::uint32_t obstacle(std::uint32_t block) const {
    const BlockState& state = state_[block];
    const FlatBlock& of_block = flat_.blocks[block];
    if (!state.is_started) {
      for (std::uint32_t b = flat_.first_block[of_block.rank];; ++b) {
        if (state_[b].is_started && state_[b].next != flat_.blocks[b].end) return b;
      }
    }
    if (!state.has_begun) return flat_.steps[flat_.steps[state.next].waits_for].block;
    if (lacks_message(block)) return flat_.connections[of_block.in].sender;
    return flat_.connections[of_block.out].receiver;
  }

  // The step that receives transaction `received` of a connection.
  [[nodiscard]] std::uint32_t oldest_receive(const FlatConnection& connection,
                                             std::uint32_t received) const {
    std::size_t k = 0;
    for (std::uint32_t before = 0; k + 1 < connection.receives.size(); ++k) {
      before += transactions(connection.receives[k]);
      if (before > received) break;
    }
    return connection.receives[k];
  }

  const FlatProgram& flat_;
  std::uint32_t slots_;
  std::uint32_t chunks_per_slot_;
  std::vector<BlockState> state_;
  std::vector<std::uint32_t> sent_;          // by connection: transactions
  std::vector<std::uint32_t> received_;      // by connection: transactions
  std::vector<std::uint32_t> first_waiter_;  // by step: a block
  std::vector<CallState> calls_;             // by rank
  std::deque<std::uint32_t> ready_;
  std::vector<std::uint32_t> order_;
};

bool ends_with(const FlatProgram& flat, std::uint32_t slots, const ProgramLimits& limits) {
  return Execution(flat, slots, limits.chunks_per_slot).run();
}

// An execution with few slots is possible with more. Precondition: some number of slots suffices.
std::uint32_t find_least_slots(const FlatProgram& flat, const ProgramLimits& limits) {
  std::uint32_t enough = 1;
  while (!ends_with(flat, enough, limits)) enough *= 2;
  std::uint32_t too_few = enough / 2;
  while (enough - too_few > 1) {
    const std::uint32_t middle = too_few + (enough - too_few) / 2;
    (ends_with(flat, middle, limits) ? enough : too_few) = middle;
  }
  return enough;
}

void report(const FlatProgram& flat, const Execution& stuck, const std::string& title,
            Findings& findings) {
  const std::vector<std::uint32_t> cycle = stuck.cycle();
  findings.add_described(ProgramViolationKind::deadlock, flat.site(stuck.next_step(cycle[0])), [&] {
    std::string text = title;
    for (std::size_t i = 0; i < std::min(cycle.size(), kLongestPrintedCycle); ++i) {
      text += "\n  " + stuck.reason(cycle[i]);
    }
    if (cycle.size() > kLongestPrintedCycle) {
      text += fmt::format("\n  ... and {} more", cycle.size() - kLongestPrintedCycle);
    }
    return text + "\n  (back to the first line)";
  });
}

}  // namespace

std::vector<std::uint32_t> check_deadlock(const FlatProgram& flat, const ProgramLimits& limits,
                                          ProgramCertificate& certificate, Findings& findings) {
  Execution unlimited(flat, kUnlimited, limits.chunks_per_slot);
  if (!unlimited.run()) {
    report(flat, unlimited,
           "deadlocks with any number of slots; thread blocks wait for each other in a cycle:",
           findings);
    return {};
  }
  certificate.least_slots = find_least_slots(flat, limits);
  if (certificate.least_slots > limits.slots) {
    Execution limited(flat, limits.slots, limits.chunks_per_slot);
    limited.run();
    const std::string title = fmt::format(
        "deadlocks with {} slots of a connection, but needs {}; thread blocks wait for each other "
        "in a cycle:",
        limits.slots, certificate.least_slots);
    report(flat, limited, title, findings);
    return {};
  }
  return std::move(unlimited.order());
}

}  // namespace espalier::program_certifier

namespace espalier {

bool ends_with_slots(const Program& program, std::uint32_t slots, std::uint32_t chunks_per_slot) {
  const program_certifier::FlatProgram flat(program);
  return program_certifier::Execution(flat, slots, chunks_per_slot).run();
}

}  // namespace espalier
