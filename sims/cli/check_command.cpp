#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alg/program/program_certifier.h"
#include "alg/program/protocol.h"
#include "alg/schedule/schedule_table.h"
#include "alg/schedule/schedule_text.h"
#include "sims/choose/certify_point.h"
#include "sims/choose/choose.h"
#include "sims/choose/collective_work.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/schedule_text.h"
#include "sims/experiment/training_work.h"
#include "sims/model/build_program.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/study/progress.h"
#include "sims/text/people.h"
#include "sims/workload/graph/work_graph.h"

namespace espalier {

namespace {

// Tables with their certificate.
using CertifiedTables = std::pair<ScheduleTables, Certificate>;

CertifiedTables certified_training(const Input& input, const RunPoint& point) {
  TrainingTables training = training_tables(*input.topology, point);
  Certificate certificate = certify_training(*input.topology, point, training);
  return {std::move(training.tables), std::move(certificate)};
}

CertifiedTables certified(const Input& input, const RunPoint& point, ScheduleTables tables) {
  store_rows(tables, point.system.ni);
  Certificate certificate = certify_point(*input.topology, point, tables);
  return {std::move(tables), std::move(certificate)};
}

std::string violations_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) {
    text += fmt::format("  {}: {}\n", to_string(violation.kind), violation.what);
  }
  return text;
}

bool check_plan(const Input& input, const std::string& what, const Topology& topology,
                const RunPoint& point, const ForecastPlan& planned) {
  const std::vector<Violation> violations = certify_plan(point, planned.plan);
  tell(stdout, "{}: {} {} on {}: {}\n", input.path, planned.plan.algorithm, what, topology.name(),
       !violations.empty() ? "REJECTED"
       : planned.plan.start_order.empty()
           ? "data certified; deadlock is possible, because the start order is not enforced"
           : "certified");
  tell(stdout, "{}{}", plan_summary(topology, planned), violations_text(violations));
  return violations.empty();
}

bool check_plan(const Input& input, const RunPoint& point) {
  std::optional<Progress> planning(std::in_place, 1);
  const ForecastPlan planned = plan_point(*input.topology, point);
  planning.reset();
  return check_plan(input, to_string(planned.plan.op), *input.topology, point, planned);
}

// The reader has checked the work itself. Counts, so that a user sees what was read.
void show_work(const Input& input, const WorkGraph& graph, IssueOrder issue) {
  std::map<WorkKind, std::size_t> counts;
  for (const auto& rank : graph.ranks) {
    for (const WorkNode& node : rank->nodes) ++counts[node.kind];
  }
  tell(stdout,
       "{}: work of {} ranks: {} computations, {} posts of collectives, {} sends; every "
       "dependency, message and collective fits{}\n",
       input.path, graph.ranks.size(), counts[WorkKind::compute], counts[WorkKind::collective],
       counts[WorkKind::send],
       issue == IssueOrder::lowest_id ? "; run shows whether ranks wait for each other" : "");
}

// Checks every collective of the iterations.
bool check_workload(const Input& input, const RunPoint& point) {
  if (point.workload->graph) {
    show_work(input, *point.workload->graph, point.workload->issue);
    return true;
  }
  const Workload workload = build_workload(*point.workload);
  Choices choices;
  std::optional<Progress> planning(std::in_place, 1);
  const auto plans =
      plan_workload(point, workload_groups(*input.topology, point), workload, choices);
  planning.reset();
  bool good = true;
  for (const auto& plan : plans) {
    good &= check_plan(input, fmt::format("{}, {}", workload.name, describe(plan->op)),
                       plan->topology, plan->point, plan->planned);
  }
  std::vector<CommunicationOp> unplanned;
  for (const CommunicationOp& op : workload.operations()) {
    if (op.op != CollectiveOp::all_to_all ||
        std::find(unplanned.begin(), unplanned.end(), op) != unplanned.end()) {
      continue;
    }
    unplanned.push_back(op);
    tell(stdout, "{}: {}, {}: has no plan; a closed form gives its time\n", input.path,
         workload.name, describe(op));
  }
  return good;
}

// The verdict on a schedule's tables, or on a program.
struct Checked {
  bool ok = false;
  std::string headline;
  std::string details;
};

Checked checked_program(const Input& input, const RunPoint& point, const Program& program) {
  const ProgramCertificate certificate = certify_program_point(*input.topology, point, program);
  return {
      certificate.ok(),
      fmt::format("{}: {} {} on {}: {}", input.path, program.name, to_string(program.collective),
                  input.topology->name(), certificate.ok() ? "certified" : "REJECTED"),
      certificate_text(program, certificate)};
}

bool check_program(const Input& input, const RunPoint& point) {
  std::optional<Progress> planning(std::in_place, 1);
  const Checked checked = checked_program(input, point, build_program(*input.topology, point));
  planning.reset();
  tell(stdout, "{}\n{}", checked.headline, checked.details);
  return checked.ok;
}

