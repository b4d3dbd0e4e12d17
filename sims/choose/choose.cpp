#include "sims/choose/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "alg/generators/ranked_schedules.h"
#include "alg/program/program_time.h"
#include "hw/topology/link_timing.h"
#include "sims/choose/candidate.h"
#include "sims/choose/certify_point.h"
#include "sims/config/nccl_point.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/idle_times.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

constexpr std::size_t kMostOfKind = 2;  // candidates of a kind that are simulated
constexpr double kPsPerUs = 1e6;

// How far the planned time of a schedule is off. The planner knows no lockstep, no rows that
// repeat, and no limit of ports, DMA, reduction or buffers.
PlanError plan_error(const Topology& topology, const Schedule& schedule,
                     const SystemConfig& system) {
  if (!passes_one_link(schedule)) return kContendedPlan;
  const NiConfig& ni = system.ni;
  const ReductionConfig& reduction = ni.reduction;
  const bool limited = ni.ports != 0 || ni.dma_bytes_per_cycle != 0 || ni.table_repeat ||
                       ni.injection_vcs == InjectionVcs::all ||
                       reduction.mode != ReductionMode::streaming || reduction.bytes_per_cycle != 0;
  const bool exact =
      schedule.listed_order && !limited &&
      std::all_of(topology.links().begin(), topology.links().end(), [&](const TopologyLink& link) {
        return system.router.vc_depth_flits >= full_rate_depth(system, link.spec);
      });
  return exact ? kExactPlan : kOneLinkPlan;
}

// `of_group` must outlive the candidate.
Candidate candidate_of(RankedSchedule schedule, const GroupRequest& of_group,
                       const SystemConfig& system) {
  const auto ranked = std::make_shared<RankedSchedule>(std::move(schedule));
  Candidate candidate;
  candidate.algorithm = ranked->generator->name;
  candidate.segments = ranked->segments;
  candidate.name = ranked->name;
  candidate.planned_us = static_cast<double>(ranked->planned_ps) / kPsPerUs;
  candidate.error = plan_error(of_group.group.network(), ranked->schedule, system);
  // An NI also clears every wait.
  const std::size_t copies = ranked->schedule.symmetry ? ranked->schedule.num_nodes : 1;
  const std::uint64_t least = kMessageEvaluations * copies * ranked->schedule.transfers.size() +
                              copies * ranked->schedule.dependencies.size() / 4;
  candidate.is_large = least > kMostEvaluations;
  candidate.make = [ranked, &of_group] {
    CollectiveWork work;
    work.tables = of_group.tables_of(ranked->schedule);
    return work;
  };
  // More segments than a schedule's own are larger still, but an algorithm that plans may cut less.
  candidate.is_planned_badly =
      is_planned_badly(of_group.group.network(), of_group.request, *ranked->generator);
  if (candidate.is_large && !candidate.is_planned_badly) return candidate;
  candidate.others = [ranked, &of_group, &system] {
    std::vector<Candidate> others;
    for (RankedSchedule& each :
         in_other_segments(of_group.group.network(), of_group.request, *ranked)) {
      others.push_back(candidate_of(std::move(each), of_group, system));
      others.back().others = nullptr;
    }
    return others;
  };
  return candidate;
}

// The schedules that auto compares, the fastest first.
std::vector<Candidate> schedules(const Topology& topology, const GroupRequest& of_group,
                                 const SystemConfig& system, const CollectiveConfig& collective,
                                 const Choices& choices) {
  std::vector<Candidate> candidates;
  for (RankedSchedule& ranked :
       fastest_schedules(of_group.group.network(), of_group.request, kMostOfKind)) {
    candidates.push_back(candidate_of(std::move(ranked), of_group, system));
  }
  confirm(candidates, topology, system, collective, choices);
  return candidates;
}

Choice choice_of(const Candidate& candidate, const std::string& why) {
  return {candidate.algorithm, candidate.segments, why};
}

ScheduleTables named(ScheduleTables tables, const Choice& choice) {
  tables.algorithm = kAutoAlgorithm;
  tables.choice = choice.why;
  tables.taken = choice.algorithm;
  return tables;
}

// The tables of a choice that is known. Empty if it is no candidate: files of choices may have been
// edited.
std::optional<ScheduleTables> tables_again(const Topology& topology, const SystemConfig& system,
                                           const CollectiveConfig& collective,
                                           const Choice& choice) {
  const Generator* const generator = find_generator(choice.algorithm);
  if (generator == nullptr) return std::nullopt;
  GroupRequest of_group(topology, system, collective);
  const bool may_differ = generator->reads("collective.segments", collective.op);
  if (choice.segments != of_group.request.segments && !may_differ) return std::nullopt;
  of_group.request.segments = choice.segments;
  if (!is_auto_candidate(*generator, of_group.group.network(), of_group.request)) {
    return std::nullopt;
  }
  return named(of_group.tables_of(of_group.generate(choice.algorithm)), choice);
}

