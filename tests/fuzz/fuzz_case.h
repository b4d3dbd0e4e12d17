// One random system with its workload, in a form that can be changed piece by piece and written as
// a configuration.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/point/config.h"

namespace espalier::fuzz {

// Two vertices with a link each way; the two ways may differ. Vertices are numbered as in Topology:
// nodes, then switches.
struct Edge {
  std::size_t a = 0;
  std::size_t b = 0;
  LinkSpec there;
  LinkSpec back;
};

// What a topology file says. Parallel edges are simply repeated.
struct Graph {
  std::size_t nodes = 0;
  std::size_t switches = 0;
  std::vector<Edge> edges;

  [[nodiscard]] std::size_t vertices() const { return nodes + switches; }
};

struct FuzzCase {
  // Messages of many packets over links of unequal rates: trains with gaps between their packets.
  bool has_long_trains = false;
  RunPoint point;
  std::optional<Graph> graph;  // where point.system.topology.type is file
};

// As files of a folder: config.yaml, and where the case needs them topology.yaml and messages.csv.
struct CaseFile {
  std::string name;
  std::string text;
};
inline constexpr const char* kConfigName = "config.yaml";
inline constexpr const char* kTopologyName = "topology.yaml";
inline constexpr const char* kMessagesName = "messages.csv";

// `remark` stands as comment lines above the configuration.
[[nodiscard]] std::vector<CaseFile> files_of(const FuzzCase& fuzz_case, const std::string& remark);
// Creates the folder; throws std::runtime_error where a file cannot be written.
void write_files(const std::filesystem::path& folder, const std::vector<CaseFile>& files);

// Throws std::invalid_argument where the case describes no network.
[[nodiscard]] Topology topology_of(const FuzzCase& fuzz_case);

// Makes root, process group and counts of the collective valid on a network of `nodes` nodes.
void fit_collective(CollectiveConfig& collective, std::size_t nodes);

}  // namespace espalier::fuzz
