#include "alg/generators/ranked_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "alg/generators/process_group.h"
#include "alg/schedule/work_budget.h"
#include "alg/time/schedule_time.h"

namespace espalier {

bool is_auto_candidate(const Generator& generator, const Topology& topology,
                       const CollectiveRequest& request) {
  if (generator.name == kAutoAlgorithm || !generator.computes(request.op)) return false;
  if (generator.exchanges_slowly && is_exchange(request.op)) return false;
  if (request.keeps_to_packet_routes && generator.has_own_routes) return false;
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

// Links of unequal rates meet at a switch, whose router lets slow outputs hold crossbar inputs.
bool holds_inputs(const Topology& topology, const CollectiveRequest& request) {
  const auto meets_other_rate = [&](const TopologyLink& link) {
    const auto& next = topology.out_links(link.to);
    return topology.is_switch(link.to) && std::any_of(next.begin(), next.end(), [&](LinkId id) {
             return topology.link(id).spec.bytes_per_second != link.spec.bytes_per_second;
           });
  };
  return request.timing.stored_bytes == 0 &&
         std::any_of(topology.links().begin(), topology.links().end(), meets_other_rate);
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

namespace {

// What making and timing the algorithm's schedule takes, in about nanoseconds of one core.
std::uint64_t work_of(const Generator& generator, const Topology& topology,
                      const CollectiveRequest& request) {
  constexpr std::uint64_t kWait = 70;
  constexpr std::uint64_t kSearch = 8;  // for free links of a switch, for every node
  const bool is_all_reduce = request.op == CollectiveOp::all_reduce;
  const std::uint64_t pairs = std::uint64_t{topology.num_nodes()} * topology.num_nodes();
  std::uint64_t work = pairs * generator.pair_work * (is_all_reduce ? 2 : 1);
  if (generator.roots_wait && topology.num_switches() != 0) {
    work += pairs * topology.num_nodes() * (is_all_reduce ? kWait : kSearch);
  }
  return work;
}

}  // namespace

std::vector<RankedSchedule> fastest_schedules(const Topology& topology,
                                              const CollectiveRequest& request, std::size_t most) {
  std::vector<RankedSchedule> ranked;
  std::string why = "no algorithm computes this collective on this network";
  const auto time = [](const RankedSchedule& r) {
    constexpr double kContention = 1.01;
    return static_cast<double>(r.planned_ps) * (may_contend(r.schedule) ? kContention : 1);
  };
  // In the order of their work, so that the budget goes to as many algorithms as possible.
  std::vector<std::pair<std::uint64_t, const Generator*>> candidates;
  for (const Generator& generator : generators()) {
    if (!is_auto_candidate(generator, topology, request)) continue;
    candidates.emplace_back(work_of(generator, topology, request), &generator);
  }
  std::sort(candidates.begin(), candidates.end());
  WorkBudget budget;
  std::string left_out;
  for (const auto& [work, candidate] : candidates) {
    const Generator& generator = *candidate;
    budget.spend(work);
    if (budget.is_spent()) {
      left_out += fmt::format("{}{}", left_out.empty() ? "" : ", ", generator.name);
      continue;
    }
    std::optional<RankedSchedule> best;
    for (const std::uint32_t segments : segments_to_try(generator, topology, request)) {
      try {
        const std::uint64_t limit = ranked.size() < most
                                        ? std::numeric_limits<std::uint64_t>::max()
                                        : static_cast<std::uint64_t>(time(ranked.back())) + 1;
        RankedSchedule tried = planned_schedule(generator, topology, request, segments, limit);
        if (!best || tried.planned_ps < best->planned_ps) best = std::move(tried);
      } catch (const std::invalid_argument& error) {
        why = fmt::format("{}: {}", generator.name, error.what());
        continue;  // this algorithm finds no schedule here; others may
      }
    }
    if (!best) continue;
    budget.found_plan();
    const auto place =
        std::upper_bound(ranked.begin(), ranked.end(), time(*best),
                         [&, row = candidate](double planned, const RankedSchedule& r) {
                           return std::pair(planned, row) < std::pair(time(r), r.generator);
                         });
    ranked.insert(place, std::move(*best));
    if (ranked.size() > most) ranked.pop_back();
  }
  if (ranked.empty()) throw std::invalid_argument(why);
  if (!left_out.empty()) {
    ranked.front().name += fmt::format(" (the budget was spent before {})", left_out);
  }
  return ranked;
}

bool is_planned_badly(const Topology& topology, const CollectiveRequest& request,
                      const Generator& generator) {
  return generator.plans_times && is_exchange(request.op) && request.segments == 0 &&
         holds_inputs(topology, request);
}

std::vector<RankedSchedule> in_other_segments(const Topology& topology,
                                              const CollectiveRequest& request,
                                              const RankedSchedule& taken) {
  double error = 1.1;
  std::vector<std::uint32_t> numbers = segments_to_try(*taken.generator, topology, request);
  if (is_planned_badly(topology, request, *taken.generator)) {
    constexpr std::uint32_t kMostNumber = 32;
    constexpr std::size_t kMostPiecesTried = 40'000;
    error = 2;
    const std::size_t pairs = topology.num_nodes() * topology.num_nodes();
    for (std::uint32_t n = 1; n <= kMostNumber && n * pairs <= kMostPiecesTried; n *= 2) {
      numbers.push_back(n);
    }
  }
  const auto limit = static_cast<std::uint64_t>(error * static_cast<double>(taken.planned_ps));
  std::vector<RankedSchedule> others;
  for (const std::uint32_t segments : numbers) {
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
       CollectiveOp::reduce, CollectiveOp::all_gatherv, CollectiveOp::reduce_scatterv},
      auto_unsuited, generate_auto);
  row.parameters = {root_parameter(row.ops), {"collective.relay", {}}};
  row.plans_times = true;
  row.plans_groups = true;
  return row;
}

}  // namespace espalier
