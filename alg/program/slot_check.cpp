#include "alg/program/compiler_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace espalier {

namespace {

class UntimedRun {
 public:
  UntimedRun(const Program& program, std::uint32_t slots, std::uint32_t chunks_per_slot)
      : program_(program), slots_(slots), chunks_per_slot_(chunks_per_slot) {
    using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    connections_ = connections_of(program);
    filled_.assign(connections_.size(), 0);
    std::map<Name, std::size_t> numbers;
    for (std::size_t c = 0; c < connections_.size(); ++c) {
      const Connection& at = connections_[c];
      numbers[{at.from, at.to, at.channel, at.call}] = c;
    }
    for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
      std::vector<Progress>& of_rank = progress_.emplace_back();
      for (const ThreadBlock& block : program.ranks[r].blocks) {
        Progress& progress = of_rank.emplace_back();
        const auto peer = [](std::int32_t rank) { return static_cast<std::uint32_t>(rank); };
        if (block.send_peer != kNoPeer) {
          progress.to = numbers[{r, peer(block.send_peer), block.channel, block.call}];
        }
        if (block.recv_peer != kNoPeer) {
          progress.from = numbers[{peer(block.recv_peer), r, block.channel, block.call}];
        }
      }
    }
  }

  std::string run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
        for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
          while (advance(r, b)) moves = true;
        }
      }
    }
    for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        if (!has_ended(r, b) && is_full(r, b)) return sentence(r, b);
      }
    }
    for (std::uint32_t r = 0; r < program_.num_ranks(); ++r) {
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        if (!has_ended(r, b)) {
          return fmt::format("gpu {} tb {} never gets past step {}", r, b, progress_[r][b].step);
        }
      }
    }
    return {};
  }

 private:
  struct Progress {
    std::size_t step = 0;
    std::uint32_t transactions = 0;  // done in the current step
    std::size_t to = 0;              // connection
    std::size_t from = 0;            // connection
  };

  [[nodiscard]] bool has_ended(std::uint32_t r, std::uint32_t b) const {
    return progress_[r][b].step == program_.ranks[r].blocks[b].steps.size();
  }
  [[nodiscard]] const ProgramStep& step_at(std::uint32_t r, std::uint32_t b) const {
    return program_.ranks[r].blocks[b].steps[progress_[r][b].step];
  }
  [[nodiscard]] bool is_full(std::uint32_t r, std::uint32_t b) const {
    return sends(step_at(r, b).op) && filled_[progress_[r][b].to] == slots_;
  }

  [[nodiscard]] bool may_start(std::uint32_t r, std::uint32_t b) const {
    const std::vector<ThreadBlock>& blocks = program_.ranks[r].blocks;
    if (progress_[r][b].step == 0 && blocks[b].call > 0) {
      for (std::uint32_t other = 0; other < blocks.size(); ++other) {
        if (blocks[other].call < blocks[b].call && !has_ended(r, other)) return false;
      }
    }
    const ProgramStep& step = step_at(r, b);
    if (step.wait_block < 0) return true;
    const auto& target = progress_[r][static_cast<std::size_t>(step.wait_block)];
    return target.step > static_cast<std::size_t>(step.wait_step);
  }

  // Runs one transaction of a step.
  bool advance(std::uint32_t r, std::uint32_t b) {
    if (has_ended(r, b)) return false;
    Progress& progress = progress_[r][b];
    const ProgramStep& step = step_at(r, b);
    if (progress.transactions == 0 && !may_start(r, b)) return false;
    if (receives(step.op) && filled_[progress.from] == 0) return false;
    if (is_full(r, b)) return false;
    if (receives(step.op)) --filled_[progress.from];
    if (sends(step.op)) ++filled_[progress.to];
    ++progress.transactions;
    const bool moves_messages = receives(step.op) || sends(step.op);
    const std::uint32_t needed = chunks_per_slot_ == 0 || !moves_messages
                                     ? 1
                                     : (step.count + chunks_per_slot_ - 1) / chunks_per_slot_;
    if (progress.transactions < needed) return true;
    ++progress.step;
    progress.transactions = 0;
    return true;
  }

  [[nodiscard]] std::string sentence(std::uint32_t r, std::uint32_t b) const {
    const Connection& at = connections_[progress_[r][b].to];
    return fmt::format(
        "the connection from rank {} to rank {} on channel {} needs more than {} slots: gpu {} tb "
        "{} step {} waits for ever for a free slot",
        at.from, at.to, at.channel, slots_, r, b, progress_[r][b].step);
  }

  const Program& program_;
  std::uint32_t slots_;
  std::uint32_t chunks_per_slot_;
  std::vector<Connection> connections_;
  std::vector<std::uint32_t> filled_;            // slots, by connection
  std::vector<std::vector<Progress>> progress_;  // by rank and block
};

}  // namespace

std::string unfinished_with(const Program& program, std::uint32_t slots,
                            std::uint32_t chunks_per_slot) {
  return UntimedRun(program, slots, chunks_per_slot).run();
}

}  // namespace espalier
