// Proves that the program orders any two conflicting accesses of a rank's memory.
//
// Order comes from: the steps of a block, each complete before the next; a wait, after the whole
// step that it names; a later call, after all blocks of the rank's earlier calls; and a message, as
// data stream through a step. The chunks of a step are lanes, and the size of the call decides how
// many successive lanes make a transaction. So lane k of a receive comes after lanes 0 to k of its
// send, whose sources are read before their transaction leaves, and after everything before the
// send. It has no order with later lanes, nor have lanes of one step among themselves. A fused step
// writes a lane to its own memory before it passes it on: the flag of a slot stands behind a fence.
//
// Full slots do not order: a receive that frees a slot for a later send orders the two only for one
// number of slots and one size of transactions.
//
// One tile decides for any number of tiles. Tiles are different bytes of a chunk, so only accesses
// of the same tile conflict. Waits and messages join steps of the same tile, and a block's order
// leads from a tile to itself and to later ones. No path between two accesses of one tile leaves
// the tile.
//
// For each rank in turn, vector clocks over its blocks pass through the whole program in an order
// of execution; a clock says what is known to be done of each block. Clocks decide order exactly,
// so it is enough to compare an access with the last write of the place, and a write also with the
// reads since (as race detectors for threads do).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "alg/program/program_certifier_parts.h"

namespace espalier::program_certifier {

namespace {

// Progress of a block: 2 * step before the step begins; plus 1 when its lanes have read their
// sources and written the chunks that they pass on; plus 2 when it is complete.
using Clock = std::uint32_t;

struct Access {
  std::uint32_t step = kNone;
  std::uint32_t lane = 0;
  bool writes = false;
};

struct PlaceState {
  Access last_write;
  std::vector<Access> reads;  // since the last write; the last one of each block
};

// Clocks of a rank's blocks. A message keeps a row for its receive, the end of a step for the steps
// that wait for it. Rows are reused, so that they stay in the processor's cache.
class KnowledgeRows {
 public:
  explicit KnowledgeRows(std::uint32_t width) : width_(width) {}

  [[nodiscard]] std::uint32_t take() {
    if (free_.empty()) {
      clocks_.resize(clocks_.size() + width_);
      return count_++;
    }
    const std::uint32_t row = free_.back();
    free_.pop_back();
    return row;
  }
  void give_back(std::uint32_t row) { free_.push_back(row); }
  // Valid until the next take().
  [[nodiscard]] Clock* at(std::uint32_t row) { return clocks_.data() + std::size_t{row} * width_; }

 private:
  std::uint32_t width_;
  std::uint32_t count_ = 0;
  std::vector<Clock> clocks_;
  std::vector<std::uint32_t> free_;
};

// Rows that a step keeps.
struct KeptRows {
  std::uint32_t before_send = kNone;  // done before it sends
  std::uint32_t of_lane = kNone;      // done before the same lane leaves
  std::uint32_t at_end = kNone;
  std::uint32_t waiters_left = 0;
};

class RankRaces {
 public:
  RankRaces(const FlatProgram& flat, const ProgramStorage& storage, std::uint32_t rank,
            Findings& findings)
      : flat_(flat),
        storage_(storage),
        findings_(findings),
        rank_(rank),
        first_block_(flat.first_block[rank]),
        width_(flat.first_block[rank + 1] - first_block_),
        rows_(width_),
        kept_(flat.steps.size()),
        now_(flat.blocks.size() * width_),
        places_(storage.num_places(rank)) {}

  void check(const std::vector<std::uint32_t>& order) {
    for (const FlatStep& step : flat_.steps) {
      if (step.waits_for != kNone) ++kept_[step.waits_for].waiters_left;
    }
    for (const std::uint32_t step : order) pass(step);
  }

 private:
  [[nodiscard]] Clock* now(std::uint32_t block) {
    return now_.data() + std::size_t{block} * width_;
  }

  void join(Clock* into, const Clock* other) const {
    for (std::uint32_t i = 0; i < width_; ++i) into[i] = std::max(into[i], other[i]);
  }
  void copy(Clock* into, const Clock* other) const { std::copy_n(other, width_, into); }

