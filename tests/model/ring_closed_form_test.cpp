// RING against the closed form that the authors' simulator reproduces exactly.
#include <catch2/catch.hpp>

#include "model_test_support.h"
#include "tests/support/networks.h"

namespace espalier {
namespace {

using test::isca21;
using test::kDefaultLink;
using test::run_collective;

// size: divisible by the number of nodes.
Cycle closed_form(std::size_t nodes, Bytes size) {
  const Bytes chunk = size / nodes;
  const Cycle flits = 17 * ((chunk + 255) / 256);
  const Cycle reduction = 16 * ((chunk / 4 + 511) / 512);
  return (nodes - 1) * (2 * flits + 325 + reduction) + 1;
}

void check_ring(const std::vector<std::uint32_t>& dims, const std::vector<Bytes>& chunks) {
  const Topology torus = make_torus(dims, kDefaultLink);
  for (const Bytes chunk : chunks) {
    const Bytes size = chunk * torus.num_nodes();
    for (const LockstepMode lockstep : {LockstepMode::off, LockstepMode::estimate}) {
      SystemConfig config = isca21();
      config.ni.lockstep = lockstep;
      CAPTURE(chunk, static_cast<int>(lockstep));
      const SimulationOutcome outcome = run_collective("ring", torus, size, config);
      CHECK(outcome.failure == "");
      CHECK(outcome.verified);
      CHECK(outcome.cycles == closed_form(torus.num_nodes(), size));
    }
  }
}

TEST_CASE("RING on a 2x2 torus takes (N-1)(2F + 325 + A) + 1 cycles") {
  check_ring({2, 2}, {4, 256, 260, 2048, 2052, 16384});
}

TEST_CASE("RING on a 3x2 torus takes (N-1)(2F + 325 + A) + 1 cycles") {
  check_ring({3, 2}, {256, 1000, 8192});
}

TEST_CASE("RING on a 3x3 torus takes (N-1)(2F + 325 + A) + 1 cycles") {
  check_ring({3, 3}, {4, 1024, 5000});
}

TEST_CASE("RING on a 4x4 torus takes (N-1)(2F + 325 + A) + 1 cycles") {
  check_ring({4, 4}, {64, 2048, 6400});
}

TEST_CASE("RING on a 5x4 torus takes (N-1)(2F + 325 + A) + 1 cycles") {
  check_ring({5, 4}, {256, 3000});
}

TEST_CASE("RING of 1 MiB on a 4x4 torus takes the authors' 143264 cycles less 148") {
  // Their count ends 148 cycles after the last data has arrived.
  const auto outcome =
      run_collective("ring", make_torus({4, 4}, kDefaultLink), Bytes{1} << 20, isca21());
  CHECK(outcome.cycles == 143264 - 148);
  CHECK(outcome.cycles == closed_form(16, Bytes{1} << 20));
  CHECK(outcome.verified);
}

}  // namespace
}  // namespace espalier