RunPoint with_algorithm(const RunPoint& point, const std::string& name) {
  RunPoint other = point;
  other.collective->algorithm = name;
  return other;
}

CollectiveWork built(const Topology& topology, const RunPoint& point) {
  CollectiveWork work;
  work.program = build_program(topology, point);
  if (!point.collective->program.given) {
    work.built_in = find_builtin_program(point.collective->algorithm);
  }
  return work;
}

// Programs that `auto` may take. Those with protocols of GPUs, which wait for fences, are slower on
// NIs that see the end of a message.
std::vector<std::string> suitable_programs(const Topology& topology, const RunPoint& point) {
  const CollectiveConfig& collective = *point.collective;
  const auto& skews = point.faults.clock_skew;
  // Programs have no ranks apart from nodes, no timesteps, and no ni_control.
  if (point.simulation.has_rtl(RtlBlock::ni_control) || !group_nodes(collective).empty() ||
      !collective.rank_order.is_identity() ||
      std::any_of(skews.begin(), skews.end(), [](const ClockSkew& s) { return s.per_step != 0; })) {
    return {};
  }
  std::vector<std::string> names;
  for (const BuiltinProgram& program : builtin_programs()) {
    if (program.protocol != Protocol::message || !program.computes(collective.op)) continue;
    if (collective.bitwise_identical && !program.bitwise_identical) continue;
    const RunPoint alone = with_algorithm(point, program.name);
    if (program.unsuited(builtin_request(topology, alone)).empty()) names.push_back(program.name);
  }
  return names;
}

// The programs that are planned to take at most `most_us`, fastest first. A program of several
// passes over its data is never the fastest: it is made for small data.
std::vector<Candidate> programs(const Topology& topology, const RunPoint& point,
                                const std::vector<std::string>& names, double most_us) {
  const ContextTiming timing = context_timing(point.system);
  std::vector<Candidate> candidates;
  for (const std::string& name : names) {
    const auto work =
        std::make_shared<CollectiveWork>(built(topology, with_algorithm(point, name)));
    const Tiling tiling = tiling_of(*work->program, point);
    if (tiling.tiles != 1 || is_proven_slowly(*work->program)) continue;
    Candidate candidate;
    candidate.algorithm = candidate.name = name;
    const auto most_ps = static_cast<std::uint64_t>(most_us * kPsPerUs);
    try {
      candidate.planned_us =
          static_cast<double>(program_time_ps(topology, *work->program, tiling, timing, most_ps)) /
          kPsPerUs;
    } catch (const std::invalid_argument&) {
      continue;  // links without a link back leave some of its ranks without a route
    }
    candidate.error = kProgramPlan;
    candidate.make = [work] { return *work; };
    if (candidate.planned_us <= most_us) candidates.push_back(std::move(candidate));
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.planned_us < b.planned_us; });
  if (candidates.size() > kMostOfKind) candidates.resize(kMostOfKind);
  return candidates;
}

bool is_program(const Candidate& candidate) {
  return find_builtin_program(candidate.algorithm) != nullptr;
}

// Names the fastest two. If both are schedules or both are programs, also the fastest of the other
// kind.
std::string why_with_programs(const std::vector<Candidate>& candidates) {
  std::string text = why_text(candidates);
  const bool of_program = is_program(candidates[0]);
  if (is_program(candidates[1]) != of_program) return text;
  const auto other = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& c) { return is_program(c) != of_program; });
  return text +
         fmt::format("; the best {} is {}", of_program ? "schedule" : "program", to_text(*other));
}

