#include "sims/formats/chakra_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sims/formats/chakra_records.h"
#include "sims/point/limits.h"
#include "sims/text/read_file.h"
#include "sims/text/strict_json.h"
#include "sims/text/units.h"
#include "sims/text/values.h"
#include "sims/workload/graph/work_check.h"

namespace espalier {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTraceErrors = 10;
constexpr std::uint64_t kMostMicroseconds = 1'000'000'000'000;
constexpr double kMostPicoseconds = 1e18;
constexpr std::uint64_t kPicosecondsPerMicrosecond = 1'000'000;
// PyTorch's barrier all-reduces one element.
constexpr Bytes kBarrierBytes = 4;

// By Chakra's number.
struct TraceCollective {
  const char* name;
  std::optional<CollectiveOp> op;
};
const TraceCollective kTraceCollectives[] = {{"ALL_REDUCE", CollectiveOp::all_reduce},
                                             {"REDUCE", CollectiveOp::reduce},
                                             {"ALL_GATHER", CollectiveOp::all_gather},
                                             {"GATHER", std::nullopt},
                                             {"SCATTER", std::nullopt},
                                             {"BROADCAST", CollectiveOp::broadcast},
                                             {"ALL_TO_ALL", CollectiveOp::all_to_all},
                                             {"REDUCE_SCATTER", CollectiveOp::reduce_scatter},
                                             {"REDUCE_SCATTER_BLOCK", std::nullopt},
                                             {"BARRIER", CollectiveOp::all_reduce}};
constexpr std::uint64_t kBarrier = 9;

class TraceFiles {
 public:
  TraceFiles(const WorkloadConfig& config, const Topology& topology, const Place& place,
             Diagnostics& diagnostics)
      : config_(config),
        topology_(topology),
        sizes_(dimension_sizes(topology)),
        ranks_(static_cast<std::uint32_t>(topology.num_nodes())),
        prefix_((fs::path(config.folder) / config.file).string()),
        place_(place),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.num_errors()) {}

  std::shared_ptr<const WorkGraph> load() {
    if (!reads_traces()) {
      diagnostics_.error(place_, fmt::format("workload.file: {}", kNoTraces));
      return nullptr;
    }
    std::vector<std::uint32_t> all(ranks_);
    std::iota(all.begin(), all.end(), 0U);
    graph_->groups.push_back({"0", {std::move(all)}});
    if (!find_files()) return nullptr;
    read_groups_file();
    if (has_errors()) return nullptr;  // ranks would miss the groups
    for (std::uint32_t rank = 0; rank < ranks_ && !has_enough_errors(); ++rank) read_rank(rank);
    if (has_errors()) return nullptr;
    for (const WorkMistake& mistake : check_work(*graph_, kMostTraceErrors)) {
      error_in(mistake.rank, mistake.what);
    }
    if (has_errors()) return nullptr;
    // The name of no file: a point's id contains the hash of all its files.
    diagnostics_.add_hash(prefix_, hash_);
    return graph_;
  }

 private:
  // What a collective says of its ranks, until the groups of the whole file are known.
  struct Deferred {
    std::uint32_t node;
    std::string group;  // empty: all ranks, or `dimensions`
    std::vector<bool> dimensions;
  };

  [[nodiscard]] std::string path_of(std::uint32_t rank) const {
    return fmt::format("{}.{}.et", prefix_, rank);
  }
  [[nodiscard]] bool has_errors() const { return diagnostics_.num_errors() != errors_before_; }
  [[nodiscard]] bool has_enough_errors() const {
    return diagnostics_.num_errors() >= errors_before_ + kMostTraceErrors;
  }
  void error_in(std::uint32_t rank, const std::string& what, const std::string& hint = {}) {
    if (has_enough_errors()) return;
    const SourceIndex source = diagnostics_.add_file(path_of(rank), "", false);
    diagnostics_.error({source, 0, 0}, what, hint);
  }
  void refuse(const WorkNode& node, const std::string& why, const std::string& hint = {}) {
    error_in(
        rank_,
        fmt::format("node {} ({}) of rank {} {}", node.id, graph_->names[node.name], rank_, why),
        hint);
  }

