#include "host_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "busy_hosts.h"
#include "draw.h"
#include "draw_system.h"
#include "model_test_support.h"
#include "sims/choose/choose.h"
#include "sims/system/host_simulation.h"

namespace espalier::fuzz {

namespace {

struct HostJob {
  FuzzCase system;
  JobRanks ranks;
  std::vector<HostCollective> what;                   // by number
  std::vector<std::vector<CollectiveNumber>> orders;  // by rank: what it posts
  Cycle spread = 1;
  std::uint64_t seed = 0;
};

template <class T>
void shuffle(Draw& draw, std::vector<T>& list) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[draw.between(0, i - 1)]);
}

// A program, which runs beside tables of the operations that it does not compute.
void draw_program(Draw& draw, RunPoint& point) {
  point.collective->algorithm =
      draw.pick({"gc3_ring", "gc3_allpairs", "gc3_allgather_ring", "gc3_reducescatter_ring",
                 "gc3_direct_alltoall", "gc3_double_binary_tree", "nccl_ring", "nccl_allgather",
                 "gc3_binomial_tree", "gc3_broadcast_tree"});
  ProgramConfig& program = point.collective->program;
  program.channels = draw.between32(1, 3);
  program.protocol = draw.pick({ProtocolChoice::automatic, ProtocolChoice::ll,
                                ProtocolChoice::ll128, ProtocolChoice::message});
  ProgramNiConfig& ni = point.system.ni.program;
  ni.slots = draw.between32(0, 3);
  ni.slot_bytes = draw.pick<Bytes>({0, 64, 1000, 8192});
  ni.request_bytes = draw.pick<Bytes>({48, 1000, 65536});
  ni.requests = draw.between32(1, 8);
  ni.context_bytes_per_cycle = draw.pick<std::uint64_t>({0, 3, 20});
  ni.memory_bytes_per_cycle = draw.pick<std::uint64_t>({0, 0, 7});
  ni.decode_cycles = draw.between(1, 50);
  ni.fence_cycles = draw.pick<Cycle>({0, 1, 100});
  ni.doorbell_cycles = draw.pick<Cycle>({0, 300});
  ni.credit_cycles = draw.pick<Cycle>({0, 1, 40});
  if (draw.percent(30)) ni.contexts = draw.between32(6, 60);
}

HostJob draw_job(std::uint64_t seed, std::uint64_t number) {
  Draw draw(seed, number);
  HostJob job;
  draw_system(draw, job.system);
  RunPoint& point = job.system.point;
  point.system.ni.contexts = draw.between32(1, 4);
  point.simulation.watchdog_cycles = 20'000;
  job.seed = draw.between(0, 1'000'000);
  job.spread = draw.between(1, draw.pick<std::uint64_t>({2, 50, 500, 3000}));
  const std::size_t nodes = topology_of(job.system).num_nodes();
  for (std::size_t n = 0; n < nodes; ++n) job.ranks.nodes.emplace_back(n);
  if (draw.percent(30)) shuffle(draw, job.ranks.nodes);
  if (nodes > 3 && draw.percent(20)) job.ranks.nodes.pop_back();
  const std::size_t ranks = job.ranks.nodes.size();
  job.ranks.groups.emplace_back();
  std::vector<RankId> all;
  for (std::size_t r = 0; r < ranks; ++r) all.emplace_back(r);
  for (std::uint64_t g = draw.between(1, 4); g != 0; --g) {
    shuffle(draw, all);
    const auto size = static_cast<std::ptrdiff_t>(draw.between(1, ranks));
    job.ranks.groups.emplace_back(all.begin(), all.begin() + size);
  }
  CollectiveConfig& collective = point.collective.emplace();
  collective.algorithm = draw.pick({"ring", "auto", "direct", "multitree", "auto"});
  if (draw.percent(50)) draw_program(draw, point);
  const Generator* const generator = find_generator(collective.algorithm);
  const BuiltinProgram* const program = find_builtin_program(collective.algorithm);
  for (std::uint64_t c = draw.between(2, 9); c != 0; --c) {
    HostCollective what;
    do {
      what.op = draw.pick({CollectiveOp::all_reduce, CollectiveOp::all_gather,
                           CollectiveOp::reduce_scatter, CollectiveOp::all_to_all,
                           CollectiveOp::broadcast, CollectiveOp::reduce});
    } while (generator != nullptr && !generator->computes(what.op));
    if (program != nullptr && draw.percent(60)) what.op = program->op();
    what.group = draw.between32(0, static_cast<std::uint32_t>(job.ranks.groups.size() - 1));
    // Parts are equal.
    const std::size_t members = what.group == 0 ? ranks : job.ranks.groups[what.group].size();
    what.bytes = 4 * members * draw.between(1, draw.percent(20) ? 3000 : 100);
    what.priority = draw.percent(50) ? 0 : draw.between32(0, 2);
    job.what.push_back(what);
  }
  // Ranks may post in different orders if no NI runs out of contexts, of which programs have their
  // own. The order within a group is the same at all ranks.
  const bool any_order =
      point.system.ni.contexts >= job.ranks.groups.size() && point.system.ni.program.contexts == 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<std::deque<CollectiveNumber>> of_group(job.ranks.groups.size());
    std::vector<CollectiveNumber>& order = job.orders.emplace_back();
    for (CollectiveNumber c = 0; c < job.what.size(); ++c) {
      const std::uint32_t g = job.what[c].group;
      const auto& group = job.ranks.groups[g];
      const bool is_member =
          g == 0 || std::find(group.begin(), group.end(), RankId(r)) != group.end();
      if (!is_member) continue;
      of_group[g].push_back(c);
      order.push_back(c);
    }
    if (!any_order) {
      // Priorities reorder what waits for a context, differently at each rank.
      for (HostCollective& what : job.what) what.priority = 0;
      continue;
    }
    std::vector<std::uint32_t> groups;
    for (const CollectiveNumber c : order) groups.push_back(job.what[c].group);
    shuffle(draw, groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      order[i] = of_group[groups[i]].front();
      of_group[groups[i]].pop_front();
    }
  }
  return job;
}

