// Into how many pieces multitree_translated cuts a chunk by itself.
#include <catch2/catch.hpp>

#include <algorithm>

#include "alg/schedule/schedule_table.h"
#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

constexpr Bytes kKi = 1024;

Cycle cycles_in(const Topology& torus, Bytes size, FlowControlMode mode, std::uint32_t segments) {
  CollectiveRequest request;
  request.size = size;
  request.segments = segments;
  const Schedule schedule = find_generator("multitree_translated")->generate(torus, request);
  SystemConfig config = test::in_mode(mode);
  config.ni.lockstep = LockstepMode::estimate;
  return test::run_tables(torus, lower_to_tables(schedule), config).cycles;
}

TEST_CASE("By itself, multitree_translated takes a number of segments near the best", "[slow]") {
  for (const Topology& torus :
       {make_torus({4, 4}, test::kDefaultLink), make_torus({8, 8}, test::kDefaultLink),
        make_torus({4, 4, 4}, test::kDefaultLink)}) {
    for (const FlowControlMode mode : test::kFlowControlModes) {
      for (const Bytes size : {16 * kKi, 256 * kKi, 4096 * kKi}) {
        Cycle best = kNever;
        for (const std::uint32_t segments : {1U, 2U, 4U, 8U, 16U}) {
          best = std::min(best, cycles_in(torus, size, mode, segments));
        }
        const Cycle chosen = cycles_in(torus, size, mode, 0);
        CAPTURE(torus.name(), size, static_cast<int>(mode), best, chosen);
        CHECK(static_cast<double>(chosen) <= 1.03 * static_cast<double>(best));
      }
    }
  }
}

TEST_CASE("One segment costs more than the chosen number on an 8x8 torus") {
  const Topology torus = make_torus({8, 8}, test::kDefaultLink);
  const Cycle one = cycles_in(torus, 1024 * kKi, FlowControlMode::message, 1);
  const Cycle chosen = cycles_in(torus, 1024 * kKi, FlowControlMode::message, 0);
  CHECK(static_cast<double>(one) > 1.03 * static_cast<double>(chosen));
}

}  // namespace
}  // namespace espalier