  // Whether there is one file for each node of the network.
  bool find_files() {
    std::error_code ignored;
    const auto exists = [&](const std::string& path) { return fs::exists(path, ignored); };
    const std::string first = path_of(0);
    const auto refused = [&](const std::string& what, const std::string& hint) {
      diagnostics_.error(place_, "workload.file: " + what, hint);
      return false;
    };
    if (!exists(first)) {
      const char* const kJson = "Chakra's JSON form is not read; give the traces in protobuf (.et)";
      for (const auto& [other, hint] :
           {std::pair{first + ".gz", "unpack the traces with gunzip"},
            std::pair{first + ".zst", "unpack them with zstd -d --long=27"},
            std::pair{prefix_ + ".0.json", kJson}}) {
        if (exists(other))
          return refused(fmt::format("found '{}' in place of '{}'", other, first), hint);
      }
      const fs::path given(prefix_);
      if (given.extension() == ".json" && exists(prefix_)) {
        return refused(fmt::format("'{}' is no trace in protobuf", prefix_), kJson);
      }
      if (given.extension() == ".et") {
        return refused(fmt::format("'{}' is the name of one rank's file", config_.file),
                       "give the part in front of .RANK.et: " + given.stem().stem().string());
      }
      return refused(
          fs::is_regular_file(given, ignored)
              ? fmt::format("'{}' is no text of SimAI, AICB or ASTRA-sim 1.0, and no trace '{}'",
                            prefix_, first)
              : fmt::format("there is no file '{}'", first),
          "give the part in front of .RANK.et, relative to the configuration's folder");
    }
    std::uint32_t found = 1;
    while (found < ranks_ && exists(path_of(found))) ++found;
    if (found < ranks_) {
      return refused(fmt::format("the network has {} nodes, but there is no trace '{}'", ranks_,
                                 path_of(found)),
                     "a trace for each node, from rank 0");
    }
    if (!exists(path_of(ranks_))) return true;
    while (exists(path_of(found))) ++found;
    return refused(
        fmt::format("there are traces of {} ranks, but the network has {} nodes", found, ranks_),
        "choose a network with a node for each rank");
  }

  void read_groups_file() {
    std::error_code ignored;
    fs::path path = fs::path(config_.folder) / config_.groups;
    if (config_.groups.empty()) {
      path = prefix_ + ".json";
      if (!fs::exists(path, ignored)) return;
    }
    groups_file_ = path.string();
    const auto text = read_named_file(groups_file_, place_, diagnostics_);
    if (!text) return;
    const SourceIndex source = diagnostics_.add_file(groups_file_, *text);
    if (config_.groups.empty()) hash_ = hash_text(*text, hash_);
    try {
      const auto json = parse_strict_json(*text);
      const JsonCursor root(json);
      root.expect_object();
      for (const auto& entry : json.items()) {
        // Before key(), which takes no name with a zero byte.
        if (!group_number(entry.key())) {
          throw JsonError({entry.key()}, "a process group's name is no number");
        }
        define_group(entry.key(), root.key(entry.key().c_str()));
      }
    } catch (const JsonError& error) {
      Place place = error.place(*text);
      place.source = source;
      diagnostics_.error(place, error.what(), "for example {\"1\": [0, 1], \"2\": [2, 3]}");
    }
  }

  // Throws JsonError.
  void define_group(const std::string& name, const JsonCursor& list) {
    const auto number = group_number(name);
    if (!number) list.fail(fmt::format("a process group's name is no number: '{}'", name));
    std::vector<std::uint32_t> ranks;
    std::vector<bool> is_member(ranks_);
    list.for_each([&](const JsonCursor& item) {
      const auto rank = static_cast<std::uint32_t>(item.integer(0, ranks_ - 1));
      if (is_member[rank]) item.fail(fmt::format("rank {} is in the group twice", rank));
      is_member[rank] = true;
      ranks.push_back(rank);
    });
    if (ranks.empty()) ranks = graph_->groups[0].sets[0];
    if (*number == "0" && ranks != graph_->groups[0].sets[0]) {
      list.fail("group 0 is that of all ranks and cannot be defined");
    }
    if (*number == "0") return;
    const auto [known, is_new] = groups_.try_emplace(*number, graph_->groups.size());
    if (is_new) {
      graph_->groups.push_back({*number, {std::move(ranks)}});
    } else if (graph_->groups[known->second].sets[0] != ranks) {
      list.fail(fmt::format("group {} is defined twice, with different ranks", *number));
    }
  }

