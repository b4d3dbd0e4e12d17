// Rules of collectives: operation, algorithm, size, program and rank order.
#include <fmt/format.h>

#include <set>

#include "alg/algorithm.h"
#include "alg/plans/planner.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/model/build_program.h"
#include "sims/model/plan_forecast.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

constexpr const char* kRankOrderKey = "collective.rank_order";

// The reason why the ranks are no process group of the network; empty if they are one.
std::string group_problem(const CollectiveConfig& collective,
                          const std::vector<std::uint32_t>& ranks, std::size_t nodes) {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t node : ranks) {
    if (node >= nodes) {
      return fmt::format("there is no node {}; the network has nodes 0 to {}", node, nodes - 1);
    }
    if (!seen.insert(node).second) return fmt::format("node {} is listed twice", node);
  }
  if (seen.size() == 1) return "one node is no group; a collective needs two";
  if (!seen.empty() && !collective.rank_order.is_identity()) {
    return "the list is the order of the ranks; leave collective.rank_order out";
  }
  return {};
}

// Whether collective.ranks, or each of collective.groups, is a process group.
bool has_good_groups(const CollectiveConfig& collective, std::size_t nodes) {
  return group_problem(collective, collective.ranks, nodes).empty() &&
         std::all_of(collective.groups.begin(), collective.groups.end(),
                     [&](const GroupConfig& group) {
                       return group_problem(collective, group.ranks, nodes).empty();
                     });
}

// The network on which the point's algorithm plans. Precondition: examined.topology.
Topology ranks_network_of(const ExaminedPoint& examined) {
  const Topology& topology = *examined.topology;
  const CollectiveConfig& collective = *examined.point.collective;
  // Dimensions have no groups.
  return !topology.dimensions() && has_good_groups(collective, topology.num_nodes())
             ? ranks_network(topology, collective)
             : topology;
}

// Why the algorithm does not run on the network and among the groups; empty if it does.
std::string unsuited(const ExaminedPoint& examined, const Algorithm& algorithm) {
  const auto& workload = examined.point.workload;
  const CollectiveConfig& collective = *examined.point.collective;
  const GivenKey* const named = examined.given.find(kAlgorithmKey);
  if (workload && !workload->file.empty() && algorithm.program != nullptr &&
      (algorithm.name != collective.algorithm || (named != nullptr && named->all_place))) {
    return "a step takes programs only by name, because each computes one operation";
  }
  if (algorithm.generator == nullptr || collective.groups.empty() ||
      examined.topology->dimensions() ||
      !has_good_groups(collective, examined.topology->num_nodes())) {
    const Topology network = ranks_network_of(examined);
    std::string reason = algorithm.unsuited(network);
    const bool asks = reason.empty() && algorithm.generator != nullptr && !workload &&
                      algorithm.generator->too_large != nullptr && !network.dimensions();
    return asks ? algorithm.generator->too_large(network, collective.op) : reason;
  }
  return unsuited_for_groups(*examined.topology, examined.point.system, collective,
                             *algorithm.generator);
}

// A list of algorithms may hold some that know no process groups; they would run on all nodes.
void check_knows_groups(const ExaminedPoint& examined) {
  const Algorithm* algorithm = find_algorithm(examined.point.collective->algorithm);
  if (algorithm == nullptr || algorithm->generator != nullptr) return;
  for (const char* key : {"collective.ranks", "collective.groups"}) {
    const GivenKey* given = examined.given.find(key);
    const auto names_nodes = [](const GivenValue& value) {
      return !value.value.items.empty() || !value.value.records.empty();
    };
    if (given == nullptr || !std::all_of(given->values.begin(), given->values.end(), names_nodes)) {
      continue;
    }
    examined.diagnostics.error(
        examined.place_of_algorithm(),
        fmt::format("collective.algorithm: {} has no process groups; {} names one", algorithm->name,
                    key));
  }
}

