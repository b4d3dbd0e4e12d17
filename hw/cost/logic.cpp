#include "hw/cost/logic.h"

#include <algorithm>
#include <cmath>

namespace espalier {

std::uint32_t bits_for(std::uint64_t values) {
  std::uint32_t bits = 0;
  while (bits < 63 && (std::uint64_t{1} << bits) < values) ++bits;
  return bits;
}

namespace logic {

namespace {

constexpr double kFlipFlop = 5.67;  // Nangate45: DFF / NAND2
constexpr double kTauPerFo4 = 5;

double pairs_of(double requests) { return requests * (requests - 1) / 2; }
// Logarithm of a number of requesters. A single requester needs no level of logic.
double lg(double value) { return value <= 1 ? 0 : std::log2(value); }

}  // namespace

Gates flip_flops(double bits) { return {kFlipFlop * bits}; }

Gates flip_flop_memory(double words, double bits) { return {10.2 * words * bits}; }

Gates ni_control(std::uint32_t step_bits, std::uint32_t lockstep_bits,
                 std::uint32_t issue_per_cycle) {
  return {18 + 19.1 * step_bits + 13.75 * lockstep_bits +
          3.4 * step_bits * (issue_per_cycle - 1.0)};
}

Gates scf_queue(std::uint32_t chunks, std::uint32_t key_bits, std::uint32_t chunk_bits) {
  return {19.2 * chunks * (key_bits + chunk_bits)};
}

Gates round_robin_arbiter(std::uint32_t requests) { return {19.5 * requests}; }

Gates matrix_arbiter(std::uint32_t requests) { return {12 * pairs_of(requests)}; }

Gates crossbar(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t bits) {
  return {std::max(0.0, static_cast<double>(bits) * outputs * (1.667 * inputs - 0.67))};
}

Gates fifo_control(std::uint32_t flits) { return {43.5 * std::max(1U, bits_for(flits)) - 5}; }

Gates credit_counter(std::uint32_t flits) {
  return {19.0 * bits_for(std::uint64_t{flits} + 1) - 4};
}

Gates output_state(std::uint32_t ports, std::uint32_t vcs, bool shared) {
  const double p = ports;
  const double v = vcs;
  return {p * v * (shared ? 27.6 + 18.2 * p + 17.1 * v : 19.2 * p + 35.7 * v)};
}

Gates dependency_state(std::uint32_t places, std::uint32_t issue_per_cycle,
                       std::uint32_t turnaround) {
  return {places * (11 + 10.75 * issue_per_cycle) +
          18.0 * issue_per_cycle * turnaround * (bits_for(places) + 1.0)};
}

Gates readiness_table(std::uint32_t units, std::uint32_t children) {
  const double bits = units * (children + 1.0);
  return {9.15 * bits + 4.0 * units + 18.5 * bits_for(units)};
}

Gates row_repeat(std::uint32_t address_bits, std::uint32_t field_bits) {
  return {std::max(0.0, 9.3 * address_bits + 46.4 * field_bits - 64)};
}

Gates slot_counter(std::uint32_t slot_bits) { return {std::max(0.0, 16.9 * slot_bits - 25)}; }

Gates fp_adder(std::uint32_t fraction_bits) {
  return {420 + 22 * fraction_bits + 8.5 * fraction_bits * lg(fraction_bits)};
}

Gates dma_engine(std::uint32_t address_bits) { return {28.0 * address_bits - 30}; }

Gates packetizer(const PacketizerShape& shape) {
  return {14 + 8.0 * shape.flit_bits +
          shape.vcs * (22.3 * shape.credit_bits + 3.3 * shape.packet_bits) +
          14.0 * (shape.packet_bits + shape.message_bits)};
}

Gates message_table(std::uint32_t entries, std::uint32_t tag_bits, std::uint32_t count_bits) {
  return {entries * (11.1 * tag_bits + 13.5 * count_bits + 44)};
}

Gates program_context(const ContextShape& shape) {
  const std::uint32_t counters =
      shape.step_bits + shape.tile_bits + shape.request_bits + shape.flight_bits;
  return {33 + 13.6 * counters + 33.0 * shape.address_bits};
}

Gates program_scoreboard(std::uint32_t contexts, std::uint32_t count_bits) {
  return {static_cast<double>(contexts) * count_bits * (14 + 1.78 * contexts)};
}

Gates slot_credits(std::uint32_t slot_bits) { return {std::max(0.0, 36.0 * slot_bits - 16)}; }

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

double arbiter_pairs(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t vcs) {
  return inputs * pairs_of(vcs) + outputs * pairs_of(inputs);
}

Gates separable_allocator(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t vcs) {
  return {20 * arbiter_pairs(inputs, outputs, vcs)};
}

Depth flip_flop_memory_read(double words) { return {4 + 2 * lg(words)}; }

// Measured on OSU 0.18: 20 FO4 at 8 and 16 bits. The longer of the two counters decides.
Depth ni_control_depth(std::uint32_t step_bits, std::uint32_t lockstep_bits) {
  return {std::max(6 + 1.9 * step_bits, 12 + 0.52 * lockstep_bits)};
}

// Measured on OSU 0.18: 115 FO4 at 64 chunks and 32 bits. Each level has a comparison, which is a
// tree over the bits, on the way to the smallest key, and on the way back to the places that move.
Depth scf_queue_depth(std::uint32_t chunks, std::uint32_t key_bits) {
  return {bits_for(chunks) * (14 + 1.1 * lg(key_bits))};
}

// Measured on OSU 0.18: 21 FO4 at 318 flits. Carries are trees over the bits.
Depth fifo_control_depth(std::uint32_t flits) { return {2 + 6 * lg(bits_for(flits))}; }

// Measured on OSU 0.18: 15 FO4 at 318 flits.
Depth credit_counter_depth(std::uint32_t flits) {
  return {std::max(2.0, 5.4 * lg(bits_for(std::uint64_t{flits} + 1)) - 2.5)};
}

// Measured on OSU 0.18: 33 FO4 at 8 ports of 4 VCs. A VC is chosen among those of the wanted output
// after the output has been chosen among all.
Depth output_state_depth(std::uint32_t ports, std::uint32_t vcs, bool shared) {
  return {lg(ports) * (shared ? 4.5 + 3.5 * lg(vcs) : 6.2 + 3.1 * lg(vcs))};
}

// Measured on OSU 0.18: 22 FO4 at 128 places. Above 16 places the search takes a second level,
// whose groups of 16 places are a chain.
Depth dependency_state_depth(std::uint32_t places) {
  return {(places > 16 ? 3.3 : 2.6) * lg(places) + 0.01 * places};
}

// Measured on OSU 0.18: 21 FO4 at 161 units and 8 children. A tree over the bits of a unit is
// followed by a tree over the units.
Depth readiness_table_depth(std::uint32_t units, std::uint32_t children) {
  return {std::max(4.0, 2.05 * lg(units) + 2.4 * lg(children + 1.0) - 4.5)};
}

// Measured on OSU 0.18: 25 FO4 at 64 bits of address. An adder is a tree over the bits.
Depth row_repeat_depth(std::uint32_t address_bits) { return {1 + 4 * lg(address_bits)}; }

// Measured on OSU 0.18.
Depth slot_counter_depth(std::uint32_t slot_bits) { return {4 + 0.4 * slot_bits}; }

// The following are of OSU 0.18. Shifts, sums and the search for the leading one are trees over the
// bits of the fraction.
Depth fp_adder_depth(std::uint32_t exponent_bits, std::uint32_t fraction_bits) {
  return {3.3 * exponent_bits + 17 * lg(fraction_bits + 4.0) - 12};
}

Depth dma_engine_depth(std::uint32_t address_bits) { return {2.5 + 4.6 * lg(address_bits)}; }

Depth packetizer_depth(std::uint32_t credit_bits) { return {3 + 2.5 * credit_bits}; }

Depth message_table_depth(std::uint32_t entries) { return {10 + 2.5 * lg(entries)}; }

// The comparison of the next pass with their number, or the sum of an address.
Depth program_context_depth(const ContextShape& shape) {
  return {std::max(6.5 + 1.55 * shape.tile_bits, 1 + 4 * lg(shape.address_bits))};
}

Depth program_scoreboard_depth(std::uint32_t contexts, std::uint32_t count_bits) {
  return {3 + 0.8 * count_bits + 0.7 * lg(contexts)};
}

Depth slot_credits_depth(std::uint32_t slot_bits) { return {std::max(1.0, 5 * lg(slot_bits) - 1)}; }

Depth vc_allocation_depth(std::uint32_t ports, std::uint32_t vcs) {
  return {(33 * lg(static_cast<double>(ports) * vcs) / 2 + 20.8) / kTauPerFo4};
}

Depth switch_allocation_depth(std::uint32_t ports, std::uint32_t vcs) {
  return {(11.5 * lg(ports) / 2 + 23 * lg(vcs) / 2 + 20.8) / kTauPerFo4};
}

Depth crossbar_depth(std::uint32_t ports, std::uint32_t bits) {
  const double fan_out = static_cast<double>(bits) * std::max(1U, ports / 2);
  return {(9 * lg(fan_out) / 3 + 6 * std::ceil(lg(ports)) + 6) / kTauPerFo4};
}

}  // namespace logic

}  // namespace espalier
