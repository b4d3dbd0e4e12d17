#include "alg/plans/dimension_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "alg/plans/planner.h"

namespace espalier {
namespace {

constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;

// Parts that pass an NPU's links during the stage. An all_gather in the network sends only one
// copy, but the data that come back take as long as with the other algorithms.
std::uint64_t moved_parts(StageKind kind, std::uint32_t size, std::uint64_t parts) {
  return kind == StageKind::reduce_scatter ? parts / size * (size - 1) : parts * (size - 1);
}

std::uint64_t count_nodes(const std::vector<PlannedDimension>& dimensions) {
  std::uint64_t nodes = 1;
  for (const PlannedDimension& d : dimensions) nodes *= d.size;
  return nodes;
}

// The time for which each dimension is busy with the planned chunks (Themis, section 4.4: Latency
// Model and Dim Load Tracker).
//
// Exact arithmetic: the time of a stage is a fraction of bytes, nodes and rates, and equal loads
// must compare equal for every order of visits. The products fit into 128 bits while bytes x nodes
// of all stages of a dimension stay below 2^80: 2^40 bytes on 2^20 nodes would have to visit it
// more than a million times.
class DimensionLoads {
 public:
  // Preconditions: no size, rate or divisor is 0.
  DimensionLoads(const std::vector<PlannedDimension>& dimensions, std::uint32_t threshold_divisor)
      : dimensions_(dimensions),
        threshold_divisor_(threshold_divisor),
        nodes_(count_nodes(dimensions)),
        loads_(dimensions.size()) {}

  // Loads start at A_K instead of 0.
  void start_at_fixed_delays() {
    for (std::size_t d = 0; d < loads_.size(); ++d) {
      const PlannedDimension& dimension = dimensions_[d];
      const std::uint64_t steps = StageSteps(dimension.algorithm, dimension.size).steps();
      loads_[d] = {Wide{nodes_} * steps * dimension.step_latency_ps, 0};
    }
  }

  // Adds a stage of `kind` on dimension `d` for a chunk of `bytes`. At its start an NPU has `parts`
  // of num_nodes() parts of the chunk.
  void add(StageKind kind, std::size_t d, Bytes bytes, std::uint64_t parts) {
    const Wide added = work(kind, d, bytes, parts) + loads_[d].rest;
    loads_[d].whole += added / rate(d);
    loads_[d].rest = added % rate(d);
  }

  // True if the loads differ by less than the Threshold: the time of a stage on the least loaded
  // dimension that starts with `parts` parts of a chunk of bytes / threshold_divisor.
  [[nodiscard]] bool balanced(StageKind kind, Bytes bytes, std::uint64_t parts) const {
    std::size_t least = 0;
    std::size_t most = 0;
    for (std::size_t d = 1; d < loads_.size(); ++d) {
      if (less(d, least)) least = d;
      if (less(most, d)) most = d;
    }
    // Both sides of load(most) < load(least) + stage / divisor, times the divisor and without the
    // whole of the least load.
    const Wide left = loads_[most].rest * threshold_divisor_;
    const Wide right = loads_[least].rest * threshold_divisor_ + work(kind, least, bytes, parts);
    const Wide left_whole =
        (loads_[most].whole - loads_[least].whole) * threshold_divisor_ + left / rate(most);
    const Wide right_whole = right / rate(least);
    if (left_whole != right_whole) return left_whole < right_whole;
    return left % rate(most) * rate(least) < right % rate(least) * rate(most);
  }

  [[nodiscard]] bool less(std::size_t a, std::size_t b) const {
    if (loads_[a].whole != loads_[b].whole) return loads_[a].whole < loads_[b].whole;
    return loads_[a].rest * rate(b) < loads_[b].rest * rate(a);
  }

  // The loads, rounded.
  [[nodiscard]] std::vector<std::uint64_t> femtoseconds() const {
    std::vector<std::uint64_t> rounded;
    rounded.reserve(loads_.size());
    for (std::size_t d = 0; d < loads_.size(); ++d) {
      // Picoseconds are quotient + fraction / unit.
      const Wide quotient = loads_[d].whole / nodes_;
      const Wide fraction = loads_[d].whole % nodes_ * rate(d) + loads_[d].rest;
      const Wide unit = nodes_ * rate(d);
      rounded.push_back(
          static_cast<std::uint64_t>(quotient * 1000 + (2000 * fraction + unit) / (2 * unit)));
    }
    return rounded;
  }

  [[nodiscard]] std::uint64_t num_nodes() const { return nodes_; }

 private:
  __extension__ using Wide = unsigned __int128;
  // Picoseconds times the number of nodes: whole + rest / the dimension's bytes per second.
  struct Load {
    Wide whole = 0;
    Wide rest = 0;  // below the rate
  };

