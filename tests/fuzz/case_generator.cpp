#include "case_generator.h"

#include "draw.h"
#include "draw_faults.h"
#include "draw_system.h"
#include "draw_workload.h"

namespace espalier::fuzz {

namespace {

// The written configuration then says "auto", and its reader computes the number.
void draw_implied(Draw& draw, SystemConfig& system) {
  system.router.pipeline_is_implied = draw.percent(20);
  system.router.depth_is_implied = draw.percent(20);
  system.ni.reduction.latency_is_implied = draw.percent(20);
}

}  // namespace

FuzzCase draw_case(std::uint64_t seed, std::uint64_t number) {
  Draw draw(seed, number);
  FuzzCase fuzz_case;
  fuzz_case.has_long_trains = draw.percent(30);
  draw_system(draw, fuzz_case);
  draw_workload(draw, fuzz_case);
  draw_faults(draw, fuzz_case);
  draw_implied(draw, fuzz_case.point.system);
  return fuzz_case;
}

}  // namespace espalier::fuzz