test::Report run(const HostJob& job, const Topology& topology, Fidelity fidelity) {
  return test::in_child([&] {
    RunPoint point = job.system.point;
    point.simulation.fidelity = fidelity;
    point.simulation.monitors = fidelity == Fidelity::cycle;
    test::BusyHosts hosts(job.what, job.orders, job.spread, job.seed);
    const auto tables_of = [&](const HostCollective& what) {
      return certified_work(topology, point, job.ranks, what);
    };
    const HostedOutcome outcome = simulate_hosts(topology, point, job.ranks, hosts, tables_of, {});
    test::Numbers numbers = test::reproducible(outcome.simulation);
    for (const std::uint64_t sum : hosts.events()) numbers.push_back(sum);
    numbers.push_back(outcome.host_messages);
    numbers.push_back(outcome.most_held_bytes);
    return test::Report{numbers, outcome.simulation.failure};
  });
}

void print(const HostJob& job) {
  const SystemConfig& system = job.system.point.system;
  fmt::print("  {}, contexts {}, of programs {}, spread {}\n",
             job.system.point.collective->algorithm, system.ni.contexts, system.ni.program.contexts,
             job.spread);
  for (std::size_t g = 1; g < job.ranks.groups.size(); ++g) {
    fmt::print("  group {}:", g);
    for (const RankId rank : job.ranks.groups[g]) fmt::print(" {}", rank.value());
    fmt::print("\n");
  }
  for (std::size_t c = 0; c < job.what.size(); ++c) {
    const HostCollective& what = job.what[c];
    fmt::print("  {}: {} of group {}, {} bytes, priority {}\n", c, to_string(what.op), what.group,
               what.bytes, what.priority);
  }
  for (std::size_t r = 0; r < job.orders.size(); ++r) {
    fmt::print("  rank {} on node {}: {}\n", r, job.ranks.nodes[r].value(),
               fmt::join(job.orders[r], " "));
  }
}

}  // namespace

bool run_host_jobs(const CampaignOptions& options) {
  std::uint64_t equal = 0;
  std::uint64_t refused = 0;  // before or while it runs, alike in both fidelities
  std::uint64_t failed = 0;
  std::uint64_t held = 0;
  for (std::uint64_t c = 0; c < options.cases && failed < options.failures; ++c) {
    const std::uint64_t number = options.first + c;
    try {
      const HostJob job = draw_job(options.seed, number);
      const Topology topology = topology_of(job.system);
      const test::Report train = run(job, topology, Fidelity::train);
      const test::Report cycle = run(job, topology, Fidelity::cycle);
      const bool ended = train.text.empty();
      // Tables that do not exist, or that may deadlock, are refused. What is certified ends.
      const bool is_stuck = train.text.find("no progress") != std::string::npos;
      const bool is_same = train.text == cycle.text && (!ended || train.numbers == cycle.numbers);
      if (is_same && !is_stuck) {
        ++(ended ? equal : refused);
        if (ended && train.numbers.back() != 0) ++held;
        if (!ended && options.cases == 1) {
          fmt::print("{}\n", train.text);
          print(job);
        }
        continue;
      }
      ++failed;
      fmt::print("case {} of seed {} differs or is stuck on {}:\n  train: {}\n  cycle: {}\n",
                 number, options.seed, topology.name(), train.text, cycle.text);
      for (std::size_t n = 0; n < std::min(train.numbers.size(), cycle.numbers.size()); ++n) {
        if (train.numbers[n] == cycle.numbers[n]) continue;
        fmt::print("  number {}: {} and {}\n", n, train.numbers[n], cycle.numbers[n]);
      }
      print(job);
    } catch (const std::exception& error) {
      ++refused;
      if (options.cases == 1) fmt::print("{}\n", error.what());
    }
  }
  fmt::print("{} jobs equal, {} of them with held messages; {} refused; {} failed\n", equal, held,
             refused, failed);
  return failed == 0 && equal != 0;
}

}  // namespace espalier::fuzz
