#include "sims/page/report_data.h"

#include <fmt/format.h>

namespace espalier::report {

std::string text_of(const ReportPoint& point, const AnyField& field) {
  const auto* value = find_field(point.result, field);
  if (value == nullptr || value->is_null()) return {};
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::optional<double> time_ns_of(const ReportPoint& point) {
  // The time of drawn traffic is that of its windows, whatever the design.
  if (number_of(point, field::offered_flits_per_node_cycle)) {
    const auto ns = number_of(point, field::time_ns);
    const auto cycles = number_of(point, field::cycles);
    const auto latency = number_of(point, field::message_latency_mean_cycles);
    if (!ns || !cycles || !latency || *cycles == 0) return std::nullopt;
    return *latency * *ns / *cycles;
  }
  const auto iteration = number_of(point, field::training_iteration_ns);
  return iteration ? iteration : number_of(point, field::time_ns);
}

const std::array<NamedTime, 3>& named_times() {
  static const std::array<NamedTime, 3> times{{
      {"time",
       [](const ReportPoint& point) {
         return number_of(point, field::training_iteration_ns) ? std::nullopt
                                                               : number_of(point, field::time_ns);
       }},
      {"iteration",
       [](const ReportPoint& point) { return number_of(point, field::training_iteration_ns); }},
      {"all-reduce",
       [](const ReportPoint& point) { return number_of(point, field::training_all_reduce_ns); }},
  }};
  return times;
}

std::string name_of_run(std::size_t index) { return fmt::format("run {}", index + 1); }

std::string link_to_run(std::size_t index) {
  return fmt::format("<a href=\"#run-{0}\">{0}</a>", index + 1);
}

}  // namespace espalier::report
