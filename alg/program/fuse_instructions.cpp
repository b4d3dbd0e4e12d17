// Fusion and channels of the instruction DAG (GC3, sections 4.2 and 5.2). They are one decision,
// because a fused instruction ties a sending and a receiving connection to one thread block.
#include <algorithm>
#include <map>
#include <tuple>

#include "alg/program/compiler_passes.h"
#include "alg/program/program.h"

namespace espalier {

namespace {

// The connection ends that fused instructions tie together.
class TiedEnds {
 public:
  struct Tie {
    std::uint32_t rank;
    std::uint32_t call;
    std::uint32_t channel;
    std::uint32_t instance;
    std::uint32_t send_peer;
    std::uint32_t recv_peer;
  };

  // Ties two ends. Returns false if one of them is tied to a different end.
  bool tie(const Tie& tie) {
    const auto [at_send, sends_new] = recv_peer_.emplace(key(tie, tie.send_peer), tie.recv_peer);
    if (at_send->second != tie.recv_peer) return false;
    const auto [at_recv, recvs_new] = send_peer_.emplace(key(tie, tie.recv_peer), tie.send_peer);
    if (at_recv->second == tie.send_peer) return true;
    if (sends_new) recv_peer_.erase(at_send);
    return false;
  }
  [[nodiscard]] bool is_tied(const Tie& tie) const {
    return recv_peer_.count(key(tie, tie.send_peer)) != 0;
  }
  void untie(const Tie& tie) {
    recv_peer_.erase(key(tie, tie.send_peer));
    send_peer_.erase(key(tie, tie.recv_peer));
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  static Key key(const Tie& tie, std::uint32_t peer) {
    return {tie.rank, tie.call, tie.channel, tie.instance, peer};
  }

  std::map<Key, std::uint32_t> recv_peer_;  // by the peer sent to
  std::map<Key, std::uint32_t> send_peer_;  // by the peer received from
};

class Fusion {
 public:
  Fusion(const InstructionDag& dag, const ChannelRules& rules)
      : dag_(dag),
        rules_(rules),
        storage_(dag.signature),
        readers_(dag.nodes.size()),
        send_of_(dag.nodes.size(), Instruction::kNone),
        receive_of_(dag.nodes.size(), Instruction::kNone),
        channel_(dag.nodes.size(), 0),
        assigned_(dag.nodes.size(), false) {
    for (std::uint32_t n = 0; n < dag.nodes.size(); ++n) {
      for (const DagEdge& edge : dag.nodes[n].after) {
        if (edge.is_true) readers_[edge.from].push_back(n);
      }
    }
  }

  InstructionDag run() {
    if (rules_.fuse) join_all();
    // Directed channels come first; channels that the compiler chooses adapt to them.
    for (const bool is_directed : {true, false}) {
      for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) {
        if (dag_.nodes[n].op != ProgramOp::send || receive_of_[n] != Instruction::kNone) continue;
        if (assigned_[n]) continue;
        if (directive_of(messages_from(n)).has_value() == is_directed) assign_chain(n);
      }
    }
    return build();
  }

 private:
  // The receive and the send have the same places, and the send waits only for the receive.
  [[nodiscard]] bool fits(const Instruction& receive, const Instruction& send) const {
    return send.op == ProgramOp::send && send.after.size() == 1 &&
           send.count() == receive.count() && send.call == receive.call &&
           send.instance == receive.instance &&
           storage_.place(send.rank, send.source.buffer, send.source.index) ==
               storage_.place(receive.rank, receive.target.buffer, receive.target.index);
  }

  // See ChannelRules::slots.
  [[nodiscard]] bool can_stream(std::uint32_t receive, const Instruction& send) const {
    if (send.count() <= rules_.slots) return true;
    const std::uint32_t next = dag_.peer_of(send.message_to);
    while (true) {
      const std::uint32_t own_send = dag_.nodes[receive].message_from;
      if (dag_.nodes[own_send].rank == next) return false;
      receive = receive_of_[own_send];
      if (receive == Instruction::kNone) return true;
    }
  }