CollectiveWork choose(const Topology& topology, const RunPoint& point,
                      const std::vector<std::string>& names, const Choices& choices,
                      Choice& choice) {
  const GroupRequest of_group(topology, point.system, *point.collective);
  std::vector<Candidate> found =
      schedules(topology, of_group, point.system, *point.collective, choices);
  const std::string why_schedule = why_text(found);
  std::vector<Candidate> candidates =
      programs(topology, point, names, reach_us(found.front(), kProgramPlan));
  candidates.insert(candidates.begin(), std::move(found.front()));
  confirm(candidates, topology, point.system, *point.collective, choices);
  // Programs are certified last, because that takes as long as everything else.
  std::optional<ProgramCertificate> certificate;
  while (is_program(candidates.front())) {
    certificate = certify_program_point(topology, point, *candidates.front().make().program);
    if (certificate->ok()) break;
    certificate.reset();
    candidates.erase(candidates.begin());
  }
  Candidate& taken = candidates.front();
  CollectiveWork work = taken.make();
  choice = choice_of(taken, why_schedule);
  if (candidates.size() > 1) {
    candidates.insert(candidates.end(), std::make_move_iterator(found.begin() + 1),
                      std::make_move_iterator(found.end()));
    std::stable_sort(candidates.begin(), candidates.end(), is_faster);
    choice.why = why_with_programs(candidates);
  }
  if (certificate) {
    work.choice = choice.why;
    work.certificate = std::move(certificate);
  } else {
    work.tables = named(std::move(*work.tables), choice);
  }
  return work;
}

Candidate candidate_of(const ForecastPlan& planned, const RunPoint& point) {
  Candidate candidate;
  candidate.algorithm = candidate.name = planned.plan.algorithm;
  const QueueOrder order = arbiter_spec(point).order;
  if (arbiter_spec(with_algorithm(point, candidate.algorithm)).order != order) {
    candidate.name += fmt::format(" with queue {}", name_of(order));
  }
  candidate.planned_us = nanoseconds(planned.forecast, point.system.clock) * 1e-3;
  candidate.by = "forecast";
  candidate.error = kForecast;
  const auto plan = std::make_shared<ForecastPlan>(planned);
  if (!point.system.ni.dimension_queue.enforce_order) plan->plan.start_order.clear();
  candidate.make = [plan] {
    CollectiveWork work;
    work.plan = *plan;
    return work;
  };
  return candidate;
}

}  // namespace

bool passes_one_link(const Schedule& schedule) {
  return std::all_of(schedule.transfers.begin(), schedule.transfers.end(),
                     [&](const Transfer& t) { return schedule.routes.hops(t.route) == 1; });
}

GroupRequest::GroupRequest(const Topology& topology, const SystemConfig& system,
                           const CollectiveConfig& collective)
    : nodes(group_nodes(collective)),
      group(topology, nodes),
      request(collective_request(system, collective)),
      ni(system.ni) {
  if (collective.relay) request.relays = group.relays();
}

ScheduleTables GroupRequest::tables_of(Schedule schedule) const {
  ScheduleTables tables = lower_to_tables(group.in_whole(std::move(schedule)));
  store_rows(tables, ni);
  return tables;
}

void store_rows(ScheduleTables& tables, const NiConfig& ni) {
  if (ni.table_repeat && tables.repeated.empty()) repeat_all_rows(tables);
}

ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                               const CollectiveConfig& collective, const Choices& choices) {
  const GroupRequest of_group(topology, system, collective);
  if (collective.algorithm != kAutoAlgorithm) {
    return of_group.tables_of(of_group.generate(collective.algorithm));
  }
  const auto question = choice_question(topology, system, collective, {});
  if (const auto known = choices.find(question)) {
    if (auto tables = tables_again(topology, system, collective, *known)) return *std::move(tables);
  }
  const std::vector<Candidate> candidates =
      schedules(topology, of_group, system, collective, choices);
  const Choice choice = choice_of(candidates.front(), why_text(candidates));
  choices.keep(question, choice);
  return named(std::move(*candidates.front().make().tables), choice);
}

