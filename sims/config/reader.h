// Entry point: a configuration file and the overrides of the command line become checked run
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

// A file whose lists make more points is refused: a point takes some kilobytes.
inline constexpr std::size_t kMostListedPoints = 100'000;

// What the command needs beside the system. Every section of the file is checked in any case.
enum class ConfigNeed : std::uint8_t {
  workload,    // run: exactly one of collective and traffic
  collective,  // schedule, check: a collective
  system,      // area: neither, either
};

struct ConfigResult {
  // The cross product of the file's lists, each in file order; list_keys() says which list varies
  // slowest. Empty on errors.
  std::vector<RunPoint> points;
  // Of every point: no list reaches the topology or its links. nullptr on errors.
  std::shared_ptr<const Topology> topology;
  std::string diagnostics;  // errors and warnings, ready to print
  FileHashes file_hashes;   // of every text that was read, also where there are errors
  std::size_t num_warnings = 0;
  bool ok = false;  // no errors; there may be warnings
};

// Overrides are "dotted.key=value", as after -s; they replace what the file says, the last one
// wins.
[[nodiscard]] ConfigResult read_run_config(const std::string& path,
                                           const std::vector<std::string>& overrides = {},
                                           ConfigNeed need = ConfigNeed::workload);

// The same for text at hand. `folder` is where relative paths start.
[[nodiscard]] ConfigResult read_run_config_text(const std::string& name, const std::string& text,
                                                const std::string& folder = {},
                                                const std::vector<std::string>& overrides = {},
                                                ConfigNeed need = ConfigNeed::workload);

// The same for a tree that was put together from several files, which `diagnostics` knows; what is
// wrong is added there. The points are empty, too, where `diagnostics` held errors before.
[[nodiscard]] std::vector<RunPoint> read_run_config_tree(const ConfigNode& root,
                                                         const std::string& folder,
                                                         const std::vector<std::string>& overrides,
                                                         Diagnostics& diagnostics,
                                                         ConfigNeed need = ConfigNeed::workload);

// The first point of such a tree as far as it can be made, nothing checked: for what keys would be
// there.
[[nodiscard]] RunPoint draft_run_point(const ConfigNode& root);

}  // namespace espalier
