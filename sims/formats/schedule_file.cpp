#include "sims/formats/schedule_file.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <ostream>
#include <unordered_map>

#include "alg/schedule/schedule_text.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kFormat = "espalier-schedule";
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kLatestSlot = std::uint64_t{1} << 62;  // picoseconds
constexpr std::uint64_t kMostId = kMost32 - 1;                 // kMost32 means "none"
constexpr std::array<CollectiveOp, 9> kCollectives{
    CollectiveOp::all_reduce,  CollectiveOp::reduce_scatter,  CollectiveOp::all_gather,
    CollectiveOp::all_to_all,  CollectiveOp::all_to_allv,     CollectiveOp::broadcast,
    CollectiveOp::all_gatherv, CollectiveOp::reduce_scatterv, CollectiveOp::reduce};
constexpr std::array<TableOp, 3> kTableOps{TableOp::reduce, TableOp::gather, TableOp::nop};

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// ---------------------------------------------------------------- writing
// Writes text directly, because a JSON document of a thousand nodes would need much memory.

class Writer {
 public:
  Writer(std::ostream& out, const Topology& topology, const ScheduleTables& tables)
      : out_(out), topology_(topology), tables_(tables) {}

  void write(const Json& config) {
    out_ << "{\n  \"format\": " << quoted(kFormat) << ",\n  \"version\": " << kVersion
         << ",\n  \"config\": " << config.dump(-1, ' ', false, Json::error_handler_t::replace)
         << ",\n  \"algorithm\": " << quoted(tables_.algorithm)
         << ",\n  \"op\": " << quoted(to_string(tables_.op)) << scope_text()
         << ",\n  \"size\": " << tables_.size << ",\n  \"num_steps\": " << tables_.num_steps
         << ",\n  \"contention_free\": " << (tables_.contention_free ? "true" : "false")
         << (tables_.listed_order ? ",\n  \"listed_order\": true" : "")
         << ",\n  \"ni_ports\": " << tables_.ni_ports << ",\n  \"chunks\": [";
    for (std::size_t c = 0; c < tables_.chunks.size(); ++c) {
      const Chunk& chunk = tables_.chunks[c];
      const bool has_destination = chunk.destination.valid();
      out_ << fmt::format("{}\n    [{}, {}, {}{}{}{}]", c == 0 ? "" : ",", chunk.offset, chunk.size,
                          id_or_null(chunk.owner), has_destination ? ", " : "",
                          has_destination ? id_or_null(chunk.destination) : "",
                          tables_.scope.groups.size() < 2 ? "" : fmt::format(", {}", chunk.group));
    }
    out_ << "\n  ],\n  \"nodes\": [";
    for (std::size_t n = 0; n < tables_.nodes.size(); ++n) {
      out_ << (n == 0 ? "\n    [" : ",\n    [");
      for (std::size_t e = 0; e < tables_.nodes[n].size(); ++e) {
        out_ << (e == 0 ? "\n      " : ",\n      ") << entry_text(NodeId(n), tables_.nodes[n][e]);
      }
      out_ << "\n    ]";
    }
    out_ << "\n  ]\n}\n";
  }

 private:
  [[nodiscard]] std::string scope_text() const {
    const Scope& scope = tables_.scope;
    std::string text;
    if (scope.root.valid()) text += fmt::format(",\n  \"root\": {}", scope.root.value());
    const auto members_text = [](const RankGroup& group) {
      std::string members;
      for (const NodeId node : group.members) {
        members += (members.empty() ? "" : ", ") + std::to_string(node.value());
      }
      return fmt::format("\"members\": [{}]", members);
    };
    if (scope.groups.size() == 1) return text + ",\n  " + members_text(scope.groups.front());
    for (std::size_t g = 0; g < scope.groups.size(); ++g) {
      text += fmt::format("{}\n    {{{}, \"size\": {}}}", g == 0 ? ",\n  \"groups\": [" : ",",
                          members_text(scope.groups[g]), scope.groups[g].size);
    }
    return text + (scope.groups.empty() ? "" : "\n  ]");
  }

  template <class Tag>
  [[nodiscard]] static std::string id_or_null(Id<Tag> id) {
    return id.valid() ? std::to_string(id.value()) : "null";
  }

