#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "alg/certify/certifier.h"
#include "alg/program/schedule_program.h"
#include "alg/schedule/schedule_text.h"
#include "flowctl/flit_format.h"
#include "sims/choose/choose.h"
#include "sims/choose/collective_work.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/results_document.h"
#include "sims/cli/schedule_text.h"
#include "sims/experiment/training_work.h"
#include "sims/formats/program/msccl_xml.h"
#include "sims/formats/program/mscclpp.h"
#include "sims/formats/schedule_file.h"
#include "sims/model/build_program.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/page/schedule_picture.h"
#include "sims/study/progress.h"
#include "sims/text/people.h"

namespace espalier {

namespace {

std::string flit_format(const Topology& topology, const RunPoint& point,
                        const ScheduleTables& tables) {
  std::size_t ports = 0;
  for (std::size_t v = 0; v < topology.num_vertices(); ++v) {
    ports = std::max(ports, topology.out_links(NodeId(v)).size());
  }
  ports += point.system.ni.ports != 0 ? point.system.ni.ports : tables.ni_ports;
  std::size_t hops = 1;
  for (const auto& table : tables.nodes) {
    for (const TableEntry& entry : table) {
      if (entry.op == TableOp::reduce) {
        hops = std::max(hops, tables.routes.hops(entry.parent.route));
      } else if (entry.op == TableOp::gather) {
        for (const TablePeer& child : entry.children) {
          hops = std::max(hops, tables.routes.hops(child.route));
        }
      }
    }
  }
  return FlitFormat(static_cast<std::uint32_t>(topology.num_nodes()),
                    static_cast<std::uint32_t>(ports), point.system.router.vcs,
                    static_cast<std::uint32_t>(hops))
      .describe();
}

// Precondition: no plan.
CollectiveWork work_of(const Input& input) {
  const Progress planning(1);
  CollectiveWork work;
  work.program = input.program;
  work.tables = input.tables;
  if (work.program || work.tables) return work;
  const RunPoint& point = input.points.front();
  if (!point.training) return generate_collective(*input.topology, point);
  work.tables = training_tables(*input.topology, point).tables;
  return work;
}

bool is_planned(const Input& input) {
  return !input.tables && !input.program && planner_of(input.points.front()) != nullptr;
}

void write_plan(std::ostream& out, const Input& input, const ScheduleOptions& options) {
  const Progress planning(1);
  const RunPoint& point = input.points.front();
  const bool json = options.format == "json";
  if (!point.workload) {
    const ForecastPlan planned = plan_point(*input.topology, point);
    out << (json ? plan_json(*input.topology, planned).dump(2) + "\n"
                 : plan_table(*input.topology, point, planned));
    return;
  }
  // A workload has a plan for each of its collectives.
  Choices choices;
  const auto plans = plan_workload(point, workload_groups(*input.topology, point),
                                   build_workload(*point.workload), choices);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& plan : plans) {
    if (json) {
      all.push_back(plan_json(plan->topology, plan->planned));
    } else {
      out << (plan == plans.front() ? "" : "\n")
          << plan_table(plan->topology, plan->point, plan->planned);
    }
  }
  if (json) out << all.dump(2) << "\n";
}

// Returns the program, or the schedule as a program; otherwise the reason why the schedule cannot
// be a program.
ScheduleProgram program_in(const Input& input, const CollectiveWork& work) {
  if (work.program) return {*work.program, {}};
  ScheduleProgramOptions options;
  options.element_bytes = input.points.front().collective->element_bytes;
  const ScheduleTables tables = expand_symmetry(*input.topology, *work.tables);
  return program_of_schedule(raise_from_tables(*input.topology, tables), options);
}

// Returns the reason why the program cannot be written, or an empty text.
std::string write_program(std::ostream& out, const ScheduleProgram& found,
                          const std::string& format) {
  if (!found.program) return found.reason;
  if (format == "mscclpp") {
    const MscclppDocument document = write_mscclpp(*found.program);
    out << document.text;
    return document.reason;
  }
  if (format != "msccl-xml") {
    out << program_text(*found.program);
    return {};
  }
  std::string reason = unwritable_as_msccl_xml(*found.program);
  if (reason.empty()) out << write_msccl_xml(*found.program);
  return reason;
}

bool is_of_programs(const std::string& format) {
  return format == "msccl-xml" || format == "mscclpp";
}

bool is_picture(const std::string& format) { return format == "tree-svg" || format == "slots-svg"; }

// Returns why there is no picture, or an empty text.
std::string write_picture(std::ostream& out, const Input& input, const ScheduleTables& given,
                          const std::string& format) {
  const Topology& topology = *input.topology;
  const RunPoint& point = input.points.front();
  const ScheduleTables tables = expand_symmetry(topology, given);
  Schedule schedule = raise_from_tables(topology, tables);
  schedule.listed_order = tables.listed_order;
  if (schedule.transfers.empty()) return "the schedule has no messages";
  const MessageTiming timing = message_timing(point.system);
  if (format == "tree-svg") {
    out << report::tree_picture(topology, schedule, timing);
    return {};
  }
  std::string reason = report::too_much_for_slots(topology);
  if (reason.empty()) out << report::slots_picture(topology, schedule, timing);
  return reason;
}

void write_tables(std::ostream& out, const Input& input, const ScheduleTables& given,
                  const ScheduleOptions& options) {
  const std::string& format = options.format;
  const RunPoint& point = input.points.front();
  ScheduleTables tables = expand_symmetry(*input.topology, given);
  if (format == "table") {
    store_rows(tables, point.system.ni);
    write_table_text(out, tables);
    const std::string route = longest_route(*input.topology, tables.routes);
    if (!route.empty()) out << "\n" << route << "\n";
  } else if (format == "json") {
    write_schedule_file(out, resolved_for(point, folder_of(options.output)), *input.topology,
                        tables);
  } else if (format == "dot") {
    write_dot(out, raise_from_tables(*input.topology, tables));
  } else {
    out << flit_format(*input.topology, point, tables);
  }
}

}  // namespace

