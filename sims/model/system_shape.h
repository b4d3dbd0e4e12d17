// The hardware of a configured system as the cost model sees it.
#pragma once

#include <optional>

#include "alg/plans/stage_arbiter.h"
#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"

namespace espalier {

struct Program;
struct ProgramNiConfig;
struct RunPoint;
struct SystemConfig;

// The needs of a run at one node: entries of its schedule table and of a dimension queue, if they
// exceed the system's defaults, and readiness bits for the coordination of its job.
struct RunNeed {
  std::uint32_t contexts = 1;  // collectives at the same time, if ni.contexts is auto
  std::uint32_t table_entries = 0;
  std::uint32_t entry_bits = 0;   // without what makes a row repeat
  std::uint32_t repeat_bits = 0;  // of a row: what makes it repeat
  std::uint32_t field_bits = 0;   // TableFormat::repeat_field
  std::uint32_t slot_bits = 0;    // of an entry, if the schedule may have slots
  std::uint32_t places = 0;       // events that the entries of a table wait for
  std::uint32_t queue_entries = 0;
  QueueOrder queue_order = QueueOrder::scf;
  std::uint32_t element_bytes = 4;  // of what NIs add
  std::optional<ReadinessShape> readiness;
  // Set if the NIs run a collective program.
  std::optional<ProgramContextsShape> program;
};
// The needs that follow from the configuration: the chunks and the element of its collective, and,
// if NIs coordinate a training job, the job's groups or tensors and the children in the tree.
[[nodiscard]] RunNeed configured_need(const RunPoint& point);
// The program contexts of an NI: as many, and with as many steps, as the configuration says or as
// the largest rank of the program needs. `slots`: of a connection.
[[nodiscard]] ProgramContextsShape contexts_for(const Program& program,
                                                const ProgramNiConfig& config, std::uint32_t slots);

// `topology` was built from `system` and is not folded. A router has a port for each link, and one
// injection and one ejection port for each port of its vertex's NI. "auto" is replaced by the most
// that any algorithm can use: for system.ni.ports the number of the node's links, for
// system.ni.table_entries two per node (MultiTree, section V-A), for system.cost.queue_entries 64;
// but not less than `need`. Two places per node for events that entries wait for, likewise. With
// system.ni.table_repeat, the rows of `need` are enough, if it names any. NIs that run a collective
// program have program contexts in place of a schedule table.
[[nodiscard]] SystemShape system_shape(const SystemConfig& system, const Topology& topology,
                                       const RunNeed& need = {});

// Op, FlowID, Parent, Children, Step, Start Addr and Size, and 21 bits of state. With the state, an
// entry has the paper's 200 bits for 64 nodes with 4 links.
[[nodiscard]] std::uint32_t table_entry_bits(std::size_t nodes, std::size_t links);

// Replaces "auto" by what the system needs at its clock: cycles of routers, adders and dimension
// queues, and VCs that cover the credit loop of the longest link, at least the 318 flits of
// MultiTree's Table III. `topology` belongs to the system and may have any values for these
// latencies. Buffers and pipeline depend on each other: the model is evaluated until both agree.
void resolve_implied(SystemConfig& system, const Topology& topology, const RunNeed& need);

}  // namespace espalier
