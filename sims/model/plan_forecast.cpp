#include "sims/model/plan_forecast.h"

#include <fmt/format.h>

#include <algorithm>

#include "alg/plans/dimension_routes.h"
#include "alg/plans/plan_layout.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/faults.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"

namespace espalier {

const Planner* planner_of(const RunPoint& point) {
  const Planner* planner = find_planner(point.collective->algorithm);
  const bool is_schedule =
      planner != nullptr && planner->chooses && !point.system.topology.is_dimensional();
  return is_schedule ? nullptr : planner;
}

ArbiterSpec arbiter_spec(const RunPoint& point) {
  const DimensionQueueConfig& queue = point.system.ni.dimension_queue;
  const Planner* planner = point.collective ? planner_of(point) : nullptr;
  const auto& stages = point.system.dimensions.algorithm;
  // Where switches add, a reduce_scatter loads the links to the switch and an all_gather the links
  // from it. In order of arrival, all chunks do the first before any does the second.
  const bool switches_add =
      std::find(stages.begin(), stages.end(), DimensionAlgorithm::in_network) != stages.end();
  const QueueOrder implied =
      planner == nullptr || switches_add ? ArbiterSpec{}.order : planner->queue_order;
  return {queue.order.value_or(implied), queue.key, queue.ties};
}

ForecastSpec forecast_spec(const Topology& topology, const RunPoint& point,
                           const std::vector<PlannedDimension>& planned) {
  const SystemTiming timing = time_links(topology, point.system.clock);
  const DimensionRoutes routes(topology, planned);
  const DimensionedShape& shape = *topology.dimensions();
  const DimensionQueueConfig& queue = point.system.ni.dimension_queue;
  ForecastSpec spec;
  spec.arbiter = arbiter_spec(point);
  spec.flight = queue.flight();
  spec.arbitration = queue.arbitration_cycles;
  spec.reduction = point.system.ni.reduction.latency_cycles;
  for (std::size_t d = 0; d < shape.dimensions.size(); ++d) {
    const DimensionSpec& dimension = shape.dimensions[d];
    const RouteId route = routes.bundle(NodeId(0), d, 0, 1).first;
    const LinkId link = routes.routes().link(route, 0);
    ForecastDimension forecast;
    forecast.shape = dimension.shape;
    forecast.links = dimension.parallel_links();
    const FramingSpec framing = framing_spec(point.system, dimension);
    forecast.flit_bytes = framing.flit_bytes;
    forecast.payload_bytes = framing.payload_bytes;
    forecast.message_mode = framing.message_mode;
    forecast.ticks_per_flit = timing.links[link.index()].ticks_per_flit;
    forecast.ticks_per_cycle = timing.ticks_per_cycle;
    forecast.overhead = idle_overhead(point.system, timing, routes.routes(), route);
    if (dimension.one_switch) {
      forecast.overhead_to_switch = forecast.overhead;
      forecast.overhead = idle_overhead(point.system, timing, routes.routes(),
                                        routes.from_switch(NodeId(0), d).first);
    }
    spec.dimensions.push_back(forecast);
  }
  return spec;
}

namespace {

// A smaller difference comes from chunks of unequal sizes.
constexpr std::uint64_t kSmallestLoss = 100;
// More chunks than this are small messages, whose latencies cost more than balance gains.
constexpr std::uint32_t kMostChunksTried = 1024;

PlanLoad largest_load(const DimensionPlan& plan, const PlanRequest& request) {
  std::vector<std::uint64_t> loads = plan.loads_fs;
  // Fixed delays are an initial value of the loads, and no time on a link.
  if (request.loads_start_at_fixed_delay && plan.algorithm != planners().front().name) {
    for (std::size_t d = 0; d < loads.size(); ++d) {
      const PlannedDimension& dimension = plan.dimensions[d];
      const std::uint64_t steps = StageSteps(dimension.algorithm, dimension.size).steps();
      loads[d] -= std::min(loads[d], steps * dimension.step_latency_ps * 1000);
    }
  }
  const auto most = std::max_element(loads.begin(), loads.end());
  const std::uint64_t halves = plan.op == CollectiveOp::all_reduce ? 2 : 1;
  return {static_cast<std::uint32_t>(most - loads.begin()), *most * halves};
}

}  // namespace

std::optional<PlanLoss> plan_loss(const Topology& topology, const RunPoint& point) {
  const Planner& planner = *find_planner(point.collective->algorithm);
  // Such planners try the baseline's orders, too, so they lose nothing against it.
  if (planner.searches || planner.chooses) return std::nullopt;
  const std::vector<PlannedDimension> dimensions = planned_dimensions(point.system);
  PlanRequest request = plan_request(*point.collective);
  const DimensionPlan baseline = planners().front().plan(dimensions, request);
  PlanLoss loss;
  loss.baseline = largest_load(baseline, request);
  loss.plan = largest_load(planner.plan(dimensions, request), request);
  const std::uint64_t allowed = loss.baseline.femtoseconds;
  if (loss.plan.femtoseconds <= allowed + allowed / kSmallestLoss) return std::nullopt;
  const ForecastSpec spec = forecast_spec(topology, point, dimensions);
  loss.baseline_forecast = forecast_order(baseline, spec).cycles;
  loss.most_tried = request.chunks;
  const Bytes most = std::min<Bytes>(kMostChunksTried, request.size / request.element_bytes);
  for (Bytes chunks = Bytes{2} * request.chunks; chunks <= most; chunks *= 2) {
    request.chunks = loss.most_tried = static_cast<std::uint32_t>(chunks);
    loss.better_forecast = forecast_order(planner.plan(dimensions, request), spec).cycles;
    if (loss.better_forecast >= loss.baseline_forecast) continue;
    loss.better_chunks = request.chunks;
    break;
  }
  return loss;
}

std::string folding_obstacle(const RunPoint& point, const DimensionPlan& plan,
                             const DimensionedShape& shape) {
  const CollectiveConfig& collective = *point.collective;
  const PlanLayout layout(plan, shape, collective.element_bytes, collective.parts);
  if (!layout.equal_parts()) {
    const PlanLayout padded(plan, shape, collective.element_bytes, PartSizes::equal);
    const double ratio = static_cast<double>(padded.padded_size()) / static_cast<double>(plan.size);
    return fmt::format(
        "collective.parts (chunks do not divide into equal parts; padding would add {:.1f} %)",
        100 * (ratio - 1));
  }
  if (const std::string fault = uneven_fault(point.faults); !fault.empty()) return fault;
  if (point.simulation.stall_probability > 0) {
    return "simulation.stall_probability (each link stalls on its own)";
  }
  return {};
}

std::string folding_obstacle(const RunPoint& point, const DimensionedShape& shape) {
  const CollectiveConfig& collective = *point.collective;
  const Planner& planner = *find_planner(collective.algorithm);
  return folding_obstacle(
      point, planner.plan(planned_dimensions(point.system), plan_request(collective)), shape);
}

}  // namespace espalier
