#include <algorithm>

#include "sims/page/section.h"
#include "sims/page/text.h"

namespace espalier::report {

namespace {

Metric field(const char* id, const char* title, NumberField name, MetricForm form,
             bool in_summary) {
  return {id, title, form, in_summary,
          [name](const ReportPoint& point) { return number_of(point, name); }};
}

std::optional<double> as_us(const std::optional<double>& ns) {
  return ns ? std::optional<double>(*ns * 1e-3) : std::nullopt;
}

std::optional<double> bound_GBps(const ReportPoint& point) {
  const auto size = number_of(point, field::size_bytes);
  const auto ns = number_of(point, field::bound_ns);
  return size && ns && *ns > 0 ? std::optional<double>(*size / *ns) : std::nullopt;
}

// What time_ns_of() is in these runs.
std::string compared_title(const ReportView& view) {
  const auto all = [&](NumberField name) {
    const auto has =
        view.points_where([](const ReportPoint& p) { return time_ns_of(p).has_value(); });
    return std::all_of(has.begin(), has.end(),
                       [&](std::size_t i) { return number_of(view.point(i), name).has_value(); });
  };
  if (all(field::offered_flits_per_node_cycle)) return "mean latency, \u00b5s";
  return all(field::training_iteration_ns) ? "time of an iteration, \u00b5s" : "time, \u00b5s";
}

}  // namespace

std::string Metric::text(const ReportPoint& point) const {
  const auto number = value(point);
  if (!number) return {};
  if (form == MetricForm::percent) return percent_text(*number);
  return form == MetricForm::bytes ? bytes_text(static_cast<std::uint64_t>(*number))
                                   : number_text(*number);
}

std::vector<Metric> metrics_of(const ReportView& view) {
  constexpr MetricForm kNumber = MetricForm::number;
  constexpr MetricForm kPercent = MetricForm::percent;
  std::vector<Metric> metrics{field("size", "size", field::size_bytes, MetricForm::bytes, false)};
  for (const NamedTime& time : named_times()) {
    metrics.push_back({time.name, std::string(time.name) + ", \u00b5s", kNumber, true,
                       [&time](const ReportPoint& point) { return as_us(time.ns(point)); }});
  }
  metrics.push_back({"compared", compared_title(view), kNumber, false,
                     [](const ReportPoint& point) { return as_us(time_ns_of(point)); }});
  const Metric fields[] = {
      field("bandwidth", "bandwidth, GB/s", field::bandwidth_GBps, kNumber, true),
      {"bound", "proven bound, GB/s", kNumber, false, bound_GBps},
      field("of_bound", "of bound", field::bound_ratio, kPercent, true),
      field("busy", "links busy", field::link_utilization_mean, kPercent, true),
      field("utilization", "utilization", field::utilization, kPercent, true),
      field("area", "area of the system, mm\u00b2", field::area_system_mm2, kNumber, true),
      field("energy", "priced energy, \u00b5J", field::energy_priced_uJ, kNumber, true),
      field("per_byte", "pJ/B", field::energy_priced_pJ_per_byte, kNumber, true),
      field("clock", "clock up to, GHz", field::area_max_clock_GHz, kNumber, true),
      field("load", "load, flits/node/cycle", field::offered_flits_per_node_cycle, kNumber, false),
      field("accepted", "accepted, flits/node/cycle", field::accepted_flits_per_node_cycle, kNumber,
            true),
      field("latency", "mean latency, cycles", field::message_latency_mean_cycles, kNumber, false),
      field("p99", "p99 latency, cycles", field::message_latency_p99_cycles, kNumber, true),
      field("cycles", "cycles", field::cycles, kNumber, false)};
  metrics.insert(metrics.end(), std::begin(fields), std::end(fields));
  const auto is_unknown = [&](const Metric& metric) {
    return view
        .points_where([&](const ReportPoint& point) { return metric.value(point).has_value(); })
        .empty();
  };
  metrics.erase(std::remove_if(metrics.begin(), metrics.end(), is_unknown), metrics.end());
  return metrics;
}

}  // namespace espalier::report