  void pass(std::uint32_t step) {
    const FlatStep& at = flat_.steps[step];
    const FlatBlock& block = flat_.blocks[at.block];
    const ProgramOp op = at.step->op;
    const bool is_here = block.rank == rank_;
    Clock* known = now(at.block);
    if (is_here && at.position == 0) join_earlier_calls(at.block);
    if (at.waits_for != kNone) join_end_of(at.waits_for, known);
    // Rows are taken first, because take() moves the others.
    KeptRows& kept = kept_[step];
    if (sends(op)) kept.before_send = rows_.take();
    if (sends(op)) kept.of_lane = rows_.take();
    if (kept.waiters_left != 0) kept.at_end = rows_.take();
    before_ = known;
    whole_ = receives(op) ? rows_.at(kept_[at.message_of].before_send) : nullptr;
    lane_ = receives(op) ? rows_.at(kept_[at.message_of].of_lane) : nullptr;
    if (is_here) check_accesses(step);
    if (sends(op)) send(step);
    if (receives(op)) receive(at.message_of, known);
    if (is_here) known[at.block - first_block_] = 2 * at.position + 2;
    if (kept.waiters_left != 0) copy(rows_.at(kept.at_end), known);
  }

  void join_end_of(std::uint32_t awaited, Clock* known) {
    KeptRows& kept = kept_[awaited];
    join(known, rows_.at(kept.at_end));
    if (--kept.waiters_left == 0) rows_.give_back(kept.at_end);
  }

  void receive(std::uint32_t sender, Clock* known) {
    join(known, lane_);
    rows_.give_back(kept_[sender].before_send);
    rows_.give_back(kept_[sender].of_lane);
  }

  // A call is launched when all earlier calls have ended.
  void join_earlier_calls(std::uint32_t block) {
    for (std::uint32_t b = first_block_; b < first_block_ + width_; ++b) {
      if (flat_.blocks[b].call < flat_.blocks[block].call) join(now(block), now(b));
    }
  }

  void send(std::uint32_t step) {
    const FlatStep& at = flat_.steps[step];
    Clock* whole = rows_.at(kept_[step].before_send);
    Clock* lane = rows_.at(kept_[step].of_lane);
    copy(whole, before_);
    copy(lane, before_);
    if (whole_ != nullptr) {
      join(whole, whole_);
      join(lane, lane_);
    }
    if (flat_.blocks[at.block].rank == rank_) {
      Clock& own = lane[at.block - first_block_];
      own = std::max(own, 2 * at.position + 1);
    }
  }

  void check_accesses(std::uint32_t step) {
    const ProgramStep& s = *flat_.steps[step].step;
    const auto place = [&](ProgramBuffer buffer, std::int32_t offset) {
      return storage_.place(rank_, buffer, static_cast<std::uint32_t>(offset));
    };
    if (reads_source(s.op)) {
      const std::uint32_t first = place(s.src_buffer, s.src_offset);
      for (std::uint32_t k = 0; k < s.count; ++k) read(first + k, {step, k, false});
    }
    if (writes_target(s.op)) {
      const std::uint32_t first = place(s.dst_buffer, s.dst_offset);
      for (std::uint32_t k = 0; k < s.count; ++k) write(first + k, {step, k, true});
    }
  }

  void read(std::uint32_t place, const Access& access) {
    PlaceState& state = places_[place];
    expect_order(state.last_write, access);
    const std::uint32_t block = flat_.steps[access.step].block;
    for (Access& earlier : state.reads) {
      if (flat_.steps[earlier.step].block != block) continue;
      earlier = access;
      return;
    }
    state.reads.push_back(access);
  }

  void write(std::uint32_t place, const Access& access) {
    PlaceState& state = places_[place];
    expect_order(state.last_write, access);
    for (const Access& earlier : state.reads) expect_order(earlier, access);
    state.last_write = access;
    state.reads.clear();
  }

  void expect_order(const Access& earlier, const Access& later) {
    if (earlier.step == kNone) return;
    const FlatStep& first = flat_.steps[earlier.step];
    if (first.block == flat_.steps[later.step].block) return;
    const std::uint32_t b = first.block - first_block_;
    const bool at_end = earlier.writes && !sends(first.step->op);
    const Clock needed = 2 * first.position + (at_end ? 2 : 1);
    const auto is_known = [&](const Clock* clocks) {
      return clocks != nullptr && clocks[b] >= needed;
    };
    if (is_known(before_) || is_known(whole_)) return;
    if (earlier.lane <= later.lane && is_known(lane_)) return;
    if (!reported_.emplace(earlier.step, later.step).second) return;
    report(earlier, later);
  }

  struct Operand {
    ProgramBuffer buffer;
    std::uint32_t chunk;
  };
  [[nodiscard]] Operand operand(const Access& access) const {
    const ProgramStep& s = *flat_.steps[access.step].step;
    const std::int32_t offset = access.writes ? s.dst_offset : s.src_offset;
    return {access.writes ? s.dst_buffer : s.src_buffer,
            static_cast<std::uint32_t>(offset) + access.lane};
  }

