#include "alg/generators/ranked_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "alg/generators/process_group.h"
#include "alg/time/schedule_time.h"

namespace espalier {

bool is_auto_candidate(const Generator& generator, const Topology& topology,
                       const CollectiveRequest& request) {
  if (generator.name == kAutoAlgorithm || !generator.computes(request.op)) return false;
  if (!request.rank_order.empty() && !generator.follows_rank_order()) return false;
  return unsuited_for(generator, topology, request).empty();
}

namespace {

// Algorithms that plan times choose themselves.
std::vector<std::uint32_t> segments_to_try(const Generator& generator, const Topology& topology,
                                           CollectiveRequest request) {
  std::vector<std::uint32_t> found{request.segments};
  const bool chooses = request.segments == 0 && !generator.plans_times &&
                       generator.reads("collective.segments", request.op);
  for (request.segments = 2; chooses && request.segments <= 8; request.segments *= 2) {
    if (generator.problem && generator.problem(topology, request)) continue;
    found.push_back(request.segments);
  }
  return found;
}

// The generator's schedule in `segments`, 0 for as many as it takes by itself. A schedule that
// takes longer than `limit` needs no exact time. Throws std::invalid_argument if it finds none.
RankedSchedule planned_schedule(const Generator& generator, const Topology& topology,
                                CollectiveRequest request, std::uint32_t segments,
                                std::uint64_t limit) {
  const std::string in_segments = segments == 0 || segments == request.segments
                                      ? std::string()
                                      : fmt::format(" in {} segments", segments);
  request.segments = segments;
  Schedule schedule = generate(generator, topology, request);
  const std::uint64_t time = schedule_time_ps(topology, schedule, request.timing, limit);
  const char* spent = schedule.is_budget_spent ? " (planned until its budget was spent)" : "";
  return {generator.name + in_segments + spent, &generator, segments, time, std::move(schedule)};
}

std::string auto_unsuited(const Topology& topology) {
  std::string why = unsuited_for_times(topology, kAutoAlgorithm);
  if (!why.empty()) return why;
  for (const Generator& generator : generators()) {
    if (generator.name == kAutoAlgorithm) continue;
    const std::string own = generator.unsuited(topology);
    if (own.empty()) return {};
    if (why.empty()) why = own;
  }
  return why;
}

// Messages contend if they pass several links and no time slots keep them apart. The plan is then
// too short by about a hundredth.
bool may_contend(const Schedule& schedule) {
  bool has_time_slots = false;
  bool has_long_routes = false;
  for (const Transfer& t : schedule.transfers) {
    has_time_slots = has_time_slots || t.not_before_ps != 0;
    has_long_routes = has_long_routes || schedule.routes.hops(t.route) > 1;
  }
  return has_long_routes && !has_time_slots && !schedule.contention_free;
}

Schedule generate_auto(const Topology& topology, const CollectiveRequest& request) {
  RankedSchedule best = std::move(fastest_schedules(topology, request, 1).front());
  best.schedule.algorithm = kAutoAlgorithm;
  return std::move(best.schedule);
}

}  // namespace

std::vector<RankedSchedule> fastest_schedules(const Topology& topology,
                                              const CollectiveRequest& request, std::size_t most) {
  std::vector<RankedSchedule> ranked;
  std::string why = "no algorithm computes this collective on this network";
  for (const Generator& generator : generators()) {
    if (!is_auto_candidate(generator, topology, request)) continue;
    std::optional<RankedSchedule> best;
    for (const std::uint32_t segments : segments_to_try(generator, topology, request)) {
      try {
        const std::uint64_t limit = ranked.size() < most ? std::numeric_limits<std::uint64_t>::max()
                                                         : ranked.back().planned_ps;
        RankedSchedule tried = planned_schedule(generator, topology, request, segments, limit);
        if (!best || tried.planned_ps < best->planned_ps) best = std::move(tried);
      } catch (const std::invalid_argument& error) {
        why = fmt::format("{}: {}", generator.name, error.what());
        continue;  // this algorithm finds no schedule here; others may
      }
    }
    if (!best) continue;
    const auto time = [](const RankedSchedule& r) {
      constexpr double kContention = 1.01;
      return static_cast<double>(r.planned_ps) * (may_contend(r.schedule) ? kContention : 1);
    };
    const auto place = std::upper_bound(
        ranked.begin(), ranked.end(), time(*best),
        [&](double planned, const RankedSchedule& r) { return planned < time(r); });
    ranked.insert(place, std::move(*best));
    if (ranked.size() > most) ranked.pop_back();
  }
  if (ranked.empty()) throw std::invalid_argument(why);
  return ranked;
}

std::vector<RankedSchedule> in_other_segments(const Topology& topology,
                                              const CollectiveRequest& request,
                                              const RankedSchedule& taken) {
  constexpr double kPlannersError = 1.1;
  const auto limit =
      static_cast<std::uint64_t>(kPlannersError * static_cast<double>(taken.planned_ps));
  std::vector<RankedSchedule> others;
  for (const std::uint32_t segments : segments_to_try(*taken.generator, topology, request)) {
    if (segments == taken.segments) continue;
    try {
      RankedSchedule other = planned_schedule(*taken.generator, topology, request, segments, limit);
      if (other.planned_ps <= limit) others.push_back(std::move(other));
    } catch (const std::invalid_argument&) {
      continue;  // it finds no schedule in so many segments
    }
  }
  return others;
}

Generator auto_row() {
  Generator row(
      kAutoAlgorithm,
      "the fastest of the other schedules and programs, by planned time; run simulates the best",
      {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter, CollectiveOp::all_gather,
       CollectiveOp::all_to_all, CollectiveOp::all_to_allv, CollectiveOp::broadcast,
       CollectiveOp::reduce},
      auto_unsuited, generate_auto);
  row.parameters = {root_parameter(row.ops), {"collective.relay", {}}};
  row.plans_times = true;
  row.plans_groups = true;
  return row;
}

}  // namespace espalier
