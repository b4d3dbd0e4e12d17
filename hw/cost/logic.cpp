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

Gates fifo_control(std::uint32_t pointer_bits) { return {34.0 * pointer_bits}; }

Gates dependency_table(std::uint32_t entries, std::uint32_t tag_bits) {
  return {entries * (11.1 * tag_bits + 9.2)};
}

Gates readiness_table(std::uint32_t units, std::uint32_t children) {
  const double bits = units * (children + 1.0);
  return {9.15 * bits + 4.0 * units + 18.5 * bits_for(units)};
}

Gates row_repeat(std::uint32_t address_bits, std::uint32_t field_bits) {
  return {std::max(0.0, 9.3 * address_bits + 46.4 * field_bits - 64)};
}

Gates slot_counter(std::uint32_t slot_bits) { return {std::max(0.0, 16.0 * slot_bits - 25)}; }

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

// Measured on ASAP7: 16 FO4 at 9 bits.
Depth fifo_control_depth(std::uint32_t pointer_bits) { return {6.5 + 3 * lg(pointer_bits)}; }

// Measured on OSU 0.18: 11 FO4 at 16 entries of 12 bits.
Depth dependency_match_depth(std::uint32_t entries, std::uint32_t tag_bits) {
  return {3.4 + lg(entries) + lg(tag_bits)};
}

// Measured on OSU 0.18: 21 FO4 at 161 units and 8 children. A tree over the bits of a unit is
// followed by a tree over the units.
Depth readiness_table_depth(std::uint32_t units, std::uint32_t children) {
  return {std::max(4.0, 2.65 * lg(units) + 0.9 * lg(children + 1.0) - 2.6)};
}

// Measured on OSU 0.18: 25 FO4 at 64 bits of address. An adder is a tree over the bits.
Depth row_repeat_depth(std::uint32_t address_bits) { return {1 + 4 * lg(address_bits)}; }

// Measured on OSU 0.18. A comparison and a count are trees over the bits.
Depth slot_counter_depth(std::uint32_t slot_bits) { return {1 + 4 * lg(slot_bits)}; }

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
