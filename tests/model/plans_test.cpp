// Plans of multi-dimensional systems, simulated: right data, equal in both fidelities and where one
// NPU stands for all, every byte accounted for, and never faster than the links allow.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "alg/bounds/bounds.h"
#include "ni/rtl/rtl_sequencer.h"
#include "plan_systems.h"
#include "sims/model/build_topology.h"
#include "tests/support/share_of_cases.h"

namespace espalier {
namespace {

using test::direct;
using test::plan_point_of;
using test::ring;
using test::run_plan_point;
using test::switched;
using Dimensions = std::vector<test::Dimension>;

constexpr CollectiveOp kPlannedOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                        CollectiveOp::all_gather};

// Payload alone: at most everything that the links carry, in each dimension.
void check_utilization(const Topology& topology, const RunPoint& point, const test::PlanRun& run) {
  const double seconds = nanoseconds(run.cycles, point.system.clock) / 1e9;
  for (std::size_t d = 0; d < run.bytes_sent.size(); ++d) {
    const auto rate = static_cast<double>(topology.dimensions()->dimensions[d].bytes_per_second());
    CHECK(static_cast<double>(run.bytes_sent[d]) <=
          seconds * rate * static_cast<double>(topology.num_nodes()));
  }
}

// Blocks are cut to the element and some are empty, but over all NPUs nothing is rounded: what is
// sent is what is planned for chunks of the size that they have with their padding.
void check_bytes(const Topology& topology, const RunPoint& point, DimensionPlan plan,
                 const test::PlanRun& run) {
  const PlanLayout layout(plan, *topology.dimensions(), point.collective->element_bytes,
                          point.collective->parts);
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    const std::size_t first = c * layout.pieces_per_chunk();
    plan.chunks[c].size = layout.bytes({ChunkId(first), layout.pieces_per_chunk()});
  }
  for (std::uint32_t d = 0; d < plan.dimensions.size(); ++d) {
    const double planned = bytes_sent_on(plan, d) * static_cast<double>(plan.num_nodes());
    CHECK(run.bytes_sent[d] == static_cast<Bytes>(std::llround(planned)));
  }
}

// Returns how much longer it took than the pre-simulation said.
double check_point(const RunPoint& point) {
  const Topology topology = build_topology(point.system);
  CAPTURE(topology.name(), point.collective->algorithm, to_string(point.collective->op),
          point.collective->size, point.collective->chunks,
          static_cast<int>(point.system.ni.dimension_queue.order.value_or(QueueOrder::scf)),
          point.system.ni.dimension_queue.in_flight, point.system.ni.dimension_queue.enforce_order);
  const ForecastPlan planned = plan_point(topology, point);
  CHECK(certify_plan(point, planned.plan).empty());
  // Flit by flit the model decides, and otherwise the Verilog, if the point has it.
  const auto run_as = [&](Fidelity fidelity, Folding fold) {
    RunPoint variant = point;
    if (fidelity == Fidelity::cycle) variant.simulation.rtl.clear();
    return run_plan_point(topology, variant, planned.plan, fidelity, fold);
  };
  const test::PlanRun cycle = run_as(Fidelity::cycle, Folding::off);
  CHECK(cycle.failure == "");
  CHECK(cycle.verified);
  const test::PlanRun train = run_as(Fidelity::train, Folding::off);
  CHECK(train.failure == "");
  CHECK(train.reproducible == cycle.reproducible);
  CHECK(test::link_conflicts(train.counters) == test::link_conflicts(cycle.counters));
  // One NPU for all, where that is exact. It meets nobody in a switch: there are no conflicts.
  const test::PlanRun folded = run_as(Fidelity::train, Folding::automatic);
  if (folded.folded) CHECK(folded.reproducible == cycle.reproducible);
  check_bytes(topology, point, planned.plan, cycle);
  check_utilization(topology, point, cycle);
  const double bound = dimension_bound(topology, planned.plan).seconds;
  CHECK(bound * 1e9 <= nanoseconds(cycle.cycles, point.system.clock));
  return static_cast<double>(cycle.cycles) / static_cast<double>(planned.forecast) - 1;
}

