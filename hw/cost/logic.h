// Gate equivalents and logic depths of blocks as functions of their parameters. The gate counts are
// fitted to synthesis of small Verilog sources on a subset of Nangate45; the same sources on OSU
// 0.18 and ASAP7 are within 15 % (crossbar and flip-flop memory: 25 %). A depth is the larger one
// of OSU 0.18 and ASAP7, in FO4, without wires. README.md has the measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hw/bits.h"
#include "hw/cost/technology.h"

namespace espalier {

namespace logic {

inline constexpr double kFlipFlop = 5.67;  // Nangate45: DFF / NAND2
inline constexpr double kTauPerFo4 = 5;

[[nodiscard]] constexpr double pairs_of(double requests) { return requests * (requests - 1) / 2; }
// Logarithm of a number of requesters. A single requester needs no level of logic.
[[nodiscard]] inline double lg(double value) { return value <= 1 ? 0 : std::log2(value); }

// Flip-flops without reset.
[[nodiscard]] inline Gates flip_flops(double bits) { return {kFlipFlop * bits}; }
// One write and one read port, with read multiplexer and write enables. Fitted for 8 to 64 words.
[[nodiscard]] inline Gates flip_flop_memory(double words, double bits) {
  return {10.2 * words * bits};
}
// Timestep counter, lockstep down-counter, and the decision which of the next entries issue. Fitted
// for 6 to 16 bits of step, 12 to 32 bits of lockstep and up to 8 entries in a cycle.
[[nodiscard]] inline Gates ni_control(std::uint32_t step_bits, std::uint32_t lockstep_bits,
                                      std::uint32_t issue_per_cycle) {
  return {18 + 19.1 * step_bits + 13.75 * lockstep_bits +
          3.4 * step_bits * (issue_per_cycle - 1.0)};
}
// The chunks that wait for a dimension, in flip-flops that move up, and a tree of
// compare-and-select that finds the smallest key. Fitted for 8 to 128 chunks and keys of 12 to 32
// bits.
[[nodiscard]] inline Gates scf_queue(std::uint32_t chunks, std::uint32_t key_bits,
                                     std::uint32_t chunk_bits) {
  return {19.2 * chunks * (key_bits + chunk_bits)};
}
// AND-OR; every output selects among all inputs. Fitted for 3x3 to 9x9.
[[nodiscard]] inline Gates crossbar(std::uint32_t inputs, std::uint32_t outputs,
                                    std::uint32_t bits) {
  return {std::max(0.0, static_cast<double>(bits) * outputs * (1.667 * inputs - 0.67))};
}
// Pointers and credits of one queue, and room for a packet. Fitted for 5 to 512 flits.
[[nodiscard]] inline Gates fifo_control(std::uint32_t flits) {
  return {43.5 * std::max(1U, bits_for(flits)) - 5};
}
// Credits of one VC at the sender, and room for a packet. Fitted for 5 to 318 flits.
[[nodiscard]] inline Gates credit_counter(std::uint32_t flits) {
  return {19.0 * bits_for(std::uint64_t{flits} + 1) - 4};
}
// Who holds the outputs of a router and owns the VCs behind them, and the choice of a VC. `shared`:
// the VCs of a port share a crossbar input. Fitted for 3 to 12 ports of 1 to 8 VCs.
[[nodiscard]] inline Gates output_state(std::uint32_t ports, std::uint32_t vcs, bool shared) {
  const double p = ports;
  const double v = vcs;
  return {p * v * (shared ? 27.6 + 18.2 * p + 17.1 * v : 19.2 * p + 35.7 * v)};
}
// A bit for each event that entries wait for, set through a decoder for each event of a cycle, the
// search for the lowest that is missing, and the numbers of events that wait for their write-back.
// Fitted for 4 to 256 places, 1 to 8 entries in a cycle and turnarounds of 1 to 4 cycles.
inline constexpr std::uint32_t kMostFittedPlaces = 256;
[[nodiscard]] inline Gates dependency_state(std::uint32_t places, std::uint32_t issue_per_cycle,
                                            std::uint32_t turnaround) {
  return {places * (11 + 10.75 * issue_per_cycle) +
          18.0 * issue_per_cycle * turnaround * (bits_for(places) + 1.0)};
}
// One bit for each unit and source (the NI itself and its children), with set and clear decoders,
// and a search for the lowest unit whose bits are all set. Fitted for 4 to 256 units and 2 to 16
// children.
[[nodiscard]] inline Gates readiness_table(std::uint32_t units, std::uint32_t children) {
  const double bits = units * (children + 1.0);
  return {9.15 * bits + 4.0 * units + 18.5 * bits_for(units)};
}
// Whether a row of a schedule table issues in this pass, and the row that is written back: four
// adders, a comparison and a choice of sizes. Fitted for 32 to 64 bits of address and 8 to 24 bits
// of the other fields.
[[nodiscard]] inline Gates row_repeat(std::uint32_t address_bits, std::uint32_t field_bits) {
  return {std::max(0.0, 9.3 * address_bits + 46.4 * field_bits - 64)};
}
// A counter of cycles and the comparison with the slot of the table's head entry. Fitted for 16 to
// 32 bits.
[[nodiscard]] inline Gates slot_counter(std::uint32_t slot_bits) {
  return {std::max(0.0, 16.9 * slot_bits - 25)};
}
// Adds two floating-point numbers; without pipeline registers. Fitted for 7 to 52 bits of fraction.
[[nodiscard]] inline Gates fp_adder(std::uint32_t fraction_bits) {
  return {420 + 22 * fraction_bits + 8.5 * fraction_bits * lg(fraction_bits)};
}
// The registers and counters of an injection port's DMA engine. Fitted for 32 to 64 bits of
// address.
[[nodiscard]] inline Gates dma_engine(std::uint32_t address_bits) {
  return {28.0 * address_bits - 30};
}
// Header, flit register, VC choice and credit counters of an injection port. Fitted for 64 to 256
// bits of a flit, 2 to 8 VCs, 6 to 12 bits of credits.
struct PacketizerShape {
  std::uint32_t flit_bits = 0;
  std::uint32_t vcs = 0;
  std::uint32_t credit_bits = 0;
  std::uint32_t packet_bits = 0;   // of the number of a packet's flits
  std::uint32_t message_bits = 0;  // of the number of a message's packets
};
[[nodiscard]] inline Gates packetizer(const PacketizerShape& shape) {
  return {14 + 8.0 * shape.flit_bits +
          shape.vcs * (22.3 * shape.credit_bits + 3.3 * shape.packet_bits) +
          14.0 * (shape.packet_bits + shape.message_bits)};
}
// Associative, with a down-counter for each entry. Fitted for 4 to 32 entries.
[[nodiscard]] inline Gates message_table(std::uint32_t entries, std::uint32_t tag_bits,
                                         std::uint32_t count_bits) {
  return {entries * (11.1 * tag_bits + 13.5 * count_bits + 44)};
}
// The sequencer of one program context with two address registers.
struct ContextShape {
  std::uint32_t step_bits = 0;
  std::uint32_t tile_bits = 0;
  std::uint32_t request_bits = 0;  // of the number of a step's requests
  std::uint32_t flight_bits = 0;   // of the number of requests in flight
  std::uint32_t address_bits = 0;
};
[[nodiscard]] inline Gates program_context(const ContextShape& shape) {
  const std::uint32_t counters =
      shape.step_bits + shape.tile_bits + shape.request_bits + shape.flight_bits;
  return {33 + 13.6 * counters + 33.0 * shape.address_bits};
}
// A counter and a comparison for each context; every context can wait for any other one. Fitted for
// 4 to 32 contexts.
[[nodiscard]] inline Gates program_scoreboard(std::uint32_t contexts, std::uint32_t count_bits) {
  return {static_cast<double>(contexts) * count_bits * (14 + 1.78 * contexts)};
}
// Two up-down counters. Fitted for 2 to 8 bits.
[[nodiscard]] inline Gates slot_credits(std::uint32_t slot_bits) {
  return {std::max(0.0, 36.0 * slot_bits - 16)};
}

// Flip-flops of a module of hw/rtl.
[[nodiscard]] inline double flip_flops_of(const RtlInstance& rtl) {
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
[[nodiscard]] inline double arbiter_pairs(std::uint32_t inputs, std::uint32_t outputs,
                                          std::uint32_t vcs) {
  return inputs * pairs_of(vcs) + outputs * pairs_of(inputs);
}
// Separable, input first, built of matrix arbiters: each of `inputs` ports has an arbiter over its
// VCs, and each of `outputs` ports has an arbiter over the inputs. A pair of requesters takes 20
// gates, as in DSENT; a bare arbiter takes 12, and request and grant logic takes the rest.
[[nodiscard]] inline Gates separable_allocator(std::uint32_t inputs, std::uint32_t outputs,
                                               std::uint32_t vcs) {
  return {20 * arbiter_pairs(inputs, outputs, vcs)};
}

// a tree of multiplexers; estimated
[[nodiscard]] inline Depth flip_flop_memory_read(double words) { return {4 + 2 * lg(words)}; }
// Measured on OSU 0.18: 20 FO4 at 8 and 16 bits. The longer of the two counters decides.
[[nodiscard]] inline Depth ni_control_depth(std::uint32_t step_bits, std::uint32_t lockstep_bits) {
  return {std::max(6 + 1.9 * step_bits, 12 + 0.52 * lockstep_bits)};
}
// Measured on OSU 0.18: 115 FO4 at 64 chunks and 32 bits. Each level has a comparison, which is a
// tree over the bits, on the way to the smallest key, and on the way back to the places that move.
[[nodiscard]] inline Depth scf_queue_depth(std::uint32_t chunks, std::uint32_t key_bits) {
  return {bits_for(chunks) * (14 + 1.1 * lg(key_bits))};
}
// Measured on OSU 0.18: 21 FO4 at 318 flits. Carries are trees over the bits.
[[nodiscard]] inline Depth fifo_control_depth(std::uint32_t flits) {
  return {2 + 6 * lg(bits_for(flits))};
}
// Measured on OSU 0.18: 15 FO4 at 318 flits.
[[nodiscard]] inline Depth credit_counter_depth(std::uint32_t flits) {
  return {std::max(2.0, 5.4 * lg(bits_for(std::uint64_t{flits} + 1)) - 2.5)};
}
// Measured on OSU 0.18: 33 FO4 at 8 ports of 4 VCs. A VC is chosen among those of the wanted output
// after the output has been chosen among all.
[[nodiscard]] inline Depth output_state_depth(std::uint32_t ports, std::uint32_t vcs, bool shared) {
  return {lg(ports) * (shared ? 4.5 + 3.5 * lg(vcs) : 6.2 + 3.1 * lg(vcs))};
}
// Measured on OSU 0.18: 22 FO4 at 128 places. Above 16 places the search takes a second level,
// whose groups of 16 places are a chain.
[[nodiscard]] inline Depth dependency_state_depth(std::uint32_t places) {
  return {(places > 16 ? 3.3 : 2.6) * lg(places) + 0.01 * places};
}
// Measured on OSU 0.18: 21 FO4 at 161 units and 8 children. A tree over the bits of a unit is
// followed by a tree over the units.
[[nodiscard]] inline Depth readiness_table_depth(std::uint32_t units, std::uint32_t children) {
  return {std::max(4.0, 2.05 * lg(units) + 2.4 * lg(children + 1.0) - 4.5)};
}
// Measured on OSU 0.18: 25 FO4 at 64 bits of address. An adder is a tree over the bits.
[[nodiscard]] inline Depth row_repeat_depth(std::uint32_t address_bits) {
  return {1 + 4 * lg(address_bits)};
}
// Measured on OSU 0.18.
[[nodiscard]] inline Depth slot_counter_depth(std::uint32_t slot_bits) {
  return {4 + 0.4 * slot_bits};
}
// The following are of OSU 0.18. Shifts, sums and the search for the leading one are trees over the
// bits of the fraction.
[[nodiscard]] inline Depth fp_adder_depth(std::uint32_t exponent_bits,
                                          std::uint32_t fraction_bits) {
  return {3.3 * exponent_bits + 17 * lg(fraction_bits + 4.0) - 12};
}
[[nodiscard]] inline Depth dma_engine_depth(std::uint32_t address_bits) {
  return {2.5 + 4.6 * lg(address_bits)};
}
[[nodiscard]] inline Depth packetizer_depth(std::uint32_t credit_bits) {
  return {3 + 2.5 * credit_bits};
}
[[nodiscard]] inline Depth message_table_depth(std::uint32_t entries) {
  return {10 + 2.5 * lg(entries)};
}
// The comparison of the next pass with their number, or the sum of an address.
[[nodiscard]] inline Depth program_context_depth(const ContextShape& shape) {
  return {std::max(6.5 + 1.55 * shape.tile_bits, 1 + 4 * lg(shape.address_bits))};
}
[[nodiscard]] inline Depth program_scoreboard_depth(std::uint32_t contexts,
                                                    std::uint32_t count_bits) {
  return {3 + 0.8 * count_bits + 0.7 * lg(contexts)};
}
[[nodiscard]] inline Depth slot_credits_depth(std::uint32_t slot_bits) {
  return {std::max(1.0, 5 * lg(slot_bits) - 1)};
}
// Stages of a router: Peh and Dally, HPCA 2001.
[[nodiscard]] inline Depth vc_allocation_depth(std::uint32_t ports, std::uint32_t vcs) {
  return {(33 * lg(static_cast<double>(ports) * vcs) / 2 + 20.8) / kTauPerFo4};
}
[[nodiscard]] inline Depth switch_allocation_depth(std::uint32_t ports, std::uint32_t vcs) {
  return {(11.5 * lg(ports) / 2 + 23 * lg(vcs) / 2 + 20.8) / kTauPerFo4};
}
[[nodiscard]] inline Depth crossbar_depth(std::uint32_t ports, std::uint32_t bits) {
  const double fan_out = static_cast<double>(bits) * std::max(1U, ports / 2);
  return {(9 * lg(fan_out) / 3 + 6 * std::ceil(lg(ports)) + 6) / kTauPerFo4};
}

}  // namespace logic

}  // namespace espalier
