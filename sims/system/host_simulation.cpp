#include "sims/system/host_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "alg/routes/routing.h"
#include "hw/clock/clock_domain.h"
#include "ni/engines/stream_engine.h"
#include "sims/point/config.h"
#include "sims/system/side_routes.h"
#include "sims/system/simulated_system.h"
#include "sims/system/tenant_traffic.h"
#include "sims/system/vc_partition.h"

namespace espalier {

namespace {

// Messages between hosts, as short messages on the network. Between two ranks, messages are
// received in the order in which they were sent. Packets may overtake each other on different VCs,
// so a message that arrives early is kept until the messages before it have arrived, as in a
// transport protocol.
class HostMessages : public SideListener {
 public:
  using Receive = std::function<void(const HostMessage&, Cycle)>;

  // Connects the NIs. `nodes` is indexed by rank. All arguments must outlive this object.
  HostMessages(const Topology& topology, Fabric& fabric, SideRoutes& routes,
               const std::vector<NodeId>& nodes, Receive receive)
      : topology_(topology),
        fabric_(fabric),
        routes_(routes),
        nodes_(nodes),
        receive_(std::move(receive)),
        sources_(topology.num_nodes()) {
    for (std::size_t n = 0; n < sources_.size(); ++n) {
      fabric.ni(NodeId(n)).connect_source(sources_[n]);
    }
  }

  // The first rank of each pair will send to the second. Throws std::invalid_argument if there is
  // no route, or if the messages could wait for each other in a circle.
  void expect(const std::vector<std::pair<RankId, RankId>>& pairs) {
    for (const auto& [from, to] : pairs) bind(nodes_[from.index()], nodes_[to.index()]);
    routes_.certify("");
  }
  // Hands the message to the NI in cycle `at`, which is later than now. Throws
  // std::invalid_argument as expect() does.
  void send(const HostMessage& message, Cycle at) {
    const NodeId from = nodes_[message.from.index()];
    const NodeId to = nodes_[message.to.index()];
    Channel& way = channel(from, to);
    const std::uint32_t place = take_place(message, way);
    way.in_order.push_back(place);
    Operation operation;
    operation.flow = FlowId(place);  // identifies the message at its arrival
    operation.from = from;
    operation.to = to;
    operation.route = way.route;
    operation.bytes = message.bytes;
    operation.traffic = TrafficClass::host;
    operation.ready = at;
    sources_[from.index()].push(operation);
    fabric_.ni(from).wake_source(at);
    ++sent_;
  }

  void delivered(const Operation& operation, Cycle now) override {
    Place& come = places_[operation.flow.index()];
    come.has_come = true;
    std::deque<std::uint32_t>& in_order = come.channel->in_order;
    while (!in_order.empty() && places_[in_order.front()].has_come) {
      const std::uint32_t place = in_order.front();
      const HostMessage message = places_[place].message;
      in_order.pop_front();
      free_places_.push_back(place);
      ++received_;
      receive_(message, now);
    }
  }

  // The number of messages that are sent and not yet received.
  [[nodiscard]] std::uint64_t under_way() const { return sent_ - received_; }
  [[nodiscard]] std::uint64_t count() const { return received_; }

 private:
  class Source : public MessageSource {
   public:
    [[nodiscard]] Cycle next_ready() const override {
      return waiting_.empty() ? kNever : waiting_.front().ready;
    }
    [[nodiscard]] const Operation& front() override { return waiting_.front(); }
    void pop() override { waiting_.pop_front(); }
    void push(const Operation& operation) { waiting_.push_back(operation); }

   private:
    std::deque<Operation> waiting_;
  };
  struct Channel {
    RouteId route;
    std::deque<std::uint32_t> in_order;  // places of the messages in flight
  };
  struct Place {
    HostMessage message;
    Channel* channel = nullptr;
    bool has_come = false;
  };

  Channel& channel(NodeId from, NodeId to) {
    const auto known = channels_.find({from, to});
    if (known != channels_.end()) return known->second;
    Channel& way = bind(from, to);
    routes_.certify("beside other messages of the job: ");
    return way;
  }
  Channel& bind(NodeId from, NodeId to) {
    if (from == to)
      throw std::invalid_argument("a host sends a message to itself; messages go to other hosts");
    const RouteId route = routes_.bind(route_packet(topology_, from, to));
    return channels_.try_emplace({from, to}, Channel{route, {}}).first->second;
  }