void check_group(const ExaminedPoint& examined) {
  if (examined.topology == nullptr) return;
  check_knows_groups(examined);
  const CollectiveConfig& collective = *examined.point.collective;
  const std::size_t nodes = examined.topology->num_nodes();
  const std::string problem = group_problem(collective, collective.ranks, nodes);
  if (!problem.empty()) {
    examined.given.rule({"collective.ranks"}, [&](const Place& place) {
      examined.diagnostics.error(place, "collective.ranks: " + problem,
                                 "for example collective.ranks: [0, 1]");
    });
  }
  examined.given.rule(
      {"collective.groups", "collective.op", "collective.element"}, [&](const Place& first) {
        if (collective.groups.size() == 1) {
          examined.diagnostics.error(first,
                                     "collective.groups: one group is named by collective.ranks",
                                     "for example collective.ranks: [0, 1]");
        }
        if (!collective.groups.empty() && (is_rooted(collective.op) || has_counts(collective.op))) {
          examined.diagnostics.error(
              first,
              fmt::format("collective.groups: several groups compute no {}",
                          to_string(collective.op)),
              "allowed are all_reduce, reduce_scatter, all_gather and all_to_all");
        }
        for (std::size_t g = 0; g < collective.groups.size(); ++g) {
          const GroupConfig& group = collective.groups[g];
          const Place place = examined.given.place_of_field("collective.groups", g, "ranks");
          const std::string why = group_problem(collective, group.ranks, nodes);
          if (!why.empty()) {
            examined.diagnostics.error(place, fmt::format("collective.groups: {}", why),
                                       "for example collective.groups: [[0, 1], [2, 3]]");
          }
          if (group.size % collective.element_bytes == 0) continue;
          examined.diagnostics.error(
              examined.given.place_of_field("collective.groups", g, "size"),
              fmt::format("collective.groups: {} bytes are no whole elements of {} bytes",
                          group.size, collective.element_bytes),
              fmt::format("for example {}B",
                          (group.size / collective.element_bytes + 1) * collective.element_bytes));
        }
      });
}

// Why the built-in program does not run on the network; empty if it does.
std::string unsuited_program(const Topology& topology, RunPoint point, const Algorithm& algorithm) {
  point.collective->algorithm = algorithm.name;
  point.collective->program.given = nullptr;
  const std::string reason = algorithm.program->unsuited(builtin_request(topology, point));
  return reason.empty() ? missing_route(topology, point) : reason;
}

// Of a step: of all its groups, and nothing where they are not known.
std::set<CollectiveOp> operations_of(const RunPoint& point) {
  if (!point.workload || point.workload->file.empty()) return {point.collective->op};
  std::set<CollectiveOp> ops;
  if (point.workload->graph == nullptr) return ops;
  for (const auto& work : std::set<std::shared_ptr<const RankWork>>(
           point.workload->graph->ranks.begin(), point.workload->graph->ranks.end())) {
    for (const WorkNode& node : work->nodes) {
      if (node.kind == WorkKind::collective) ops.insert(node.op);
    }
  }
  return ops;
}

// A step takes other schedules for the operations that the algorithm does not compute.
bool computes(const AlgorithmRow& algorithm, const std::set<CollectiveOp>& ops) {
  return ops.empty() || std::any_of(ops.begin(), ops.end(),
                                    [&](CollectiveOp op) { return algorithm.computes(op); });
}

std::string names_of(const std::vector<CollectiveOp>& ops, const char* between) {
  std::vector<std::string> names;
  for (const CollectiveOp op : ops) names.emplace_back(to_string(op));
  return fmt::format("{}", fmt::join(names, between));
}

// True if the point could run with `algorithm`.
bool would_run(const ExaminedPoint& examined, const Algorithm& algorithm) {
  const RunPoint& point = examined.point;
  const CollectiveConfig& collective = *point.collective;
  const AlgorithmRow& row = algorithm.row_on(point.system.topology.is_dimensional());
  if (!computes(row, operations_of(point))) return false;
  if (algorithm.is_program() && algorithm.program == nullptr) return false;  // needs a file
  if (algorithm.is_library) return false;                                    // needs a machine
  if (!collective.rank_order.is_identity() && !row.follows_rank_order()) return false;
  if (collective.bitwise_identical && !algorithm.is_bitwise_identical()) return false;
  if (examined.topology == nullptr) return true;
  if (!unsuited(examined, algorithm).empty()) return false;
  const Topology topology = ranks_network_of(examined);
  if (algorithm.program != nullptr) return unsuited_program(topology, point, algorithm).empty();
  return algorithm.generator == nullptr || algorithm.generator->problem == nullptr ||
         !algorithm.generator->problem(topology, collective_request(point.system, collective));
}

// Names only algorithms that the point could run with.
std::string others_that_run(const ExaminedPoint& examined) {
  const auto names =
      algorithms_where([&](const Algorithm& algorithm) { return would_run(examined, algorithm); });
  return names.empty() ? "" : fmt::format("{}{}", kAllowedHint, fmt::join(names, ", "));
}

