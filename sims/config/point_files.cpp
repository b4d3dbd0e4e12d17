// Reads the files that run points name, each once.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "hw/topology/vertex_names.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/formats/chakra_file.h"
#include "sims/formats/layers_file.h"
#include "sims/formats/llm_workload.h"
#include "sims/formats/messages_file.h"
#include "sims/formats/rank_order_file.h"
#include "sims/model/build_program.h"

namespace espalier {

namespace {

class PointFiles {
 public:
  PointFiles(std::vector<RunPoint>& points, const GivenKeys& given, Diagnostics& diagnostics)
      : points_(points), given_(given), diagnostics_(diagnostics) {}

  void read_messages(const Topology& topology) {
    const GivenKey* file = given_.find("traffic.file");
    const bool described = points_.front().traffic && file != nullptr &&
                           given_.usable({"traffic.pattern", "traffic.file"}) &&
                           points_.front().traffic->pattern == TrafficPattern::file;
    if (!described) return;
    const auto messages =
        load_messages(*points_.front().traffic, topology, file->place, diagnostics_);
    if (!messages) return;
    for (RunPoint& point : points_) point.traffic->messages = *messages;
  }

  // Reads each rank-order file once.
  void read_rank_orders(const Topology& topology) {
    if (!given_.usable({"collective.rank_order", "collective.rank_order_seed"})) return;
    std::map<std::string, std::optional<std::vector<NodeId>>> files;  // by path
    for (RunPoint& point : points_) {
      if (!point.collective) continue;
      RankOrderConfig& order = point.collective->rank_order;
      const Place place =
          given_.place_of_text("collective.rank_order", order.source, "collective.rank_order");
      std::optional<std::vector<NodeId>> nodes;
      if (order.is_file()) {
        const auto [file, is_new] = files.try_emplace(order.source);
        if (is_new) {
          file->second = load_rank_order(order, topology, place, diagnostics_);
        }
        nodes = file->second;
      } else {
        nodes = load_rank_order(order, topology, place, diagnostics_);
      }
      if (nodes) order.nodes = std::move(*nodes);
    }
  }

  // A root that is a name is a node; the configuration holds its rank.
  void find_root(const Topology& topology) {
    const GivenKey* root = given_.find("collective.root");
    const bool is_name =
        root != nullptr && !root->values.empty() && !root->values.front().value.text.empty();
    if (!is_name || !given_.usable({"collective.ranks", "collective.rank_order"})) return;
    const NodeId node = find_vertex(topology, root->values.front().value.text);
    for (RunPoint& point : points_) {
      if (!point.collective || !node.valid()) continue;
      CollectiveConfig& collective = *point.collective;
      std::vector<NodeId> nodes(collective.ranks.begin(), collective.ranks.end());
      if (nodes.empty()) nodes = collective.rank_order.nodes;
      if (nodes.empty()) continue;
      const auto rank = std::find(nodes.begin(), nodes.end(), node);
      if (rank == nodes.end()) {
        diagnostics_.error(root->place,
                           fmt::format("collective.root: {} takes no part in the collective",
                                       topology.vertex_name(node)),
                           "name a node of collective.ranks");
        return;
      }
      collective.root = static_cast<std::uint32_t>(rank - nodes.begin());
    }
  }

  // The weights of every point's operation with counts.
  void read_weights(const Topology& topology) {
    if (!given_.usable({"collective.counts", "collective.ranks", "collective.op"})) return;
    // One file and one group: no list varies them.
    std::map<std::size_t, std::optional<std::vector<std::uint64_t>>> tables;  // by number of lines
    for (RunPoint& point : points_) {
      if (!point.collective || !has_counts(point.collective->op)) continue;
      CountsConfig& counts = point.collective->counts;
      const std::size_t group = point.collective->ranks.size();
      const std::size_t ranks = group == 0 ? topology.num_nodes() : group;
      const std::size_t lines = num_counts(point.collective->op, ranks) / ranks;
      const auto [table, is_new] = tables.try_emplace(lines);
      if (is_new) {
        table->second =
            load_weights(counts, ranks, lines, given_.place_of("collective.counts"), diagnostics_);
      }
      if (table->second) counts.weights = *table->second;
    }
  }

  // Reads each program's file once for each protocol and size, and a file with mistakes once.
  void read_programs() {
    if (!given_.usable({kProgramFileKey, kAlgorithmKey})) return;
    std::map<std::tuple<std::string, ProtocolChoice, Bytes>, std::shared_ptr<const Program>>
        programs;
    std::set<std::string> refused;
    for (RunPoint& point : points_) {
      if (!point.collective || point.collective->program.file.empty()) continue;
      ProgramConfig& config = point.collective->program;
      // Only a plan of MSCCL++ depends on the size.
      const Bytes size =
          std::filesystem::path(config.file).extension() == ".json" ? point.collective->size : 0;
      const auto [program, is_new] = programs.try_emplace({config.file, config.protocol, size});
      if (is_new && refused.count(config.file) == 0) {
        program->second = load_program(
            config, size, given_.place_of_text(kAlgorithmKey, config.file, kProgramFileKey),
            diagnostics_);
        if (!program->second) refused.insert(config.file);
      }
      config.given = program->second;
    }
  }