  // The work of a stage: its load times the dimension's bytes per second.
  [[nodiscard]] Wide work(StageKind kind, std::size_t d, Bytes bytes, std::uint64_t parts) const {
    return Wide{bytes} * moved_parts(kind, dimensions_[d].size, parts) * kPicosecondsPerSecond;
  }

  [[nodiscard]] Wide rate(std::size_t d) const { return dimensions_[d].bytes_per_second; }

  const std::vector<PlannedDimension>& dimensions_;
  std::uint32_t threshold_divisor_;
  std::uint64_t nodes_;
  std::vector<Load> loads_;
};

struct Fraction {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  void multiply(std::uint64_t factor) {
    const std::uint64_t common = std::gcd(factor, denominator);
    numerator *= factor / common;
    denominator /= common;
  }

  void divide(std::uint64_t divisor) {
    const std::uint64_t common = std::gcd(divisor, numerator);
    numerator /= common;
    denominator *= divisor / common;
  }

  [[nodiscard]] double of(Bytes bytes) const {
    return static_cast<double>(bytes) * static_cast<double>(numerator) /
           static_cast<double>(denominator);
  }
};

// The share of a chunk at an NPU before the first stage.
Fraction first_share(CollectiveOp op, const std::vector<PlannedDimension>& dimensions) {
  Fraction share;
  if (op == CollectiveOp::all_gather) share.divide(count_nodes(dimensions));
  return share;
}

void pass(Fraction& share, StageKind kind, const PlannedDimension& dimension) {
  if (kind == StageKind::reduce_scatter) {
    share.divide(dimension.size);
  } else {
    share.multiply(dimension.size);
  }
}

// Plans the chunks one after the other and tracks the loads.
class PlanBuilder {
 public:
  PlanBuilder(const char* algorithm, const std::vector<PlannedDimension>& dimensions,
              const PlanRequest& request)
      : request_(request),
        kind_(request.op == CollectiveOp::all_gather ? StageKind::all_gather
                                                     : StageKind::reduce_scatter),
        loads_(checked(dimensions, request), request.threshold_divisor),
        first_parts_(kind_ == StageKind::all_gather ? 1 : loads_.num_nodes()) {
    plan_.algorithm = algorithm;
    plan_.op = request.op;
    plan_.size = request.size;
    plan_.dimensions = dimensions;
    baseline_.resize(dimensions.size());
    std::iota(baseline_.begin(), baseline_.end(), 0U);
    if (kind_ == StageKind::all_gather) std::reverse(baseline_.begin(), baseline_.end());
  }

  void start_at_fixed_delays() { loads_.start_at_fixed_delays(); }

  // `order_of(bytes)` returns the order in which a chunk of `bytes` visits the dimensions.
  template <class OrderOf>
  DimensionPlan plan(OrderOf order_of) {
    const Bytes elements = request_.size / request_.element_bytes;
    const auto count = static_cast<std::size_t>(std::min<Bytes>(request_.chunks, elements));
    plan_.loads_fs.assign(plan_.dimensions.size(), 0);
    if (count == 0) return std::move(plan_);
    const auto offsets = cut_evenly(request_.size, count, request_.element_bytes);
    for (std::size_t c = 0; c < count; ++c) {
      const Bytes bytes = offsets[c + 1] - offsets[c];
      add_chunk(offsets[c], bytes, order_of(bytes));
    }
    Bytes largest = 0;
    for (const PlannedChunk& chunk : plan_.chunks) largest = std::max(largest, chunk.size);
    for (PlannedChunk& chunk : plan_.chunks) chunk.rounding = largest - chunk.size;
    plan_.loads_fs = loads_.femtoseconds();
    return std::move(plan_);
  }

  [[nodiscard]] const DimensionOrder& baseline_order() const { return baseline_; }

  [[nodiscard]] DimensionOrder themis_order(Bytes bytes) const {
    if (loads_.balanced(kind_, bytes, first_parts_)) return baseline_;
    DimensionOrder order = baseline_;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return kind_ == StageKind::reduce_scatter ? loads_.less(a, b) : loads_.less(b, a);
    });
    return order;
  }