// Assumes the slots of the protocol, and messages that fit into the slots.
bool check_program_alone(const Input& input, const Program& program) {
  ProgramLimits limits;
  limits.slots = protocol_spec(program).slots;
  std::optional<Progress> certifying(std::in_place, 1);
  const ProgramCertificate certificate = certify_program(program, limits);
  certifying.reset();
  const std::string slots_of_protocol =
      program.one_sided
          ? "one-sided"
          : fmt::format("{} with {} slots", to_string(program.protocol), limits.slots);
  tell(stdout, "{}: {} {} on {} ranks, {}: {}\n{}", input.path, program.name,
       to_string(program.collective), program.num_ranks(), slots_of_protocol,
       certificate.ok() ? "certified" : "REJECTED", certificate_text(program, certificate));
  if (!certificate.ok() || program.one_sided) return certificate.ok();
  // With one chunk per slot the check holds for every size of the call.
  ProgramLimits large = limits;
  large.chunks_per_slot = 1;
  const std::uint32_t slots = certify_program(program, large).least_slots;
  if (slots > limits.slots) {
    tell(stdout, "  warning: if each chunk fills a slot, a connection needs {} slots\n", slots);
  }
  return true;
}

Checked checked_tables(const Input& input, const RunPoint& point, CertifiedTables certified) {
  const auto& [tables, certificate] = certified;
  Checked checked;
  checked.ok = certificate.ok();
  checked.headline =
      fmt::format("{}: {} {} on {}: {}", input.path, tables.algorithm, to_string(tables.op),
                  input.topology->name(), certificate.ok() ? "certified" : "REJECTED");
  // The certifier does not examine the transfers of a malformed table.
  if (certificate.transfers != 0 || certificate.ok()) {
    checked.details = fmt::format(
        "  {} transfers in {} steps, {}\n", certificate.transfers, tables.num_steps,
        certificate.contention_free ? "no link used twice in a step" : "links shared within steps");
    if (certificate.judged_transfers != certificate.transfers &&
        certificate.judged_transfers != 0) {
      checked.details += fmt::format("  {} of them judged, for all others by symmetry or period\n",
                                     certificate.judged_transfers);
    }
  }
  const std::string route = checked.ok ? longest_route(*input.topology, tables.routes) : "";
  if (!route.empty()) checked.details += "  " + route + "\n";
  if (point.coordination) {
    checked.details +=
        "  one all-reduce for each layer; hosts fuse all-reduces while the job runs, and each "
        "fused all-reduce is certified then\n";
  }
  const TableFormat format = table_format(tables, input.topology->num_nodes());
  checked.details += fmt::format("  table entries {} (2N = {}) of {} bits: {}; {} bytes per NI\n",
                                 certificate.most_table_entries, 2 * input.topology->num_nodes(),
                                 format.entry_bits(), to_string(format),
                                 format.table_bytes(certificate.most_table_entries));
  checked.details += violations_text(certificate.violations);
  return checked;
}

// What `run` would load.
Checked checked_collective(const Input& input, const RunPoint& point) {
  if (input.tables) return checked_tables(input, point, certified(input, point, *input.tables));
  if (point.training) return checked_tables(input, point, certified_training(input, point));
  CollectiveWork work = generate_collective(*input.topology, point);
  if (work.program) return checked_program(input, point, *work.program);
  return checked_tables(input, point, certified(input, point, std::move(*work.tables)));
}

// Settings such as flow control do not change a schedule, so equal answers are printed once.
bool check_schedules(const Input& input, const std::vector<const RunPoint*>& points) {
  std::vector<std::pair<Checked, std::size_t>> answers;
  bool good = true;
  std::optional<Progress> planning(std::in_place, std::max<std::size_t>(points.size(), 1));
  for (std::size_t i = 0; i < points.size(); ++i) {
    Checked checked = checked_collective(input, *points[i]);
    planning->update(i, 1);
    good &= checked.ok;
    const auto same = std::find_if(answers.begin(), answers.end(), [&](const auto& answer) {
      return answer.first.headline == checked.headline && answer.first.details == checked.details;
    });
    if (same != answers.end()) {
      ++same->second;
    } else {
      answers.emplace_back(std::move(checked), 1);
    }
  }
  planning.reset();
  for (const auto& [answer, count] : answers) {
    tell(stdout, "{}{}\n{}", answer.headline,
         count == 1 ? "" : fmt::format(", for {} settings", count), answer.details);
  }
  return good;
}

}  // namespace

int check_command(const CheckOptions& options) {
  const auto inputs = load_inputs(options.configs, options.overrides, ConfigNeed::schedule);
  if (!inputs) return kUsageError;
  if (options.resolved) {
    nlohmann::ordered_json configs = nlohmann::ordered_json::array();
    for (const PointRef& ref : all_points(*inputs)) {
      configs.push_back(resolved_for(*ref.point, std::filesystem::current_path()));
    }
    tell(stdout, "{}\n", configs.dump(2));
    return kGood;
  }
  bool good = true;
  for (const Input& input : *inputs) {
    if (input.program) good &= check_program_alone(input, *input.program);
    std::vector<const RunPoint*> schedules;
    for (const RunPoint& point : input.points) {
      if (point.workload) {
        good &= check_workload(input, point);
        continue;
      }
      if (!input.tables && has_program(point)) {
        good &= check_program(input, point);
        continue;
      }
      const bool planned = !input.tables && planner_of(point) != nullptr;
      if (planned) {
        good &= check_plan(input, point);
      } else {
        schedules.push_back(&point);
      }
    }
    good &= check_schedules(input, schedules);
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