  // The decimal number without zeros in front.
  static std::optional<std::string> group_number(const std::string& name) {
    constexpr std::size_t kMostDigits = 18;
    const bool is_number = !name.empty() && name.size() <= kMostDigits &&
                           name.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) return std::nullopt;
    return std::to_string(std::stoull(name));
  }

  void read_rank(std::uint32_t rank) {
    rank_ = rank;
    auto work = std::make_shared<RankWork>();
    work_ = work.get();
    deferred_.clear();
    after_.clear();
    first_after_.assign(1, 0);
    TraceReader reader(path_of(rank));
    while (!has_enough_errors() && reader.next(node_)) read_node();
    if (!reader.problem().empty()) error_in(rank, reader.problem());
    hash_ = hash_text(std::to_string(reader.hash()), hash_);
    for (const Deferred& each : deferred_) find_ranks(each);
    link();
    graph_->ranks.push_back(std::move(work));
  }

  void read_node() {
    WorkNode node;
    node.id = node_.id;
    const auto [name, is_new] =
        names_.try_emplace(node_.name, static_cast<std::uint32_t>(graph_->names.size()));
    if (is_new) graph_->names.push_back(node_.name);
    node.name = name->second;
    if (node_.problem.empty()) {
      convert(node);
    } else {
      refuse(node, node_.problem);
    }
    work_->nodes.push_back(node);
    after_.insert(after_.end(), node_.after.begin(), node_.after.end());
    first_after_.push_back(after_.size());
  }

  void convert(WorkNode& node) {
    const bool is_host = node_.number(TraceAttribute::is_cpu_op).value_or(0) != 0;
    switch (node_.type) {
      case TraceNodeType::invalid:
        return;
      case TraceNodeType::metadata:
        read_inner_groups(node);
        return;
      case TraceNodeType::mem_load:
      case TraceNodeType::mem_store:
        refuse(node, "accesses remote memory (MEM_LOAD, MEM_STORE), which is not simulated");
        return;
      case TraceNodeType::comp:
        compute(node, is_host);
        return;
      case TraceNodeType::comm_send:
      case TraceNodeType::comm_recv:
      case TraceNodeType::comm_coll:
        break;
    }
    const bool is_collective = node_.type == TraceNodeType::comm_coll;
    if (is_host && is_collective && !node_.number(TraceAttribute::comm_type)) {
      recorded(node, true);  // a host operator of PyTorch, which launches a collective
    } else if (is_host) {
      refuse(node, "is communication of the host (is_cpu_op is true), which is not simulated");
    } else if (is_collective) {
      collective(node);
    } else {
      message(node, node_.type == TraceNodeType::comm_send);
    }
  }

  void recorded(WorkNode& node, bool is_host) {
    node.kind = is_host ? WorkKind::host : WorkKind::compute;
    if (node_.microseconds > kMostMicroseconds) {
      refuse(node, fmt::format("lasts {} us; at most 10^12 us are allowed", node_.microseconds));
      return;
    }
    node.picoseconds = node_.microseconds * kPicosecondsPerMicrosecond;
  }

  // A roofline (Williams et al., CACM 2009) where the trace counts operations.
  void compute(WorkNode& node, bool is_host) {
    const auto operations = node_.number(TraceAttribute::num_ops);
    const auto size = node_.number(TraceAttribute::tensor_size);
    if (is_host || config_.tflops == 0 || operations.value_or(0) == 0) {
      recorded(node, is_host);
      return;
    }
    if (!size) {
      refuse(node, "has num_ops but no tensor_size, which the roofline needs",
             "add it, or write workload.compute.tflops: recorded");
      return;
    }
    if (*size == 0) return;  // as ASTRA-sim
    double picoseconds = static_cast<double>(*operations) / config_.tflops;
    if (const auto rate = static_cast<double>(config_.memory_bytes_per_second); rate > 0) {
      const double bytes = static_cast<double>(*size) * static_cast<double>(config_.element_bytes);
      picoseconds = std::max(picoseconds, bytes / rate * 1e12);
    }
    if (picoseconds > kMostPicoseconds) {
      refuse(node,
             fmt::format("computes {} operations, which takes more than 10^12 us", *operations));
      return;
    }
    node.kind = WorkKind::compute;
    node.picoseconds = static_cast<std::uint64_t>(std::llround(picoseconds));
  }

  // The attribute's value, which must exist and be at most `most`.
  std::optional<std::uint64_t> needed(const WorkNode& node, TraceAttribute which,
                                      std::uint64_t most) {
    const char* name = kTraceAttributes[static_cast<std::size_t>(which)];
    const auto number = node_.number(which);
    if (!number) {
      refuse(node, fmt::format("has no attribute {}", name));
      return std::nullopt;
    }
    const auto value = static_cast<std::uint64_t>(*number);
    if (value <= most) return value;
    refuse(node, fmt::format("has {} {}; at most {} is allowed", name, *number, most));
    return std::nullopt;
  }

  void message(WorkNode& node, bool is_send) {
    const auto other = is_send ? TraceAttribute::comm_dst : TraceAttribute::comm_src;
    const auto own = is_send ? TraceAttribute::comm_src : TraceAttribute::comm_dst;
    const auto peer = needed(node, other, ranks_ - 1);
    const auto size =
        needed(node, TraceAttribute::comm_size, kLargestMessage / config_.element_bytes);
    const auto tag = needed(node, TraceAttribute::comm_tag, ~std::uint64_t{0});
    if (!peer || !size || !tag) return;
    if (node_.number(own).value_or(rank_) != rank_) {
      refuse(node, fmt::format("has {} {}; the file is that of rank {}",
                               kTraceAttributes[static_cast<std::size_t>(own)], *node_.number(own),
                               rank_));
      return;
    }
    if (*size == 0) {
      refuse(node, "is a message of no bytes, which is not simulated");
      return;
    }
    node.kind = is_send ? WorkKind::send : WorkKind::receive;
    node.peer = static_cast<std::uint32_t>(*peer);
    node.tag = *tag;
    node.bytes = *size * config_.element_bytes;
  }

  void collective(WorkNode& node) {
    const auto type = needed(node, TraceAttribute::comm_type, std::size(kTraceCollectives) - 1);
    if (!type) return;
    const TraceCollective& known = kTraceCollectives[*type];
    if (!known.op) {
      refuse(node, fmt::format("is a {}, which is not simulated", known.name));
      return;
    }
    std::optional<std::uint64_t> size = kBarrierBytes;
    if (*type != kBarrier) {
      size = needed(node, TraceAttribute::comm_size, kLargestCollective / config_.element_bytes);
      if (size) *size *= config_.element_bytes;
    }
    if (!size) return;
    std::string group = node_.pg_name;
    if (group.empty()) {
      const auto number = node_.number(TraceAttribute::comm_group);
      if (number) group = std::to_string(*number);
    }
    if (!group.empty()) {
      const auto number = group_number(group);
      if (!number) {
        refuse(node, fmt::format("names a process group that is no number: '{}'", group));
        return;
      }
      group = *number == "0" ? "" : *number;
    }
    node.kind = WorkKind::collective;
    node.op = *known.op;
    // As in ASTRA-sim, parts are of a byte at least, unless there are none.
    const bool has_parts = *size != 0 && *type != kBarrier && node.op != CollectiveOp::all_gather &&
                           !is_rooted(node.op);
    node.bytes = has_parts ? std::max<Bytes>(*size, ranks_) : *size;
    deferred_.push_back(
        {static_cast<std::uint32_t>(work_->nodes.size()), std::move(group), node_.involved_dim});
  }

  // Process groups in the inputs of a METADATA node: a list, within other text, of mappings with
  // pg_name and ranks.
  void read_inner_groups(const WorkNode& node) {
    const std::size_t begin = node_.inputs.find("[{");
    const std::size_t end = node_.inputs.rfind("}]");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return;
    std::string text = node_.inputs.substr(begin, end + 2 - begin);
    text.erase(std::remove(text.begin(), text.end(), '\\'), text.end());
    try {
      const auto json = parse_strict_json(text);
      const JsonCursor root(json);
      root.for_each([&](const JsonCursor& group) {
        group.expect_object();
        group.expect_key("pg_name");
        group.expect_key("ranks");
        define_group(group.key("pg_name").text(), group.key("ranks"));
      });
    } catch (const JsonError& error) {
      refuse(node, fmt::format("defines process groups: {}", error.what()));
    }
  }

  // Sets the ranks of a collective, and of an all-gather the size of its result.
  void find_ranks(const Deferred& each) {
    WorkNode& node = work_->nodes[each.node];
    std::size_t group = 0;
    if (!each.group.empty()) {
      const auto known = groups_.find(each.group);
      if (known == groups_.end()) {
        const bool has_file = !groups_file_.empty();
        refuse(node,
               fmt::format("runs in process group {}, which {}", each.group,
                           has_file ? fmt::format("'{}' does not define", groups_file_)
                                    : "no file defines"),
               has_file ? "" : "name the file of process groups: workload.groups");
        return;
      }
      group = known->second;
    } else if (!each.dimensions.empty()) {
      const std::string why = dimension_problem(each.dimensions);
      if (!why.empty()) return refuse(node, why);
      group = group_of_dimensions(each.dimensions);
    }
    node.group = static_cast<std::uint32_t>(group);
    if (node.op != CollectiveOp::all_gather) return;
    const std::uint64_t size = graph_->groups[group].sets[0].size();
    if (node.bytes > kLargestCollective / size) {
      refuse(node, fmt::format("gathers more than {}",
                               format_quantity(Quantity::size, kLargestCollective)));
      return;
    }
    node.bytes *= size;
  }

  [[nodiscard]] std::string dimension_problem(const std::vector<bool>& flags) const {
    const std::string given = fmt::format("has an involved_dim of length {}", flags.size());
    const bool all = std::find(flags.begin(), flags.end(), false) == flags.end();
    if (sizes_.empty()) {
      return all ? "" : given + ", but the network has no dimensions (system.topology.type)";
    }
    const std::size_t dimensions = sizes_.size();
    if (flags.size() < dimensions) {
      return fmt::format("{}, but the network has {} dimensions", given, dimensions);
    }
    const auto end = flags.begin() + static_cast<std::ptrdiff_t>(dimensions);
    return std::find(flags.begin(), end, true) == end ? given + ", and none is true" : "";
  }

  // Ranks whose coordinates differ in the dimensions of the flags only.
  std::size_t group_of_dimensions(const std::vector<bool>& flags) {
    if (sizes_.empty()) return 0;
    std::string name = "dimensions";
    std::vector<std::size_t> others;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      if (!flags[d]) others.push_back(d);
      if (flags[d]) name += fmt::format(" {}", d + 1);
    }
    if (others.empty()) return 0;
    const auto [known, is_new] = groups_.try_emplace(name, graph_->groups.size());
    if (!is_new) return known->second;
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> sets;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const auto at = coordinates_of(topology_, NodeId(rank));
      std::vector<std::uint32_t> coordinates;
      for (const std::size_t d : others) coordinates.push_back(at[d]);
      sets[coordinates].push_back(rank);
    }
    WorkGroup& group = graph_->groups.emplace_back(WorkGroup{name, {}});
    for (auto& [coordinates, ranks] : sets) group.sets.push_back(std::move(ranks));
    return known->second;
  }

  // Turns the ids of dependencies into numbers of nodes.
  void link() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> ids;
    for (const WorkNode& node : work_->nodes) {
      ids.emplace_back(node.id, static_cast<std::uint32_t>(ids.size()));
    }
    std::sort(ids.begin(), ids.end());
    const auto name_of = [&](std::uint32_t node) -> const std::string& {
      return graph_->names[work_->nodes[node].name];
    };
    for (std::size_t i = 1; i < ids.size(); ++i) {
      if (ids[i].first != ids[i - 1].first) continue;
      error_in(rank_,
               fmt::format("rank {} has two nodes with id {}: {} and {}", rank_, ids[i].first,
                           name_of(ids[i - 1].second), name_of(ids[i].second)));
    }
    std::vector<std::uint32_t> waits;
    for (std::uint32_t n = 0; n < work_->nodes.size(); ++n) {
      waits.clear();
      for (std::size_t a = first_after_[n]; a < first_after_[n + 1]; ++a) {
        const auto found =
            std::lower_bound(ids.begin(), ids.end(), std::make_pair(after_[a], std::uint32_t{0}));
        if (found == ids.end() || found->first != after_[a]) {
          error_in(rank_, fmt::format("node {} ({}) of rank {} waits for node {}, which the trace "
                                      "does not have",
                                      work_->nodes[n].id, name_of(n), rank_, after_[a]));
          continue;
        }
        waits.push_back(found->second);
      }
      std::sort(waits.begin(), waits.end());
      waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
      work_->waits.insert(work_->waits.end(), waits.begin(), waits.end());
      work_->first_wait.push_back(static_cast<std::uint32_t>(work_->waits.size()));
    }
  }

  const WorkloadConfig& config_;
  const Topology& topology_;
  std::vector<std::uint32_t> sizes_;  // of the network's dimensions
  std::uint32_t ranks_;
  std::string prefix_;
  Place place_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;
  std::shared_ptr<WorkGraph> graph_ = std::make_shared<WorkGraph>();
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<std::string, std::size_t> groups_;  // by name, in WorkGraph::groups
  std::string groups_file_;
  std::uint64_t hash_ = hash_text({});
  // Of the rank that is read.
  std::uint32_t rank_ = 0;
  RankWork* work_ = nullptr;
  TraceNode node_;
  std::vector<Deferred> deferred_;
  std::vector<std::uint64_t> after_;      // ids
  std::vector<std::size_t> first_after_;  // by node, in after_; one more than nodes
};

}  // namespace

std::shared_ptr<const WorkGraph> load_traces(const WorkloadConfig& config, const Topology& topology,
                                             const Place& place, Diagnostics& diagnostics) {
  return TraceFiles(config, topology, place, diagnostics).load();
}

}  // namespace espalier
