// Gate equivalents and logic depths of blocks as functions of their parameters. The gate counts are
// fitted to synthesis of small Verilog sources on a subset of Nangate45; the same sources on OSU
// 0.18 and ASAP7 are within 15 % (crossbar and flip-flop memory: 25 %). A depth is the larger one
// of OSU 0.18 and ASAP7, in FO4, without wires. README.md has the measurements.
#pragma once

#include <cstdint>

#include "hw/cost/technology.h"

namespace espalier {

// The number of bits that can represent `values` different values.
[[nodiscard]] std::uint32_t bits_for(std::uint64_t values);

namespace logic {

// Flip-flops without reset.
[[nodiscard]] Gates flip_flops(double bits);
// One write and one read port, with read multiplexer and write enables. Fitted for 8 to 64 words.
[[nodiscard]] Gates flip_flop_memory(double words, double bits);
// Timestep counter, lockstep down-counter, and the decision which of the next entries issue. Fitted
// for 6 to 16 bits of step, 12 to 32 bits of lockstep and up to 8 entries in a cycle.
[[nodiscard]] Gates ni_control(std::uint32_t step_bits, std::uint32_t lockstep_bits,
                               std::uint32_t issue_per_cycle);
// The chunks that wait for a dimension, in flip-flops that move up, and a tree of
// compare-and-select that finds the smallest key. Fitted for 8 to 128 chunks and keys of 12 to 32
// bits.
[[nodiscard]] Gates scf_queue(std::uint32_t chunks, std::uint32_t key_bits,
                              std::uint32_t chunk_bits);
[[nodiscard]] Gates round_robin_arbiter(std::uint32_t requests);  // fitted for 4 to 32 requests
[[nodiscard]] Gates matrix_arbiter(std::uint32_t requests);       // fitted for 8 to 32 requests
// AND-OR; every output selects among all inputs. Fitted for 3x3 to 9x9.
[[nodiscard]] Gates crossbar(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t bits);
// Pointers and credits of one queue, and room for a packet. Fitted for 5 to 512 flits.
[[nodiscard]] Gates fifo_control(std::uint32_t flits);
// Credits of one VC at the sender, and room for a packet. Fitted for 5 to 318 flits.
[[nodiscard]] Gates credit_counter(std::uint32_t flits);
// Who holds the outputs of a router and owns the VCs behind them, and the choice of a VC. `shared`:
// the VCs of a port share a crossbar input. Fitted for 3 to 12 ports of 1 to 8 VCs.
[[nodiscard]] Gates output_state(std::uint32_t ports, std::uint32_t vcs, bool shared);
// A bit for each event that entries wait for, set through a decoder for each event of a cycle, the
// search for the lowest that is missing, and the numbers of events that wait for their write-back.
// Fitted for 4 to 256 places, 1 to 8 entries in a cycle and turnarounds of 1 to 4 cycles.
inline constexpr std::uint32_t kMostFittedPlaces = 256;
[[nodiscard]] Gates dependency_state(std::uint32_t places, std::uint32_t issue_per_cycle,
                                     std::uint32_t turnaround);
// One bit for each unit and source (the NI itself and its children), with set and clear decoders,
// and a search for the lowest unit whose bits are all set. Fitted for 4 to 256 units and 2 to 16
// children.
[[nodiscard]] Gates readiness_table(std::uint32_t units, std::uint32_t children);
// Whether a row of a schedule table issues in this pass, and the row that is written back: four
// adders, a comparison and a choice of sizes. Fitted for 32 to 64 bits of address and 8 to 24 bits
// of the other fields.
[[nodiscard]] Gates row_repeat(std::uint32_t address_bits, std::uint32_t field_bits);
// A counter of cycles and the comparison with the slot of the table's head entry. Fitted for 16 to
// 32 bits.
[[nodiscard]] Gates slot_counter(std::uint32_t slot_bits);
// Adds two floating-point numbers; without pipeline registers. Fitted for 7 to 52 bits of fraction.
[[nodiscard]] Gates fp_adder(std::uint32_t fraction_bits);
// The registers and counters of an injection port's DMA engine. Fitted for 32 to 64 bits of
// address.
[[nodiscard]] Gates dma_engine(std::uint32_t address_bits);
// Header, flit register, VC choice and credit counters of an injection port. Fitted for 64 to 256
// bits of a flit, 2 to 8 VCs, 6 to 12 bits of credits.
struct PacketizerShape {
  std::uint32_t flit_bits = 0;
  std::uint32_t vcs = 0;
  std::uint32_t credit_bits = 0;
  std::uint32_t packet_bits = 0;   // of the number of a packet's flits
  std::uint32_t message_bits = 0;  // of the number of a message's packets
};
[[nodiscard]] Gates packetizer(const PacketizerShape& shape);
// Associative, with a down-counter for each entry. Fitted for 4 to 32 entries.
[[nodiscard]] Gates message_table(std::uint32_t entries, std::uint32_t tag_bits,
                                  std::uint32_t count_bits);
// The sequencer of one program context with two address registers.
struct ContextShape {
  std::uint32_t step_bits = 0;
  std::uint32_t tile_bits = 0;
  std::uint32_t request_bits = 0;  // of the number of a step's requests
  std::uint32_t flight_bits = 0;   // of the number of requests in flight
  std::uint32_t address_bits = 0;
};
[[nodiscard]] Gates program_context(const ContextShape& shape);
// A counter and a comparison for each context; every context can wait for any other one. Fitted for
// 4 to 32 contexts.
[[nodiscard]] Gates program_scoreboard(std::uint32_t contexts, std::uint32_t count_bits);
// Two up-down counters. Fitted for 2 to 8 bits.
[[nodiscard]] Gates slot_credits(std::uint32_t slot_bits);

// Flip-flops of a module of hw/rtl.
[[nodiscard]] double flip_flops_of(const RtlInstance& rtl);
// Separable, input first, built of matrix arbiters: each of `inputs` ports has an arbiter over its
// VCs, and each of `outputs` ports has an arbiter over the inputs. A pair of requesters takes 20
// gates, as in DSENT; a bare arbiter takes 12, and request and grant logic takes the rest.
[[nodiscard]] Gates separable_allocator(std::uint32_t inputs, std::uint32_t outputs,
                                        std::uint32_t vcs);
[[nodiscard]] double arbiter_pairs(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t vcs);

[[nodiscard]] Depth flip_flop_memory_read(double words);  // a tree of multiplexers; estimated
[[nodiscard]] Depth ni_control_depth(std::uint32_t step_bits, std::uint32_t lockstep_bits);
[[nodiscard]] Depth scf_queue_depth(std::uint32_t chunks, std::uint32_t key_bits);
[[nodiscard]] Depth fifo_control_depth(std::uint32_t flits);
[[nodiscard]] Depth credit_counter_depth(std::uint32_t flits);
[[nodiscard]] Depth output_state_depth(std::uint32_t ports, std::uint32_t vcs, bool shared);
[[nodiscard]] Depth dependency_state_depth(std::uint32_t places);
[[nodiscard]] Depth readiness_table_depth(std::uint32_t units, std::uint32_t children);
[[nodiscard]] Depth row_repeat_depth(std::uint32_t address_bits);
[[nodiscard]] Depth slot_counter_depth(std::uint32_t slot_bits);
[[nodiscard]] Depth fp_adder_depth(std::uint32_t exponent_bits, std::uint32_t fraction_bits);
[[nodiscard]] Depth dma_engine_depth(std::uint32_t address_bits);
[[nodiscard]] Depth packetizer_depth(std::uint32_t credit_bits);
[[nodiscard]] Depth message_table_depth(std::uint32_t entries);
[[nodiscard]] Depth program_context_depth(const ContextShape& shape);
[[nodiscard]] Depth program_scoreboard_depth(std::uint32_t contexts, std::uint32_t count_bits);
[[nodiscard]] Depth slot_credits_depth(std::uint32_t slot_bits);
// Stages of a router: Peh and Dally, HPCA 2001.
[[nodiscard]] Depth vc_allocation_depth(std::uint32_t ports, std::uint32_t vcs);
[[nodiscard]] Depth switch_allocation_depth(std::uint32_t ports, std::uint32_t vcs);
[[nodiscard]] Depth crossbar_depth(std::uint32_t ports, std::uint32_t bits);

}  // namespace logic

}  // namespace espalier
