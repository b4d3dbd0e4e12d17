#include "sims/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "alg/certify/certifier.h"
#include "alg/program/schedule_program.h"
#include "alg/schedule/schedule_text.h"
#include "sims/choose/choose.h"
#include "sims/choose/collective_work.h"
#include "sims/cli/input.h"
#include "sims/cli/output.h"
#include "sims/cli/results_document.h"
#include "sims/cli/schedule_text.h"
#include "sims/config/resolved.h"
#include "sims/experiment/training_work.h"
#include "sims/formats/program/msccl_xml.h"
#include "sims/formats/schedule_file.h"
#include "sims/model/build_program.h"
#include "sims/model/build_workload.h"
#include "sims/model/plan_forecast.h"
#include "sims/page/schedule_picture.h"
#include "sims/study/progress.h"
#include "sims/text/people.h"

namespace espalier {

namespace {

// A key that differs between the points, with its value at the first point: "collective.size=4KiB".
std::string distinguishing_setting(const std::vector<RunPoint>& points) {
  const auto first = resolved_json(points.front()).flatten();
  const auto last = resolved_json(points.back()).flatten();
  for (const auto& [pointer, value] : first.items()) {
    if (last.contains(pointer) && last.at(pointer) == value) continue;
    std::string key = pointer.substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    return fmt::format("{}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return {};
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

void write_plan(std::ostream& out, const Input& input) {
  const Progress planning(1);
  const RunPoint& point = input.points.front();
  if (!point.workload) {
    out << plan_table(*input.topology, point, plan_point(*input.topology, point));
    return;
  }
  // A workload has a plan for each of its collectives.
  Choices choices;
  const auto plans = plan_workload(point, workload_groups(*input.topology, point),
                                   build_workload(*point.workload), choices);
  for (const auto& plan : plans) {
    out << (plan == plans.front() ? "" : "\n")
        << plan_table(plan->topology, plan->point, plan->planned);
  }
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
  if (format != "msccl-xml") {
    out << program_text(*found.program);
    return {};
  }
  std::string reason = unwritable_as_msccl_xml(*found.program);
  if (reason.empty()) out << write_msccl_xml(*found.program);
  return reason;
}

bool is_picture(const std::string& format) { return format == "tree-svg" || format == "slots-svg"; }

// Returns why there is no picture, or an empty text.
std::string write_picture(std::ostream& out, const Input& input, const ScheduleTables& given,
                          const std::string& format) {
  const Topology& topology = *input.topology;
  const RunPoint& point = input.points.front();
  Schedule schedule(topology);
  try {
    const ScheduleTables tables = expand_symmetry(topology, given);
    schedule = raise_from_tables(topology, tables);
    schedule.listed_order = tables.listed_order;
  } catch (const std::exception& error) {
    return error.what();  // the tables of a file may be no schedule
  }
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
  } else {
    write_schedule_file(out, resolved_for(point, folder_of(options.output)), *input.topology,
                        tables);
  }
}

}  // namespace

int schedule_command(const ScheduleOptions& options) {
  const auto inputs = load_inputs({options.config}, options.overrides, ConfigNeed::collective);
  if (!inputs) return kUsageError;
  if (!can_write({{"--output", options.output}}, files_of(*inputs))) return kUsageError;
  const Input& input = inputs->front();
  if (!input.program && input.points.size() != 1) {
    return usage_error(
        input.path,
        fmt::format(
            "found {} points, but schedule shows one; choose one with -s, for example -s {}",
            input.points.size(), distinguishing_setting(input.points)));
  }
  if (is_planned(input) && options.format != "table") {
    return usage_error(input.path,
                       fmt::format("{} plans the stages of dimensions and has no transfers to show "
                                   "as {}; allowed is table",
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
    write_plan(text, input);
  } else {
    const CollectiveWork work = work_of(input);
    if (work.program && options.format != "table" && options.format != "msccl-xml") {
      return usage_error(
          input.path,
          fmt::format("a collective program cannot be shown as {}; allowed are table and msccl-xml",
                      options.format));
    }
    if (work.program || options.format == "msccl-xml") {
      reason = write_program(text, program_in(input, work), options.format);
    } else if (is_picture(options.format)) {
      reason = write_picture(text, input, *work.tables, options.format);
    } else {
      write_tables(text, input, *work.tables, options);
    }
  }
  if (!reason.empty()) {
    tell(stderr, "{}: error: cannot be written as {}: {}\n", input.path, options.format, reason);
    return kCheckFailed;
  }
  return write_text(options.output, text.str()) ? kGood : kUsageError;
}

}  // namespace espalier