// Both planners, all collectives, both queues, with one order and without: one after the other,
// so that every pair of them meets.
void check_variants(const Dimensions& dimensions, Bytes size, std::uint32_t chunks,
                    double forecast_error, void (*change)(RunPoint&) = nullptr) {
  constexpr std::uint32_t kInFlight[] = {1, 2, 8};
  int variant = -1;
  test::ShareOfCases share(5);
  for (const char* algorithm : {"baseline", "themis"}) {
    for (const CollectiveOp op : kPlannedOps) {
      for (const QueueOrder order : {QueueOrder::fifo, QueueOrder::scf}) {
        ++variant;
        if (!share.take()) continue;
        RunPoint point = plan_point_of(dimensions, size, chunks, algorithm, op);
        DimensionQueueConfig& queue = point.system.ni.dimension_queue;
        queue.order = order;
        queue.in_flight = kInFlight[variant % 3];
        queue.enforce_order = variant / 2 % 2 == 0;
        if (variant % 3 != 0 && has_rtl()) point.simulation.rtl = {RtlBlock::dimension_queue};
        if (change != nullptr) change(point);
        const double error = check_point(point);
        CAPTURE(algorithm, to_string(op), static_cast<int>(order), queue.in_flight);
        CHECK(std::abs(error) <= forecast_error);
      }
    }
  }
}

TEST_CASE("Plans end alike in both fidelities on 4x4 NPUs, a switch and a ring") {
  check_variants({switched(4), ring(4)}, 64 * 1024, 8, 0.05);
}

TEST_CASE("Plans end alike in both fidelities on 4x4x2 NPUs with a network of each kind") {
  check_variants({direct(4), ring(4), switched(2)}, 32 * 1024, 6, 0.05);
}

TEST_CASE("Plans end alike in both fidelities on the smallest systems there are") {
  check_variants({switched(2), switched(2)}, 16 * 1024, 5, 0.05);
  check_variants({ring(2), direct(2)}, 16 * 1024, 5, 0.05);
  check_variants({ring(2)}, 8 * 1024, 3, 0.05);
}

TEST_CASE("Plans end alike in both fidelities where nothing divides evenly") {
  check_variants({ring(3), switched(4)}, 4 * 4099, 7, 0.15);
  check_variants({switched(3), direct(5)}, 4 * 3001, 4, 0.15);
}

TEST_CASE("Plans end alike in both fidelities over several links to each neighbour") {
  check_variants({ring(4, 6), switched(4, 3)}, 96 * 1024, 6, 0.05);
  check_variants({direct(3, 4), ring(2, 4)}, 48 * 1024, 4, 0.05);
}

TEST_CASE(
    "Searched plans end alike in both fidelities and take the time that they were chosen by") {
  for (const CollectiveOp op : kPlannedOps) {
    CAPTURE(to_string(op));
    const RunPoint point =
        plan_point_of({direct(4), ring(4), switched(2)}, 32 * 1024, 6, "themis_search", op);
    CHECK(std::abs(check_point(point)) <= 0.05);
  }
}

TEST_CASE("Plans end alike in both fidelities on dimensions of different speed") {
  check_variants({ring(4, 2, 50), direct(3, 2, 12), switched(2, 2, 25)}, 96 * 1024, 8, 0.05);
}

TEST_CASE("Plans end alike in both fidelities where a flit takes fractions of a cycle") {
  // 24 B at 15 B per cycle, 20 B at 16.
  Dimensions dimensions{ring(4, 2, 15), switched(4, 1, 16)};
  dimensions[0].flit_bytes = 24;
  dimensions[1].flit_bytes = 20;
  check_variants(dimensions, 48 * 1024, 6, 0.05);
}

TEST_CASE("Plans end alike in both fidelities packet by packet") {
  check_variants({switched(4), ring(3)}, 24 * 1024, 5, 0.1,
                 [](RunPoint& point) { point.system.flow_control.mode = FlowControlMode::packet; });
}

TEST_CASE("Plans end alike in both fidelities where the DMA engine is the bottleneck") {
  check_variants({ring(4), switched(2)}, 24 * 1024, 4, 10,
                 [](RunPoint& point) { point.system.ni.dma_bytes_per_cycle = 20; });
}

TEST_CASE("Plans end alike in both fidelities where whole messages are reduced at last") {
  check_variants({direct(3), ring(3)}, 18 * 1024, 4, 10, [](RunPoint& point) {
    point.system.ni.reduction = {ReductionMode::after_message, 2, 64, 256};
  });
}

TEST_CASE("Plans end alike in both fidelities with queues of one descriptor") {
  check_variants({switched(3), direct(3)}, 18 * 1024, 6, 10,
                 [](RunPoint& point) { point.system.ni.send_queue = 1; });
}

