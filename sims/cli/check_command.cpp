#include "sims/cli/check_command.h"

#include <fmt/format.h>

#include <utility>

#include "alg/planner.h"
#include "alg/table_format.h"
#include "sims/cli/exit_codes.h"
#include "sims/cli/input.h"
#include "sims/cli/plan_text.h"
#include "sims/run/plan_runner.h"
#include "sims/run/point_runner.h"
#include "sims/run/training_runner.h"

namespace espalier {

namespace {

// What `run` would load, and whether it may.
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

bool check_plan(const Input& input, const RunPoint& point) {
  const ForecastPlan planned = plan_point(*input.topology, point);
  const std::vector<Violation> violations = certify_plan(point, planned.plan);
  fmt::print("{}: {} {} on {}: {}\n", input.path, planned.plan.algorithm,
             to_string(planned.plan.op), input.topology->name(),
             violations.empty() ? "certified" : "REJECTED");
  fmt::print("{}", plan_summary(*input.topology, planned));
  print_violations(violations);
  return violations.empty();
}

bool check_tables(const Input& input, const RunPoint& point) {
  const auto [tables, certificate] = certified_tables(input, point);
  fmt::print("{}: {} {} on {}: {}\n", input.path, tables.algorithm, to_string(tables.op),
             input.topology->name(), certificate.ok() ? "certified" : "REJECTED");
  fmt::print(
      "  {} transfers in {} steps, {}\n", certificate.transfers, tables.num_steps,
      certificate.contention_free ? "no link used twice in a step" : "links shared within steps");
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
    for (const RunPoint& point : input.points) {
      const bool planned = !input.tables && find_planner(point.collective->algorithm) != nullptr;
      good &= planned ? check_plan(input, point) : check_tables(input, point);
    }
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