  void join_all() {
    const std::vector<std::uint32_t> reverse = reverse_depths(dag_);
    // By receive: the directed channel of the chain that ends with it.
    std::vector<std::optional<std::uint32_t>> directed(dag_.nodes.size());
    for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) {
      const Instruction& receive = dag_.nodes[n];
      if (receive.op != ProgramOp::recv && receive.op != ProgramOp::recv_reduce_copy) continue;
      if (!rules_.apart.empty() && rules_.apart[n]) continue;
      const std::uint32_t own_send = receive.message_from;
      std::optional<std::uint32_t>& channel = directed[n];
      if (receive_of_[own_send] != Instruction::kNone) channel = directed[receive_of_[own_send]];
      if (!channel) channel = dag_.nodes[own_send].channel;
      std::uint32_t best = Instruction::kNone;
      for (const std::uint32_t reader : readers_[n]) {
        const Instruction& send = dag_.nodes[reader];
        if (!fits(receive, send) || !can_stream(n, send)) continue;
        if (channel && send.channel && *channel != *send.channel) continue;
        if (best == Instruction::kNone || reverse[reader] > reverse[best]) best = reader;
      }
      if (best == Instruction::kNone) continue;
      send_of_[n] = best;
      receive_of_[best] = n;
    }
  }

  // The sends of a chain of fused instructions, beginning with `head`.
  [[nodiscard]] std::vector<std::uint32_t> messages_from(std::uint32_t head) const {
    std::vector<std::uint32_t> sends;
    for (std::uint32_t send = head; send != Instruction::kNone;
         send = send_of_[dag_.nodes[send].message_to]) {
      sends.push_back(send);
    }
    return sends;
  }
  [[nodiscard]] std::optional<std::uint32_t> directive_of(
      const std::vector<std::uint32_t>& sends) const {
    for (const std::uint32_t send : sends) {
      if (dag_.nodes[send].channel) return dag_.nodes[send].channel;
    }
    return std::nullopt;
  }

  [[nodiscard]] TiedEnds::Tie tie_of(std::uint32_t joined_send, std::uint32_t channel) const {
    const Instruction& send = dag_.nodes[joined_send];
    const Instruction& receive = dag_.nodes[receive_of_[joined_send]];
    return {send.rank,
            send.call,
            channel,
            send.instance,
            dag_.peer_of(send.message_to),
            dag_.peer_of(receive.message_from)};
  }

  // Ties the ends along the chain as far as the channel permits. Returns the number of messages
  // reached.
  std::size_t tie_along(const std::vector<std::uint32_t>& sends, std::uint32_t channel,
                        std::vector<TiedEnds::Tie>& added) {
    for (std::size_t i = 1; i < sends.size(); ++i) {
      const TiedEnds::Tie tie = tie_of(sends[i], channel);
      const bool is_new = !tied_.is_tied(tie);
      if (!tied_.tie(tie)) return i;
      if (is_new) added.push_back(tie);
    }
    return sends.size();
  }
  std::size_t reach(const std::vector<std::uint32_t>& sends, std::uint32_t channel) {
    std::vector<TiedEnds::Tie> added;
    const std::size_t reached = tie_along(sends, channel, added);
    for (const TiedEnds::Tie& tie : added) tied_.untie(tie);
    return reached;
  }

  // The lowest channel that suits the whole chain, or the channel that suits its longest part.
  [[nodiscard]] std::uint32_t choose_channel(const std::vector<std::uint32_t>& sends) {
    std::uint32_t best = 0;
    std::size_t best_reach = 0;
    for (std::uint32_t channel = 0; channel < rules_.most && best_reach < sends.size(); ++channel) {
      const std::size_t reached = reach(sends, channel);
      if (reached <= best_reach) continue;
      best_reach = reached;
      best = channel;
    }
    return best;
  }

