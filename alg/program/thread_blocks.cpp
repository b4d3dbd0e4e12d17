#include "alg/program/compiler_passes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "alg/program/program.h"

namespace espalier {

namespace {

// The blocks of one rank.
class RankBlocks {
 public:
  // Records the connection ends of `node`. Another instruction may tie them together later.
  void see(const InstructionDag& dag, const Instruction& node) {
    const std::int32_t to = peer(dag, node.message_to);
    const std::int32_t from = peer(dag, node.message_from);
    if (to == kNoPeer && from == kNoPeer) {
      has_local_.emplace(node.call, true);
      return;
    }
    if (to != kNoPeer) insert(recv_peer_, {node.call, *node.channel, to}, from);
    if (from != kNoPeer) insert(send_peer_, {node.call, *node.channel, from}, to);
  }

  void number_blocks(RankProgram& rank) {
    std::map<BlockKey, std::int32_t> keys;
    for (const auto& [end, from] : recv_peer_) {
      keys.emplace(BlockKey{end.call, end.channel, end.peer, from}, 0);
    }
    for (const auto& [end, to] : send_peer_) {
      keys.emplace(BlockKey{end.call, end.channel, to, end.peer}, 0);
    }
    for (const auto& [call, unused] : has_local_) {
      const auto in_call = keys.lower_bound(BlockKey{call, 0, kNoPeer, kNoPeer});
      if (in_call != keys.end() && std::get<0>(in_call->first) == call) continue;
      keys.emplace(BlockKey{call, 0, kNoPeer, kNoPeer}, 0);
    }
    for (auto& [key, number] : keys) {
      number = static_cast<std::int32_t>(rank.blocks.size());
      ThreadBlock block;
      std::tie(block.call, block.channel, block.send_peer, block.recv_peer) = key;
      rank.blocks.push_back(block);
    }
    numbers_ = std::move(keys);
    last_.assign(rank.blocks.size(), -1);
  }

  // The block for an instruction at `position` of the order.
  std::uint32_t choose(const InstructionDag& dag, const Instruction& node, const RankProgram& rank,
                       std::int64_t position) {
    const std::uint32_t block = node.channel ? owner(dag, node) : idlest(rank, node.call);
    take(block, position);
    return block;
  }
  void take(std::uint32_t block, std::int64_t position) { last_[block] = position; }

 private:
  struct End {
    std::uint32_t call;
    std::uint32_t channel;
    std::int32_t peer;
    friend bool operator<(const End& a, const End& b) {
      return std::tie(a.call, a.channel, a.peer) < std::tie(b.call, b.channel, b.peer);
    }
  };
  using BlockKey = std::tuple<std::uint32_t, std::uint32_t, std::int32_t, std::int32_t>;

  static std::int32_t peer(const InstructionDag& dag, std::uint32_t message_end) {
    return message_end == Instruction::kNone ? kNoPeer
                                             : static_cast<std::int32_t>(dag.peer_of(message_end));
  }
  static void insert(std::map<End, std::int32_t>& ends, const End& end, std::int32_t other) {
    std::int32_t& tied = ends.emplace(end, kNoPeer).first->second;
    if (other != kNoPeer) tied = other;
  }

  [[nodiscard]] std::uint32_t owner(const InstructionDag& dag, const Instruction& node) const {
    std::int32_t to = peer(dag, node.message_to);
    std::int32_t from = peer(dag, node.message_from);
    if (to == kNoPeer) {
      to = send_peer_.at({node.call, *node.channel, from});
    } else {
      from = recv_peer_.at({node.call, *node.channel, to});
    }
    return static_cast<std::uint32_t>(numbers_.at(BlockKey{node.call, *node.channel, to, from}));
  }
  [[nodiscard]] std::uint32_t idlest(const RankProgram& rank, std::uint32_t call) const {
    std::uint32_t best = Instruction::kNone;
    for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
      if (rank.blocks[b].call != call) continue;
      if (best == Instruction::kNone || last_[b] < last_[best]) best = b;
    }
    return best;
  }

  std::map<End, std::int32_t> recv_peer_;  // of the block that owns a sending end
  std::map<End, std::int32_t> send_peer_;  // of the block that owns a receiving end
  std::map<std::uint32_t, bool> has_local_;
  std::map<BlockKey, std::int32_t> numbers_;
  std::vector<std::int64_t> last_;  // position of the block's last instruction
};

// By block of a rank: the number of its last step that is known to be done, or -1.
using Clock = std::vector<std::int32_t>;

// Position of an instruction.
struct Seat {
  std::uint32_t block = 0;
  std::uint32_t step = 0;
};

class RankAssembly {
 public:
  RankAssembly(const InstructionDag& dag, const std::vector<std::uint32_t>& position,
               RankProgram& rank, std::vector<Seat>& seats)
      : dag_(dag),
        position_(position),
        rank_(rank),
        seats_(seats),
        now_(rank.blocks.size(), Clock(rank.blocks.size(), -1)),
        after_step_(rank.blocks.size()) {}

  // The block of the last instruction whose result `node` uses; kNone: there is none in its call.
  [[nodiscard]] std::uint32_t block_of_data(const Instruction& node) const {
    std::uint32_t last = Instruction::kNone;
    for (const DagEdge& edge : node.after) {
      if (!edge.is_true || dag_.nodes[edge.from].call != node.call) continue;
      if (last == Instruction::kNone || position_[edge.from] > position_[last]) last = edge.from;
    }
    return last == Instruction::kNone ? last : seats_[last].block;
  }

