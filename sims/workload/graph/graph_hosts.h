// Hosts that execute a graph of work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "flowctl/wait_list.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "sims/workload/graph/alike_blocks.h"
#include "sims/workload/graph/host_services.h"
#include "sims/workload/graph/work_graph.h"

namespace espalier {

// A set of ranks of a group, as hosts name it to the machine: number HostCollective::group.
struct WorkSet {
  std::uint32_t group = 0;  // in WorkGraph::groups
  std::uint32_t set = 0;    // in WorkGroup::sets
};
// The sets of all groups. Set 0 is all ranks.
[[nodiscard]] std::vector<WorkSet> sets_of(const WorkGraph& graph);

// Where the time of a rank goes. Each cycle from 0 to the rank's end counts once.
struct RankTimes {
  Cycle end = 0;      // of the rank's last node
  Cycle compute = 0;  // the accelerator computes
  Cycle exposed = 0;  // it does not, and a collective or a send of the rank is under way
  // Otherwise the rank waits for a message or for its host.
  [[nodiscard]] Cycle idle() const { return end - compute - exposed; }
};

// A collective that a set of ranks has run.
struct GraphCollective {
  HostCollective what;          // what.group: number in sets_of()
  std::uint32_t index = 0;      // among the collectives of its set
  std::uint32_t rank = 0;       // the rank that posted it first
  std::uint32_t node = 0;       // of this rank, number in RankWork::nodes
  std::uint32_t last_rank = 0;  // the rank that posted it last
  std::uint32_t last_node = 0;
  Cycle exposed = 0;       // sum over its ranks
  FlowId first_flow = {};  // of its messages
};

// The first of several alike blocks runs for all, until its ranks would meet those of others.
struct FoldedWork {
  const AlikeWork* alike = nullptr;
  // So long after its last collective nothing is left of it in the network.
  Cycle settling = 0;
  // From the first cycle on in which nothing is under way, and which is not before this one, each
  // rank acts for itself.
  Cycle until = kNever;
};

// When a node began and ended; kNever: it did not.
struct NodeTimes {
  Cycle begin = kNever;
  Cycle end = kNever;
  // Of a collective, its number; of a receive, the number of the peer's send in RankWork::nodes.
  std::uint32_t partner = ~std::uint32_t{0};
};

// Executes a graph of work.
//
// A node is ready when all nodes that it waits for have ended. The host learns of an end in the
// next cycle, together with all other ends of that cycle. Then it looks at the nodes that are
// ready, in the order of their ids, and begins those for which there is a place (IssueOrder). A
// computation begins without delay. The NI gets a message or a collective one cycle after the host
// has decided, which is two cycles after the end that made it ready.
//
// A receive needs no place, and is over when it is posted and its message has arrived. A send is
// over when its message has arrived. Nodes without time end at once and need no place: kind none,
// and collectives of one rank or of no bytes. Durations are rounded up to cycles, each node by
// itself. A computation of no duration is over at once in `streams`. In `lowest_id` it takes 1 ns,
// as in ASTRA-sim, because it keeps others from beginning, which decides the order of collectives.
//
// The k-th collective of a set at one rank meets the k-th of that set at the others. The NIs get a
// collective as `chunks` equal ones at once, which run one after the other.
class GraphHosts : public HostProgram {
 public:
  // `graph` must outlive it. `chunks`: at least 1. `keeps_times`: node_times() are kept, 24 bytes
  // for each node of each rank. `folded`: blocks that meet share one RankWork without sends.
  GraphHosts(const WorkGraph& graph, IssueOrder issue, const ClockSpec& clock,
             std::uint32_t chunks = 1, bool keeps_times = false, const FoldedWork& folded = {});