void check_bits(const ExaminedPoint& examined) {
  const CollectiveConfig& collective = *examined.point.collective;
  const Algorithm* algorithm = find_algorithm(collective.algorithm);
  if (algorithm == nullptr || !collective.bitwise_identical) return;
  if (algorithm->is_bitwise_identical()) return;
  examined.diagnostics.error(
      examined.place_of_algorithm(),
      fmt::format("{}: {} adds in another order on every rank, so floating-point sums differ in "
                  "their last bits; collective.bitwise_identical forbids it",
                  kAlgorithmKey, algorithm->name),
      others_that_run(examined));
}

void check_collective_size(const ExaminedPoint& examined) {
  const CollectiveConfig& collective = *examined.point.collective;
  if (collective.size % collective.element_bytes == 0) return;
  examined.given.rule({"collective.size", "collective.element"}, [&](const Place&) {
    const Bytes above = (collective.size / collective.element_bytes + 1) * collective.element_bytes;
    examined.diagnostics.error(
        examined.given.place_of_value("collective.size", collective.size),
        fmt::format("collective.size: {} is not a multiple of the element size, {}",
                    format_quantity(Quantity::size, collective.size),
                    format_quantity(Quantity::size, collective.element_bytes)),
        fmt::format("for example {}", format_quantity(Quantity::size, above)));
  });
}

// This check is the last one, because it needs the plan of an otherwise valid point.
void check_fold(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  if (point.simulation.fold != Folding::on || point.workload || examined.topology == nullptr ||
      examined.diagnostics.num_errors() != 0 || planner_of(point) == nullptr) {
    return;
  }
  const std::string obstacle = folding_obstacle(point, *examined.topology->dimensions());
  if (obstacle.empty()) return;
  examined.diagnostics.error(
      examined.given.place_of("simulation.fold"),
      fmt::format("simulation.fold: one NPU cannot be simulated for all NPUs with {}", obstacle),
      "write simulation.fold: off, or auto, which folds only where that is exact");
}

// In workloads, too: their plans are made for the same NIs.
void check_search(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  const Planner* planner = planner_of(point);
  if (planner == nullptr || !planner->searches || point.system.ni.dimension_queue.enforce_order) {
    return;
  }
  const char* key = "system.ni.dimension_queue.enforce_order";
  examined.given.rule({key, kAlgorithmKey}, [&](const Place&) {
    examined.diagnostics.error(examined.given.place_of(key),
                               fmt::format("{}: {} plans the order in which each dimension starts "
                                           "its stages, so NPUs have to keep to it",
                                           key, planner->name),
                               fmt::format("write {}: true, or collective.algorithm: themis", key));
  });
}

// Themis plans greedily, so its plan can be worse than the one order of the baseline. This check
// needs the plan of an otherwise valid point, like check_fold().
void check_plan(const ExaminedPoint& examined) {
  constexpr double kFemtosecondsPerMicrosecond = 1e9;
  const RunPoint& point = examined.point;
  const Planner* planner = planner_of(point);
  if (planner == nullptr || point.workload || point.training || point.coordination ||
      examined.topology == nullptr || examined.diagnostics.num_errors() != 0 ||
      point.collective->size == 0 ||
      std::count(planner->ops.begin(), planner->ops.end(), point.collective->op) == 0) {
    return;
  }
  const auto loss = plan_loss(*examined.topology, point);
  if (!loss) return;
  const auto text = [](const PlanLoad& load) {
    return fmt::format("{:.1f} us on dim{}",
                       static_cast<double>(load.femtoseconds) / kFemtosecondsPerMicrosecond,
                       load.dimension + 1);
  };
  std::string hint = fmt::format(
      "write collective.algorithm: {}; with up to {} chunks, {} is forecast to be slower",
      planners().front().name, loss->most_tried, planner->name);
  if (loss->better_chunks != 0) {
    const auto microseconds = [&](Cycle cycles) {
      return nanoseconds(cycles, point.system.clock) / 1e3;
    };
    hint = fmt::format("collective.chunks: {} is forecast to take {:.1f} us, and {} {:.1f} us",
                       loss->better_chunks, microseconds(loss->better_forecast),
                       planners().front().name, microseconds(loss->baseline_forecast));
  }
  examined.given.rule({"collective.chunks", kAlgorithmKey}, [&](const Place&) {
    examined.diagnostics.warning(
        examined.given.is_given("collective.chunks")
            ? examined.given.place_of_value("collective.chunks", point.collective->chunks)
            : examined.place_of_algorithm(),
        fmt::format("collective.algorithm: the plan of {} with {} chunks predicts {}, more than "
                    "the {} of the baseline's plan",
                    planner->name, point.collective->chunks, text(loss->plan),
                    text(loss->baseline)),
        hint);
  });
}

