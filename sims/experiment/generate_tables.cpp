#include "sims/experiment/generate_tables.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "alg/generators/auto_choice.h"
#include "alg/generators/process_group.h"
#include "sims/model/build_program.h"
#include "sims/system/simulation.h"

namespace espalier {

namespace {

// Planned times of messages over shared links are too short by up to this much.
constexpr std::uint64_t kPlannersError = 2;

// The cycles of the tables on the system; nothing if they do not end with the right data. SystemC
// elaborates once per process, so a child simulates.
std::optional<Cycle> simulated_cycles(const Topology& topology, const RunPoint& point,
                                      const ScheduleTables& tables) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for a simulation");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process for a simulation");
  if (child == 0) {
    int status = 1;
    try {
      const SimulationOutcome outcome = simulate_collective(topology, point, tables, {});
      const Cycle cycles = outcome.cycles;
      const bool told = write(ends[1], &cycles, sizeof cycles) == sizeof cycles;
      status = outcome.verified && told ? 0 : 1;
    } catch (const std::exception&) {
      status = 1;
    }
    _exit(status);
  }
  close(ends[1]);
  Cycle cycles = 0;
  const bool heard = read(ends[0], &cycles, sizeof cycles) == sizeof cycles;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!heard || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return cycles;
}

// The tables of `algorithm: auto`.
ScheduleTables chosen_tables(const Topology& topology, const SystemConfig& system,
                             const CollectiveConfig& collective) {
  const std::vector<NodeId> nodes = group_nodes(collective);
  const ProcessGroup group(topology, nodes);
  CollectiveRequest request = collective_request(system, collective);
  if (collective.relay) request.relays = group.relays();
  const std::vector<RankedSchedule> best = fastest_schedules(group.network(), request, 2);
  const auto planned = [](const RankedSchedule& ranked) {
    return static_cast<double>(ranked.planned_ps) * 1e-6;
  };
  const auto tables_of = [&](const RankedSchedule& ranked, std::string why) {
    ScheduleTables tables = lower_to_tables(group.in_whole(ranked.schedule));
    tables.algorithm = kAutoAlgorithm;
    tables.choice = std::move(why);
    return tables;
  };
  if (best.size() == 1 || best[1].planned_ps > kPlannersError * best[0].planned_ps) {
    std::string why = fmt::format("{}, {:.4g} us planned", best[0].name, planned(best[0]));
    if (best.size() > 1) {
      why += fmt::format("; next is {}, {:.4g} us planned", best[1].name, planned(best[1]));
    }
    return tables_of(best[0], std::move(why));
  }
  RunPoint point;
  point.system = system;
  point.collective = collective;
  std::optional<Cycle> cycles[2];
  for (const std::size_t i : {0U, 1U}) {
    ScheduleTables tables = lower_to_tables(group.in_whole(best[i].schedule));
    store_rows(tables, system.ni);
    cycles[i] = simulated_cycles(topology, point, tables);
  }
  const std::size_t first = cycles[1] && (!cycles[0] || *cycles[1] < *cycles[0]) ? 1 : 0;
  const auto line = [&](std::size_t i) {
    const std::string simulated =
        cycles[i] ? fmt::format("{:.4g} us simulated", static_cast<double>(*cycles[i]) * 1e6 /
                                                           static_cast<double>(system.clock.hertz))
                  : std::string("not completed");
    return fmt::format("{}, {} ({:.4g} planned)", best[i].name, simulated, planned(best[i]));
  };
  return tables_of(best[first], fmt::format("{}; next is {}", line(first), line(1 - first)));
}

}  // namespace

ScheduleTables generate_tables(const Topology& topology, const SystemConfig& system,
                               const CollectiveConfig& collective) {
  const auto generated = [&] {
    if (collective.algorithm == kAutoAlgorithm) return chosen_tables(topology, system, collective);
    CollectiveRequest request = collective_request(system, collective);
    const std::vector<NodeId> nodes = group_nodes(collective);
    const ProcessGroup group(topology, nodes);
    if (collective.relay) request.relays = group.relays();
    const Generator& generator = *find_generator(collective.algorithm);
    return lower_to_tables(group.in_whole(generator.generate(group.network(), request)));
  };
  ScheduleTables tables = generated();
  store_rows(tables, system.ni);
  return tables;
}

void store_rows(ScheduleTables& tables, const NiConfig& ni) {
  if (ni.table_repeat && tables.repeated.empty()) repeat_all_rows(tables);
}

}  // namespace espalier