  [[nodiscard]] std::string entry_text(NodeId node, const TableEntry& entry) const {
    if (entry.op == TableOp::nop) {
      return fmt::format("{{\"op\": \"{}\", \"step\": {}}}", to_string(entry.op), entry.step);
    }
    const bool reduces = entry.op == TableOp::reduce;
    std::string children;
    for (const TablePeer& child : entry.children) {
      if (!children.empty()) children += ", ";
      children += reduces ? id_or_null(child.node) : peer_text(node, child);
    }
    std::string after;
    for (const FlowId flow : entry.after) {
      after += (after.empty() ? ", \"after\": [" : ", ") + id_or_null(flow);
    }
    if (!after.empty()) after += "]";
    if (entry.not_before_ps != 0) after += fmt::format(", \"slot_ps\": {}", entry.not_before_ps);
    return fmt::format(
        "{{\"op\": \"{}\", \"flow\": {}, \"parent\": {}, \"children\": [{}], \"step\": {}, "
        "\"addr\": {}, \"size\": {}{}}}",
        to_string(entry.op), id_or_null(entry.flow),
        reduces ? peer_text(node, entry.parent) : id_or_null(entry.parent.node), children,
        entry.step, entry.start_addr, entry.size, after);
  }

  // Writes only the node if the route is the first link to the node.
  [[nodiscard]] std::string peer_text(NodeId node, const TablePeer& peer) const {
    if (peer.route.index() >= tables_.routes.size()) {
      throw std::invalid_argument(fmt::format("node {} sends to node {} without a route",
                                              node.value(), id_or_null(peer.node)));
    }
    const LinkId direct = peer.node.index() < topology_.num_nodes()
                              ? topology_.link_between(node, peer.node)
                              : LinkId();
    if (direct.valid() && peer.route == RouteSet::single(direct)) return id_or_null(peer.node);
    std::string links;
    for (std::size_t hop = 0; hop < tables_.routes.hops(peer.route); ++hop) {
      if (hop != 0) links += ", ";
      links += quoted(link_name(topology_, tables_.routes.link(peer.route, hop)));
    }
    return fmt::format("{{\"node\": {}, \"links\": [{}]}}", id_or_null(peer.node), links);
  }

  std::ostream& out_;
  const Topology& topology_;
  const ScheduleTables& tables_;
};

// ---------------------------------------------------------------- reading

template <class Enum, std::size_t Count>
Enum name_of_one(const JsonCursor& json, const std::array<Enum, Count>& all) {
  std::string names;
  for (const Enum value : all) {
    if (json.text() == to_string(value)) return value;
    names += (names.empty() ? "" : ", ") + std::string(to_string(value));
  }
  json.fail(fmt::format("\"{}\" is unknown; allowed are {}", json.text(), names));
}

class Reader {
 public:
  Reader(const JsonCursor& root, const Topology& topology)
      : root_(root), topology_(topology), tables_(topology) {
    for (std::size_t l = 0; l < topology.num_links(); ++l) {
      link_by_name_.emplace(link_name(topology, LinkId(l)), LinkId(l));
    }
  }

  ScheduleTables read() {
    root_.expect_keys({"format", "version", "config", "algorithm", "op", "size", "num_steps",
                       "contention_free", "ni_ports", "chunks", "nodes"},
                      {"listed_order", "root", "members", "groups"});
    tables_.algorithm = root_.key("algorithm").text();
    tables_.op = name_of_one(root_.key("op"), kCollectives);
    read_scope();
    tables_.size = root_.key("size").integer(0, kMost64);
    tables_.num_steps = static_cast<Timestep>(root_.key("num_steps").integer(0, kMostId));
    tables_.contention_free = root_.key("contention_free").boolean();
    if (root_.has("listed_order")) tables_.listed_order = root_.key("listed_order").boolean();
    tables_.ni_ports = static_cast<std::uint32_t>(root_.key("ni_ports").integer(1, kMost32));
    read_chunks(root_.key("chunks"));
    add_up_counts();
    read_nodes(root_.key("nodes"));
    return std::move(tables_);
  }

