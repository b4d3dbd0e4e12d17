// Proves that the steps of a stage do the stage's work: every block is brought together once
// from every NPU, or brought to every NPU once. Internal to certify_dimension_plan.cpp; a template,
// so that tests can hand in steps that are wrong.
//
// The proof needs no sets of contributions. A reduce_scatter is right if every NPU except the owner
// of a block sends the block exactly once, and after all its receives of the block: then the sends
// of a block form a tree with the owner at its root, which counts every contribution once. An
// all_gather is right if every NPU except the owner receives a block exactly once, before it sends
// it. Both proofs take time proportional to the blocks in messages, about P^2.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "alg/certify/certifier.h"
#include "alg/plans/dimension_stage.h"

namespace espalier {

template <class Steps>
class StageProof {
 public:
  StageProof(const Steps& steps, StageKind kind)
      : steps_(steps), kind_(kind), size_(steps.size()) {}

  // Returns the error found; nothing if the stage is proven.
  [[nodiscard]] std::optional<Violation> run() {
    if (steps_.algorithm() == DimensionAlgorithm::in_network) {
      check_switch();
      return found_;
    }
    check_counts();
    for (std::uint32_t lane = 0; lane < steps_.lanes(); ++lane) {
      for (std::uint32_t npu = 0; npu < size_ && !found_; ++npu) check_messages(npu, lane);
    }
    // From here on, blocks are in range, because receives have been checked against sends.
    for (std::uint32_t lane = 0; lane < steps_.lanes(); ++lane) {
      for (std::uint32_t npu = 0; npu < size_ && !found_; ++npu) {
        if (kind_ == StageKind::reduce_scatter) {
          check_reduction(npu, lane);
        } else {
          check_gathering(npu, lane);
        }
      }
    }
    return found_;
  }

 private:
  // For one NPU, by block: 1 + the step in which it sends (or receives) the block; 0: never.
  using BlockSteps = std::vector<std::uint32_t>;

  template <class... Args>
  void fail(ViolationKind kind, const char* format, const Args&... args) {
    if (found_) return;
    found_ = Violation{kind,
                       fmt::format("{} among {} NPUs, {}: {}", to_string(steps_.algorithm()), size_,
                                   to_string(kind_), fmt::format(fmt::runtime(format), args...))};
  }

  [[nodiscard]] bool in_range(BlockRange blocks) const {
    return blocks.first < size_ && blocks.count <= size_ - blocks.first;
  }

  template <class Visit>
  void each_send(std::uint32_t npu, std::uint32_t lane, Visit visit) const {
    for (std::uint32_t step = 0; step < steps_.steps() && !found_; ++step) {
      const std::uint32_t count = steps_.num_sends(kind_, step);
      for (std::uint32_t i = 0; i < count; ++i) visit(step, steps_.send(kind_, npu, lane, step, i));
    }
  }
  // visit(step, block) for every block of the messages.
  template <class Visit>
  void each_sent_block(std::uint32_t npu, std::uint32_t lane, Visit visit) const {
    each_send(npu, lane, [&](std::uint32_t step, const StageMessage& s) {
      for (std::uint32_t b = 0; b < s.blocks.count; ++b) visit(step, s.blocks.first + b);
    });
  }
  template <class Visit>
  void each_received_block(std::uint32_t npu, std::uint32_t lane, Visit visit) const {
    for (std::uint32_t step = 0; step < steps_.steps() && !found_; ++step) {
      const std::uint32_t count = steps_.num_receives(kind_, step);
      for (std::uint32_t i = 0; i < count; ++i) {
        const BlockRange blocks = steps_.receive(kind_, npu, lane, step, i).blocks;
        for (std::uint32_t b = 0; b < blocks.count; ++b) visit(step, blocks.first + b);
      }
    }
  }

  // Whether `npu` has a receive for the message from `from`. The receives of `direct` are in the
  // order of coordinates.
  [[nodiscard]] bool expects(std::uint32_t npu, std::uint32_t from, std::uint32_t lane,
                             std::uint32_t step, BlockRange blocks) const {
    const std::uint32_t count = steps_.num_receives(kind_, step);
    const auto matches = [&](std::uint32_t i) {
      const StageReceive r = steps_.receive(kind_, npu, lane, step, i);
      return r.peer == from && r.blocks.first == blocks.first && r.blocks.count == blocks.count;
    };
    const std::uint32_t likely = (from + size_ - npu - 1) % size_;
    if (likely < count && matches(likely)) return true;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (matches(i)) return true;
    }
    return false;
  }