  void append(std::uint32_t n, std::uint32_t block) {
    const Instruction& node = dag_.nodes[n];
    std::vector<ProgramStep>& steps = rank_.blocks[block].steps;
    Clock& now = now_[block];
    const std::vector<std::uint32_t> waits = waits_of(node, block, now);
    ProgramStep step = step_from(node);
    for (std::size_t w = 0; w < waits.size(); ++w) {
      const Seat& on = seats_[waits[w]];
      rank_.blocks[on.block].steps[on.step].signals = true;
      // A step has one wait. Each further wait takes a nop before it.
      const bool is_last = w + 1 == waits.size();
      ProgramStep nop;
      nop.line = node.line;
      ProgramStep& waiting = is_last ? step : nop;
      waiting.wait_block = static_cast<std::int32_t>(on.block);
      waiting.wait_step = static_cast<std::int32_t>(on.step);
      if (is_last) continue;
      steps.push_back(nop);
      after_step_[block].push_back(now);
    }
    seats_[n] = {block, static_cast<std::uint32_t>(steps.size())};
    now[block] = static_cast<std::int32_t>(steps.size());
    steps.push_back(step);
    after_step_[block].push_back(now);
  }

 private:
  // The instructions of other blocks that `node` must wait for. Skips an instruction that is known
  // to be done, or that another wait implies. Updates `now`.
  [[nodiscard]] std::vector<std::uint32_t> waits_of(const Instruction& node, std::uint32_t block,
                                                    Clock& now) const {
    std::vector<std::uint32_t> wanted;
    for (const DagEdge& edge : node.after) {
      if (dag_.nodes[edge.from].call != node.call) continue;
      if (seats_[edge.from].block != block) wanted.push_back(edge.from);
    }
    // Latest first, because an instruction never implies a later one.
    std::sort(wanted.begin(), wanted.end(),
              [&](std::uint32_t a, std::uint32_t b) { return position_[a] > position_[b]; });
    std::vector<std::uint32_t> waits;
    for (const std::uint32_t n : wanted) {
      const Seat& on = seats_[n];
      if (now[on.block] >= static_cast<std::int32_t>(on.step)) continue;
      const Clock& learnt = after_step_[on.block][on.step];
      for (std::size_t b = 0; b < now.size(); ++b) now[b] = std::max(now[b], learnt[b]);
      waits.push_back(n);
    }
    std::reverse(waits.begin(), waits.end());
    return waits;
  }

  static ProgramStep step_from(const Instruction& node) {
    ProgramStep step;
    step.op = node.op;
    step.src_buffer = node.source.buffer;
    step.src_offset = static_cast<std::int32_t>(node.source.index);
    step.dst_buffer = node.target.buffer;
    step.dst_offset = static_cast<std::int32_t>(node.target.index);
    step.count = node.count();
    step.line = node.line;
    return step;
  }

  const InstructionDag& dag_;
  const std::vector<std::uint32_t>& position_;  // in the order, by instruction
  RankProgram& rank_;
  std::vector<Seat>& seats_;                    // by instruction
  std::vector<Clock> now_;                      // by block
  std::vector<std::vector<Clock>> after_step_;  // by block and step
};

// A buffer has 0 chunks if no step of the rank names it (MSCCL-IR, A.3).
void count_chunks(Program& program) {
  const ProgramStorage storage(program);
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    bool names_input = false;
    bool names_output = false;
    const auto name = [&](ProgramBuffer buffer) {
      names_input |= buffer == ProgramBuffer::input;
      names_output |= buffer == ProgramBuffer::output;
    };
    for (const ThreadBlock& block : program.ranks[r].blocks) {
      for (const ProgramStep& step : block.steps) {
        if (reads_source(step.op)) name(step.src_buffer);
        if (writes_target(step.op)) name(step.dst_buffer);
      }
    }
    // The buffers of a custom collective are known only from the program itself.
    if (program.collective == CollectiveOp::custom) continue;
    RankProgram& rank = program.ranks[r];
    rank.input_chunks = names_input ? storage.size(r, ProgramBuffer::input) : 0;
    rank.output_chunks = names_output ? storage.size(r, ProgramBuffer::output) : 0;
  }
}

}  // namespace

Program assemble(const InstructionDag& dag, const std::vector<std::uint32_t>& order,
                 LocalPlacement locals) {
  Program program = dag.signature;
  std::vector<RankBlocks> blocks(program.num_ranks());
  for (const Instruction& node : dag.nodes) blocks[node.rank].see(dag, node);
  std::vector<std::vector<std::uint32_t>> of_rank(program.num_ranks());
  std::vector<std::uint32_t> position(dag.nodes.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    of_rank[dag.nodes[order[i]].rank].push_back(order[i]);
  }
  std::vector<Seat> seats(dag.nodes.size());
  program.num_channels = 1;
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    RankProgram& rank = program.ranks[r];
    blocks[r].number_blocks(rank);
    RankAssembly assembly(dag, position, rank, seats);
    for (const std::uint32_t n : of_rank[r]) {
      const Instruction& node = dag.nodes[n];
      const bool follows = locals == LocalPlacement::with_data && !node.channel;
      std::uint32_t block = follows ? assembly.block_of_data(node) : Instruction::kNone;
      if (block == Instruction::kNone) {
        block = blocks[r].choose(dag, node, rank, position[n]);
      } else {
        blocks[r].take(block, position[n]);
      }
      assembly.append(n, block);
    }
    for (const ThreadBlock& block : rank.blocks) {
      program.num_channels = std::max(program.num_channels, block.channel + 1);
    }
  }
  count_chunks(program);
  return program;
}

}  // namespace espalier
