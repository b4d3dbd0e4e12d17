#include "hw/cost/logic.h"

#include <algorithm>
#include <cmath>

namespace espalier {

namespace logic {

double flip_flops_of(const RtlInstance& rtl) {
  const double a = rtl.first;
  const double b = rtl.second;
  const double c = rtl.third;
  const double d = rtl.fourth;
  const double e = rtl.fifth;
  switch (rtl.module) {
    case RtlModule::ni_control:
      return a + b + 1;
    case RtlModule::dependency_state:  // two events for each entry of a cycle
      return a + 2 * b * c * (1 + bits_for(rtl.first));
    case RtlModule::fifo_control:
      return 2.0 * std::max(1U, bits_for(rtl.first)) + bits_for(std::uint64_t{rtl.first} + 1);
    case RtlModule::credit_counter:
      return bits_for(std::uint64_t{rtl.first} + 1);
    case RtlModule::output_state: {
      const double port = std::max(1U, bits_for(rtl.first));
      const double vc = std::max(1U, bits_for(rtl.second));
      return a * (port + 2 * vc + 2 * b) + a * b * (1 + vc);
    }
    case RtlModule::switch_allocator:  // the orders of both stages
      return c != 0 ? a * (a - 1) + a * (b - 1) : a * (a * b - 1);
    case RtlModule::readiness_table:
      return a * (b + 1) + std::max(1U, bits_for(rtl.first)) + 1;
    case RtlModule::row_repeat:
      return b + 1;
    case RtlModule::slot_counter:
      return a + 1;
    case RtlModule::dma_engine:
      return 2 * a + c;
    case RtlModule::packetizer:
      return a + 2 * b + b * c + d + e + 4;
    case RtlModule::message_table:
      return a * (b + c + 1);
    case RtlModule::program_context:
      return a + b + c + d + 2 * e + 4;  // the phase has a flip-flop for each of its four states
    case RtlModule::program_scoreboard:
      return a * b;
    case RtlModule::slot_credits:
      return 2 * a;
    case RtlModule::dimension_queue:
      return a * (b + c) + bits_for(rtl.first + 1) + 1;
    case RtlModule::fp_adder:
      break;  // no state
  }
  return 0;
}

}  // namespace logic

}  // namespace espalier
