// A dimension plan as a general schedule on a fully connected network, so that the general
// certifier can judge it: written against the definition of the stages only.
#pragma once

#include <cstdint>
#include <vector>

#include "alg/plans/dimension_plan.h"
#include "alg/schedule/schedule.h"
#include "hw/topology/topology.h"

namespace espalier::test {

// Precondition: no dimension works in the network.
//
// A chunk is cut into pieces that are numbered by the coordinates of the NPU whose share they are,
// the dimension reduced in first being the most significant digit: the blocks of every stage are
// then runs of pieces. Where there is a ring every piece is two, so that each of its lanes has half
// of every block.
class PlanExpansion {
 public:
  PlanExpansion(const DimensionPlan& plan, const Topology& fully_connected)
      : plan_(plan), topology_(fully_connected), schedule_(fully_connected) {
    schedule_.algorithm = plan.algorithm;
    schedule_.op = plan.op;
    schedule_.num_nodes = plan.num_nodes();
    schedule_.size = plan.size;
    schedule_.contention_free = false;
    for (const PlannedDimension& d : plan.dimensions) {
      if (d.algorithm == DimensionAlgorithm::ring) halves_ = 2;
    }
  }

  Schedule expand() {
    for (const PlannedChunk& chunk : plan_.chunks) add_chunk(chunk);
    schedule_.sort_by_step();
    return std::move(schedule_);
  }

 private:
  using Arrivals = std::vector<std::vector<TransferId>>;  // by node

  [[nodiscard]] std::uint32_t stride(std::uint32_t dimension) const {
    std::uint32_t nodes = 1;
    for (std::uint32_t d = 0; d < dimension; ++d) nodes *= plan_.dimensions[d].size;
    return nodes;
  }
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t node, std::uint32_t dimension) const {
    return node / stride(dimension) % plan_.dimensions[dimension].size;
  }

  // The dimensions in the order in which the chunk is reduced, or would have been.
  [[nodiscard]] std::vector<std::uint32_t> digits_of(const PlannedChunk& chunk) const {
    std::vector<std::uint32_t> digits;
    for (std::size_t s = 0; s < plan_.dimensions.size(); ++s) {
      const std::size_t stage =
          plan_.op == CollectiveOp::all_gather ? plan_.dimensions.size() - 1 - s : s;
      digits.push_back(chunk.stages[stage].dimension);
    }
    return digits;
  }

  // Pieces of a block of the stage at this digit.
  [[nodiscard]] std::uint32_t weight(const std::vector<std::uint32_t>& digits,
                                     std::size_t digit) const {
    std::uint32_t pieces = halves_;
    for (std::size_t i = digit + 1; i < digits.size(); ++i) {
      pieces *= plan_.dimensions[digits[i]].size;
    }
    return pieces;
  }
  // First of the pieces with this node's coordinates in the digits before.
  [[nodiscard]] std::uint32_t prefix(const std::vector<std::uint32_t>& digits, std::size_t digit,
                                     std::uint32_t node) const {
    std::uint32_t piece = 0;
    for (std::size_t i = 0; i < digit; ++i) {
      piece += coordinate(node, digits[i]) * weight(digits, i);
    }
    return piece;
  }

  void add_chunk(const PlannedChunk& chunk) {
    const auto nodes = static_cast<std::uint32_t>(plan_.num_nodes());
    const std::vector<std::uint32_t> digits = digits_of(chunk);
    const std::size_t first_piece = schedule_.chunks.size();
    const auto offsets = cut_evenly(chunk.size, std::size_t{nodes} * halves_, kDefaultElementBytes);
    schedule_.chunks.resize(first_piece + nodes * halves_);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const std::uint32_t own = prefix(digits, digits.size(), n);
      for (std::uint32_t h = 0; h < halves_; ++h) {
        schedule_.chunks[first_piece + own + h] = {
            chunk.offset + offsets[own + h], offsets[own + h + 1] - offsets[own + h], NodeId(n)};
      }
    }
    Arrivals ended(nodes);  // in stages that are over
    Timestep step = 0;
    for (std::size_t s = 0; s < chunk.stages.size(); ++s) {
      const PlannedDimension& d = plan_.dimensions[chunk.stages[s].dimension];
      const std::size_t digit =
          chunk.stages[s].kind == StageKind::reduce_scatter ? s : chunk.stages.size() - 1 - s;
      const StageSteps steps(d.algorithm, d.size);
      Arrivals of_stage(nodes);
      for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
        add_lane({first_piece, digits, digit, chunk.stages[s]}, steps, lane, step, ended, of_stage);
      }
      for (std::uint32_t n = 0; n < nodes; ++n) {
        ended[n].insert(ended[n].end(), of_stage[n].begin(), of_stage[n].end());
      }
      step += steps.steps();
    }
    schedule_.num_steps = std::max(schedule_.num_steps, step);
  }

  struct StagePlace {
    std::size_t first_piece;
    const std::vector<std::uint32_t>& digits;
    std::size_t digit;
    PlannedStage stage;
  };

  void add_lane(const StagePlace& place, const StageSteps& steps, std::uint32_t lane, Timestep base,
                const Arrivals& ended, Arrivals& of_stage) {
    const auto nodes = static_cast<std::uint32_t>(plan_.num_nodes());
    const std::uint32_t dimension = place.stage.dimension;
    const std::uint32_t block = weight(place.digits, place.digit);
    Arrivals of_lane(nodes);
    for (std::uint32_t step = 0; step < steps.steps(); ++step) {
      Arrivals of_step(nodes);
      for (std::uint32_t n = 0; n < nodes; ++n) {
        const std::uint32_t self = coordinate(n, dimension);
        std::vector<TransferId> waits = ended[n];
        waits.insert(waits.end(), of_lane[n].begin(), of_lane[n].end());
        for (std::uint32_t i = 0; i < steps.num_sends(place.stage.kind, step); ++i) {
          const StageSend send = steps.send(place.stage.kind, self, lane, step, i);
          const std::uint32_t to = n + (send.peer - self) * stride(dimension);
          const std::uint32_t share = block / steps.lanes();
          const std::uint32_t first =
              prefix(place.digits, place.digit, n) + send.blocks.first * block + lane * share;
          Transfer t{NodeId(n),
                     NodeId(to),
                     FlowId(schedule_.transfers.size()),
                     ChunkId(place.first_piece + first),
                     send.blocks.count * share,
                     RouteSet::single(topology_.link_between(NodeId(n), NodeId(to))),
                     base + step + 1,
                     place.stage.kind == StageKind::reduce_scatter ? TransferKind::reduce
                                                                   : TransferKind::copy};
          of_step[to].push_back(schedule_.add(t, waits));
        }
      }
      for (std::uint32_t n = 0; n < nodes; ++n) {
        of_lane[n].insert(of_lane[n].end(), of_step[n].begin(), of_step[n].end());
        of_stage[n].insert(of_stage[n].end(), of_step[n].begin(), of_step[n].end());
      }
    }
  }

  const DimensionPlan& plan_;
  const Topology& topology_;
  Schedule schedule_;
  std::uint32_t halves_ = 1;
};

}  // namespace espalier::test