// NPUs with less to send are ahead of the others: only one order for all keeps them together.
TEST_CASE("Collectives of fewer elements than NPUs end alike in both fidelities") {
  for (const Bytes elements : {1U, 2U, 5U, 17U}) {
    check_variants({ring(3), switched(4)}, 4 * elements, 3, 10,
                   [](RunPoint& point) { point.system.ni.dimension_queue.enforce_order = true; });
  }
}

// Any system of a few NPUs, and any plan of it.
RunPoint random_point(std::mt19937& random) {
  const auto pick = [&random](std::size_t count) { return random() % count; };
  const auto number = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(pick(high - low + 1));
  };
  constexpr std::uint64_t kRates[] = {4, 8, 12, 16, 25};
  Dimensions dimensions;
  std::uint32_t nodes = 1;
  for (std::uint32_t d = number(1, 3); d > 0; --d) {
    test::Dimension dimension;
    dimension.shape = static_cast<DimensionShape>(pick(3));
    dimension.size = number(2, nodes >= 8 ? 2 : 5);
    nodes *= dimension.size;
    dimension.links = fewest_links(dimension.shape, dimension.size) * number(1, 3);
    dimension.gigabytes_per_second = kRates[pick(5)];
    if (pick(3) == 0) {
      dimension.flit_bytes =
          static_cast<std::uint32_t>(dimension.gigabytes_per_second) + number(1, 8);
    }
    if (dimension.shape == DimensionShape::switched && pick(2) == 0) {
      dimension.algorithm = DimensionAlgorithm::direct;
    }
    dimensions.push_back(dimension);
  }
  RunPoint point = plan_point_of(dimensions, 4 * number(1, 6000), number(1, 12),
                                 pick(2) == 0 ? "baseline" : "themis", kPlannedOps[pick(3)]);
  SystemConfig& system = point.system;
  DimensionQueueConfig& queue = system.ni.dimension_queue;
  queue.order = static_cast<QueueOrder>(pick(2));
  queue.key = static_cast<ChunkKey>(pick(3));
  queue.ties = static_cast<TieRule>(pick(2));
  queue.in_flight = number(1, 8);
  queue.arbitration_cycles = number(1, 3);
  system.dimensions.packet_flits = number(2, 16);
  system.flow_control.mode = static_cast<FlowControlMode>(pick(2));
  system.router.pipeline_cycles = number(0, 3);
  system.ni.send_queue = pick(2) == 0 ? 1 : 16;
  system.ni.dma_latency_cycles = number(1, 4);
  if (pick(3) == 0) system.ni.dma_bytes_per_cycle = number(5, 60);
  if (pick(2) == 0) {
    system.ni.reduction = {ReductionMode::after_message, number(1, 4), number(8, 64), 64};
  }
  if (pick(2) == 0 && has_rtl()) point.simulation.rtl = {RtlBlock::dimension_queue};
  test::set_link_latency(system, number(1, 40));
  point.collective->parts = static_cast<PartSizes>(pick(3));
  if (pick(3) == 0) point.faults.late_nis = {{number(0, nodes - 1), number(1, 3000)}};
  if (pick(4) == 0) point.faults.clock_skew = {{number(0, nodes - 1), number(1, 50), 0}};
  if (pick(4) == 0) point.faults.dma_jitter = DmaJitterConfig{number(1, 50), number(0, 99), {}};
  if (pick(4) == 0) {
    const Topology topology = build_topology(system);
    const TopologyLink& link = topology.links()[pick(topology.num_links())];
    point.faults.slow_links = {{topology.vertex_name(link.from), topology.vertex_name(link.to),
                                link.spec.bytes_per_second / 2, link.spec.latency_ps + 5000}};
  }
  return point;
}

void check_random_points(int cases, std::uint32_t seed) {
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < cases; ++i) {
    CAPTURE(i);
    check_point(random_point(random));
  }
}

TEST_CASE("Random plans on random systems take the same cycles in both fidelities") {
  check_random_points(test::kSanitized ? 17 : 100, 20'261);
}

// By hand: model_tests "[more-plans]" --rng-seed 1
TEST_CASE("Many random plans on random systems end alike in both fidelities", "[.][more-plans]") {
  check_random_points(3000, Catch::rngSeed());
}

}  // namespace
}  // namespace espalier
