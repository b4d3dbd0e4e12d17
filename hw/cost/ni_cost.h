// The network interface. Every NI has, for each port, buffers towards the network, descriptors of
// messages to send, a DMA engine and a packetizer, and for arrivals a message table and adders. An
// NI that executes schedules has an extension: schedule table, control and dependency state, or one
// queue per dimension, or program contexts. An NI that coordinates jobs also has a readiness table,
// which says when a collective may start.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/cost/block_cost.h"
#include "hw/cost/technology.h"

namespace espalier {

// Injection ports with the same parameters.
struct NiPorts {
  std::uint32_t dimension = 0;  // counted from 1; 0: the system has no dimensions
  std::uint32_t count = 1;
  std::uint32_t buffer_flits = 0;
  std::uint32_t flit_bits = 1;
  std::uint32_t send_queue = 0;  // descriptors
  std::uint32_t descriptor_bits = 0;
  std::uint32_t vcs = 1;                 // of the injection channel
  std::uint32_t credits = 1;             // of each VC, flits
  std::uint32_t packet_flits = 1;        // with the head
  std::uint32_t payload_bytes = 1;       // of a packet
  std::uint32_t ejection_registers = 0;  // flits between router and memory
  Adders adders;                         // of all ports together
};

// Messages that have partly arrived.
struct MessageTableShape {
  std::uint32_t entries = 0;
  std::uint32_t tag_bits = 0;     // source and flow
  std::uint32_t count_bits = 16;  // a message has at most 65535 packets
};

// Contexts of collective programs (GC3).
struct ProgramContextsShape {
  std::uint32_t contexts = 0;
  std::uint32_t steps = 0;  // of one context's instruction memory
  std::uint32_t instruction_bits = 0;
  std::uint32_t slots = 0;     // of a connection
  std::uint32_t requests = 0;  // of a context, in flight
  bool adds_in_switch = false;
};

struct ScheduleTableShape {
  std::uint32_t entries = 0;
  std::uint32_t entry_bits = 0;
  std::uint32_t step_bits = 0;
  std::uint32_t lockstep_bits = 16;  // a step lasts at most 65535 cycles
  std::uint32_t places = 2;          // events that entries wait for, at least 2
  std::uint32_t turnaround = 1;      // of a write-back, at least 1 cycle
  // Of a flow, step, slot, pass or count in a row that repeats; 0: rows do not repeat.
  std::uint32_t repeat_bits = 0;
  std::uint32_t slot_bits = 0;  // 0: no entry has a slot
  std::uint32_t issue_per_cycle = 1;
  std::uint32_t contexts = 1;  // each has all of this; the Verilog is of one
};

struct DimensionQueueShape {
  std::uint32_t dimension = 1;
  std::uint32_t entries = 0;
  std::uint32_t key_bits = 32;  // the size of a chunk
  bool finds_smallest = true;   // order scf (smallest chunk first); fifo compares no keys
};

// Readiness bits of an NI that coordinates training jobs.
struct ReadinessShape {
  std::uint32_t units = 0;     // tensor groups, or tensors
  std::uint32_t children = 0;  // of the NI in the tree over all NIs

  [[nodiscard]] friend bool operator==(const ReadinessShape& a, const ReadinessShape& b) {
    return a.units == b.units && a.children == b.children;
  }
};

struct NiShape {
  std::vector<NiPorts> ports;
  MessageTableShape messages;
  std::optional<ScheduleTableShape> table;
  std::optional<ProgramContextsShape> program;
  std::vector<DimensionQueueShape> queues;
  std::optional<ReadinessShape> readiness;
};

// Whether an NI has this block only for schedules and their coordination.
[[nodiscard]] bool is_extension(CostBlock block);

struct NiCost {
  std::vector<BlockCost> blocks;

  [[nodiscard]] AreaRange area() const { return area_of(blocks); }
  [[nodiscard]] AreaRange extension() const { return area_if(is_extension); }
  [[nodiscard]] AreaRange adders() const {
    return area_if([](CostBlock block) { return block == CostBlock::ni_adders; });
  }
  [[nodiscard]] AreaRange area_if(bool (*counts)(CostBlock block)) const;
};

[[nodiscard]] NiCost price_ni(const NiShape& shape, const CostSpec& spec,
                              const Technology& technology);
// Order scf: hw/rtl/dimension_queue.v. Its delay is that of a choice. `read_pj` is the energy of a
// choice, `write_pj` that of an arrival.
[[nodiscard]] BlockCost price_scf_queue(const DimensionQueueShape& queue, const CostSpec& spec,
                                        const Technology& technology);

}  // namespace espalier