  std::uint32_t take_place(const HostMessage& message, Channel& way) {
    if (free_places_.empty()) {
      free_places_.push_back(static_cast<std::uint32_t>(places_.size()));
      places_.emplace_back();
    }
    const std::uint32_t place = free_places_.back();
    free_places_.pop_back();
    places_[place] = {message, &way, false};
    return place;
  }

  const Topology& topology_;
  Fabric& fabric_;
  SideRoutes& routes_;
  const std::vector<NodeId>& nodes_;
  Receive receive_;
  std::vector<Source> sources_;  // by node
  std::map<std::pair<NodeId, NodeId>, Channel> channels_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_places_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

// Wakes hosts at the times they ask for. Hosts with the same time are woken in ascending rank.
class HostTimers : public Clocked {
 public:
  // `over`: a collective of the rank alone, which is over; kNoCollective: none.
  using Wake = std::function<void(RankId, CollectiveNumber over, Cycle)>;
  static constexpr CollectiveNumber kNoCollective = ~CollectiveNumber{0};

  // To be called during elaboration.
  HostTimers(ClockDomain& clock, Wake wake)
      : clock_(clock), id_(clock.add(*this)), wake_(std::move(wake)) {}

  // Wakes `rank` in cycle `at`, which is later than now.
  void add(RankId rank, Cycle at, CollectiveNumber over = kNoCollective) {
    pending_.emplace(at, rank, over);
    if (at < armed_) arm(at);
  }
  void evaluate(Cycle now) override {
    if (pending_.empty() || next() > now) return;
    armed_ = now;  // add() does not arm while this loop runs
    while (!pending_.empty() && next() <= now) {
      const auto [at, rank, over] = pending_.top();
      pending_.pop();
      wake_(rank, over, now);
    }
    armed_ = kNever;
    if (!pending_.empty()) arm(next());
  }

 private:
  using Timer = std::tuple<Cycle, RankId, CollectiveNumber>;

  [[nodiscard]] Cycle next() const { return std::get<Cycle>(pending_.top()); }

  void arm(Cycle at) {
    armed_ = at;
    clock_.wake(id_, at);
  }

  ClockDomain& clock_;
  ClockedId id_;
  Wake wake_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> pending_;
  Cycle armed_ = kNever;  // the next cycle in which the clock evaluates this module
};

// The simulated network under the hosts. The simulation ends when the hosts have finished, all
// their messages are received, and every posted collective is complete at all ranks. It also ends
// with the first failure.
class HostNetwork : public HostServices, public HostSide, private StreamObserver {
 public:
  // All arguments must outlive this object.
  HostNetwork(const Topology& topology, const RunPoint& point, SimulatedSystem& system,
              const JobRanks& job, HostProgram& hosts, const TablesOf& tables_of,
              const std::vector<AlikeBlock>& blocks)
      : system_(system),
        blocks_(blocks),
        nodes_(job.nodes),
        ranks_(topology.num_nodes()),
        hosts_(hosts),
        expected_(job.messages),
        groups_(groups_of(topology, job)),
        contexts_(point.system.ni.contexts != 0 ? point.system.ni.contexts
                                                : job.most_groups_of_a_rank()),
        waits_(topology, certified_vc_classes(topology, point)),
        routes_(topology, system.fabric(), point.simulation.check ? &waits_ : nullptr),
        programs_(topology, point, groups_, tables_of, routes_),
        messages_(topology, system.fabric(), routes_, job.nodes,
                  [this](const HostMessage& message, Cycle now) {
                    hosts_.received(message, now);
                    end_if_finished(now);
                  }),
        timers_(system.clock(), [this](RankId rank, CollectiveNumber over, Cycle now) {
          if (over == HostTimers::kNoCollective) {
            hosts_.woken(rank, now);
          } else {
            over_at(rank, over, now);
          }
          end_if_finished(now);
        }) {
    if (point.tenants) add_tenants(waits_, topology, point);
    for (std::size_t r = 0; r < nodes_.size(); ++r) ranks_[nodes_[r].index()] = RankId(r);
    StreamObserver& observer = *this;
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      auto stream = std::make_unique<StreamEngine>(NodeId(n), contexts_, observer,
                                                   point.system.ni.program.contexts);
      streams_.push_back(stream.get());
      system.fabric().ni(NodeId(n)).load(std::move(stream), *streams_.back());
    }
    system.deliveries().connect_side(messages_);
    system.deliveries().expect_programs(1);  // all hosts count as one program
    system.connect_hosts(*this);
  }

  // To be called once, before the simulation.
  void start() {
    try {
      messages_.expect(expected_);
    } catch (const std::exception& error) {
      return fail(fmt::format(
          "messages between ranks (more system.router.vcs or another system.routing may help): {}",
          error.what()));
    }
    hosts_.start(*this);
    end_if_finished(0);
  }