 private:
  static const std::vector<PlannedDimension>& checked(
      const std::vector<PlannedDimension>& dimensions, const PlanRequest& request) {
    if (request.op == CollectiveOp::all_to_all) {
      throw std::invalid_argument("a dimension plan cannot carry out an all_to_all");
    }
    if (dimensions.empty()) throw std::invalid_argument("a plan needs dimensions");
    if (request.chunks == 0 || request.threshold_divisor == 0 || request.element_bytes == 0) {
      throw std::invalid_argument("a plan needs chunks, elements and a threshold");
    }
    for (const PlannedDimension& d : dimensions) {
      if (d.bytes_per_second == 0) throw std::invalid_argument("a dimension has no bandwidth");
      if (!suits(d.algorithm, d.size)) {
        throw std::invalid_argument("a dimension's algorithm does not run on its number of NPUs");
      }
    }
    return dimensions;
  }

  void add_chunk(Bytes offset, Bytes bytes, const DimensionOrder& order) {
    PlannedChunk chunk;
    chunk.offset = offset;
    chunk.size = bytes;
    std::uint64_t parts = first_parts_;
    for (const std::uint32_t d : order) {
      const std::uint32_t size = plan_.dimensions[d].size;
      loads_.add(kind_, d, bytes, parts);
      parts = kind_ == StageKind::reduce_scatter ? parts / size : parts * size;
      chunk.stages.push_back({kind_, d});
    }
    if (plan_.op == CollectiveOp::all_reduce) {
      for (auto d = order.rbegin(); d != order.rend(); ++d) {
        chunk.stages.push_back({StageKind::all_gather, *d});
      }
    }
    plan_.chunks.push_back(std::move(chunk));
  }

  const PlanRequest& request_;
  StageKind kind_;  // of the planned half
  DimensionLoads loads_;
  // Number of parts, of the num_nodes() parts of a chunk, at an NPU before the first stage.
  std::uint64_t first_parts_;
  DimensionPlan plan_;
  DimensionOrder baseline_;
};

}  // namespace

std::size_t DimensionPlan::num_nodes() const { return count_nodes(dimensions); }

std::vector<double> DimensionPlan::residents(std::uint32_t chunk) const {
  Fraction share = first_share(op, dimensions);
  const PlannedChunk& planned = chunks[chunk];
  std::vector<double> bytes{share.of(planned.size)};
  for (const PlannedStage& stage : planned.stages) {
    pass(share, stage.kind, dimensions[stage.dimension]);
    bytes.push_back(share.of(planned.size));
  }
  return bytes;
}

std::vector<std::uint64_t> DimensionPlan::compared_residents(std::uint32_t chunk) const {
  const std::uint64_t nodes = count_nodes(dimensions);
  const PlannedChunk& planned = chunks[chunk];
  const Bytes compared = planned.size + planned.rounding;
  if (compared > std::numeric_limits<std::uint64_t>::max() / nodes) {
    throw std::invalid_argument(
        fmt::format("a chunk of {} bytes is too large for the arbiters of {} nodes: cut the "
                    "collective into more chunks",
                    compared, nodes));
  }

  Fraction share = first_share(op, dimensions);
  const auto parts = [&] {
    if (nodes % share.denominator != 0 || share.numerator > share.denominator) {
      throw std::invalid_argument("a chunk passes a dimension of its plan twice");
    }
    return compared * (nodes / share.denominator * share.numerator);
  };
  std::vector<std::uint64_t> residents{parts()};
  for (const PlannedStage& stage : planned.stages) {
    pass(share, stage.kind, dimensions[stage.dimension]);
    residents.push_back(parts());
  }
  return residents;
}

double DimensionPlan::resident_before(StageRef stage) const {
  return residents(stage.chunk)[stage.stage];
}

DimensionPlan plan_baseline(const std::vector<PlannedDimension>& dimensions,
                            const PlanRequest& request) {
  PlanBuilder planner("baseline", dimensions, request);
  return planner.plan([&](Bytes /*bytes*/) { return planner.baseline_order(); });
}

DimensionPlan plan_themis(const std::vector<PlannedDimension>& dimensions,
                          const PlanRequest& request) {
  PlanBuilder planner("themis", dimensions, request);
  if (request.loads_start_at_fixed_delay) planner.start_at_fixed_delays();
  return planner.plan([&](Bytes bytes) { return planner.themis_order(bytes); });
}

std::vector<std::uint64_t> planned_loads_fs(const DimensionPlan& plan) {
  DimensionLoads loads(plan.dimensions, 1);
  const bool gathers = plan.op == CollectiveOp::all_gather;
  for (const PlannedChunk& chunk : plan.chunks) {
    std::uint64_t parts = gathers ? 1 : loads.num_nodes();
    for (std::size_t s = 0; s < plan.dimensions.size(); ++s) {
      const PlannedStage& stage = chunk.stages[s];
      const std::uint32_t size = plan.dimensions[stage.dimension].size;
      loads.add(stage.kind, stage.dimension, chunk.size, parts);
      parts = gathers ? parts * size : parts / size;
    }
  }
  return loads.femtoseconds();
}

