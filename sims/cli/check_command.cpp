#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include <algorithm>
#include <utility>
#include <vector>

#include "alg/plans/planner.h"
#include "alg/program/program_certifier.h"
#include "alg/program/protocol.h"
#include "alg/schedule/schedule_table.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/schedule_text.h"
#include "sims/config/resolved.h"
#include "sims/experiment/certify_point.h"
#include "sims/experiment/plan_run.h"
#include "sims/experiment/training_tables.h"
#include "sims/experiment/workload_plans.h"
#include "sims/model/build_program.h"
#include "sims/model/build_workload.h"

namespace espalier {

namespace {

// The tables that `run` would load, with their certificate.
std::pair<ScheduleTables, Certificate> certified_tables(const Input& input, const RunPoint& point) {
  if (point.training && !input.tables) {
    TrainingTables training = training_tables(*input.topology, point);
    Certificate certificate = certify_training(*input.topology, point, training);
    return {std::move(training.tables), std::move(certificate)};
  }
  ScheduleTables tables =
      input.tables ? *input.tables : generate_tables(*input.topology, *point.collective);
  Certificate certificate = certify_point(*input.topology, point, tables);
  return {std::move(tables), std::move(certificate)};
}

void print_violations(const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) {
    fmt::print("  {}: {}\n", to_string(violation.kind), violation.what);
  }
}

bool check_plan(const Input& input, const std::string& what, const Topology& topology,
                const RunPoint& point, const ForecastPlan& planned) {
  const std::vector<Violation> violations = certify_plan(point, planned.plan);
  fmt::print("{}: {} {} on {}: {}\n", input.path, planned.plan.algorithm, what, topology.name(),
             !violations.empty() ? "REJECTED"
             : planned.plan.start_order.empty()
                 ? "data certified; deadlock is possible, because the start order is not enforced"
                 : "certified");
  fmt::print("{}", plan_summary(topology, planned));
  print_violations(violations);
  return violations.empty();
}

bool check_plan(const Input& input, const RunPoint& point) {
  const ForecastPlan planned = plan_point(*input.topology, point);
  return check_plan(input, to_string(planned.plan.op), *input.topology, point, planned);
}

// Checks every collective of the iterations.
bool check_workload(const Input& input, const RunPoint& point) {
  const Workload workload = build_workload(*point.workload);
  const auto plans = plan_workload(point, workload_groups(*input.topology, point), workload);
  bool good = true;
  for (const auto& plan : plans) {
    good &= check_plan(input, fmt::format("{}, {}", workload.name, describe(plan->op)),
                       plan->topology, plan->point, plan->planned);
  }
  std::vector<CommunicationOp> unplanned;
  for (const Communication& communication : workload.communications) {
    const CommunicationOp& op = communication.op;
    if (op.op != CollectiveOp::all_to_all ||
        std::find(unplanned.begin(), unplanned.end(), op) != unplanned.end()) {
      continue;
    }
    unplanned.push_back(op);
    fmt::print("{}: {}, {}: has no plan; a closed form gives its time\n", input.path, workload.name,
               describe(op));
  }
  return good;
}

bool check_program(const Input& input, const RunPoint& point) {
  const Program program = build_program(*input.topology, point);
  const ProgramCertificate certificate = certify_program_point(*input.topology, point, program);
  fmt::print("{}: {} {} on {}: {}\n{}", input.path, program.name, to_string(program.collective),
             input.topology->name(), certificate.ok() ? "certified" : "REJECTED",
             certificate_text(program, certificate));
  return certificate.ok();
}

// Assumes the slots of the protocol, and messages that fit into the slots.
bool check_program_alone(const Input& input, const Program& program) {
  ProgramLimits limits;
  limits.slots = protocol_spec(program.protocol).slots;
  const ProgramCertificate certificate = certify_program(program, limits);
  fmt::print("{}: {} {} on {} ranks, {} with {} slots: {}\n{}", input.path, program.name,
             to_string(program.collective), program.num_ranks(), to_string(program.protocol),
             limits.slots, certificate.ok() ? "certified" : "REJECTED",
             certificate_text(program, certificate));
  if (!certificate.ok()) return false;
  // With one chunk per slot the check holds for every size of the call.
  ProgramLimits large = limits;
  large.chunks_per_slot = 1;
  const std::uint32_t slots = certify_program(program, large).least_slots;
  if (slots > limits.slots) {
    fmt::print("  warning: if each chunk fills a slot, a connection needs {} slots\n", slots);
  }
  return true;
}

// `points` points have these tables.
bool check_tables(const Input& input, const RunPoint& point, std::size_t points) {
  const auto [tables, certificate] = certified_tables(input, point);
  fmt::print("{}: {} {} on {}: {}{}\n", input.path, tables.algorithm, to_string(tables.op),
             input.topology->name(), certificate.ok() ? "certified" : "REJECTED",
             points == 1 ? "" : fmt::format(", for {} settings", points));
  // The certifier does not examine the transfers of a malformed table.
  if (certificate.transfers != 0 || certificate.ok()) {
    fmt::print(
        "  {} transfers in {} steps, {}\n", certificate.transfers, tables.num_steps,
        certificate.contention_free ? "no link used twice in a step" : "links shared within steps");
  }
  if (point.coordination) {
    fmt::print(
        "  one all-reduce for each layer; hosts fuse all-reduces while the job runs, and each "
        "fused all-reduce is certified then\n");
  }
  const TableFormat format = table_format(tables, input.topology->num_nodes());
  fmt::print("  table entries {} (2N = {}) of {} bits: {}; {} bytes per NI\n",
             certificate.most_table_entries, 2 * input.topology->num_nodes(), format.entry_bits(),
             to_string(format), format.table_bytes(certificate.most_table_entries));
  print_violations(certificate.violations);
  return certificate.ok();
}

}  // namespace

int check_command(const CheckOptions& options) {
  const auto inputs = load_inputs(options.configs, options.overrides, ConfigNeed::collective);
  if (!inputs) return kUsageError;
  bool good = true;
  for (const Input& input : *inputs) {
    if (input.program) good &= check_program_alone(input, *input.program);
    // Only the collective decides the tables; flow control and lockstep do not.
    std::map<std::string, std::size_t> points_of_tables;
    const auto collective_of = [](const RunPoint& point) {
      const auto config = resolved_json(point);
      return config.contains("collective") ? config.at("collective").dump() : std::string();
    };
    for (const RunPoint& point : input.points) ++points_of_tables[collective_of(point)];
    for (const RunPoint& point : input.points) {
      if (point.workload) {
        good &= check_workload(input, point);
        continue;
      }
      if (!input.tables && has_program(point)) {
        good &= check_program(input, point);
        continue;
      }
      const bool planned = !input.tables && find_planner(point.collective->algorithm) != nullptr;
      if (planned) {
        good &= check_plan(input, point);
        continue;
      }
      std::size_t& points = points_of_tables[collective_of(point)];
      if (points != 0) good &= check_tables(input, point, points);
      points = 0;  // said
    }
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