 private:
  void read_scope() {
    Scope& scope = tables_.scope;
    if (is_rooted(tables_.op) != root_.has("root")) {
      root_.fail(
          is_rooted(tables_.op)
              ? fmt::format("\"root\" is missing: the node of the {}'s root", to_string(tables_.op))
              : fmt::format("\"root\": {} has no root", to_string(tables_.op)));
    }
    if (root_.has("root")) scope.root = node_id(root_.key("root"));
    if (root_.has("members")) scope.groups.push_back({members_of(root_)});
    if (!root_.has("groups")) return;
    const JsonCursor groups = root_.key("groups");
    if (root_.has("members")) groups.fail("\"members\" names the only group");
    if (groups.expect_array() < 2) groups.fail("a single group is named by \"members\"");
    groups.for_each([&](const JsonCursor& group) {
      group.expect_keys({"members", "size"});
      scope.groups.push_back({members_of(group), group.key("size").integer(0, kMost64)});
    });
  }

  [[nodiscard]] std::vector<NodeId> members_of(const JsonCursor& group) const {
    const JsonCursor json = group.key("members");
    if (json.expect_array() < 2) json.fail("a collective needs at least two nodes");
    std::vector<NodeId> members;
    json.for_each([&](const JsonCursor& member) {
      const NodeId node = node_id(member);
      if (!members.empty() && !(members.back() < node)) {
        member.fail("members are listed in ascending order, each once");
      }
      members.push_back(node);
    });
    return members;
  }

  // Adds up the bytes of each pair's or node's chunks. The certifier compares them with the
  // configuration.
  void add_up_counts() {
    if (!has_counts(tables_.op)) return;
    const std::size_t nodes = topology_.num_nodes();
    tables_.scope.counts.assign(num_counts(tables_.op, nodes), 0);
    for (const Chunk& chunk : tables_.chunks) {
      if (!chunk.owner.valid()) continue;
      const std::size_t owner = chunk.owner.index();
      const bool pairs = is_exchange(tables_.op);
      tables_.scope.counts[pairs ? owner * nodes + chunk.destination.index() : owner] += chunk.size;
    }
  }

  void read_chunks(const JsonCursor& json) {
    json.for_each([&](const JsonCursor& item) {
      const std::size_t fields = item.expect_array();
      const bool has_destination = is_exchange(tables_.op);
      const std::size_t groups = tables_.scope.groups.size();
      if (fields != (has_destination ? 4U : 3U) + (groups > 1 ? 1U : 0U)) {
        item.fail(
            "expected [offset, size, owner], or in an all_to_all [offset, size, owner, "
            "destination]; of several groups, the group's number follows");
      }

      Chunk chunk;
      chunk.offset = item.at(0).integer(0, kMost64);
      chunk.size = item.at(1).integer(0, kMost64);
      if (!item.at(2).is_null()) chunk.owner = node_id(item.at(2));
      if (has_destination) chunk.destination = node_id(item.at(3));
      if (groups > 1) {
        chunk.group = static_cast<std::uint32_t>(item.at(fields - 1).integer(0, groups - 1));
      }
      tables_.chunks.push_back(chunk);
    });
  }

  void read_nodes(const JsonCursor& json) {
    const std::size_t count = json.expect_array();
    if (count != topology_.num_nodes()) {
      json.fail(fmt::format("found {} tables, but the topology has {} nodes", count,
                            topology_.num_nodes()));
    }
    tables_.nodes.resize(count);
    for (std::size_t n = 0; n < count; ++n) {
      json.at(n).for_each([&](const JsonCursor& entry) {
        tables_.nodes[n].push_back(read_entry(entry, NodeId(n)));
      });
    }
  }

  TableEntry read_entry(const JsonCursor& json, NodeId node) {
    json.expect_key("op");
    TableEntry entry;
    entry.op = name_of_one(json.key("op"), kTableOps);
    if (entry.op == TableOp::nop) {
      json.expect_keys({"op", "step"});
      entry.step = read_step(json);
      return entry;
    }
    json.expect_keys({"op", "flow", "parent", "children", "step", "addr", "size"},
                     {"after", "slot_ps"});
    entry.flow = FlowId(json.key("flow").integer(0, kMostId));
    entry.step = read_step(json);
    entry.start_addr = json.key("addr").integer(0, kMost64);
    entry.size = json.key("size").integer(0, kMost64);
    read_peers(json, node, entry);
    if (json.has("slot_ps")) entry.not_before_ps = json.key("slot_ps").integer(1, kLatestSlot);
    if (json.has("after")) {
      json.key("after").for_each(
          [&](const JsonCursor& flow) { entry.after.emplace_back(flow.integer(0, kMostId)); });
    }
    return entry;
  }