  void wake(RankId rank, Cycle at) override {
    latest_ = std::max(latest_, at);
    timers_.add(rank, at);
  }

  void send(const HostMessage& message, Cycle at) override {
    latest_ = std::max(latest_, at);
    try {
      messages_.send(message, at);
    } catch (const std::exception& error) {
      fail(fmt::format("a message from {} to {}: {}", host_name(message.from),
                       host_name(message.to), error.what()));
    }
  }

  void post(RankId rank, CollectiveNumber collective, const HostCollective& what,
            Cycle at) override {
    if (!failure_.empty()) return;
    latest_ = std::max(latest_, at);
    bool opens = false;
    try {
      if (collective >= collectives_.size() || collectives_[collective].first_post == kNever) {
        opens = true;
        open(collective, what);
        opens = false;
      }
      note_post(rank, collective, what, at);
    } catch (const std::exception& error) {
      unsuited_ = opens && dynamic_cast<const std::invalid_argument*>(&error) != nullptr;
      fail(fmt::format("{}: {}", hosts_.name_of(collective), error.what()));
      return;
    }
    const std::unique_ptr<StreamCollective>& stream = running_[collective].stream;
    if (!stream) {
      timers_.add(rank, at, collective);
      return;
    }
    const NodeId node = nodes_[rank.index()];
    if (streams_[node.index()]->post(*stream, what.priority, at)) {
      system_.fabric().ni(node).wake_engine(at);
    }
  }

  void unfold() override {
    folded_ = counts_until_unfolded();
    for (std::size_t b = 1; b < blocks_.size(); ++b) {
      Network::LinkPairs links;
      Network::NodePairs nodes;
      for (std::size_t l = 0; l < blocks_[b].links.size(); ++l) {
        links.emplace_back(blocks_[0].links[l], blocks_[b].links[l]);
      }
      for (std::size_t r = 0; r < blocks_[b].ranks.size(); ++r) {
        nodes.emplace_back(nodes_[blocks_[0].ranks[r]], nodes_[blocks_[b].ranks[r]]);
      }
      system_.fabric().copy_arbiters(links, nodes);
    }
  }
  // Adds what the first block has done for the others: until unfold(), or to the end.
  void add_folded(SimulationOutcome& outcome) const {
    if (blocks_.size() < 2) return;
    const Counts folded = counts_until_unfolded();
    for (std::size_t b = 1; b < blocks_.size(); ++b) {
      outcome.flit_hops += folded.flit_hops;
      outcome.latency.messages += folded.messages;
      for (std::size_t l = 0; l < blocks_[b].links.size(); ++l) {
        outcome.link_flits[blocks_[b].links[l].index()] +=
            folded.link_flits[blocks_[0].links[l].index()];
      }
    }
    system_.measure_links(outcome);
  }

  [[nodiscard]] bool under_way(Cycle now) const override { return latest_ > now; }
  void explain_waits(WaitList& waits) const override {
    for (const Running& running : running_) {
      for (std::size_t m = 0; m < running.posted.size() && contexts_ != 1; ++m) {
        if (running.posted[m]) continue;
        const NodeId node = running.stream->group.node(NodeId(m));
        const StreamCollective& stream = *running.stream;
        const std::string place = place_of(system_.fabric().ni(node).name(), stream);
        waits.push_back({place, host_of(node), "waits for the host to post it"});
        explain_blocks(place, stream.program.contexts_of(NodeId(m)), false, waits);
      }
    }
    hosts_.explain(waits);
  }

  // Whether the failure is that a collective could not be planned.
  [[nodiscard]] bool unsuited() const { return unsuited_; }
  // Why the simulation ended early; empty if it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] const std::vector<HostedCollective>& collectives() const { return collectives_; }
  [[nodiscard]] std::uint64_t num_messages() const { return messages_.count(); }
  [[nodiscard]] bool keeps_to_routes() const { return counts_until_unfolded().keep_to_routes; }

 private:
  struct Counts {
    std::vector<std::uint64_t> link_flits;
    std::uint64_t flit_hops;
    std::uint64_t messages;
    bool keep_to_routes;
  };
  // Until unfold(), or until now.
  [[nodiscard]] Counts counts_until_unfolded() const {
    if (folded_) return *folded_;
    return {system_.fabric().link_flits(), system_.fabric().flit_hops(),
            system_.deliveries().latency().messages, programs_.keep_to_packet_routes()};
  }

