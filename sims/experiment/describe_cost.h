// Members `area` and `energy` of a result (docs/cost.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "alg/schedule/schedule_table.h"
#include "hw/cost/system_cost.h"
#include "hw/topology/topology.h"
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
[[nodiscard]] nlohmann::ordered_json describe_area(const PricedSystem& priced,
                                                   const SystemConfig& system,
                                                   const Topology& topology, AreaDetail detail);

// What a point's configuration needs, with the contexts of the collective program that it names.
// Precondition: the reader found no error in the program.
[[nodiscard]] RunNeed area_need(const Topology& topology, const RunPoint& point);
// The program contexts of a point's NIs.
[[nodiscard]] ProgramContextsShape program_contexts(const Program& program, const RunPoint& point);

// The table entries that a system needs to run a schedule.
[[nodiscard]] RunNeed table_need(const ScheduleTables& tables, std::size_t nodes);

// Rounds to the digits that an estimate has, so that results do not depend on the last bit of a
// library's function.
[[nodiscard]] double rounded(double value, int decimals);

// `folded`: one NPU was simulated for all.
[[nodiscard]] nlohmann::ordered_json describe_energy(const PricedSystem& priced,
                                                     const Topology& topology,
                                                     const RunPoint& point,
                                                     const SimulationOutcome& outcome, bool folded);

}  // namespace espalier