  void start(HostServices& services) override;
  void woken(RankId rank, Cycle now) override;
  void received(const HostMessage& message, Cycle now) override;
  void collective_done(RankId rank, CollectiveNumber collective, Cycle now) override;
  void opened(CollectiveNumber collective, FlowId first) override {
    if (collective % chunks_ == 0) collectives_[collective / chunks_].first_flow = first;
  }
  [[nodiscard]] bool finished() const override { return left_ == 0 || failed(); }
  [[nodiscard]] bool failed() const override { return !failure_.empty(); }
  [[nodiscard]] std::string name_of(CollectiveNumber collective) const override;
  // What each rank that has not finished waits for.
  void explain(WaitList& waits) const override;

  [[nodiscard]] const WorkGraph& graph() const { return graph_; }
  // Ranks whose collectives or messages do not fit together; empty if all do.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const std::vector<RankTimes>& rank_times() const { return times_; }
  // By number. Collectives that take no time have none.
  [[nodiscard]] const std::vector<GraphCollective>& collectives() const { return collectives_; }
  // Blocks of FoldedWork have not been unfolded.
  [[nodiscard]] bool is_folded() const { return folded_.alike != nullptr; }
  // Collectives from this number on are those of all ranks, those before of the first block.
  [[nodiscard]] std::size_t first_unfolded() const {
    return is_folded() ? collectives_.size() : first_unfolded_;
  }
  // The last FoldedWork::until before ranks of several blocks have met; 0: none.
  [[nodiscard]] Cycle last_quiet() const { return last_quiet_; }
  // The collective whose message has this flow.
  [[nodiscard]] CollectiveNumber collective_of(FlowId flow) const;
  // Sum over all ranks of the exposed time of sends.
  [[nodiscard]] Cycle exposed_sends() const { return exposed_sends_; }
  // Precondition: keeps_times. `node`: number in RankWork::nodes.
  [[nodiscard]] const NodeTimes& node_times(RankId rank, std::uint32_t node) const {
    return node_times_[ranks_[rank.index()].first + node];
  }
  [[nodiscard]] bool keeps_times() const { return !node_times_.empty(); }
  // "node 17 (layer_3) of rank 5".
  [[nodiscard]] std::string describe(RankId rank, std::uint32_t node) const;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // What ranks share that do the same work. Nodes have numbers in the order of their ids.
  struct Shape {
    const RankWork* work = nullptr;
    std::vector<std::uint32_t> in_file;  // by node: its number in the work
    std::vector<std::uint32_t> first_child;
    std::vector<std::uint32_t> children;
    std::vector<std::uint32_t> waits;  // by node: how many it waits for
    // By node: of a collective, its group's place in `groups`; of a receive, its channel.
    std::vector<std::uint32_t> place;
    std::vector<std::uint32_t> groups;  // ascending
    // Of `streams`: by place in `groups`, its collectives in the order of the program; and by node,
    // the place of a collective in this order.
    std::vector<std::vector<std::uint32_t>> launches;
    std::vector<std::uint32_t> turn;
    // Peer, tag and bytes, ascending.
    std::vector<std::tuple<std::uint32_t, std::uint64_t, Bytes>> channels;

    [[nodiscard]] const WorkNode& node(std::uint32_t n) const { return work->nodes[in_file[n]]; }
  };
  // Receives of one peer, tag and size that wait for messages, or messages that wait for receives.
  struct Channel {
    std::uint32_t first = kNone;  // in queued_
    std::uint32_t last = kNone;
    bool holds_messages = false;
  };
  struct Queued {
    std::uint32_t node = 0;  // the receive, or the send of the peer
    std::uint32_t next = kNone;
  };
  struct Busy {
    std::uint32_t node = kNone;
    Cycle end = kNever;
  };
  // A collective or a send.
  struct UnderWay {
    std::uint32_t node;
    CollectiveNumber collective;  // kNone: a send
  };
  struct Ended {
    std::uint32_t node;
    Cycle at;
  };
  struct Rank {
    const Shape* shape = nullptr;
    std::size_t first = 0;  // of the rank's nodes in missing_ and node_times_
    std::uint32_t left = 0;
    bool has_begun = false;
    Cycle woken_at = 0;   // the latest cycle for which an end has asked
    Cycle accounted = 0;  // up to which times_ are complete
    Busy host;
    Busy compute;
    // Ready nodes. The first three are heaps with the lowest number in front.
    std::vector<std::uint32_t> for_host;
    std::vector<std::uint32_t> for_compute;
    std::vector<std::uint32_t> for_network;
    std::vector<std::uint32_t> at_once;  // need no place
    std::vector<UnderWay> under_way;     // oldest first
    std::vector<Ended> ended;            // of which the host has not learnt
    std::vector<std::uint32_t> sets;     // by place in Shape::groups: number of the rank's set
    std::vector<std::uint32_t> posted;   // by place in Shape::groups: number of collectives
    std::vector<Channel> channels;       // by channel of the shape
  };

