#include "sims/experiment/collective_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "alg/program/builtin_programs.h"
#include "alg/program/program_time.h"
#include "sims/choose/planned_time.h"
#include "sims/experiment/certify_point.h"
#include "sims/experiment/confirm_choice.h"
#include "sims/experiment/generate_tables.h"
#include "sims/model/build_program.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"

namespace espalier {

namespace {

constexpr std::size_t kMostSimulated = 2;

RunPoint with_algorithm(const RunPoint& point, const std::string& name) {
  RunPoint other = point;
  other.collective->algorithm = name;
  return other;
}

CollectiveWork built(const Topology& topology, const RunPoint& point) {
  const ProgramConfig& config = point.collective->program;
  return {{},
          build_program(topology, point),
          {},
          config.given ? nullptr : find_builtin_program(point.collective->algorithm)};
}

// Programs that `auto` may take. Those with protocols of GPUs, which wait for fences, are slower on
// NIs that see the end of a message.
std::vector<std::string> candidates(const Topology& topology, const RunPoint& point) {
  const CollectiveConfig& collective = *point.collective;
  const auto& skews = point.faults.clock_skew;
  // Programs have no ranks apart from nodes, no timesteps, and no ni_control.
  if (point.simulation.has_rtl(RtlBlock::ni_control) || !collective.ranks.empty() ||
      !collective.rank_order.is_identity() ||
      std::any_of(skews.begin(), skews.end(), [](const ClockSkew& s) { return s.per_step != 0; })) {
    return {};
  }
  std::vector<std::string> names;
  for (const BuiltinProgram& program : builtin_programs()) {
    if (program.protocol != Protocol::message || program.collective != collective.op) continue;
    if (collective.bitwise_identical && !program.bitwise_identical) continue;
    const RunPoint alone = with_algorithm(point, program.name);
    if (program.unsuited(builtin_request(topology, alone)).empty()) names.push_back(program.name);
  }
  return names;
}

struct ProgramRival {
  Rival rival;
  Program program;
};

// The programs that are planned to take at most `most_us`, fastest first. A program of several
// passes over its data is never the fastest: it is made for small data.
std::vector<ProgramRival> planned_programs(const Topology& topology, const RunPoint& point,
                                           const std::vector<std::string>& names, double most_us) {
  constexpr double kPsPerUs = 1e6;
  const ContextTiming timing = context_timing(point.system);
  std::vector<ProgramRival> planned;
  for (const std::string& name : names) {
    Program program = build_program(topology, with_algorithm(point, name));
    const Tiling tiling = tiling_of(program, point);
    if (tiling.tiles != 1 || is_proven_slowly(program)) continue;
    Rival rival;
    rival.name = name;
    rival.planned_us =
        static_cast<double>(program_time_ps(topology, program, tiling, timing,
                                            static_cast<std::uint64_t>(most_us * kPsPerUs))) /
        kPsPerUs;
    if (rival.planned_us <= most_us) planned.push_back({std::move(rival), std::move(program)});
  }
  std::stable_sort(planned.begin(), planned.end(),
                   [](const ProgramRival& a, const ProgramRival& b) {
                     return a.rival.planned_us < b.rival.planned_us;
                   });
  return planned;
}

// Names the fastest two. If both are schedules or both are programs, also the fastest of the other
// kind. Both lists begin with the fastest one.
std::string why_text(const std::vector<Rival>& schedules, const std::vector<Rival>& programs) {
  std::vector<Rival> all = schedules;
  all.insert(all.end(), programs.begin(), programs.end());
  std::stable_sort(all.begin(), all.end(), is_faster);
  const auto is_schedule = [&](const Rival& rival) {
    return std::any_of(schedules.begin(), schedules.end(),
                       [&](const Rival& s) { return s.name == rival.name; });
  };
  std::string text = why_text(all[0], all[1]);
  if (is_schedule(all[0]) && is_schedule(all[1])) {
    text += fmt::format("; the best program is {}", to_text(programs.front()));
  } else if (!is_schedule(all[0]) && !is_schedule(all[1])) {
    text += fmt::format("; the best schedule is {}", to_text(schedules.front()));
  }
  return text;
}

// Simulates the programs, and the schedule where its time is not known well enough to tell whether
// the fastest program is faster. The fastest program is then the first.
void confirm(const Topology& topology, const RunPoint& point, std::vector<ProgramRival>& programs,
             ChosenSchedule& schedule, const Choices& choices) {
  RunPoint healthy;
  healthy.system = point.system;
  healthy.collective = point.collective;
  Rival& taken = schedule.rivals.front();
  taken.run = [&] { return simulate_collective(topology, healthy, schedule.tables, {}); };
  std::vector<Rival*> rivals;
  for (ProgramRival& each : programs) {
    each.rival.run = [&] { return simulate_program(topology, healthy, each.program, 0, {}); };
    rivals.push_back(&each.rival);
  }
  rivals.push_back(&taken);
  const auto us = microseconds(point.system.clock);
  simulate(
      rivals, [&](const Rival& rival) { return &rival != &taken || !rival.is_known(); }, us,
      choices);
  std::stable_sort(
      programs.begin(), programs.end(),
      [](const ProgramRival& a, const ProgramRival& b) { return is_faster(a.rival, b.rival); });
  if (!is_settled(taken, programs.front().rival)) {
    simulate(
        {&taken}, [](const Rival&) { return true; }, us, choices);
  }
  for (ProgramRival& each : programs) each.rival.run = nullptr;  // `healthy` ends here
  taken.run = nullptr;
}

CollectiveWork choose(const Topology& topology, const RunPoint& point,
                      const std::vector<std::string>& names, const Choices& choices,
                      Choice& choice) {
  ChosenSchedule schedule = fastest_tables(topology, point.system, *point.collective, choices);
  choice = schedule.choice;
  const Rival& taken = schedule.rivals.front();
  std::vector<ProgramRival> programs = planned_programs(
      topology, point, names, (taken.is_known() ? kProgramError : kPlannersError) * taken.us());
  if (programs.size() > kMostSimulated) programs.resize(kMostSimulated);
  if (!programs.empty()) confirm(topology, point, programs, schedule, choices);
  // Certified last, because that takes as long as everything else.
  std::optional<ProgramCertificate> certificate;
  while (!certificate && !programs.empty() && is_faster(programs.front().rival, taken)) {
    certificate = certify_program_point(topology, point, programs.front().program);
    if (certificate->ok()) break;
    certificate.reset();
    programs.erase(programs.begin());
  }
  if (!programs.empty()) {
    std::vector<Rival> rivals;
    for (const ProgramRival& each : programs) rivals.push_back(each.rival);
    choice.why = why_text(schedule.rivals, rivals);
  }
  if (!certificate) {
    schedule.tables.choice = choice.why;
    return {std::move(schedule.tables), {}};
  }
  ProgramRival& best = programs.front();
  choice.algorithm = best.rival.name;
  choice.segments = 0;
  const BuiltinProgram* built_in = find_builtin_program(best.rival.name);
  return {{}, std::move(best.program), choice.why, built_in, std::move(certificate)};
}

}  // namespace

CollectiveWork generate_collective(const Topology& topology, const RunPoint& point,
                                   const Choices& choices) {
  if (has_program(point)) return built(topology, point);
  const CollectiveConfig& collective = *point.collective;
  if (collective.algorithm != kAutoAlgorithm) {
    return {generate_tables(topology, point.system, collective, choices), {}};
  }
  const std::vector<std::string> names = candidates(topology, point);
  const auto question = choice_question(topology, point.system, collective, names);
  if (const auto known = choices.find(question)) {
    if (find_builtin_program(known->algorithm) == nullptr) {
      return {generate_chosen(topology, point.system, collective, *known), {}};
    }
    CollectiveWork work = built(topology, with_algorithm(point, known->algorithm));
    work.choice = known->why;
    return work;
  }
  Choice choice;
  CollectiveWork work = choose(topology, point, names, choices, choice);
  choices.keep(question, choice);
  return work;
}

}  // namespace espalier
