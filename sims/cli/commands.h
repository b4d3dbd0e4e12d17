// The commands of the program: their options, and the functions that execute them and return an
// exit code (sims/cli/output.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace espalier {

// An output is a file, "-" for stdout, or empty for none.

struct WaveOptions {
  std::string file;  // stdout is not allowed
  std::vector<std::string> scopes;
  std::string from;
  std::string to;
};

// Parts of a run that explain is asked about.
struct PartOptions {
  std::vector<std::string> nis;
  std::vector<std::string> links;
  std::vector<std::uint32_t> steps;
  std::vector<std::uint32_t> messages;
};

struct RunOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  std::string json;
  std::string csv;
  std::string messages;  // one line for each message
  std::string choices;   // folder of what auto has decided; empty: none that stays
  WaveOptions waves;
  std::string timeline;
  bool explain = false;      // show where the time went
  bool explain_all = false;  // with the critical path and the slack
  PartOptions parts;         // of one run
  bool resume = false;       // use the finished points of an interrupted run
  bool quiet = false;        // errors only
  unsigned jobs = 0;         // processes at once; 0: one for each core
};
[[nodiscard]] int run_command(const RunOptions& options);

struct CompareOptions {
  std::string config;
  std::vector<std::string> files;  // programs and schedules
  std::vector<std::string> overrides;
  std::string json;
  std::string csv;
  std::string sizes;       // "64KiB,1MiB" or "1KiB:4GiB"; empty: as configured
  std::string page;        // HTML
  std::string time_limit;  // of each algorithm; empty: none
  bool full = false;       // simulates algorithms to the end that are certain to lose
  bool resume = false;     // use the finished points of an interrupted run
  std::string choices;     // folder of what auto has decided; empty: none that stays
  unsigned jobs = 0;       // processes at once; 0: one for each core
};
[[nodiscard]] int compare_command(const CompareOptions& options);

struct LatencyOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  std::string loads;  // "0.1,0.2"; empty: chosen
  std::string json;
  std::string csv;
  std::string page;  // HTML
  std::string title;
  bool resume = false;  // use the finished points of an interrupted run
  unsigned jobs = 0;    // processes at once; 0: one for each core
};
[[nodiscard]] int latency_command(const LatencyOptions& options);

struct ScheduleOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string format = "table";
  std::string output = "-";
};
[[nodiscard]] int schedule_command(const ScheduleOptions& options);

struct CheckOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  bool resolved = false;
};
[[nodiscard]] int check_command(const CheckOptions& options);

struct CertifyOptions {
  std::string what;  // "routes"
  std::string file;  // a table or a configuration
  std::vector<std::string> overrides;
  std::string output;  // the whole proof
};
[[nodiscard]] int certify_command(const CertifyOptions& options);

struct AreaOptions {
  std::vector<std::string> configs;
  std::vector<std::string> overrides;
  std::vector<std::string> technologies;  // tried one after the other; empty: as configured
  std::vector<std::string> nodes;         // tried one after the other; empty: as configured
  bool synthesize = false;                // measure hw/rtl instead of using the formulas
  std::string liberty;                    // cells for it; empty: built-in areas, OSU 0.18 timing
  bool summary = false;                   // one row per system in place of the tables
  std::string json;
  std::string csv;
};
[[nodiscard]] int area_command(const AreaOptions& options);

struct ReorderOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string latency;  // file of measured latencies; empty: probe the simulated network
  std::string write_latency;
  std::string output;  // the mapping
  std::string json;
  std::size_t spread = 0;
  bool no_simulate = false;  // price orders by the model only
  unsigned jobs = 0;         // processes at once; 0: one for each core
};
[[nodiscard]] int reorder_command(const ReorderOptions& options);

struct ReportOptions {
  std::vector<std::string> results;
  std::string output;
  std::string title;
  std::string facet;
  std::string color;
  std::string mark;
  double tolerance_percent = 1;
};
// Failed and missing points are shown in the report and do not change the exit code.
[[nodiscard]] int report_command(const ReportOptions& options);

struct SweepOptions {
  std::string file;
  std::vector<std::string> overrides;
  std::string output;  // folder; empty: sweeps/ and the file's stem

  // run
  unsigned jobs = 0;                 // processes at once; 0: one for each available processor
  std::optional<std::string> shard;  // "i/n"; empty: all points
  std::string point;                 // an id; empty: all unfinished points
  std::string time_limit;
  std::string memory_limit;
  bool keep_failed = false;
  bool no_warnings = false;  // plan has printed them

  bool partial = false;  // gather
};
[[nodiscard]] int sweep_plan_command(const SweepOptions& options);
[[nodiscard]] int sweep_run_command(const SweepOptions& options);
[[nodiscard]] int sweep_gather_command(const SweepOptions& options);

// What `espalier list` accepts.
[[nodiscard]] std::vector<std::string> list_kinds();
// `kind` empty: all kinds. `as_json`: a list of JSON objects.
[[nodiscard]] int list_command(const std::string& kind, bool as_json);

struct SchemaOptions {
  bool results = false;  // the register of results, not the keys of a configuration
  bool json = false;     // a list of JSON objects
  // Writes a JSON Schema instead: "config", "sweep" or "results" names the files it checks.
  std::string json_schema;
};
[[nodiscard]] int schema_command(const SchemaOptions& options);

// Prints the words that may complete the last one, by the definition of the command line: commands,
// options, values of a list, and keys of configurations.
[[nodiscard]] int complete_command(const CLI::App& app, std::vector<std::string> words);
// A script for bash or zsh, which asks `espalier complete`.
[[nodiscard]] int completion_command(const std::string& shell);

}  // namespace espalier
