#include "sims/cli/schedule_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "alg/schedule_text.h"
#include "flowctl/flit_format.h"
#include "sims/cli/exit_codes.h"
#include "sims/cli/input.h"
#include "sims/config/resolved.h"
#include "sims/run/point_runner.h"
#include "sims/schedule_file.h"

namespace espalier {

namespace {

std::string flit_format(const Topology& topology, const RunPoint& point, const ScheduleTables& tables) {
  std::size_t ports = 0;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    ports = std::max(ports, topology.out_links(NodeId(v)).size());
  }
  ports += point.system.ni.ports != 0 ? point.system.ni.ports : tables.ni_ports;
  return FlitFormat(static_cast<std::uint32_t>(topology.num_nodes()), static_cast<std::uint32_t>(ports),
                    point.system.router.vcs)
      .describe();
}

void write_schedule(std::ostream& out, const Input& input, const std::string& format) {
  const RunPoint& point = input.points.front();
  const ScheduleTables tables =
      input.tables ? *input.tables : generate_tables(*input.topology, *point.collective);
  if (format == "table") {
    write_table_text(out, tables);
  } else if (format == "json") {
    write_schedule_file(out, resolved_json(point), *input.topology, tables);
  } else if (format == "dot") {
    write_dot(out, raise_from_tables(*input.topology, tables));
  } else {
    out << flit_format(*input.topology, point, tables);
  }
}

}  // namespace

int schedule_command(const ScheduleOptions& options) {
  const auto inputs = load_inputs({options.config}, options.overrides, ConfigNeed::collective);
  if (!inputs) return kUsageError;
  const Input& input = inputs->front();
  if (input.points.size() != 1) {
    fmt::print(stderr, "{}: error: {} points; choose one with -s, for example -s collective.algorithm={}\n",
               input.path, input.points.size(), input.points.front().collective->algorithm);
    return kUsageError;
  }
  if (options.output.empty()) {
    write_schedule(std::cout, input, options.format);
    return kGood;
  }
  std::ofstream file(options.output);
  write_schedule(file, input, options.format);
  file.close();
  if (!file.fail()) return kGood;
  fmt::print(stderr, "{}: error: cannot be written\n", options.output);
  return kUsageError;
}

}  // namespace espalier
