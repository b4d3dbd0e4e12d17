// Entry point: turns a configuration file and the overrides of the command line into checked run
// points.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/config.h"
#include "sims/text/config_node.h"
#include "sims/text/diagnostics.h"

namespace espalier {

// A file whose lists make more points is refused, because a point takes some kilobytes.
inline constexpr std::size_t kMostListedPoints = 100'000;

// The sections that a command needs besides the system. Every section of the file is checked in any
// case.
enum class ConfigNeed : std::uint8_t {
  workload,    // run: exactly one of collective and traffic
  collective,  // schedule, check: a collective
  system,      // area: neither is needed, either may be given
};

struct ConfigResult {
  // The cross product of the file's lists, each in the order of the file; list_keys() tells which
  // list varies slowest. Empty if there are errors.
  std::vector<RunPoint> points;
  // The topology of every point; lists cannot vary the topology or its links. nullptr if there are
  // errors.
  std::shared_ptr<const Topology> topology;
  std::string diagnostics;  // errors and warnings, ready to print
  FileHashes file_hashes;   // of every text that was read, even if there are errors
  std::size_t num_warnings = 0;
  bool ok = false;  // no errors; there may be warnings
};

// Overrides are "dotted.key=value", as after -s. They replace the file's values; the last one wins.
[[nodiscard]] ConfigResult read_run_config(const std::string& path,
                                           const std::vector<std::string>& overrides = {},
                                           ConfigNeed need = ConfigNeed::workload);

// The same for a given text. Relative paths start in `folder`.
[[nodiscard]] ConfigResult read_run_config_text(const std::string& name, const std::string& text,
                                                const std::string& folder = {},
                                                const std::vector<std::string>& overrides = {},
                                                ConfigNeed need = ConfigNeed::workload);

// The same for a tree that was put together from several files, which are known to `diagnostics`.
// Errors are added to `diagnostics`. No points are returned if `diagnostics` contained errors
// before.
[[nodiscard]] std::vector<RunPoint> read_run_config_tree(const ConfigNode& root,
                                                         const std::string& folder,
                                                         const std::vector<std::string>& overrides,
                                                         Diagnostics& diagnostics,
                                                         ConfigNeed need = ConfigNeed::workload);

// Makes the first point of a tree as far as possible and checks nothing. Used to find out which
// keys apply.
[[nodiscard]] RunPoint draft_run_point(const ConfigNode& root);

}  // namespace espalier