  static Timestep read_step(const JsonCursor& entry) {
    return static_cast<Timestep>(entry.key("step").integer(0, kMost32));
  }

  void read_peers(const JsonCursor& json, NodeId node, TableEntry& entry) {
    const bool reduces = entry.op == TableOp::reduce;
    const JsonCursor parent = json.key("parent");
    if (reduces) {
      entry.parent = receiver(parent, node);
    } else if (!parent.is_null()) {
      entry.parent = {node_id(parent), RouteId()};
    }
    json.key("children").for_each([&](const JsonCursor& child) {
      entry.children.push_back(reduces ? TablePeer{node_id(child), RouteId()}
                                       : receiver(child, node));
    });
  }

  NodeId node_id(const JsonCursor& json) const {
    return NodeId(json.integer(0, topology_.num_nodes() - 1));
  }

  // Reads the receiver of a transfer: a node, or a node and the links of the route.
  TablePeer receiver(const JsonCursor& json, NodeId from) {
    if (!json.is_object()) {
      const NodeId node = node_id(json);
      const LinkId direct = topology_.link_between(from, node);
      if (!direct.valid()) {
        json.fail(
            fmt::format("there is no link from node {} to node {}; give the route: {{\"node\": {}, "
                        "\"links\": [...]}}",
                        from.value(), node.value(), node.value()));
      }
      return {node, RouteSet::single(direct)};
    }
    json.expect_keys({"node", "links"});
    const NodeId node = node_id(json.key("node"));
    const JsonCursor names = json.key("links");
    if (names.expect_array() == 0) names.fail("a route needs at least one link");
    std::vector<LinkId> links;
    NodeId at = from;
    names.for_each([&](const JsonCursor& name) {
      const auto found = link_by_name_.find(name.text());
      if (found == link_by_name_.end())
        name.fail(fmt::format("there is no link \"{}\"", name.text()));
      if (topology_.link(found->second).from != at) {
        name.fail(
            fmt::format("link {} does not start at {}", name.text(), topology_.vertex_name(at)));
      }
      links.push_back(found->second);
      at = topology_.link(found->second).to;
    });
    if (at != node) {
      names.fail(fmt::format("the route ends at {}, not at node {}", topology_.vertex_name(at),
                             node.value()));
    }
    return {node, tables_.routes.add(topology_, links)};
  }

  const JsonCursor& root_;
  const Topology& topology_;
  ScheduleTables tables_;
  std::unordered_map<std::string, LinkId> link_by_name_;
};

}  // namespace

void write_schedule_file(std::ostream& out, const Json& config, const Topology& topology,
                         const ScheduleTables& tables) {
  Writer(out, topology, tables).write(config);
}

FileResult<ScheduleDocument> ScheduleDocument::parse(const std::string& text) {
  try {
    Json json = parse_strict_json(text);
    const JsonCursor root(json);
    const std::string other =
        fmt::format("not a schedule file: \"format\" must be \"{}\"", kFormat);
    if (!json.is_object() || !json.contains("format")) root.fail(other);
    if (json["format"] != kFormat) root.key("format").fail(other);
    const std::string version = fmt::format("\"version\" must be {}", kVersion);
    if (!json.contains("version")) root.fail(version);
    if (json["version"] != kVersion) root.key("version").fail(version);
    if (!json.contains("config")) root.fail("key \"config\" is missing");
    return {ScheduleDocument(std::move(json), text), {}, {}};
  } catch (const JsonError& error) {
    return {std::nullopt, error.what(), error.place(text)};
  }
}

FileResult<ScheduleDocument> ScheduleDocument::load(const std::string& path, FileHashes& hashes) {
  const FileText file = read_file_text(path);
  if (!file.text) return {std::nullopt, fmt::format("the file {}", file.problem), {}};
  hashes[path] = hash_text(*file.text);
  return parse(*file.text);
}

FileResult<ScheduleTables> ScheduleDocument::read_tables(const Topology& topology) const {
  try {
    const JsonCursor root(json_);
    return {Reader(root, topology).read(), {}, {}};
  } catch (const JsonError& error) {
    return {std::nullopt, error.what(), error.place(text_)};
  }
}

}  // namespace espalier
