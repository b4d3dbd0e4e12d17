// The energy of a run: counted events times the energy of each, and clock tree and leakage over its
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
#include "sims/system/hardware_events.h"

namespace espalier {

// What the NIs' issue engines decide from.
enum class IssueKind : std::uint8_t { table, queue, program };
[[nodiscard]] IssueKind issue_kind(const SystemShape& shape);

struct EnergyPart {
  std::string name;          // e.g. "buffers"
  std::optional<double> pj;  // of all events; empty: the cost model has no price
  // Blocks that the part is made of; empty: it has the origin `origin`.
  std::vector<CostBlock> blocks;
  Origin origin = Origin::formula;
};

struct RunEnergy {
  std::uint64_t router_flits = 0;  // buffer write, buffer read, crossbar
  std::uint64_t arbitrations = 0;
  std::uint64_t injected_flits = 0;    // NI buffer write and read
  std::uint64_t injected_packets = 0;  // reads of DMA engines
  std::uint64_t ejected_flits = 0;
  std::uint64_t additions = 0;  // of two elements
  // Table entries read, stages picked from dimension queues, or instructions fetched.
  std::uint64_t decisions = 0;
  std::uint64_t link_flits = 0;
  std::vector<EnergyPart> parts;
  std::vector<std::string> left_out;  // what routers, NIs and links use beside the priced parts

  [[nodiscard]] double priced_pj() const;
};

// `shape` and `cost` describe `topology`. If one NPU was simulated for all (`folded`), the vertices
// of the events belong to the folded topology, where no other NPU stands at a switch. `seconds`:
// the time in which clock tree and leakage take energy; 0: unknown.
[[nodiscard]] RunEnergy energy_of(const HardwareEvents& events, bool folded,
                                  const SystemShape& shape, const SystemCost& cost,
                                  const Topology& topology, const CostSpec& spec, double seconds,
                                  double clock_hertz);

}  // namespace espalier
