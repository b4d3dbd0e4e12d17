#include "sims/experiment/describe_outcome.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "sims/experiment/describe_center.h"
#include "sims/experiment/result_register.h"
#include "sims/point/enum_names.h"

namespace espalier {

using Json = nlohmann::ordered_json;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string list_violations(const std::vector<Violation>& violations) {
  std::string text = "the schedule does not pass the certifier:\n";
  for (const Violation& violation : violations) {
    text += fmt::format("  {}: {}\n", to_string(violation.kind), violation.what);
  }
  return text;
}

}  // namespace

void describe_control(Json& result, const RunPoint& point, const SimulationOutcome& outcome) {
  if (!outcome.control) return;
  Json& control = result["control"];
  control["pattern"] = name_of(point.control->pattern);
  control["injection_rate"] = point.control->injection_rate;
  control["message_bytes"] = point.control->message_bytes;
  control["vcs"] = name_of(point.control->vcs);
  control["messages"] = outcome.control->messages;
  control["latency_mean_cycles"] = outcome.control->mean_cycles;
  control["latency_p99_cycles"] = outcome.control->p99_cycles;
  control["latency_max_cycles"] = outcome.control->max_cycles;
}

void describe_outcome(Json& result, const RunPoint& point, const SimulationOutcome& outcome) {
  result["cycles"] = outcome.cycles;
  result["time_ns"] = nanoseconds(outcome.cycles, point.system.clock);
  result["link_utilization_mean"] = outcome.link_utilization_mean;
  const std::uint64_t payload_flits = outcome.flits_injected - outcome.head_flits;
  result["head_flit_overhead"] = payload_flits == 0 ? 0.0
                                                    : static_cast<double>(outcome.head_flits) /
                                                          static_cast<double>(payload_flits);
  result["flit_hops"] = outcome.flit_hops;
  result["link_conflicts"] = outcome.link_conflicts;
  result["ni_ports"] = outcome.ni_ports;
  result["message_latency_mean_cycles"] = outcome.latency.mean_cycles;
  result["message_latency_max_cycles"] = outcome.latency.max_cycles;
  result["messages"] = outcome.latency.messages;
  describe_control(result, point, outcome);
  describe_center(result, point, outcome);
  result["verified"] = outcome.verified;
  if (!outcome.failure.empty()) result["failure"] = outcome.failure;
}

PointReport not_run(const std::string& why) {
  PointReport report;
  report.failure = why;
  report.result["verified"] = false;
  report.result["failure"] = why;
  return report;
}

void describe_links(Json& result, const Topology& topology, const SimulationOutcome& outcome) {
  if (outcome.link_utilization.empty()) return;
  Json& links = result["links"];
  for (std::size_t l = 0; l < outcome.link_utilization.size(); ++l) {
    const TopologyLink& link = topology.links()[l];
    links.push_back(Json{{"from", topology.vertex_name(link.from)},
                         {"to", topology.vertex_name(link.to)},
                         {"utilization", outcome.link_utilization[l]}});
  }
}

void describe_rank_order(Json& result, const RankOrderConfig& order) {
  result["rank_order"] = order.source;
  if (order.is_random()) result["rank_order_seed"] = order.seed;
}

Json host_figures(const SimulationOutcome& outcome, std::chrono::steady_clock::time_point begin,
                  double simulated) {
  Json host;
  host["wall_s"] = seconds_since(begin);
  host["engine_cpu_s"] = outcome.engine_seconds;
  host["flit_hops_per_cpu_s"] =
      outcome.engine_seconds == 0
          ? 0.0
          : static_cast<double>(outcome.flit_hops) * simulated / outcome.engine_seconds;
  host["module_evaluations"] = outcome.evaluations;
  host["peak_rss_MiB"] = peak_rss_mib();
  return host;
}

void finish(PointReport& report, const SimulationOutcome& outcome,
            std::chrono::steady_clock::time_point begin, double simulated) {
  if (!outcome.complete) clear_fields_of_unfinished_run(report.result);
  report.result["host"] = host_figures(outcome, begin, simulated);
  report.failure = outcome.failure;
}

PointReport refused(PointReport report, const std::vector<Violation>& violations) {
  return refused(std::move(report), list_violations(violations));
}

PointReport refused(PointReport report, const std::string& why) {
  report.failure = why;
  report.result["verified"] = false;
  report.result["failure"] = report.failure;
  return report;
}

}  // namespace espalier
