#include "sims/cli/check_command.h"

#include <fmt/format.h>

#include "sims/cli/exit_codes.h"
#include "sims/cli/input.h"
#include "sims/run/point_runner.h"

namespace espalier {

int check_command(const CheckOptions& options) {
  const auto inputs = load_inputs(options.configs, options.overrides, ConfigNeed::collective);
  if (!inputs) return kUsageError;
  bool good = true;
  for (const Input& input : *inputs) {
    for (const RunPoint& point : input.points) {
      const ScheduleTables tables =
          input.tables ? *input.tables : generate_tables(*input.topology, *point.collective);
      const Certificate certificate = certify_point(*input.topology, point, tables);
      fmt::print("{}: {} {} on {}: {}\n", input.path, tables.algorithm, to_string(tables.op),
                 input.topology->name(), certificate.ok() ? "certified" : "REJECTED");
      fmt::print("  {} transfers in {} steps, {}; table entries {} (2N = {}), children {}\n",
                 certificate.transfers, tables.num_steps,
                 certificate.contention_free ? "no link used twice in a step"
                                             : "links shared within steps",
                 certificate.most_table_entries, 2 * input.topology->num_nodes(),
                 certificate.most_children);
      for (const Violation& violation : certificate.violations) {
        fmt::print("  {}: {}\n", to_string(violation.kind), violation.what);
      }
      good &= certificate.ok();
    }
  }
  return good ? kGood : kCheckFailed;
}

}  // namespace espalier
