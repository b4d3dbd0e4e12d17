#include "sims/experiment/generate_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "alg/generators/auto_choice.h"
#include "sims/choose/group_request.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"
#include "sims/system/simulation.h"

namespace espalier {

namespace {

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
                      const CollectiveConfig& collective, const Choices& choices) {
  const GroupRequest of_group(topology, system, collective);
  const Topology& network = of_group.group.network();
  std::vector<RankedSchedule> best = fastest_schedules(network, of_group.request, 2);
  RunPoint healthy;
  healthy.system = system;
  healthy.collective = collective;
  const auto tables_of = [&](const RankedSchedule& ranked) {
    ScheduleTables tables = of_group.tables_of(ranked.schedule);
    store_rows(tables, system.ni);
    return tables;
  };
  const auto rival_of = [&](const RankedSchedule& ranked) {
    Rival rival;
    rival.name = ranked.name;
    rival.planned_us = static_cast<double>(ranked.planned_ps) * 1e-6;
    rival.run = [&] { return simulate_collective(topology, healthy, tables_of(ranked), {}); };
    return rival;
  };
  const auto simulate_some = [&](std::vector<Rival>& rivals, bool (*wanted)(const Rival&)) {
    std::vector<Rival*> all;
    for (Rival& rival : rivals) all.push_back(&rival);
    simulate(all, wanted, microseconds(system.clock), choices);
  };
  std::vector<Rival> rivals;
  for (const RankedSchedule& ranked : best) {
    rivals.push_back(rival_of(ranked));
    rivals.back().is_exact = is_planned_exactly(network, ranked.schedule, system);
  }
  // Lockstep makes other lists slower than planned, so only an exact first one settles it.
  const bool has_next = best.size() > 1;
  const bool is_near = has_next && rivals[0].is_exact && passes_one_link(best[1].schedule);
  const double error = is_near ? kTieError : kPlannersError;
  if (has_next && rivals[1].planned_us <= error * rivals[0].planned_us) {
    simulate_some(rivals, [](const Rival& rival) { return !rival.is_exact; });
    if (!is_settled(rivals[0], rivals[1])) {
      simulate_some(rivals, [](const Rival& rival) { return !rival.simulated_us; });
    }
  }
  // A schedule that is later than planned may be so in this number of segments only.
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (!is_late(rivals[i])) continue;
    std::vector<RankedSchedule> others = in_other_segments(network, of_group.request, best[i]);
    std::vector<Rival> other_rivals;
    for (const RankedSchedule& other : others) other_rivals.push_back(rival_of(other));
    simulate_some(other_rivals, [](const Rival&) { return true; });
    for (std::size_t o = 0; o < others.size(); ++o) {
      if (!is_faster(other_rivals[o], rivals[i])) continue;
      rivals[i] = other_rivals[o];
      best[i] = std::move(others[o]);
    }
  }
  for (Rival& rival : rivals) rival.run = {};  // its schedule ends here
  if (has_next && is_faster(rivals[1], rivals[0])) {
    std::swap(rivals[0], rivals[1]);
    std::swap(best[0], best[1]);
  }
  Choice taken{best[0].generator->name, best[0].segments,
               has_next ? why_text(rivals[0], rivals[1]) : to_text(rivals[0])};
  ScheduleTables tables = tables_of(best[0]);
  return {std::move(taken), std::move(tables), std::move(rivals)};
}

void name_choice(ScheduleTables& tables, const Choice& choice) {
  tables.algorithm = kAutoAlgorithm;
  tables.choice = choice.why;
  tables.taken = choice.algorithm;
}

}  // namespace

ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                               const CollectiveConfig& collective, const Choices& choices) {
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
                              const CollectiveConfig& collective, const Choices& choices) {
  ChosenSchedule made = choose(topology, system, collective, choices);
  name_choice(made.tables, made.choice);
  return made;
}

Choice choose_schedule(const Topology& topology, const SystemConfig& system,
                       const CollectiveConfig& collective, const Choices& choices) {
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