  void report(const Access& earlier, const Access& later) {
    findings_.add_described(ProgramViolationKind::race, flat_.site(later.step), [&] {
      const Operand a = operand(earlier);
      const Operand b = operand(later);
      const bool same_name = a.buffer == b.buffer && a.chunk == b.chunk;
      const std::string other =
          same_name ? "" : fmt::format(" as {} {}", to_string(a.buffer), a.chunk);
      return fmt::format("{} {} {}, which {} {}{}, but no wait and no message orders the two steps",
                         later.writes ? "writes" : "reads", to_string(b.buffer), b.chunk,
                         flat_.name(earlier.step), earlier.writes ? "writes" : "reads", other);
    });
  }

  const FlatProgram& flat_;
  const ProgramStorage& storage_;
  Findings& findings_;
  std::uint32_t rank_;
  std::uint32_t first_block_;
  std::uint32_t width_;  // blocks of the rank
  KnowledgeRows rows_;
  std::vector<KeptRows> kept_;  // by step
  std::vector<Clock> now_;      // by block of the program
  std::vector<PlaceState> places_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> reported_;

  // Clocks of the current step.
  const Clock* before_ = nullptr;  // before it begins
  const Clock* whole_ = nullptr;   // before its message was sent
  const Clock* lane_ = nullptr;    // before the same lane was sent
};

// Lanes of one step run side by side. They conflict if the step moves chunks by less than their
// number.
void check_overlap(const FlatProgram& flat, const ProgramStorage& storage, std::uint32_t step,
                   Findings& findings) {
  const ProgramStep& s = *flat.steps[step].step;
  if (!reads_source(s.op) || !writes_target(s.op)) return;
  const std::uint32_t rank = flat.block_of(step).rank;
  const std::uint32_t src =
      storage.place(rank, s.src_buffer, static_cast<std::uint32_t>(s.src_offset));
  const std::uint32_t dst =
      storage.place(rank, s.dst_buffer, static_cast<std::uint32_t>(s.dst_offset));
  const std::uint32_t shift = src < dst ? dst - src : src - dst;
  if (shift == 0 || shift >= s.count) return;
  findings.add(ProgramViolationKind::race, flat.site(step),
               "its source {} {} and its target {} {}, {} chunks each, overlap in part",
               to_string(s.src_buffer), s.src_offset, to_string(s.dst_buffer), s.dst_offset,
               s.count);
}

// Whether blocks of the rank share a place that one of them writes. Programs of many rings do not.
bool shares_memory(const FlatProgram& flat, const ProgramStorage& storage, std::uint32_t rank) {
  struct Use {
    std::uint32_t block = kNone;
    bool is_shared = false;
    bool is_written = false;
  };
  std::vector<Use> uses(storage.num_places(rank));
  const auto use = [&](const FlatStep& step, ProgramBuffer buffer, std::int32_t offset,
                       bool writes) {
    const std::uint32_t first = storage.place(rank, buffer, static_cast<std::uint32_t>(offset));
    bool conflicts = false;
    for (std::uint32_t k = 0; k < step.step->count; ++k) {
      Use& of_place = uses[first + k];
      of_place.is_shared |= of_place.block != kNone && of_place.block != step.block;
      of_place.is_written |= writes;
      of_place.block = step.block;
      conflicts |= of_place.is_shared && of_place.is_written;
    }
    return conflicts;
  };
  for (std::uint32_t b = flat.first_block[rank]; b < flat.first_block[rank + 1]; ++b) {
    for (std::uint32_t s = flat.blocks[b].first; s < flat.blocks[b].end; ++s) {
      const ProgramStep& step = *flat.steps[s].step;
      if (reads_source(step.op) && use(flat.steps[s], step.src_buffer, step.src_offset, false)) {
        return true;
      }
      if (writes_target(step.op) && use(flat.steps[s], step.dst_buffer, step.dst_offset, true)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

void check_races(const FlatProgram& flat, const std::vector<std::uint32_t>& order,
                 const ProgramStorage& storage, Findings& findings) {
  for (std::uint32_t s = 0; s < flat.steps.size(); ++s) check_overlap(flat, storage, s, findings);
  for (std::uint32_t r = 0; r + 1 < flat.first_block.size(); ++r) {
    if (shares_memory(flat, storage, r)) RankRaces(flat, storage, r, findings).check(order);
  }
}

}  // namespace espalier::program_certifier
