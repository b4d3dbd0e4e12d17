// Section system.ni: the network interface.
#pragma once

#include <cstdint>
#include <optional>

#include "alg/plans/stage_arbiter.h"
#include "hw/ids.h"
#include "ni/modes.h"

namespace espalier {

struct ReductionConfig {
  ReductionMode mode = ReductionMode::streaming;
  Cycle latency_cycles = 1;           // pipeline of the reduction unit
  std::uint64_t bytes_per_cycle = 0;  // 0 ("port"): as fast as an ejection port delivers
  Bytes block_bytes = 1;              // work is done in whole blocks of this many bytes
  bool latency_is_implied = true;     // as RouterConfig::pipeline_is_implied
};

// The choice among the chunks that wait for a dimension.
struct DimensionQueueConfig {
  std::optional<QueueOrder> order;  // nullopt ("auto"): as the planner queues, see arbiter_spec()
  ChunkKey key = ChunkKey::larger;
  TieRule ties = TieRule::newest;
  // Chunks that share a dimension's bandwidth. 0 ("auto"): 8, or more if 8 do not cover the fixed
  // delay of their steps.
  std::uint32_t in_flight = 0;
  // From the cycle in which a place and a chunk are available to the start of the chosen chunk.
  Cycle arbitration_cycles = 1;
  // Every NPU starts a dimension's stages in the order of a pre-simulation.
  bool enforce_order = true;
  bool arbitration_is_implied = true;  // as RouterConfig::pipeline_is_implied

  [[nodiscard]] FlightSpec flight() const {
    return in_flight == 0 ? FlightSpec{8, true} : FlightSpec{in_flight, false};
  }
};

// The contexts that run collective programs.
struct ProgramNiConfig {
  std::uint32_t contexts = 0;       // 0 ("auto"): as many as the program needs
  std::uint32_t context_steps = 0;  // program RAM of one; 0 ("auto"): as many as the program needs
  std::uint32_t slots = 0;          // of each connection; 0 ("protocol")
  Bytes slot_bytes = 0;             // data that a slot holds; 0 ("protocol")
  Bytes request_bytes = 64 << 10;   // data of one request of a context, which is a message
  std::uint32_t requests = 8;       // of one context, in flight
  std::uint64_t context_bytes_per_cycle = 0;  // for one context; 0 ("unlimited")
  std::uint64_t memory_bytes_per_cycle = 0;   // for all contexts together; 0 ("unlimited")
  Cycle decode_cycles = 1;
  Cycle fence_cycles = 100;  // before the flag of a full slot; protocol Simple
  Cycle doorbell_cycles = 0;
  Cycle load_cycles_per_step = 0;
  Cycle network_slot_cycles = 0;
  Cycle network_receive_cycles = 0;
  // From the release of a slot to its credit at the sender; 0 ("path"): the latency of the route
  // back.
  Cycle credit_cycles = 0;
};

// The VCs that the messages of an NI port may take.
enum class InjectionVcs : std::uint8_t {
  automatic,  // one for tables that list the order of messages, otherwise all
  one,        // a message waits for the one before it: the link serves them first come first served
  all
};

struct NiConfig {
  LockstepMode lockstep = LockstepMode::estimate;
  // Injection and ejection ports; 0 ("auto"): as many as the algorithm can use.
  std::uint32_t ports = 0;
  std::uint32_t buffer_flits = 318;  // in the lockstep estimate (paper, footnote 4)
  std::uint32_t buffer_packets = 0;  // in addition to buffer_flits
  std::uint32_t table_entries = 0;   // 0 ("auto"): as many as the schedule needs
  bool table_repeat = false;         // table rows have a repeat count and strides
  std::uint32_t send_queue = 16;     // descriptors that wait for one injection port
  // Collectives that hosts post and that run at the same time; 0 ("auto"): as many as the groups of
  // the rank that is in most.
  std::uint32_t contexts = 0;
  NiRules rules = NiRules::linked;
  InjectionVcs injection_vcs = InjectionVcs::automatic;
  bool slot_counter = true;      // table entries wait for their slots, if they have any
  Cycle dma_latency_cycles = 2;  // operation issued to first flit on the injection channel
  // 0 ("ports"): never the bottleneck. Otherwise shared by all ports, packet by packet.
  std::uint64_t dma_bytes_per_cycle = 0;
  Cycle injection_cycles = 2;  // NI to router buffer
  Cycle ejection_cycles = 3;   // router to NI
  Cycle delivery_cycles = 1;   // ejected to visible in memory
  // A root's finished chunk is written back before its Gather reads it.
  Cycle turnaround_cycles = 2;
  ReductionConfig reduction;
  DimensionQueueConfig dimension_queue;  // multi-dimensional systems
  ProgramNiConfig program;               // collective programs
};

}  // namespace espalier
