// What MULTITREE must reach on the 8x8 torus of Table III, at a size that is simulated in a second.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::in_mode;
using test::kDefaultLink;

constexpr Bytes kSize = 1 << 20;
constexpr Cycle kSteps = 34;  // 17 per phase

Cycle cycles_of(const char* algorithm, const SystemConfig& config) {
  const auto outcome =
      test::run_collective(algorithm, make_torus({8, 8}, kDefaultLink), kSize, config);
  CHECK(outcome.failure == "");
  REQUIRE(outcome.verified);
  return outcome.cycles;
}

TEST_CASE("MULTITREE in true lockstep takes a step's flits and 163 cycles for each step") {
  SystemConfig config = in_mode(FlowControlMode::message);
  config.ni.lockstep = LockstepMode::full;
  const double expected = kSteps * (kSize / 64 / 16 + 1 + 163);
  CHECK(static_cast<double>(cycles_of("multitree", config)) == Approx(expected).epsilon(0.01));
}

TEST_CASE("MULTITREE with the paper's estimate is not slower than true lockstep") {
  const SystemConfig config = in_mode(FlowControlMode::message);
  CHECK(cycles_of("multitree", config) <= kSteps * (kSize / 64 / 16 + 1 + 163));
}

TEST_CASE("Messages beat packets by their head flits and MULTITREE beats RING threefold") {
  const auto message =
      static_cast<double>(cycles_of("multitree", in_mode(FlowControlMode::message)));
  const auto packet = static_cast<double>(cycles_of("multitree", in_mode(FlowControlMode::packet)));
  const auto ring = static_cast<double>(cycles_of("ring", in_mode(FlowControlMode::message)));
  CHECK(packet / message == Approx(1 + 1.0 / 16).epsilon(0.01));
  CHECK(ring / message >= 3);
}

}  // namespace
}  // namespace espalier