namespace {

ScheduleTables fastest_tables(const GroupRequest& of_group) {
  RankedSchedule best =
      std::move(fastest_schedules(of_group.group.network(), of_group.request, 1).front());
  return named(of_group.tables_of(std::move(best.schedule)), {best.generator->name, 0, best.name});
}

[[noreturn]] void refuse(const std::string& algorithm, std::size_t ranks, const std::string& why) {
  throw std::invalid_argument(
      fmt::format("algorithm {} among {} ranks: {}", algorithm, ranks, why));
}

[[noreturn]] void refuse_uncertified(const HostCollective& what, const std::string& why) {
  throw std::runtime_error(
      fmt::format("an {} of {} bytes is not certified: {}", to_string(what.op), what.bytes, why));
}

// Fills in the program of the point's collective, as the members of the group see it, and its
// parameters by the members' servers. False if the algorithm has none of this operation.
bool find_program(const Topology& network, const std::vector<NodeId>& nodes, RunPoint& alone) {
  CollectiveConfig& collective = *alone.collective;
  const std::string asked = collective.algorithm;
  const std::uint32_t in_server = nodes_per_server(alone.system.topology, nodes);
  const bool has_servers = server_of(alone.system.topology).nics != 0;
  if (collective.nccl) {
    if (!find_algorithm(asked)->computes(collective.op)) return false;
    if (in_server == 0) {
      refuse(
          asked, nodes.size(),
          "NCCL's choice is known for equal numbers of them in each server, one server after the "
          "other; name a schedule or auto for this step");
    }
    alone = with_nccl_choice(std::move(alone), static_cast<std::uint32_t>(nodes.size()) / in_server,
                             in_server);
  }
  if (!has_program(alone)) return false;
  if (collective.program.given) {
    const Program& given = *collective.program.given;
    const bool fits = given.collective == collective.op && given.num_ranks() == nodes.size() &&
                      collective.size >= given.min_bytes && collective.size % given.multiple == 0 &&
                      (given.max_bytes == 0 || collective.size <= given.max_bytes);
    if (!fits) return false;
  } else if (!find_builtin_program(collective.algorithm)->computes(collective.op)) {
    return false;
  }
  const ProgramNiConfig& contexts = alone.system.ni.program;
  const bool has_proxy = contexts.network_slot_cycles != 0 || contexts.network_receive_cycles != 0;
  if (has_servers && in_server == 0 && has_proxy) {
    refuse(asked, nodes.size(), "proxies that take time need equal numbers of them in each server");
  }
  if (has_servers && collective.program.ranks_per_server == 0) {
    collective.program.ranks_per_server = std::max(in_server, 1U);
  }
  if (collective.program.given) return true;
  const std::string why =
      find_builtin_program(collective.algorithm)->unsuited(builtin_request(network, alone));
  if (!why.empty()) refuse(asked, nodes.size(), why);
  return true;
}

// The certified program of find_program().
StreamWork program_work(const Topology& network, RunPoint alone, const HostCollective& what) {
  Program program = build_program(network, alone);
  const bool checks = alone.simulation.check;
  const ProgramCertificate certificate = certify_program_point(network, alone, program, !checks);
  if (!certificate.ok()) refuse_uncertified(what, describe(certificate.violations.front()));
  StreamWork work{ScheduleTables(Topology(""))};
  const std::string& choice = alone.collective->choice;
  work.tables.taken = choice.substr(0, choice.find(';'));
  const bool has_servers = server_of(alone.system.topology).nics != 0;
  work.ranks_per_server = has_servers ? alone.collective->program.ranks_per_server : 0;
  work.root = checks ? certificate.root : program.root.value_or(0);
  work.program = std::make_shared<const Program>(std::move(program));
  work.point = std::make_shared<const RunPoint>(std::move(alone));
  return work;
}

}  // namespace

std::uint32_t nodes_per_server(const TopologyConfig& topology, const std::vector<NodeId>& nodes) {
  const std::uint32_t size = server_of(topology).nodes;
  std::vector<std::size_t> counts;
  std::vector<bool> seen;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::size_t server = nodes[n].index() / size;
    if (server >= seen.size()) seen.resize(server + 1);
    if (n == 0 || server != nodes[n - 1].index() / size) {
      if (seen[server]) return 0;
      seen[server] = true;
      counts.push_back(0);
    }
    ++counts.back();
  }
  const auto is_first = [&](std::size_t count) { return count == counts.front(); };
  const bool are_equal = std::all_of(counts.begin(), counts.end(), is_first);
  return are_equal && !counts.empty() ? static_cast<std::uint32_t>(counts.front()) : 0;
}

