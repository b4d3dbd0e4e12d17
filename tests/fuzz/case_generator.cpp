#include "case_generator.h"

#include "draw.h"
#include "draw_faults.h"
#include "draw_system.h"
#include "draw_workload.h"

namespace espalier::fuzz {

FuzzCase draw_case(std::uint64_t seed, std::uint64_t number) {
  Draw draw(seed, number);
  FuzzCase fuzz_case;
  fuzz_case.has_long_trains = draw.percent(30);
  draw_system(draw, fuzz_case);
  draw_workload(draw, fuzz_case);
  draw_faults(draw, fuzz_case);
  return fuzz_case;
}

}  // namespace espalier::fuzz