int schedule_command(const ScheduleOptions& options) {
  const auto inputs = load_inputs({options.config}, options.overrides, ConfigNeed::schedule);
  if (!inputs) return kUsageError;
  if (!can_write({{"--output", options.output}}, files_of(*inputs))) return kUsageError;
  const Input& input = inputs->front();
  if (!input.points.empty() && input.points.front().workload &&
      input.points.front().workload->graph) {
    return usage_error(input.path, "schedule shows one collective, but a trace has several");
  }
  if (!input.program && input.points.size() != 1) {
    return usage_error(
        input.path, fmt::format("found {} points, but schedule shows one; {}", input.points.size(),
                                how_to_choose_one(input.points.front(), input.points.back())));
  }
  if (is_planned(input) && options.format != "table" && options.format != "json") {
    return usage_error(input.path,
                       fmt::format("{} plans the stages of dimensions and has no transfers to show "
                                   "as {}; allowed are table and json",
                                   input.points.front().collective->algorithm, options.format));
  }
  const bool trains = !input.program && input.points.front().training.has_value();
  if (trains && options.format == "json" &&
      input.points.front().training->overlap == Overlap::layerwise) {
    tell(stderr,
         "{}: error: a schedule file holds one all-reduce, but training.overlap: layerwise "
         "has one for each layer; use -s training.overlap=none\n",
         input.path);
    return kUsageError;
  }
  if (!input.program && input.points.front().coordination) {
    tell(stderr,
         "{}: note: shows one all-reduce for each layer; hosts fuse all-reduces while the "
         "job runs\n",
         input.path);
  }
  std::ostringstream text;
  std::string reason;
  if (is_planned(input)) {
    write_plan(text, input, options);
  } else {
    const CollectiveWork work = work_of(input);
    if (work.program && options.format != "table" && !is_of_programs(options.format)) {
      return usage_error(
          input.path,
          fmt::format("a collective program cannot be shown as {}; allowed are table, msccl-xml "
                      "and mscclpp",
                      options.format));
    }
    try {
      if (work.program || is_of_programs(options.format)) {
        reason = write_program(text, program_in(input, work), options.format);
      } else if (is_picture(options.format)) {
        reason = write_picture(text, input, *work.tables, options.format);
      } else {
        write_tables(text, input, *work.tables, options);
      }
    } catch (const TableError& error) {
      reason = error.what();  // the tables of a file may be no schedule
    }
  }
  if (!reason.empty()) {
    tell(stderr, "{}: error: cannot be written as {}: {}\n", input.path, options.format, reason);
    return kCheckFailed;
  }
  return write_text(options.output, text.str()) ? kGood : kUsageError;
}

}  // namespace espalier
