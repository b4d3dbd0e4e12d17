// The steps into which the operations of a plan are lowered, and what waits for what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "alg/program/program.h"
#include "sims/formats/program/mscclpp_plan.h"

namespace espalier::mscclpp {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

inline std::int32_t as_i32(std::uint64_t value) { return static_cast<std::int32_t>(value); }

// A step that reads `src`, or writes `dst`.
[[nodiscard]] ProgramStep step_of(ProgramOp op, const Range* src, const Range* dst);

class PlanSteps {
 public:
  using Nodes = std::vector<std::uint32_t>;
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  // rank, peer, type, pair of buffers, number: one direction of a channel, as its sender names it.
  using ChannelKey =
      std::tuple<std::uint32_t, std::uint32_t, ChannelType, std::string, std::uint32_t>;

  // `fineness`: chunks of the program in one chunk of the plan. Both references must outlive this
  // object.
  PlanSteps(const Plan& plan, const std::uint64_t& fineness);

  // Further steps belong to this operation; `at` has the place that they name.
  void begin(const Op& op, const ProgramStep& at);
  // Throws PlanError at the operation.
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;
  // Plans of a few bytes must neither run for long nor fill the memory.
  void count_work(std::uint64_t work);

  // Adds a step to a block; `sent_by`: of a receive, its send.
  std::uint32_t add(std::uint32_t rank, std::uint32_t block, ProgramStep step, Nodes after = {},
                    std::uint32_t sent_by = kNoNode);
  std::uint32_t add_block(std::uint32_t rank);
  void add_switch() { blocks_.emplace_back(); }
  // A channel of two ranks that no other block has.
  std::uint32_t new_channel(std::uint32_t rank, std::uint32_t peer);
  // The blocks at both ends of one direction of the channel.
  void connect(std::uint32_t from, std::uint32_t sender, std::uint32_t to, std::uint32_t receiver,
               std::uint32_t channel);
  // Whether a packet is read or written is for the operation to say.
  void wrote_packets(std::uint32_t node, const Range& range);
  void reads_packets(std::uint32_t node, const Range& range);

  // Adds the waits, and writes the steps of all ranks.
  void write(Program& program);

  // What thread blocks do on the objects that they share, in order.
  std::map<ChannelKey, Nodes> signals;  // where they land
  std::map<ChannelKey, Nodes> waits;
  std::map<Pair, Nodes> acquires;  // by rank and semaphore
  std::map<Pair, Nodes> releases;
  std::map<Pair, Nodes> barriers;  // arrivals; the step behind an arrival leaves the barrier
  // By rank, thread block and operation: its last steps.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Nodes> ends;
  std::vector<std::pair<std::uint32_t, Pair>> step_waits;  // for thread block and operation
  // By two ranks and the sender's block: where its puts land.
  std::map<Pair, std::map<std::uint32_t, Nodes>> puts;

 private:
  // Its waits may be any number, and of steps that are not made yet.
  struct Node {
    ProgramStep step;
    const Op* op = nullptr;
    std::uint32_t rank = 0;
    std::uint32_t block = 0;
    Nodes after;  // of the same rank
    std::uint32_t sent_by = kNoNode;
  };
  struct Block {
    std::int32_t send_peer = kNoPeer;
    std::int32_t recv_peer = kNoPeer;
    std::uint32_t channel = 0;
    Nodes nodes;
  };

  [[noreturn]] static void fail(const ProgramStep& at, const Op& op, const std::string& what,
                                const std::string& hint = {});
  [[noreturn]] void fail(std::uint32_t node, const std::string& what) const {
    fail(nodes_[node].step, *nodes_[node].op, what);
  }
  [[nodiscard]] std::uint32_t tb_of(std::uint32_t node) const {
    return static_cast<std::uint32_t>(nodes_[node].step.plan_block);
  }
  void expect_one_block(const Nodes& uses, const char* object) const;
  void pair(const Nodes& waiting, const Nodes* signalled, std::size_t initial, const char* object,
            const char* lacks);
  void resolve();
  void resolve_barriers();
  void order_released_writes(std::uint32_t rank);
  [[nodiscard]] std::vector<std::int32_t> numbers();
  void write_node(const Node& node, bool is_awaited, const std::vector<std::int32_t>& index,
                  ThreadBlock& made) const;

  const Plan& plan_;
  const std::uint64_t& fineness_;
  ProgramStep place_;
  const Op* op_ = nullptr;
  std::uint64_t work_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::vector<Block>> blocks_;  // by rank
  std::map<Pair, std::uint32_t> channels_;  // of two ranks
  std::uint32_t num_channels_ = 1;
  std::map<std::uint32_t, std::vector<Pair>> released_;  // by rank: waits, and its signals
  struct PacketRead {
    std::uint32_t node;
    Range range;
  };
  std::vector<PacketRead> packet_reads_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> packet_writers_;
};

}  // namespace espalier::mscclpp
