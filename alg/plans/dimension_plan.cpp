#include "alg/plans/dimension_plan.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "alg/plans/dimension_loads.h"

namespace espalier {
namespace {

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

std::uint64_t count_nodes(const std::vector<PlannedDimension>& dimensions) {
  std::uint64_t nodes = 1;
  for (const PlannedDimension& d : dimensions) nodes *= d.size;
  return nodes;
}

// Of a chunk, at an NPU before the first stage.
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

Fraction share_before(const DimensionPlan& plan, StageRef ref) {
  Fraction share = first_share(plan.op, plan.dimensions);
  const std::vector<PlannedStage>& stages = plan.chunks[ref.chunk].stages;
  for (std::uint32_t s = 0; s < ref.stage; ++s) {
    pass(share, stages[s].kind, plan.dimensions[stages[s].dimension]);
  }
  return share;
}

using DimensionOrder = std::vector<std::uint32_t>;

// Plans chunk after chunk and keeps the loads.
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

  // `order_of(bytes)`: in which order a chunk of so many bytes visits the dimensions.
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
      throw std::invalid_argument("an all_to_all has no dimension plan");
    }
    if (dimensions.empty()) throw std::invalid_argument("a plan needs dimensions");
    if (request.chunks == 0 || request.threshold_divisor == 0 || request.element_bytes == 0) {
      throw std::invalid_argument("a plan needs chunks, elements and a threshold");
    }
    for (const PlannedDimension& d : dimensions) {
      if (d.bytes_per_second == 0) throw std::invalid_argument("a dimension has no bandwidth");
      if (!suits(d.algorithm, d.size)) {
        throw std::invalid_argument("a dimension's algorithm does not suit its size");
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
  StageKind kind_;  // of the half that is planned
  DimensionLoads loads_;
  std::uint64_t first_parts_;  // of a chunk cut into num_nodes(): at an NPU before the first stage
  DimensionPlan plan_;
  DimensionOrder baseline_;
};

}  // namespace

std::size_t DimensionPlan::num_nodes() const { return count_nodes(dimensions); }

double DimensionPlan::resident_before(StageRef stage) const {
  return share_before(*this, stage).of(chunks[stage.chunk].size);
}

double DimensionPlan::resident_after(StageRef stage) const {
  const PlannedChunk& chunk = chunks[stage.chunk];
  const PlannedStage& passed = chunk.stages[stage.stage];
  Fraction share = share_before(*this, stage);
  pass(share, passed.kind, dimensions[passed.dimension]);
  return share.of(chunk.size);
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

}  // namespace espalier