  // Checks that receives match sends: every send has its own receive, because no NPU sends to the
  // same NPU twice in a step, and there are as many receives as sends.
  void check_messages(std::uint32_t npu, std::uint32_t lane) {
    BlockSteps last_sent_to(size_, 0);
    each_send(npu, lane, [&](std::uint32_t step, const StageSend& s) {
      if (s.peer >= size_ || s.peer == npu || !in_range(s.blocks)) {
        fail(ViolationKind::malformed,
             "NPU {} sends blocks {}+{} to NPU {} in step {}; it may send blocks 0 to {} to "
             "another NPU",
             npu, s.blocks.first, s.blocks.count, s.peer, step, size_ - 1);
        return;
      }
      if (last_sent_to[s.peer] == step + 1 || !expects(s.peer, npu, lane, step, s.blocks)) {
        fail(ViolationKind::postcondition,
             "NPU {} sends blocks {}+{} to NPU {} in step {}, but that NPU does not receive these "
             "blocks in that step",
             npu, s.blocks.first, s.blocks.count, s.peer, step);
      }
      last_sent_to[s.peer] = step + 1;
    });
  }
  void check_counts() {
    for (std::uint32_t step = 0; step < steps_.steps(); ++step) {
      const std::uint32_t sends = steps_.num_sends(kind_, step);
      const std::uint32_t receives = steps_.num_receives(kind_, step);
      if (sends != receives) {
        fail(ViolationKind::postcondition,
             "an NPU sends {} messages in step {} but receives {}; the two numbers must be equal",
             sends, step, receives);
      }
    }
  }

  void check_reduction(std::uint32_t npu, std::uint32_t lane) {
    BlockSteps sent(size_, 0);
    each_sent_block(npu, lane, [&](std::uint32_t step, std::uint32_t b) {
      if (b == npu) {
        fail(ViolationKind::postcondition,
             "NPU {} sends its own block in step {}, but must keep it", npu, step);
      }
      if (sent[b] != 0) {
        fail(ViolationKind::postcondition,
             "NPU {}'s contribution to block {} is counted twice, in steps {} and {}", npu, b,
             sent[b] - 1, step);
      }
      sent[b] = step + 1;
    });
    for (std::uint32_t b = 0; b < size_; ++b) {
      if (b != npu && sent[b] == 0) {
        fail(ViolationKind::postcondition, "NPU {}'s contribution to block {} is missing", npu, b);
      }
    }
    each_received_block(npu, lane, [&](std::uint32_t step, std::uint32_t b) {
      if (b == npu || sent[b] > step + 1) return;
      fail(ViolationKind::read_before_write,
           "NPU {} sends block {} in step {}, before it has received all of it in step {}", npu, b,
           sent[b] - 1, step);
    });
  }

  void check_gathering(std::uint32_t npu, std::uint32_t lane) {
    BlockSteps received(size_, 0);
    each_received_block(npu, lane, [&](std::uint32_t step, std::uint32_t b) {
      if (b == npu || received[b] != 0) {
        fail(ViolationKind::postcondition, "NPU {} receives block {} again in step {}", npu, b,
             step);
      }
      received[b] = step + 1;
    });
    for (std::uint32_t b = 0; b < size_; ++b) {
      if (b != npu && received[b] == 0) {
        fail(ViolationKind::postcondition, "NPU {} never receives block {}", npu, b);
      }
    }
    each_sent_block(npu, lane, [&](std::uint32_t step, std::uint32_t b) {
      if (b == npu || received[b] <= step) return;
      fail(ViolationKind::read_before_write,
           "NPU {} sends block {} in step {}, but receives it in step {}", npu, b, step,
           received[b] - 1);
    });
  }

  // The switch adds the messages for an NPU, and copies an NPU's own message to all other NPUs.
  void check_switch() {
    const bool reduces = kind_ == StageKind::reduce_scatter;
    std::vector<std::uint32_t> last_for(size_, 0);  // 1 + NPU, by block
    for (std::uint32_t npu = 0; npu < size_ && !found_; ++npu) {
      const std::uint32_t single =
          reduces ? steps_.num_receives(kind_, 0) : steps_.num_sends(kind_, 0);
      const std::uint32_t others =
          reduces ? steps_.num_sends(kind_, 0) : steps_.num_receives(kind_, 0);
      if (single != 1 || others != size_ - 1) {
        fail(ViolationKind::postcondition,
             "an NPU exchanges {} messages of its own block and {} of other blocks with the "
             "switch; expected 1 and {}",
             single, others, size_ - 1);
        return;
      }
      const BlockRange own = reduces ? steps_.receive(kind_, npu, 0, 0, 0).blocks
                                     : steps_.send(kind_, npu, 0, 0, 0).blocks;
      const bool to_all = reduces || steps_.send(kind_, npu, 0, 0, 0).peer == npu;
      if (own.first != npu || own.count != 1 || !to_all) {
        fail(ViolationKind::postcondition,
             "NPU {} exchanges blocks {}+{} as its own block; expected blocks {}+1, sent to all "
             "NPUs",
             npu, own.first, own.count, npu);
      }
      for (std::uint32_t i = 0; i < others && !found_; ++i) {
        const auto [peer, blocks] =
            reduces ? steps_.send(kind_, npu, 0, 0, i) : steps_.receive(kind_, npu, 0, 0, i);
        if (!in_range(blocks) || blocks.count != 1 || blocks.first == npu || peer != blocks.first ||
            last_for[blocks.first] == npu + 1) {
          fail(ViolationKind::postcondition,
               "NPU {} exchanges blocks {}+{} with NPU {}; expected 1 block, the own block of that "
               "NPU, exactly once",
               npu, blocks.first, blocks.count, peer);
          return;
        }
        last_for[blocks.first] = npu + 1;
      }
    }
  }

  const Steps& steps_;
  StageKind kind_;
  std::uint32_t size_;
  std::optional<Violation> found_;
};

}  // namespace espalier