  void assign_chain(std::uint32_t head) {
    while (head != Instruction::kNone) {
      const std::vector<std::uint32_t> sends = messages_from(head);
      const auto directive = directive_of(sends);
      const std::uint32_t channel = directive ? *directive : choose_channel(sends);
      std::vector<TiedEnds::Tie> added;
      const std::size_t reached = tie_along(sends, channel, added);
      for (std::size_t i = 0; i < reached; ++i) {
        channel_[sends[i]] = channel;
        channel_[dag_.nodes[sends[i]].message_to] = channel;
        assigned_[sends[i]] = true;
      }
      head = reached < sends.size() ? sends[reached] : Instruction::kNone;
      if (head == Instruction::kNone) break;
      send_of_[receive_of_[head]] = Instruction::kNone;
      receive_of_[head] = Instruction::kNone;
    }
  }

  // A channel that several instances use becomes several channels, and the channels above move up.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> first_of_channel() const {
    std::map<std::uint32_t, std::uint32_t> widths;
    for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) {
      if (dag_.nodes[n].op != ProgramOp::send) continue;
      std::uint32_t& width = widths[channel_[n]];
      width = std::max(width, dag_.nodes[n].instance + 1);
    }
    std::map<std::uint32_t, std::uint32_t> firsts;
    std::uint32_t added = 0;
    for (const auto& [channel, width] : widths) {
      firsts[channel] = channel + added;
      added += width - 1;
    }
    return firsts;
  }

  // True if only the send reads the result and the final value of the place is not promised.
  [[nodiscard]] bool is_result_dead(std::uint32_t receive) const {
    return readers_[receive].size() == 1 && !dag_.nodes[receive].result_is_promised;
  }

  [[nodiscard]] Instruction fused(std::uint32_t receive, std::uint32_t send) const {
    Instruction result = dag_.nodes[receive];
    result.message_to = dag_.nodes[send].message_to;
    if (result.op == ProgramOp::recv) {
      result.op = ProgramOp::recv_copy_send;
    } else if (is_result_dead(receive)) {
      result.op = ProgramOp::recv_reduce_send;
      result.target = dag_.nodes[send].target;
    } else {
      result.op = ProgramOp::recv_reduce_copy_send;
    }
    return result;
  }

  // A fused instruction takes the position of its receive, after all instructions that it waits
  // for.
  [[nodiscard]] InstructionDag build() const {
    const auto first_of = first_of_channel();
    InstructionDag result;
    result.signature = dag_.signature;
    std::vector<std::uint32_t> renamed(dag_.nodes.size(), Instruction::kNone);
    for (std::uint32_t n = 0; n < dag_.nodes.size(); ++n) {
      if (receive_of_[n] != Instruction::kNone) {
        renamed[n] = renamed[receive_of_[n]];
        continue;
      }
      renamed[n] = static_cast<std::uint32_t>(result.nodes.size());
      result.nodes.push_back(send_of_[n] == Instruction::kNone ? dag_.nodes[n]
                                                               : fused(n, send_of_[n]));
      Instruction& node = result.nodes.back();
      const bool is_local =
          node.message_from == Instruction::kNone && node.message_to == Instruction::kNone;
      node.channel.reset();
      if (!is_local) node.channel = first_of.at(channel_[n]) + node.instance;
    }
    for (Instruction& node : result.nodes) {
      for (DagEdge& edge : node.after) edge.from = renamed[edge.from];
      simplify(node.after);
      if (node.message_from != Instruction::kNone) node.message_from = renamed[node.message_from];
      if (node.message_to != Instruction::kNone) node.message_to = renamed[node.message_to];
    }
    return result;
  }

  const InstructionDag& dag_;
  ChannelRules rules_;
  ProgramStorage storage_;
  std::vector<std::vector<std::uint32_t>> readers_;  // by writer: readers of its result
  std::vector<std::uint32_t> send_of_;               // by receive: the send joined with it
  std::vector<std::uint32_t> receive_of_;            // by send
  std::vector<std::uint32_t> channel_;               // by end of a message, before instances
  std::vector<bool> assigned_;                       // by send
  TiedEnds tied_;
};

}  // namespace

InstructionDag fuse_and_assign_channels(const InstructionDag& dag, const ChannelRules& rules) {
  return Fusion(dag, rules).run();
}

}  // namespace espalier
