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
  workload,    // run, sweep: exactly one of collective and traffic
  collective,  // compare, reorder: a collective
  traffic,     // latency: traffic; the file of a network stands for uniform traffic on it
  schedule,    // schedule, check: a collective, which is not simulated
  system,      // area: neither is needed, either may be given
  library,     // a program that links the library: as workload, and modules may be external
};

// An algorithm of a list, or of `all`, that does not suit the network, the operation or another
// key.
struct SkippedAlgorithm {
  std::string name;       // or the file of a program
  std::string reason;     // "needs a power of two of ranks; found 12"
  bool is_named = false;  // the list names the algorithm, and a warning was recorded
};

struct ConfigResult {
  // The cross product of the file's lists, each in the order of the file; list_keys() tells which
  // list varies slowest. Empty if there are errors.
  std::vector<RunPoint> points;
  // The topology of every point; lists cannot vary the topology or its links. nullptr if there are
  // errors.
  std::shared_ptr<const Topology> topology;
  std::vector<SkippedAlgorithm> skipped;  // of collective.algorithm, in the order of the list
  std::string diagnostics;                // errors and warnings, ready to print
  FileHashes file_hashes;                 // of every text that was read, even if there are errors
  std::size_t num_warnings = 0;
  bool ok = false;  // no errors; there may be warnings
};

// Overrides are "dotted.key=value", as after -s. They replace the file's values; the last one wins.
// The files `programs` run beside the configured algorithms.
[[nodiscard]] ConfigResult read_run_config(const std::string& path,
                                           const std::vector<std::string>& overrides = {},
                                           ConfigNeed need = ConfigNeed::library,
                                           const std::vector<std::string>& programs = {});

// The same for `compare`: every algorithm runs in place of the configured ones, unless an override
// names algorithms.
[[nodiscard]] ConfigResult read_comparison(const std::string& path,
                                           const std::vector<std::string>& overrides,
                                           const std::vector<std::string>& programs);

// The same for a given text. Relative paths start in `folder`.
[[nodiscard]] ConfigResult read_run_config_text(const std::string& name, const std::string& text,
                                                const std::string& folder = {},
                                                const std::vector<std::string>& overrides = {},
                                                ConfigNeed need = ConfigNeed::library,
                                                const std::vector<std::string>& programs = {});

// The same for a tree that was put together from several files, which are known to `diagnostics`.
// Errors are added to `diagnostics`. No points are returned if `diagnostics` contained errors
// before.
[[nodiscard]] std::vector<RunPoint> read_run_config_tree(const ConfigNode& root,
                                                         const std::string& folder,
                                                         const std::vector<std::string>& overrides,
                                                         Diagnostics& diagnostics,
                                                         ConfigNeed need = ConfigNeed::workload);

// The algorithms of the tree's list that are skipped. Empty if no algorithm suits, or if the tree
// has another mistake. `sources` knows the files of the tree.
[[nodiscard]] std::vector<SkippedAlgorithm> skipped_algorithms(const ConfigNode& root,
                                                               const std::string& folder,
                                                               const Diagnostics& sources);

// Makes the first point of a tree as far as possible and checks nothing. Used to find out which
// keys apply.
[[nodiscard]] RunPoint draft_run_point(const ConfigNode& root);

}  // namespace espalier
