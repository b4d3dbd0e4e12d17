#include "sims/experiment/generate_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "alg/generators/auto_choice.h"
#include "alg/generators/process_group.h"
#include "sims/model/build_program.h"
#include "sims/model/packet_sizes.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

namespace {

// How much faster than planned a schedule of messages over one link may be: ties between messages
// for a link are broken otherwise in routers.
constexpr double kTieError = 1.05;

// The request to generators, and the network of the nodes that take part.
struct GroupRequest {
  GroupRequest(const Topology& topology, const SystemConfig& system,
               const CollectiveConfig& collective)
      : nodes(group_nodes(collective)),
        group(topology, nodes),
        request(collective_request(system, collective)) {
    if (collective.relay) request.relays = group.relays();
  }
  GroupRequest(const GroupRequest&) = delete;  // `group` refers to `nodes`
  GroupRequest& operator=(const GroupRequest&) = delete;

  [[nodiscard]] ScheduleTables tables_of(Schedule schedule) const {
    return lower_to_tables(group.in_whole(std::move(schedule)));
  }

  std::vector<NodeId> nodes;
  ProcessGroup group;
  CollectiveRequest request;
};

bool passes_one_link(const Schedule& schedule) {
  return std::all_of(schedule.transfers.begin(), schedule.transfers.end(),
                     [&](const Transfer& t) { return schedule.routes.hops(t.route) == 1; });
}

// The planner knows no lockstep, no rows that repeat, and no limit of ports, DMA, reduction or
// buffers.
bool is_planned_exactly(const Topology& topology, const Schedule& schedule,
                        const SystemConfig& system) {
  const NiConfig& ni = system.ni;
  const ReductionConfig& reduction = ni.reduction;
  const bool limited = ni.ports != 0 || ni.dma_bytes_per_cycle != 0 || ni.table_repeat ||
                       ni.injection_vcs == InjectionVcs::all ||
                       reduction.mode != ReductionMode::streaming || reduction.bytes_per_cycle != 0;
  return schedule.listed_order && !limited && passes_one_link(schedule) &&
         std::all_of(topology.links().begin(), topology.links().end(),
                     [&](const TopologyLink& link) {
                       return system.router.vc_depth_flits >= full_rate_depth(system, link.spec);
                     });
}

// Whether routers delay the schedule, so that its plan says little about the number of segments.
bool is_late(const Rival& rival) {
  constexpr double kLate = 1.02;
  return rival.simulated_us && *rival.simulated_us > kLate * rival.planned_us;
}

ChosenSchedule choose(const Topology& topology, const SystemConfig& system,
                      const CollectiveConfig& collective, Choices& choices) {
  const GroupRequest of_group(topology, system, collective);
  std::vector<RankedSchedule> best =
      fastest_schedules(of_group.group.network(), of_group.request, 2);
  std::vector<Rival> rivals;
  for (const RankedSchedule& ranked : best) {
    Rival rival;
    rival.name = ranked.name;
    rival.planned_us = static_cast<double>(ranked.planned_ps) * 1e-6;
    rival.is_exact = is_planned_exactly(of_group.group.network(), ranked.schedule, system);
    rivals.push_back(rival);
  }
  const auto choice = [&](std::size_t i, std::string why) {
    return Choice{best[i].generator->name, best[i].segments, std::move(why)};
  };
  if (best.size() == 1) {
    return {choice(0, to_text(rivals[0])), of_group.tables_of(best[0].schedule), rivals};
  }
  // Lockstep makes other lists slower than planned, so only an exact first one settles it.
  const bool is_near = rivals[0].is_exact && passes_one_link(best[1].schedule);
  const double error = is_near ? kTieError : kPlannersError;
  RunPoint point;
  point.system = system;
  point.collective = collective;
  std::vector<std::optional<ScheduleTables>> tables(2);
  const auto simulate_some = [&](const std::vector<std::size_t>& which) {
    std::vector<Rival*> simulated;
    std::vector<ShortRun> runs;
    for (const std::size_t i : which) {
      tables[i] = of_group.tables_of(best[i].schedule);
      store_rows(*tables[i], system.ni);
      simulated.push_back(&rivals[i]);
      runs.emplace_back([&, i] { return simulate_collective(topology, point, *tables[i], {}); });
    }
    simulate(simulated, runs, system.clock, choices);
  };
  if (rivals[1].planned_us <= error * rivals[0].planned_us) {
    std::vector<std::size_t> inexact;
    for (const std::size_t i : {0U, 1U}) {
      if (!rivals[i].is_exact) inexact.push_back(i);
    }
    if (!inexact.empty()) simulate_some(inexact);
    if (!is_settled(rivals[0], rivals[1])) {
      std::vector<std::size_t> rest;
      for (const std::size_t i : {0U, 1U}) {
        if (!rivals[i].simulated_us) rest.push_back(i);
      }
      simulate_some(rest);
    }
  }
  // A schedule that is later than planned may be so in this number of segments only.
  for (const std::size_t i : {0U, 1U}) {
    if (!is_late(rivals[i])) continue;
    const std::vector<RankedSchedule> others =
        in_other_segments(of_group.group.network(), of_group.request, best[i]);
    std::vector<Rival> other_rivals;
    std::vector<ScheduleTables> other_tables;
    for (const RankedSchedule& other : others) {
      Rival& rival = other_rivals.emplace_back();
      rival.name = other.name;
      rival.planned_us = static_cast<double>(other.planned_ps) * 1e-6;
      store_rows(other_tables.emplace_back(of_group.tables_of(other.schedule)), system.ni);
    }
    std::vector<Rival*> simulated;
    std::vector<ShortRun> runs;
    for (std::size_t o = 0; o < others.size(); ++o) {
      simulated.push_back(&other_rivals[o]);
      runs.emplace_back(
          [&, o] { return simulate_collective(topology, point, other_tables[o], {}); });
    }
    simulate(simulated, runs, system.clock, choices);
    for (std::size_t o = 0; o < others.size(); ++o) {
      if (!is_faster(other_rivals[o], rivals[i])) continue;
      rivals[i] = other_rivals[o];
      best[i].segments = others[o].segments;
      tables[i] = std::move(other_tables[o]);
    }
  }
  const std::size_t first = is_faster(rivals[1], rivals[0]) ? 1 : 0;
  if (!tables[first]) tables[first] = of_group.tables_of(best[first].schedule);
  if (first == 1) std::swap(rivals[0], rivals[1]);
  Choice taken = choice(first, {});
  taken.why = fmt::format("{}; next is {}", to_text(rivals[0]), to_text(rivals[1]));
  return {std::move(taken), std::move(*tables[first]), rivals};
}

void name_choice(ScheduleTables& tables, const Choice& choice) {
  tables.algorithm = kAutoAlgorithm;
  tables.choice = choice.why;
  tables.taken = choice.algorithm;
}

}  // namespace

ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                               const CollectiveConfig& collective, Choices& choices) {
  if (collective.algorithm != kAutoAlgorithm) {
    const GroupRequest of_group(topology, system, collective);
    ScheduleTables tables = of_group.tables_of(
        find_generator(collective.algorithm)->generate(of_group.group.network(), of_group.request));
    store_rows(tables, system.ni);
    return tables;
  }
  const auto question = choice_question(topology, system, collective, {});
  if (const auto known = choices.find(question)) {
    return generate_chosen(topology, system, collective, *known);
  }
  ChosenSchedule made = fastest_tables(topology, system, collective, choices);
  choices.keep(question, made.choice);
  return std::move(made.tables);
}