void check_root(const ExaminedPoint& examined) {
  const CollectiveConfig& collective = *examined.point.collective;
  const Algorithm* algorithm = find_algorithm(collective.algorithm);
  if (examined.topology == nullptr || algorithm == nullptr ||
      !algorithm->reads("collective.root", collective.op)) {
    return;
  }
  const std::size_t ranks =
      collective.ranks.empty() ? examined.topology->num_nodes() : collective.ranks.size();
  if (collective.root < ranks) return;
  examined.given.rule({"collective.root"}, [&](const Place&) {
    examined.diagnostics.error(
        examined.given.place_of_value("collective.root", collective.root),
        fmt::format("collective.root: there is no rank {}; ranks are 0 to {}", collective.root,
                    ranks - 1),
        "for example collective.root: 0");
  });
}

bool is_one_switch(const Topology& topology) {
  for (std::size_t n = 0; n < topology.num_nodes() && topology.num_switches() == 1; ++n) {
    const NodeId center(topology.num_nodes());
    if (!topology.link_between(NodeId(n), center).valid()) return false;
    if (!topology.link_between(center, NodeId(n)).valid()) return false;
  }
  return topology.num_switches() == 1 && !topology.dimensions();
}

void check_program_file(const ExaminedPoint& examined, const Program& program) {
  const CollectiveConfig& collective = *examined.point.collective;
  const Place place =
      examined.given.place_of_text(kAlgorithmKey, collective.program.file, kProgramFileKey);
  if (examined.topology != nullptr && program.num_ranks() != examined.topology->num_nodes()) {
    examined.diagnostics.error(
        place, fmt::format("collective.program.file: the program has {} ranks, but the network has "
                           "{} nodes; the two numbers must be equal",
                           program.num_ranks(), examined.topology->num_nodes()));
  } else if (examined.topology != nullptr && program.switches != 0 &&
             !is_one_switch(*examined.topology)) {
    examined.diagnostics.error(
        place,
        "collective.program.file: the plan's glres and gstore command one switch to which all "
        "nodes are linked, but the network is another",
        "for example system.topology.type: switch");
  } else if (examined.topology != nullptr) {
    const std::string problem = missing_route(*examined.topology, examined.point);
    if (!problem.empty()) {
      examined.diagnostics.error(
          place, "collective.program.file: the program " + problem,
          "give the links back, too: between: [A, B] in place of from and to");
    }
  }
  const Bytes size = collective.size;
  if (size != 0 &&
      (size < program.min_bytes || (program.max_bytes != 0 && size > program.max_bytes))) {
    const std::string most =
        program.max_bytes == 0 ? "upwards" : fmt::format("to {} bytes", program.max_bytes);
    examined.diagnostics.warning(examined.given.place_of_value("collective.size", size),
                                 fmt::format("collective.size: the program is made for sizes from "
                                             "{} bytes {}, but the size is {} bytes",
                                             program.min_bytes, most, size));
  }
  if (size % program.multiple != 0) {
    examined.diagnostics.error(
        examined.given.place_of_value("collective.size", size),
        fmt::format("collective.size: {} bytes are not a multiple of {}, as the plan's executor "
                    "needs (16 bytes, and its chunks)",
                    size, program.multiple),
        fmt::format("for example {}B", (size / program.multiple + 1) * program.multiple));
  }
  if (program.collective == collective.op) return;
  const char* op = to_string(program.collective);
  examined.diagnostics.error(
      place,
      fmt::format("collective.program.file: the program computes {}, but collective.op is {}", op,
                  to_string(collective.op)),
      fmt::format("collective: {{op: {}}}", op));
}

// Checks the algorithm's parameters against the network. The groups of a step are not the network.
void check_parameters(const ExaminedPoint& examined, const Algorithm& algorithm) {
  if (examined.topology == nullptr || algorithm.generator == nullptr || examined.point.workload ||
      algorithm.generator->problem == nullptr || !examined.point.collective->groups.empty()) {
    return;
  }
  for (const AlgorithmParameter& parameter : algorithm.parameters) {
    if (!examined.given.usable({parameter.key.c_str()})) return;
  }
  const auto problem = algorithm.generator->problem(
      ranks_network_of(examined),
      collective_request(examined.point.system, *examined.point.collective));
  if (!problem) return;
  examined.diagnostics.error(examined.given.place_of_first({problem->key.c_str(), kAlgorithmKey}),
                             fmt::format("{}: {}", problem->key, problem->reason),
                             fmt::format("for example {}: {}", problem->key, problem->instead));
}

}  // namespace