double bytes_sent_on(const DimensionPlan& plan, std::uint32_t dimension) {
  const PlannedDimension& d = plan.dimensions[dimension];
  double bytes = 0;
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    const std::vector<PlannedStage>& stages = plan.chunks[c].stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (stages[s].dimension != dimension) continue;
      const StageRef ref{static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(s)};
      bytes += bytes_sent(stages[s].kind, d.algorithm, d.size, plan.resident_before(ref));
    }
  }
  return bytes;
}

double ideal_seconds(const DimensionPlan& plan) {
  double bytes = 0;
  double bandwidth = 0;
  for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
    bytes += bytes_sent_on(plan, static_cast<std::uint32_t>(d));
    bandwidth += static_cast<double>(plan.dimensions[d].bytes_per_second);
  }
  return bytes / bandwidth;
}

namespace {

Planner planner_row(const char* name, const char* summary, decltype(Planner::plan) plan) {
  Planner row;
  row.name = name;
  row.summary = summary;
  row.ops = reduction_ops();
  row.parameters = {{"collective.chunks", {}}, {"collective.parts", {}}};
  row.fixed_ranks = "an NPU's rank follows from its coordinates in the dimensions";
  row.plan = plan;
  return row;
}

std::vector<Planner> make_planners() {
  Planner baseline = planner_row(
      "baseline", "multi-rail hierarchical: every chunk visits dim1 to dimD and returns",
      plan_baseline);
  baseline.queue_order = QueueOrder::fifo;  // Themis, section 4.3
  Planner themis = planner_row(
      "themis", "each chunk visits the dimensions in its own order, chosen by load (Algorithm 1)",
      plan_themis);
  themis.parameters.push_back({"collective.threshold_divisor", {}});
  themis.parameters.push_back({"collective.loads_start_at_fixed_delay", {}});
  Planner search = planner_row(
      "themis_search",
      "each chunk visits the dimensions in its own order, found by search over a pre-simulation",
      [](const std::vector<PlannedDimension>& dimensions, const PlanRequest& request) {
        DimensionPlan plan = plan_themis(dimensions, request);
        plan.algorithm = "themis_search";
        return plan;
      });
  search.searches = true;
  Planner chooser =
      planner_row(kAutoAlgorithm, "the fastest of the planners above",
                  [](const std::vector<PlannedDimension>& dimensions, const PlanRequest& request) {
                    DimensionPlan plan = plan_baseline(dimensions, request);
                    plan.algorithm = kAutoAlgorithm;
                    return plan;
                  });
  chooser.parameters = themis.parameters;
  chooser.chooses = true;
  return {baseline, themis, search, chooser};
}

}  // namespace

ForecastPlan forecast_plan(const Planner& planner, const std::vector<PlannedDimension>& dimensions,
                           PlanRequest request, const ForecastSpec& spec) {
  if (planner.chooses) {
    constexpr bool kKeepsOrder = true;
    ForecastPlan best = std::move(fastest_plans(dimensions, request, spec, kKeepsOrder).front());
    best.plan.algorithm = planner.name;
    return best;
  }

  DimensionPlan plan = planner.plan(dimensions, request);
  if (!planner.searches) {
    Forecast forecast = forecast_order(plan, spec);
    plan.start_order = std::move(forecast.start_order);
    return {std::move(plan), forecast.cycles, {}, {}};
  }
  std::vector<DimensionPlan> known{plan};
  request.loads_start_at_fixed_delay = !request.loads_start_at_fixed_delay;
  known.push_back(plan_themis(dimensions, request));
  known.push_back(plan_baseline(dimensions, request));
  return search_plan(std::move(plan), known, spec);
}

std::vector<ForecastPlan> fastest_plans(const std::vector<PlannedDimension>& dimensions,
                                        const PlanRequest& request, const ForecastSpec& spec,
                                        bool keeps_order) {
  std::vector<ForecastPlan> ranked;
  for (const Planner& planner : planners()) {
    if (planner.chooses || (planner.searches && !keeps_order)) continue;
    ranked.push_back(forecast_plan(planner, dimensions, request, spec));
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const ForecastPlan& a, const ForecastPlan& b) {
    return a.forecast < b.forecast;
  });
  return ranked;
}

const std::vector<Planner>& planners() {
  static const std::vector<Planner> table = make_planners();
  return table;
}

const Planner* find_planner(const std::string& name) {
  const auto& table = planners();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Planner& p) { return p.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string unsuited_for_planners(const Topology& topology) {
  if (topology.dimensions()) return {};
  return "it plans the stages of a multi-dimensional system (system.topology.type: dimensions)";
}

}  // namespace espalier