StreamWork certified_work(const Topology& topology, const RunPoint& point, const JobRanks& ranks,
                          const HostCollective& what) {
  RunPoint alone;
  alone.system = point.system;
  CollectiveConfig& collective = alone.collective.emplace(*point.collective);
  collective.op = what.op;
  collective.size = what.bytes;
  if (what.bytes == 0 || what.bytes % collective.element_bytes != 0) {
    throw std::invalid_argument(fmt::format("{} bytes are not whole elements of {} bytes each",
                                            what.bytes, collective.element_bytes));
  }
  std::vector<NodeId> nodes;
  std::optional<ProcessGroup> group;
  if (what.group == 0) nodes = ranks.nodes;
  if (what.group != 0) {
    for (const RankId rank : ranks.groups[what.group]) nodes.push_back(ranks.nodes[rank.index()]);
  }
  // All nodes in their order run through the dimensions of the network, whatever names them.
  const bool are_all =
      nodes.size() == topology.num_nodes() &&
      (what.group == 0 || (!is_rooted(what.op) && std::is_sorted(nodes.begin(), nodes.end())));
  if (are_all) {
    alone.tenants = point.tenants;
  } else {
    group.emplace(topology, nodes, true);
    collective.rank_order = {};
    collective.root = 0;
  }
  const Topology& network = group ? group->network() : topology;
  if (what.op == CollectiveOp::all_to_all && point.workload) {
    const auto weights = point.workload->weights.find(nodes.size());
    if (weights != point.workload->weights.end()) {
      collective.op = CollectiveOp::all_to_allv;
      collective.counts.weights = weights->second;
    }
  }
  if (are_all) std::sort(nodes.begin(), nodes.end());
  if (collective.nccl || has_program(alone)) {
    RunPoint of_program = alone;
    of_program.simulation.check = point.simulation.check;
    if (find_program(network, nodes, of_program)) {
      return program_work(network, std::move(of_program), what);
    }
    collective.algorithm = kAutoAlgorithm;
  }
  GroupRequest request(network, alone.system, collective);
  request.request.keeps_to_packet_routes = ranks.groups.size() > 1;
  const Generator* const generator = find_generator(collective.algorithm);
  const bool chooses =
      collective.algorithm == kAutoAlgorithm ||
      (generator &&
       (!generator->computes(collective.op) ||
        (generator->too_large && !generator->too_large(network, collective.op).empty())));
  const std::string why = chooses ? std::string()
                          : generator == nullptr
                              ? "it makes no tables"
                              : unsuited_for(*generator, network, request.request);
  if (!why.empty()) refuse(collective.algorithm, network.num_nodes(), why);
  ScheduleTables tables =
      chooses ? fastest_tables(request) : request.tables_of(request.generate(collective.algorithm));
  if (!point.simulation.check) return tables;
  const Certificate certificate = certify_point(network, alone, tables);
  if (!certificate.ok()) refuse_uncertified(what, certificate.violations.front().what);
  return tables;
}

CollectiveWork generate_collective(const Topology& topology, const RunPoint& point,
                                   const Choices& choices) {
  const CollectiveConfig& collective = *point.collective;
  CollectiveWork work;
  if (has_program(point)) {
    work = built(topology, point);
    work.choice = collective.choice;
    return work;
  }
  if (collective.algorithm != kAutoAlgorithm) {
    work.tables = generate_tables(topology, point.system, collective, choices);
    return work;
  }
  const std::vector<std::string> names = suitable_programs(topology, point);
  const auto question = choice_question(topology, point.system, collective, names);
  if (const auto known = choices.find(question)) {
    work.tables = tables_again(topology, point.system, collective, *known);
    if (work.tables) return work;
    if (std::find(names.begin(), names.end(), known->algorithm) != names.end()) {
      work = built(topology, with_algorithm(point, known->algorithm));
      work.choice = known->why;
      return work;
    }
  }
  Choice choice;
  work = choose(topology, point, names, choices, choice);
  choices.keep(question, choice);
  return work;
}

ForecastPlan plan_point(const Topology& topology, const RunPoint& point, const Choices& choices) {
  const Planner* planner = planner_of(point);
  const bool enforces = point.system.ni.dimension_queue.enforce_order;
  const std::vector<PlannedDimension> dimensions = planned_dimensions(point.system);
  const PlanRequest request = plan_request(*point.collective);
  const ForecastSpec spec = forecast_spec(topology, point, dimensions);
  ForecastPlan planned;
  if (!planner->chooses) {
    planned = forecast_plan(*planner, dimensions, request, spec);
  } else {
    const auto question = choice_question(topology, point.system, *point.collective, {});
    const auto known = choices.find(question);
    const Planner* const taken = known ? find_planner(known->algorithm) : nullptr;
    if (taken != nullptr && !taken->chooses && taken->computes(request.op) &&
        (enforces || !taken->searches)) {
      planned = forecast_plan(*taken, dimensions, request, spec);
      planned.choice = known->why;
    } else {
      std::vector<ForecastPlan> best = fastest_plans(dimensions, request, spec, enforces);
      if (best.size() > kMostOfKind) best.resize(kMostOfKind);
      std::vector<Candidate> candidates;
      for (const ForecastPlan& each : best) candidates.push_back(candidate_of(each, point));
      confirm(candidates, topology, point.system, *point.collective, choices);
      planned = std::move(*candidates.front().make().plan);
      planned.choice = why_text(candidates);
      choices.keep(question, choice_of(candidates.front(), planned.choice));
    }
    planned.taken = std::exchange(planned.plan.algorithm, planner->name);
  }
  if (!enforces) planned.plan.start_order.clear();
  if (!point.collective->choice.empty()) planned.choice = point.collective->choice;
  return planned;
}

}  // namespace espalier