  // Tells the NI of a sending member that the receiver has freed a slot.
  class CreditReturn : public CreditedSender {
   public:
    CreditReturn(HostNetwork& network, StreamCollective& stream)
        : network_(network), stream_(stream) {
      stream.credits->connect(*this);
    }
    void wake_for_credit(ConnectionId connection, Cycle at) override {
      const ContextProgram& program = stream_.program.blocks->loaded;
      const NodeId from = stream_.group.node(NodeId(program.route(connection).connection.from));
      network_.streams_[from.index()]->credit_comes(stream_, at);
      network_.system_.fabric().ni(from).wake_engine(at);
    }

   private:
    HostNetwork& network_;
    StreamCollective& stream_;
  };

  // A collective that is not complete at all nodes.
  struct Running {
    StreamProgramCache::Program program;
    std::unique_ptr<StreamCollective> stream;
    std::unique_ptr<CreditReturn> credits;  // of blocks
    std::vector<bool> posted;               // by member
    std::size_t ranks_left = 0;
  };

  [[nodiscard]] static std::vector<StreamGroup> groups_of(const Topology& topology,
                                                          const JobRanks& job) {
    const bool is_whole = job.nodes.size() == topology.num_nodes();
    std::vector<StreamGroup> groups{is_whole ? StreamGroup(job.nodes.size())
                                             : StreamGroup(job.nodes)};
    for (std::size_t g = 1; g < job.groups.size(); ++g) {
      std::vector<NodeId> nodes;
      for (const RankId rank : job.groups[g]) nodes.push_back(job.nodes[rank.index()]);
      groups.emplace_back(std::move(nodes));
    }
    return groups;
  }

  // Throws what tables_of throws.
  void open(CollectiveNumber collective, const HostCollective& what) {
    if (collective >= collectives_.size()) {
      collectives_.resize(collective + 1);
      running_.resize(collective + 1);
    }
    if (what.group >= groups_.size()) {
      throw std::invalid_argument(
          fmt::format("group {} is posted, but the job has {} groups", what.group, groups_.size()));
    }
    const StreamGroup& group = groups_[what.group];
    Running& running = running_[collective];
    running.posted.resize(group.size(), false);
    running.ranks_left = group.size();
    collectives_[collective].what = what;
    ++num_running_;
    if (group.size() == 1) return;  // without a stream
    const StreamProgramCache::Program program = programs_.of(what);
    // The largest id means "invalid", so it cannot be used.
    if (next_number_ + program->numbers > std::numeric_limits<ChunkId::value_type>::max()) {
      throw std::length_error("the hosts have posted more chunks than the simulator can number");
    }
    running.program = program;
    running.stream =
        std::make_unique<StreamCollective>(*program, group, collective, ChunkId(next_number_));
    if (program->blocks) {
      running.credits = std::make_unique<CreditReturn>(*this, *running.stream);
    }
    hosts_.opened(collective, FlowId(next_number_));
    next_number_ += program->numbers;
    system_.deliveries().expect_more(program->operations);
  }

  void note_post(RankId rank, CollectiveNumber collective, const HostCollective& what, Cycle at) {
    HostedCollective& hosted = collectives_[collective];
    Running& running = running_[collective];
    if (!(hosted.what == what)) {
      const bool is_size = hosted.what.op == what.op && hosted.what.group == what.group;
      throw std::invalid_argument(
          is_size ? fmt::format("{} posts this collective with {} bytes, but other hosts posted it "
                                "with {}",
                                host_name(rank), what.bytes, hosted.what.bytes)
                  : fmt::format("{} posts this collective as {} of group {}, but other hosts "
                                "posted it as {} of group {}",
                                host_name(rank), to_string(what.op), what.group,
                                to_string(hosted.what.op), hosted.what.group));
    }
    const NodeId member = groups_[what.group].member(nodes_[rank.index()]);
    if (!member.valid()) {
      throw std::invalid_argument(
          fmt::format("{} posts this collective of group {}, and is no member of the group",
                      host_name(rank), what.group));
    }
    if (running.ranks_left == 0 || running.posted[member.index()]) {
      throw std::invalid_argument(fmt::format("{} posts this collective twice", host_name(rank)));
    }
    running.posted[member.index()] = true;
    hosted.first_post = std::min(hosted.first_post, at);
    hosted.last_post = std::max(hosted.last_post, at);
  }