Place ExaminedPoint::place_of_algorithm() const {
  const std::string& file = point.collective->program.file;
  if (!file.empty()) return given.place_of_text(kAlgorithmKey, file, kProgramFileKey);
  return given.place_of_value(kAlgorithmKey, find_key(kAlgorithmKey)->get(point).number);
}

void check_collective(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  if (!point.training && !point.workload) {
    check_collective_size(examined);
    check_group(examined);
    check_root(examined);
  }
  if (!point.system.topology.is_dimensional()) return;
  check_fold(examined);
  check_search(examined);
  check_plan(examined);
}

void check_operation(const ExaminedPoint& examined) {
  const CollectiveOp op = examined.point.collective->op;
  const std::set<CollectiveOp> ops = operations_of(examined.point);
  const Algorithm& chosen = *find_algorithm(examined.point.collective->algorithm);
  const bool is_dimensional = examined.point.system.topology.is_dimensional();
  // What other operations it computes does not help where it cannot run.
  if (is_dimensional && chosen.planner == nullptr) return;
  const AlgorithmRow& algorithm = chosen.row_on(is_dimensional);
  if (computes(algorithm, ops)) return;
  examined.diagnostics.error(
      examined.given.is_given("collective.op")
          ? examined.given.place_of_value("collective.op", static_cast<std::uint64_t>(op))
          : examined.given.place_of(kAlgorithmKey),
      fmt::format("{}: {} computes {}, not {}",
                  examined.point.workload ? kAlgorithmKey : "collective.op", algorithm.name,
                  names_of(algorithm.ops, ", "), names_of({ops.begin(), ops.end()}, " or ")),
      others_that_run(examined));
}

void check_algorithm(const ExaminedPoint& examined) {
  const Algorithm* algorithm = find_algorithm(examined.point.collective->algorithm);
  if (algorithm == nullptr || examined.topology == nullptr) return;
  const std::string reason = unsuited(examined, *algorithm);
  if (reason.empty()) return;
  examined.diagnostics.error(
      examined.place_of_algorithm(),
      fmt::format("{}: {} {}: {}", kAlgorithmKey, algorithm->name, kUnsuited, reason),
      others_that_run(examined));
}

void check_program(const ExaminedPoint& examined) {
  const RunPoint& point = examined.point;
  if (!has_program(point)) return;
  check_bits(examined);
  if (point.workload) return;  // its groups are not the network
  const ProgramConfig& config = point.collective->program;
  if (!config.file.empty()) {
    if (config.given) check_program_file(examined, *config.given);
    return;
  }
  const Algorithm& algorithm = *find_algorithm(point.collective->algorithm);
  if (examined.topology == nullptr || algorithm.program == nullptr) return;
  // check_algorithm() has said why, and neither a torus nor servers would help.
  if (examined.topology->dimensions()) return;
  const std::string reason = unsuited_program(*examined.topology, point, algorithm);
  if (reason.empty()) return;
  examined.diagnostics.error(examined.place_of_algorithm(),
                             fmt::format("collective.algorithm: {} {}", algorithm.name, reason),
                             others_that_run(examined));
}

void check_rank_order(const ExaminedPoint& examined) {
  if (!examined.point.collective || !examined.given.usable({kAlgorithmKey})) return;
  const CollectiveConfig& collective = *examined.point.collective;
  const Algorithm* algorithm = find_algorithm(collective.algorithm);
  if (algorithm == nullptr) return;
  check_parameters(examined, *algorithm);
  const AlgorithmRow& row = algorithm->row_on(examined.point.system.topology.is_dimensional());
  const bool is_step_of_library = examined.point.workload && algorithm->is_library;
  if (collective.rank_order.is_identity() || row.follows_rank_order() || is_step_of_library) return;
  const auto able =
      algorithms_where([](const Algorithm& other) { return other.follows_rank_order(); });
  examined.diagnostics.error(
      examined.given.place_of_text(kRankOrderKey, collective.rank_order.source, kRankOrderKey),
      fmt::format("{}: {} cannot use a rank order: {}", kRankOrderKey, row.name, row.fixed_ranks),
      fmt::format("write identity, or use an algorithm with a rank order: {}",
                  fmt::join(able, ", ")));
}

}  // namespace espalier
