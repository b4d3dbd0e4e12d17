// Members `area` and `energy` of a result (docs/cost.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alg/schedule/schedule_table.h"
#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
#include "sims/experiment/field_values.h"
#include "sims/model/system_shape.h"
#include "sims/system/simulation.h"

namespace espalier {

struct Program;
struct RunPoint;
struct SystemConfig;

// A system and its cost. Results list the blocks and areas of one router and one NI, of the NPU
// with the largest router.
struct PricedSystem {
  SystemShape shape;
  SystemCost cost;

  [[nodiscard]] const RouterCost& largest_router() const;
  [[nodiscard]] const NiCost& its_ni() const;

 private:
  [[nodiscard]] std::size_t npu() const;
};
[[nodiscard]] PricedSystem price_system(const SystemConfig& system, const Topology& topology,
                                        const RunNeed& need = {});

// Lists the blocks of the largest NPU's router and NI only, or of every kind of router and NI.
enum class AreaDetail : std::uint8_t { largest_kind, every_kind };
struct RouterKindResult {
  const RouterCost& cost;
  bool is_switch;
  AreaDetail detail;
  [[nodiscard]] std::uint32_t ports() const;
};
struct NiKindResult {
  const NiKindCost& kind;
  const NiShape& shape;
  AreaDetail detail;
  [[nodiscard]] std::uint32_t ports() const;
};
struct AreaResult {
  const PricedSystem& priced;
  const SystemConfig& system;
  const Topology& topology;
  AreaDetail detail;
  const SystemCost& cost = priced.cost;
  const RouterCost& router = priced.largest_router();
  const NiCost& ni = priced.its_ni();
  [[nodiscard]] double share(double area_um2) const;  // of router and NI
  [[nodiscard]] std::vector<std::string> left_out() const;
  [[nodiscard]] std::vector<RouterKindResult> routers() const;
  [[nodiscard]] std::vector<NiKindResult> nis() const;
  [[nodiscard]] std::vector<BlockCost> blocks() const;
};

// The program contexts of a point's NIs.
[[nodiscard]] ProgramContextsShape program_contexts(const Program& program, const RunPoint& point);

// The table entries that a system needs to run a schedule.
[[nodiscard]] RunNeed table_need(const ScheduleTables& tables, std::size_t nodes);

// Rounds to the digits that an estimate has, so that results do not depend on the last bit of a
// library's function.
[[nodiscard]] double rounded(double value, int decimals);
[[nodiscard]] inline std::optional<double> rounded(std::optional<double> value, int decimals) {
  return value ? std::optional(rounded(*value, decimals)) : value;
}
[[nodiscard]] inline std::optional<double> unless_zero(double value) {
  return value == 0 ? std::nullopt : std::optional(value);
}
[[nodiscard]] inline double um2(double value) { return rounded(value, 1); }
[[nodiscard]] inline double mm2(double value_um2) { return rounded(value_um2 / 1e6, 6); }
[[nodiscard]] inline double ghz(double ps) { return ps == 0 ? 0 : rounded(1000 / ps, 3); }
[[nodiscard]] inline double microjoules(double pj) { return rounded(pj / 1e6, 6); }

struct EnergyPart {
  std::string name;          // e.g. "buffers"
  std::optional<double> pj;  // of all events; empty: the cost model has no price
  // Blocks that the part is made of; empty: it has the origin `origin`.
  std::vector<CostBlock> blocks;
  Origin origin = Origin::formula;
  [[nodiscard]] std::string field() const;  // its name in results
};
struct EnergyResult {
  const PricedSystem& priced;
  Bytes payload_bytes;
  // What the NIs' issue engines decide from.
  CostBlock decider;
  std::uint64_t router_flits = 0;  // buffer write, buffer read, crossbar
  std::uint64_t arbitrations = 0;
  std::uint64_t injected_flits = 0;    // NI buffer write and read
  std::uint64_t injected_packets = 0;  // reads of DMA engines
  std::uint64_t ejected_flits = 0;
  std::uint64_t additions = 0;  // of two elements
  // Table entries read, stages picked from dimension queues, or instructions fetched.
  std::uint64_t decisions = 0;
  std::uint64_t link_flits = 0;
  std::vector<EnergyPart> parts = {};
  std::vector<std::string> left_out = {};  // what routers, NIs and links use beside priced parts
  double links_pj = 0;

  [[nodiscard]] double priced_pj() const;
  [[nodiscard]] std::optional<double> pj_per_byte() const;
  [[nodiscard]] std::vector<std::string> covers() const;
  [[nodiscard]] std::vector<Named<std::optional<double>>> microjoules_of_parts() const;
  [[nodiscard]] std::vector<Named<std::optional<std::string>>> origins() const;
};
struct EnergyEvents {
  const EnergyResult& of;
};
// `folded`: one NPU was simulated for all.
[[nodiscard]] EnergyResult energy_of(const PricedSystem& priced, const Topology& topology,
                                     const RunPoint& point, const SimulationOutcome& outcome,
                                     bool folded);

// Sentences on the clocks that results do not meet: the block that limits each, and what would do.
[[nodiscard]] std::vector<std::string> clock_limits(
    const std::vector<const nlohmann::ordered_json*>& results);

}  // namespace espalier