  void close(CollectiveNumber collective) {
    const Running complete = std::exchange(running_[collective], {});
    const std::unique_ptr<StreamCollective>& stream = complete.stream;
    --num_running_;
    collectives_[collective].first_issue = stream->first_issue;
    collectives_[collective].last_visible = stream->last_visible;
    const ScheduleTables& tables = stream->program.tables;
    const StreamBlocks* const blocks = stream->program.blocks.get();
    const std::string wrong =
        blocks != nullptr ? check_program_data(blocks->loaded, stream->block_memories, blocks->root,
                                               stream->first)
                          : check_data(stream->memories, tables.op, tables.chunks, stream->first);
    if (!wrong.empty()) fail(fmt::format("{}: {}", hosts_.name_of(collective), wrong));
  }

  // A collective of a single rank is over.
  void over_at(RankId rank, CollectiveNumber collective, Cycle now) {
    running_[collective] = {};
    --num_running_;
    collectives_[collective].first_issue = collectives_[collective].last_visible = now;
    hosts_.collective_done(rank, collective, now);
  }

  void collective_done(NodeId node, StreamCollective& collective, Cycle now) override {
    const CollectiveNumber number = collective.number;
    if (--running_[number].ranks_left == 0) close(number);
    hosts_.collective_done(ranks_[node.index()], number, now);
    end_if_finished(now);
  }

  [[nodiscard]] std::string name_of(const StreamCollective& collective) const override {
    return hosts_.name_of(collective.number);
  }
  [[nodiscard]] std::string host_of(NodeId node) const override {
    return host_name(ranks_[node.index()]);
  }

  void end_if_finished(Cycle now) {
    if (hosts_.failed()) system_.clock().stop();
    if (has_ended_ || num_running_ != 0 || messages_.under_way() != 0 || !hosts_.finished()) return;
    has_ended_ = true;
    system_.deliveries().program_done(now);
  }

  void fail(const std::string& reason) {
    if (failure_.empty()) failure_ = reason;
    system_.clock().stop();
  }

  SimulatedSystem& system_;
  const std::vector<AlikeBlock>& blocks_;
  std::optional<Counts> folded_;      // when the blocks were unfolded
  const std::vector<NodeId>& nodes_;  // by rank
  std::vector<RankId> ranks_;         // by node
  HostProgram& hosts_;
  const std::vector<std::pair<RankId, RankId>>& expected_;  // messages
  const std::vector<StreamGroup> groups_;
  std::uint32_t contexts_;     // of each NI
  ChannelDependencies waits_;  // of `routes_` and of other tenants
  SideRoutes routes_;
  StreamPrograms programs_;
  HostMessages messages_;
  HostTimers timers_;
  std::vector<StreamEngine*> streams_;         // by node; the NIs own them
  std::vector<HostedCollective> collectives_;  // by number
  std::vector<Running> running_;               // by number; empty if complete or not posted
  std::size_t num_running_ = 0;
  std::uint64_t next_number_ = 0;  // of the next collective's first chunk and flow
  Cycle latest_ = 0;               // the latest cycle for which a host asked for something
  bool has_ended_ = false;
  std::string failure_;
  bool unsuited_ = false;
};

void refuse_what_hosts_do(const RunPoint& point) {
  if (point.control) {
    throw std::invalid_argument("hosts that send messages cannot run with section control");
  }
  if (!point.faults.late_nis.empty() || !point.faults.clock_skew.empty()) {
    throw std::invalid_argument(
        "hosts that post collectives cannot run with late NIs or skewed clocks");
  }
}

}  // namespace

HostedOutcome simulate_hosts(const Topology& topology, const RunPoint& point, const JobRanks& ranks,
                             HostProgram& hosts, const TablesOf& tables_of,
                             const SimulationHooks& hooks, const std::vector<AlikeBlock>& blocks) {
  refuse_what_hosts_do(point);
  const RouteSet no_routes(topology);
  SimulatedSystem system(topology, point, no_routes, {},
                         ni_ports_for_all_links(topology, point.system), 0, hooks);
  HostNetwork network(topology, point, system, ranks, hosts, tables_of, blocks);
  network.start();
  HostedOutcome outcome;
  SimulationOutcome& simulation = outcome.simulation;
  simulation = system.run(0);
  network.add_folded(simulation);
  if (!network.failure().empty()) simulation.failure = network.failure();
  simulation.unsuited = network.unsuited();
  simulation.verified = simulation.complete && simulation.failure.empty();
  outcome.collectives = network.collectives();
  outcome.host_messages = network.num_messages();
  outcome.keep_to_packet_routes = network.keeps_to_routes();
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    outcome.most_held_bytes =
        std::max(outcome.most_held_bytes, system.fabric().ni(NodeId(n)).most_held_bytes());
  }
  return outcome;
}

}  // namespace espalier