  // Lists cannot vary the file or the definition of a network, so each table of layers is read
  // once.
  void read_layers() {
    const bool both = given_.is_given("training.network") && given_.is_given("training.file");
    if (!points_.front().training || !points_.front().collective || both ||
        !given_.usable({"training.network", "training.file", "collective.element"})) {
      return;
    }
    std::map<std::string, std::optional<std::vector<Layer>>> tables;  // by network
    for (RunPoint& point : points_) {
      TrainingConfig& training = *point.training;
      if (training.file.empty() && training.network.empty()) continue;
      const auto [table, is_new] = tables.try_emplace(training.network);
      if (is_new) {
        table->second = load_layers(training, given_.place_of("training.file"), diagnostics_);
      }
      if (!table->second) continue;
      training.layers = *table->second;
      point.collective->size = count_parameters(training.layers) * point.collective->element_bytes;
    }
  }

  // The work of each point's step: a file once for each size of the elements.
  void read_traces(const Topology& topology) {
    const GivenKey* file = given_.find("workload.file");
    const RunPoint& first = points_.front();
    if (!first.workload || first.workload->file.empty() || file == nullptr ||
        !given_.usable({"workload.file", "workload.groups", "workload.element",
                        "workload.compute.tflops", "workload.compute.memory"})) {
      return;
    }
    if (topology.dimensions()) {
      diagnostics_.error(file->place,
                         "workload.file: ranks of traces send messages to any rank, but a "
                         "multi-dimensional system passes none between dimensions",
                         "describe the network as a graph: system.topology.type: file");
      return;
    }
    struct Work {
      std::optional<LlmWorkloadText> text;
      std::shared_ptr<const WorkGraph> graph;
    };
    std::map<std::pair<std::string, Bytes>, Work> works;
    for (RunPoint& point : points_) {
      WorkloadConfig& workload = *point.workload;
      const auto [work, is_new] = works.try_emplace({workload.file, workload.element_bytes});
      auto& [text, graph] = work->second;
      if (is_new) {
        const Place place = given_.place_of_text("workload.file", workload.file, "workload.file");
        text = llm_workload_text(workload);
        graph = text ? read_text(*text, workload, place, topology)
                     : load_traces(workload, topology, place, diagnostics_);
      }
      // A text's collectives that do not block run beside others.
      if (text && !given_.is_given("workload.issue")) workload.issue = IssueOrder::streams;
      workload.graph = graph;
      if (graph) read_weights_of(workload);
    }
  }

 private:
  // A text states times, bytes and groups.
  std::shared_ptr<const WorkGraph> read_text(const LlmWorkloadText& text,
                                             const WorkloadConfig& config, const Place& place,
                                             const Topology& topology) {
    // Resolved configurations give every key its default.
    const WorkloadConfig unset;
    const std::pair<const char*, bool> keys[] = {
        {"workload.groups", config.groups != unset.groups},
        {"workload.element", config.element_bytes != unset.element_bytes},
        {"workload.compute.tflops", config.tflops != unset.tflops},
        {"workload.compute.memory",
         config.memory_bytes_per_second != unset.memory_bytes_per_second}};
    for (const auto& [name, is_set] : keys) {
      if (!is_set) continue;
      diagnostics_.error(given_.place_of(name),
                         std::string(name) + ": applies only if workload.file names traces");
    }
    auto graph = parse_llm_workload(text.path, text.text, topology.num_nodes(), diagnostics_);
    const auto communicates = [](const WorkNode& node) {
      return node.kind == WorkKind::collective || node.kind == WorkKind::send;
    };
    if (graph && std::none_of(graph->ranks.begin(), graph->ranks.end(), [&](const auto& work) {
          return std::any_of(work->nodes.begin(), work->nodes.end(), communicates);
        })) {
      diagnostics_.warning(place, "workload.file: no rank communicates: all groups have one rank");
    }
    return graph;
  }

  // The weights of groups that exchange data: by their number of ranks.
  void read_weights_of(WorkloadConfig& workload) {
    if (workload.counts == WorkloadConfig::kEqualCounts) return;
    std::set<std::size_t> sizes;
    // Ranks that do the same work share it.
    for (const auto& work : std::set<std::shared_ptr<const RankWork>>(
             workload.graph->ranks.begin(), workload.graph->ranks.end())) {
      for (const WorkNode& node : work->nodes) {
        if (node.op != CollectiveOp::all_to_all || node.kind != WorkKind::collective) continue;
        for (const auto& set : workload.graph->groups[node.group].sets) sizes.insert(set.size());
      }
    }
    const Place place = given_.place_of_text("workload.counts", workload.counts, "workload.counts");
    sizes.erase(1);
    if (sizes.empty()) {
      diagnostics_.warning(place, "workload.counts has no effect: no ranks exchange by all_to_all");
    }
    for (const std::size_t ranks : sizes) {
      const auto [weights, is_new] = step_weights_.try_emplace({workload.counts, ranks});
      if (is_new) {
        weights->second =
            load_weights({workload.counts, workload.folder, {}}, ranks, ranks, place, diagnostics_);
      }
      if (!weights->second) return;
      workload.weights.emplace(ranks, *weights->second);
    }
  }

  std::vector<RunPoint>& points_;
  const GivenKeys& given_;
  Diagnostics& diagnostics_;
  // Of an exchange's ranks, by workload.counts and their number.
  std::map<std::pair<std::string, std::size_t>, std::optional<std::vector<std::uint64_t>>>
      step_weights_;
};

}  // namespace

void read_point_files(std::vector<RunPoint>& points, const Topology* topology,
                      const GivenKeys& given, Diagnostics& diagnostics) {
  if (points.empty()) return;
  PointFiles files(points, given, diagnostics);
  if (topology != nullptr) {
    files.read_messages(*topology);
    files.read_rank_orders(*topology);
    files.find_root(*topology);
    files.read_weights(*topology);
    files.read_traces(*topology);
  }
  files.read_layers();
  files.read_programs();
}

}  // namespace espalier
