// The step of training that a graph of work describes, on the simulated network.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "hw/topology/link_timing.h"
#include "sims/choose/choices.h"
#include "sims/choose/choose.h"
#include "sims/experiment/result_parts.h"
#include "sims/experiment/training_work.h"
#include "sims/model/build_program.h"
#include "sims/observe/record/busy_links.h"
#include "sims/point/config.h"
#include "sims/process/child_process.h"
#include "sims/system/host_simulation.h"
#include "sims/workload/graph/alike_blocks.h"
#include "sims/workload/graph/graph_hosts.h"
#include "sims/workload/graph/work_path.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Collectives that differ in their ranks alone: groups of one size, whose ranks are equally far
// apart (0: their distances differ), are the groups of one axis of parallelism.
struct CollectiveKind {
  CollectiveOp op;
  std::size_t ranks;
  std::uint32_t stride;
  std::string phase;

  friend bool operator<(const CollectiveKind& a, const CollectiveKind& b) {
    return std::tie(a.ranks, a.stride, a.op, a.phase) < std::tie(b.ranks, b.stride, b.op, b.phase);
  }
};

// Users of links: collectives by number, sends by rank, and other traffic.
constexpr std::uint32_t kSends = 0x80000000U;
constexpr std::uint32_t kOthers = 0xffffffffU;
constexpr std::size_t kMostOthers = 3;  // that are named

std::uint32_t stride_of(const std::vector<std::uint32_t>& ranks) {
  const std::uint32_t stride = ranks[1] - ranks[0];
  for (std::size_t r = 2; r < ranks.size(); ++r) {
    if (ranks[r] - ranks[r - 1] != stride) return 0;
  }
  return ranks[1] < ranks[0] ? 0 : stride;
}

