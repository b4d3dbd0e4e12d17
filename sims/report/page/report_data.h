// What a report is about: points with their results, from wherever they were written to.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace espalier::report {

struct ReportSource {
  enum class Kind { results, sweep, list };
  std::string path;  // as given
  Kind kind = Kind::results;
  std::string name;     // of a sweep
  std::string version;  // of the tool that wrote it; empty where it does not say
  std::string folder;   // where paths in its configurations start
};

struct ReportPoint {
  enum class State { verified, failed, missing };
  std::size_t source = 0;
  std::string id;  // of a sweep's point; empty in others
  State state = State::missing;
  std::string failure;  // why it failed
  // As in docs/results.md; an empty object where there is none.
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  // Resolved, by dotted names; what is told of it where the file does not say more. Null: nothing.
  nlohmann::ordered_json config;
  bool config_is_complete = false;
  nlohmann::ordered_json set = nlohmann::ordered_json::object();  // a sweep's values for the point
  std::string config_hash;
  std::string command;        // to run it again; empty where the file does not say
  std::string schedule_file;  // whose schedule was run, not the generated one; empty: generated
};

struct ReportData {
  std::vector<ReportSource> sources;
  std::vector<ReportPoint> points;
};

// Fields by dotted name; nullopt, or empty, where there is none or null.
[[nodiscard]] std::optional<double> number_of(const ReportPoint& point, const std::string& field);
[[nodiscard]] std::string text_of(const ReportPoint& point, const std::string& field);

// What designs are compared by: of a training iteration, or of the collective alone.
[[nodiscard]] std::optional<double> time_ns_of(const ReportPoint& point);

// The times a result has, by the names and in the order in which every table shows them.
struct NamedTime {
  const char* name;
  std::optional<double> (*ns)(const ReportPoint&);
};
[[nodiscard]] const std::array<NamedTime, 3>& named_times();

// "run 3": what it is called everywhere, by its place among all points.
[[nodiscard]] std::string name_of_run(std::size_t index);
// Link to its row among the runs, as HTML.
[[nodiscard]] std::string link_to_run(std::size_t index);

}  // namespace espalier::report
