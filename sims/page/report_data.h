// The data of a report: points with their results, from documents and sweeps.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sims/experiment/result_fields.h"

namespace espalier::report {

struct ReportSource {
  enum class Kind { results, sweep };
  std::string path;  // as given
  Kind kind = Kind::results;
  std::string name;     // of a sweep
  std::string title;    // of a sweep
  std::string version;  // of the tool that wrote the file; empty if unknown
  std::string folder;   // base of the relative paths in its configurations
};

struct ReportPoint {
  enum class State { verified, stopped, failed, missing };
  std::size_t source = 0;
  std::string id;  // only for points of a sweep
  State state = State::missing;
  std::string failure;  // the reason if it failed or was stopped
  // As in docs/results.md; empty if the point has no result.
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  // The resolved configuration by dotted names, or the known part of it; null if nothing is known.
  nlohmann::ordered_json config;
  bool config_is_complete = false;
  nlohmann::ordered_json set = nlohmann::ordered_json::object();  // the values that the sweep set
  std::string config_hash;
  std::string command;        // empty if unknown
  std::string schedule_file;  // file of the schedule that was run; empty if it was generated
};

struct ReportData {
  std::vector<ReportSource> sources;
  std::vector<ReportPoint> points;
  // The keys that a sweep's axes vary, where the sweep's file gives their kind: true for workload.
  std::map<std::string, bool> is_workload_axis;
};

// A field of the result; nullopt or an empty text if it is missing or null.
[[nodiscard]] inline std::optional<double> number_of(const ReportPoint& point, NumberField field) {
  return number_in(point.result, field);
}
[[nodiscard]] std::string text_of(const ReportPoint& point, const AnyField& field);
[[nodiscard]] inline bool has(const ReportPoint& point, const AnyField& field) {
  return find_field(point.result, field) != nullptr;
}

// The time by which designs are compared: of a training iteration, of the collective, or the mean
// latency of drawn traffic.
[[nodiscard]] std::optional<double> time_ns_of(const ReportPoint& point);

// Whether the system is too slow for its configured clock.
[[nodiscard]] inline bool misses_clock(const ReportPoint& point) {
  return !truth_in(point.result, field::area_clock_met).value_or(true);
}

// The times of a result, named and ordered as in every table.
struct NamedTime {
  const char* name;
  std::optional<double> (*ns)(const ReportPoint&);
};
[[nodiscard]] const std::array<NamedTime, 3>& named_times();

// The name of the point on the page, e.g. "run 3".
[[nodiscard]] std::string name_of_run(std::size_t index);
// A link to the point's row in the last section, as HTML.
[[nodiscard]] std::string link_to_run(std::size_t index);

}  // namespace espalier::report
