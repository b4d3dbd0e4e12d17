#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "cli_test_support.h"
#include "ni/rtl/rtl_sequencer.h"

using namespace espalier;
using Catch::Contains;
using test::Outcome;

TEST_CASE("A program without Verilog models says how to build one that has them") {
  if (has_rtl()) {
    fmt::print("skipped: built with ESPALIER_RTL\n");
    return;
  }
  const Outcome torus =
      test::espalier({"run", ESPALIER_SOURCE_DIR "/configs/torus_8x8.yaml", "-s",
                      "collective.algorithm=ring", "-s", "simulation.rtl=[ni_control]"});
  CHECK(torus.exit_code == 2);
  CHECK(torus.out.empty());
  CHECK_THAT(torus.err, Contains("-s simulation.rtl=[ni_control]: error: simulation.rtl: ") &&
                            Contains("CMAKE_OPTIONS=-DESPALIER_RTL=ON sims/build.sh release"));
}