ChosenSchedule fastest_tables(const Topology& topology, const SystemConfig& system,
                              const CollectiveConfig& collective, Choices& choices) {
  ChosenSchedule made = choose(topology, system, collective, choices);
  name_choice(made.tables, made.choice);
  store_rows(made.tables, system.ni);
  return made;
}

ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                               const CollectiveConfig& collective) {
  Choices choices;
  return generate_tables(topology, system, collective, choices);
}

Choice choose_schedule(const Topology& topology, const SystemConfig& system,
                       const CollectiveConfig& collective, Choices& choices) {
  const auto question = choice_question(topology, system, collective, {});
  if (const auto known = choices.find(question)) return *known;
  Choice choice = choose(topology, system, collective, choices).choice;
  choices.keep(question, choice);
  return choice;
}

ScheduleTables generate_chosen(const Topology& topology, const SystemConfig& system,
                               const CollectiveConfig& collective, const Choice& choice) {
  const Generator* generator = find_generator(choice.algorithm);
  if (generator == nullptr) {
    throw std::runtime_error(fmt::format("no generator is named '{}'", choice.algorithm));
  }
  GroupRequest of_group(topology, system, collective);
  of_group.request.segments = choice.segments;
  ScheduleTables tables =
      of_group.tables_of(generator->generate(of_group.group.network(), of_group.request));
  name_choice(tables, choice);
  store_rows(tables, system.ni);
  return tables;
}

void store_rows(ScheduleTables& tables, const NiConfig& ni) {
  if (ni.table_repeat && tables.repeated.empty()) repeat_all_rows(tables);
}

}  // namespace espalier