  [[nodiscard]] Shape make_shape(const RankWork& work) const;
  static void order_launches(Shape& shape);
  [[nodiscard]] bool takes_no_time(const Rank& rank, std::uint32_t node) const;
  void make_ready(Rank& rank, std::uint32_t node);
  void learn(RankId id, std::uint32_t node, Cycle at);
  void account(Rank& rank, RankTimes& times, Cycle until);
  void end(RankId id, std::uint32_t node, Cycle at);
  void walk(RankId id, Cycle begin, Cycle now);
  void compute(RankId id, Busy& place, std::vector<std::uint32_t>& ready, Cycle begin);
  void communicate(RankId id, std::uint32_t node, Cycle begin, Cycle now);
  void post(RankId id, std::uint32_t node, Cycle now);
  // True if the message has arrived.
  [[nodiscard]] bool receive(RankId id, std::uint32_t node);
  void queue(Channel& channel, std::uint32_t node);
  [[nodiscard]] std::uint32_t take(Channel& channel);
  void match(RankId from, std::uint32_t send, RankId to, std::uint32_t receive);
  // Of a node by its number here; only if they are kept.
  [[nodiscard]] NodeTimes& times_of(const Rank& rank, std::uint32_t node) {
    return node_times_.empty() ? not_kept_ : node_times_[rank.first + rank.shape->in_file[node]];
  }
  [[nodiscard]] std::string describe_ordered(RankId rank, std::uint32_t node) const {
    return describe(rank, ranks_[rank.index()].shape->in_file[node]);
  }
  // Not one for which another rank runs.
  [[nodiscard]] bool runs(std::size_t rank) const;
  [[nodiscard]] bool joins_blocks(std::uint32_t group) const {
    return is_folded() && folded_.alike->joins[group];
  }
  void unfold_if_quiet(Cycle now);
  void explain_collective(RankId id, const UnderWay& waits_for, WaitList& waits) const;
  void fail(const std::string& why) {
    if (failure_.empty()) failure_ = why;
  }

  const WorkGraph& graph_;
  IssueOrder issue_;
  ClockSpec clock_;
  std::uint32_t chunks_;  // chunk c of collective k is number k * chunks_ + c at the machine
  std::vector<WorkSet> sets_;
  std::map<const RankWork*, Shape> shapes_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> missing_;  // by rank and node: nodes that it waits for
  // By rank, and number in RankWork::nodes; empty if they are not kept.
  std::vector<NodeTimes> node_times_;
  NodeTimes not_kept_;
  std::vector<RankTimes> times_;  // by rank
  std::vector<GraphCollective> collectives_;
  std::vector<std::vector<CollectiveNumber>> numbers_;  // by set and index
  std::vector<Queued> queued_;
  std::vector<std::uint32_t> free_;  // places in queued_
  Cycle exposed_sends_ = 0;
  std::size_t left_ = 0;  // ranks that have not finished, of those that run
  FoldedWork folded_;     // without blocks: each rank runs for itself
  std::size_t first_unfolded_ = 0;
  std::size_t under_way_ = 0;  // collectives and sends, at all ranks
  Cycle last_done_ = 0;        // of a collective at a rank
  Cycle last_quiet_ = 0;
  HostServices* services_ = nullptr;
  std::string failure_;
};

}  // namespace espalier