class GraphRun : public PointRun {
 public:
  explicit GraphRun(const PointInput& input)
      : PointRun(input), graph_(*point().workload->graph), sets_(sets_of(graph_)) {
    ranks_.nodes = nodes_by_rank(topology(), point());
    if (graph_.ranks.size() > ranks_.nodes.size()) {
      throw std::invalid_argument(fmt::format("the work has {} ranks, but the network has {} nodes",
                                              graph_.ranks.size(), ranks_.nodes.size()));
    }
    ranks_.nodes.resize(graph_.ranks.size());
    for (std::uint32_t r = 0; r < ranks_.nodes.size(); ++r) rank_of_[ranks_.nodes[r]] = r;
    for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) {
      // Work that several ranks share has no sends, whose peers are single ranks.
      if (r != 0 && graph_.ranks[r] == graph_.ranks[r - 1]) continue;
      std::set<std::uint32_t> peers;
      for (const WorkNode& node : graph_.ranks[r]->nodes) {
        if (node.kind == WorkKind::send) peers.insert(node.peer);
      }
      for (const std::uint32_t peer : peers) ranks_.messages.emplace_back(r, peer);
    }
    for (const WorkSet& set : sets_) {
      std::vector<RankId>& members = ranks_.groups.emplace_back();
      for (const std::uint32_t rank : members_of(set)) members.emplace_back(rank);
      if (point().collective->nccl) order_by_server(members);
    }
    const auto& given = point().collective->program.given;
    const auto fits = [&](const WorkSet& set) {
      return members_of(set).size() == given->num_ranks();
    };
    if (given && std::none_of(sets_.begin(), sets_.end(), fits)) {
      throw std::invalid_argument(fmt::format(
          "collective.algorithm: the program has {} ranks, and no group of the work has "
          "as many",
          given->num_ranks()));
    }
  }

  void describe(Json& result) const override { write_fields(result, StepWork{facts()}); }
  void watch(SimulationHooks& /*hooks*/, RunAccount& /*account*/) override { explains_ = true; }
  SimulationOutcome simulate(const SimulationHooks& hooks) override {
    const bool is_watched = explains_ || hooks.step_ended;
    const bool folds = !is_watched && hooks.observers.empty() && !hooks.elaborate && may_fold();
    if (folds) alike_ = find_alike_blocks(graph_, topology(), ranks_.nodes, may_unfold());
    const auto& joins = alike_.joins;
    Cycle until = kNever;
    if (std::count(joins.begin(), joins.end(), true) != 0) until = last_quiet_cycle();
    if (until == 0) alike_ = {};
    return simulate(hooks, is_watched, until);
  }
  void describe_outcome(Json& result, const SimulationOutcome& outcome) const override {
    write_fields(result, StepOutcome{{point(), outcome}, step_, taken_.text()});
  }
  [[nodiscard]] RunNeed need() const override {
    RunNeed need = configured_need(point());
    need.contexts = ranks_.most_groups_of_a_rank();
    return need;
  }
  // Computation between collectives takes most of the time, and has no price.
  [[nodiscard]] bool counts_energy() const override { return false; }

 private:
  [[nodiscard]] const std::vector<std::uint32_t>& members_of(const WorkSet& set) const {
    return graph_.groups[set.group].sets[set.set];
  }
  // NCCL's rings pass from server to server, whatever numbers the ranks have. The root stays first.
  void order_by_server(std::vector<RankId>& members) const {
    const std::size_t size = server_of(point().system.topology).nodes;
    const std::size_t servers = topology().num_nodes() / size;
    const auto server_of_rank = [&](RankId r) { return ranks_.nodes[r.index()].index() / size; };
    const std::size_t first = server_of_rank(members.front());
    const auto turn = [&](RankId r) { return (server_of_rank(r) + servers - first) % servers; };
    std::stable_sort(members.begin(), members.end(),
                     [&](RankId a, RankId b) { return turn(a) < turn(b); });
  }
  // Nothing but the network and the work decides, and both are given link by link and rank by rank.
  // Blocks are alike on the routes of packets.
  [[nodiscard]] bool may_fold() const {
    const RunPoint& given = point();
    const FaultsConfig& faults = given.faults;
    const Generator* const generator = find_generator(given.collective->algorithm);
    return !given.tenants && given.simulation.stall_probability == 0 && faults.slow_links.empty() &&
           !faults.dma_jitter && !given.collective->nccl && !has_program(given) &&
           (generator == nullptr || !generator->has_own_routes);
  }
  // Blocks may be unfolded where ports' arbiters are all that remembers what an idle network has
  // carried.
  [[nodiscard]] bool may_unfold() const {
    const SystemConfig& system = point().system;
    return point().simulation.fidelity == Fidelity::train && system.ni.dma_bytes_per_cycle == 0 &&
           system.router.vc_order != VcOrder::rotating;
  }
  // The last credits of a message that has arrived are back, and the last wire is free.
  [[nodiscard]] Cycle settling() const {
    const SystemConfig& system = point().system;
    const SystemTiming timing = time_links(topology(), system.clock);
    Cycle longest = system.ni.injection_cycles;
    for (const LinkTiming& link : timing.links) {
      longest = std::max({longest, link.latency, system.credit_latency_cycles});
      longest = std::max(longest, link.ticks_per_flit / timing.ticks_per_cycle + 1);
    }
    return longest;
  }
  // Of the blocks, 0 if there is none. A process simulates once, so a copy of this one tries it.
  [[nodiscard]] Cycle last_quiet_cycle() {
    NumberOfCopy trial([&] {
      GraphHosts hosts = make_hosts(false, kNever);
      (void)run(hosts, {});
      return std::optional(hosts.last_quiet());
    });
    return trial.wait().value_or(0);
  }
  [[nodiscard]] GraphHosts make_hosts(bool is_watched, Cycle until) const {
    const WorkloadConfig& workload = *point().workload;
    const AlikeWork* const alike = alike_.blocks.empty() ? nullptr : &alike_;
    return {graph_,          workload.issue, point().system.clock,
            workload.chunks, is_watched,     {alike, alike == nullptr ? 0 : settling(), until}};
  }
  HostedOutcome run(GraphHosts& hosts, const SimulationHooks& hooks) {
    return simulate_hosts(
        topology(), point(), ranks_, hosts,
        [&](const HostCollective& what) { return work_of(what); }, hooks, alike_.blocks);
  }
  SimulationOutcome simulate(const SimulationHooks& hooks, bool is_watched, Cycle until) {
    GraphHosts hosts = make_hosts(is_watched, until);
    BusyLinks links(link_kinds(topology()),
                    [&](const Operation& message) { return user_of(hosts, message); });
    SimulationHooks watched = hooks;
    if (is_watched) watched.observers.push_back(&links);
    HostedOutcome hosted = run(hosts, watched);
    SimulationOutcome& outcome = hosted.simulation;
    if (!hosts.failure().empty()) outcome.failure = hosts.failure();
    outcome.verified = outcome.verified && outcome.failure.empty();
    outcome.complete = outcome.verified;
    outcome.cycles = 0;
    if (!alike_.blocks.empty() && outcome.complete && !hosted.keep_to_packet_routes) {
      throw std::logic_error("a block of ranks has left the routes of packets");
    }
    std::vector<RankTimes> times = hosts.rank_times();
    for (const AlikeBlock& block : alike_.blocks) {
      for (std::size_t r = 0; r < block.ranks.size() && hosts.is_folded(); ++r) {
        times[block.ranks[r]] = times[alike_.blocks.front().ranks[r]];
      }
    }
    for (const RankTimes& rank : times) outcome.cycles = std::max(outcome.cycles, rank.end);
    if (!outcome.complete) return outcome;
    measure(hosts, times, outcome.cycles);
    measure(links.kinds(), outcome);
    if (explains_) follow(hosts, links);
    if (hooks.step_ended) hooks.step_ended(hosts, links);
    for (const auto& [kind, sum] : kinds_) step_.collectives.push_back(sum);
    return outcome;
  }
  // auto chooses by plan, because this process simulates already.
  [[nodiscard]] StreamWork work_of(const HostCollective& what) {
    // Traces give bytes alone: ranks have equal parts of any number of them, if they can.
    RunPoint of_size = point();
    const std::size_t ranks = members_of(sets_[what.group]).size();
    const Bytes part = what.bytes % ranks == 0 ? what.bytes / ranks : what.bytes;
    of_size.collective->element_bytes = std::gcd(of_size.collective->element_bytes, part);
    StreamWork work = certified_work(topology(), of_size, ranks_, what);
    taken_.note(what.bytes, work.tables.taken);
    return work;
  }
  // Of the rank that does the same in another block.
  [[nodiscard]] CollectiveKind kind_of(const GraphCollective& collective, std::size_t block = 0) {
    std::uint32_t rank = collective.rank;
    if (block != 0) {
      const std::vector<std::uint32_t>& first = alike_.blocks.front().ranks;
      const auto place = std::lower_bound(first.begin(), first.end(), rank) - first.begin();
      rank = alike_.blocks[block].ranks[static_cast<std::size_t>(place)];
    }
    const WorkNode& node = graph_.ranks[rank]->nodes[collective.node];
    const auto [stride, is_new] = strides_.try_emplace({node.group, rank});
    const auto& sets = graph_.groups[node.group].sets;
    for (auto set = sets.begin(); is_new && set != sets.end(); ++set) {
      if (std::count(set->begin(), set->end(), rank) != 0) stride->second = stride_of(*set);
    }
    return {node.op, members_of(sets_[collective.what.group]).size(), stride->second,
            phase_of(graph_.names[node.name])};
  }
  // "all_reduce of group TP: 4 ranks from 0, 1 apart"
  [[nodiscard]] std::string words_of(const GraphCollective& collective) const {
    const WorkSet set = sets_[collective.what.group];
    const std::uint32_t stride = stride_of(members_of(set));
    return fmt::format("{} of group {}: {} ranks from {}{}", to_string(collective.what.op),
                       graph_.groups[set.group].name, members_of(set).size(),
                       members_of(set).front(),
                       stride == 0 ? "" : fmt::format(", {} apart", stride));
  }
  [[nodiscard]] std::uint32_t user_of(const GraphHosts& hosts, const Operation& message) const {
    if (message.traffic == TrafficClass::collective) return hosts.collective_of(message.flow);
    if (message.traffic != TrafficClass::host) return kOthers;
    return kSends + rank_of_.at(message.from);
  }
  [[nodiscard]] double ns(double cycles) const {
    return cycles * nanoseconds(1, point().system.clock);
  }

  void measure(const GraphHosts& hosts, const std::vector<RankTimes>& all, Cycle end) {
    const std::size_t blocks = std::max<std::size_t>(1, alike_.blocks.size());
    const auto ranks = static_cast<double>(all.size());
    double compute = 0;
    double exposed = 0;
    step_.idle_min_ns = ns(static_cast<double>(end));
    for (const RankTimes& times : all) {
      compute += static_cast<double>(times.compute);
      exposed += static_cast<double>(times.exposed);
      const double idle = ns(static_cast<double>(end - times.compute - times.exposed));
      step_.idle_ns += idle / ranks;
      step_.idle_min_ns = std::min(step_.idle_min_ns, idle);
      step_.idle_max_ns = std::max(step_.idle_max_ns, idle);
      step_.rank_end_ns.push_back(ns(static_cast<double>(times.end)));
    }
    step_.compute_ns = ns(compute / ranks);
    step_.exposed_ns = ns(exposed / ranks);
    step_.exposed_sends_ns = ns(static_cast<double>(hosts.exposed_sends() * blocks) / ranks);
    for (const auto& work : graph_.ranks) {
      for (const WorkNode& node : work->nodes) {
        if (node.kind != WorkKind::send) continue;
        ++step_.sends;
        step_.send_bytes += node.bytes;
      }
    }
    for (std::size_t c = 0; c < hosts.collectives().size(); ++c) {
      const GraphCollective& collective = hosts.collectives()[c];
      const std::size_t copies = c < hosts.first_unfolded() ? blocks : 1;
      for (std::size_t block = 0; block < copies; ++block) {
        const CollectiveKind kind = kind_of(collective, block);
        StepCollective& sum = kinds_[kind];
        sum.op = to_string(kind.op);
        sum.phase = kind.phase;
        sum.ranks = kind.ranks;
        sum.stride = kind.stride;
        ++sum.count;
        sum.bytes += collective.what.bytes;
        sum.exposed_ns += ns(static_cast<double>(collective.exposed) / ranks);
      }
    }
  }

  void measure(const LinkKinds& kinds, const SimulationOutcome& outcome) {
    std::vector<double> capacity(kinds.names.size());
    step_.dimensions.resize(kinds.names.size());
    const double seconds = ns(static_cast<double>(outcome.cycles)) * 1e-9;
    for (std::size_t l = 0; l < kinds.of.size(); ++l) {
      const LinkSpec& link = topology().links()[l].spec;
      StepDimension& of = step_.dimensions[kinds.of[l]];
      ++of.links;
      of.bytes += outcome.link_flits[l] * flit_bytes_of(link, point().system.clock);
      capacity[kinds.of[l]] += static_cast<double>(link.bytes_per_second) * seconds;
    }
    for (std::size_t k = 0; k < capacity.size(); ++k) {
      StepDimension& of = step_.dimensions[k];
      of.name = kinds.names[k];
      of.busy = quotient(static_cast<double>(of.bytes), capacity[k]);
    }
    if (!kinds.names.empty()) step_.slowest_bytes = step_.dimensions[kinds.slowest].bytes;
  }

  void follow(const GraphHosts& hosts, const BusyLinks& links) {
    // By WorkKind.
    constexpr const char* kWords[] = {"none", "compute", "host", "send", "receive", "collective"};
    std::vector<StepPart>& path = step_.path.emplace();
    for (const PathPart& part : critical_path(graph_, hosts)) {
      const WorkNode& node = graph_.ranks[part.rank.index()]->nodes[part.node];
      path.push_back({part.rank.value(), node.id, graph_.names[node.name],
                      kWords[static_cast<std::size_t>(node.kind)],
                      ns(static_cast<double>(part.from)), ns(static_cast<double>(part.to))});
      std::uint32_t user = kSends + part.rank.value();
      if (node.kind == WorkKind::collective) {
        user = hosts.node_times(part.rank, part.node).partner;
        const GraphCollective& collective = hosts.collectives()[user];
        StepCollective& sum = kinds_[kind_of(collective)];
        sum.path_ns = sum.path_ns.value_or(0) + path.back().to_ns - path.back().from_ns;
        path.back().group = words_of(collective);
      } else if (node.kind != WorkKind::send) {
        continue;
      }
      path.back().link = busiest_link(hosts, links, part, user);
    }
  }

  [[nodiscard]] std::optional<StepLink> busiest_link(const GraphHosts& hosts,
                                                     const BusyLinks& links, const PathPart& part,
                                                     std::uint32_t user) const {
    std::optional<StepLink> busiest;
    std::map<std::uint32_t, double> users;
    for (std::size_t l = 0; l < topology().num_links(); ++l) {
      std::map<std::uint32_t, double> shares = links.shares(LinkId(l), part.from, part.to);
      if (shares.count(user) == 0) continue;
      double busy = 0;
      for (const auto& [who, share] : shares) busy += share;
      if (busiest && busy <= busiest->busy) continue;
      const TopologyLink& link = topology().links()[l];
      busiest = {
          fmt::format("{}->{}", topology().vertex_name(link.from), topology().vertex_name(link.to)),
          links.kinds().names[links.kinds().of[l]], busy, ""};
      users = std::move(shares);
    }
    if (!busiest) return busiest;
    users.erase(user);
    std::map<std::string, double> by_words;
    for (const auto& [who, share] : users) {
      by_words[who == kOthers  ? "other traffic"
               : who >= kSends ? fmt::format("sends of rank {}", who - kSends)
                               : words_of(hosts.collectives()[who])] += share;
    }
    std::vector<std::pair<double, std::string>> most;
    for (const auto& [words, share] : by_words) most.emplace_back(-share, words);
    std::sort(most.begin(), most.end());
    for (std::size_t i = 0; i < std::min(most.size(), kMostOthers); ++i) {
      busiest->others +=
          fmt::format("{}{:.1f} % {}", i == 0 ? "" : "; ", -100 * most[i].first, most[i].second);
    }
    return busiest;
  }

  const WorkGraph& graph_;
  std::vector<WorkSet> sets_;
  JobRanks ranks_;
  std::map<NodeId, std::uint32_t> rank_of_;
  AlikeWork alike_;  // of whose blocks the first one runs for all
  StepResult step_;
  bool explains_ = false;
  std::map<CollectiveKind, StepCollective> kinds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> strides_;  // by group and rank
  TakenAlgorithms taken_;
};

}  // namespace

std::unique_ptr<PointRun> make_graph_run(const PointInput& input) {
  return std::make_unique<GraphRun>(input);
}

}  // namespace espalier
