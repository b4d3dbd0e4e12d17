// Tenstorrent's mesh graph descriptors: chips in a mesh or torus, channels of Ethernet between
// them.
#include <fmt/format.h>

#include <algorithm>

#include "sims/formats/networks/network_formats.h"
#include "sims/text/text_lines.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::uint64_t kMostChannels = 64;

// A protobuf text as a tree. A field that is repeated has several entries.
class TextProto {
 public:
  TextProto(const std::string& text, SourceIndex source, Diagnostics& diagnostics)
      : diagnostics_(diagnostics) {
    for_each_line(text, source, diagnostics, [&](std::string_view line, const Place& place) {
      const auto words = words_of(line.substr(0, line.find('#')), place, "{}[]:,;\"");
      std::copy_if(words.begin(), words.end(), std::back_inserter(words_),
                   [](const ConfigNode& word) { return word.text != "\"" && word.text != ","; });
      return true;
    });
    root_ = message({source, 1, 1}, 0);
    if (at_ < words_.size()) fail("found text behind the end");
  }

  [[nodiscard]] const ConfigNode& root() const { return root_; }

 private:
  [[nodiscard]] bool next_is(const char* text) {
    if (at_ == words_.size() || words_[at_].text != text) return false;
    ++at_;
    return true;
  }
  void fail(const std::string& what) {
    if (!failed_) {
      diagnostics_.error(words_[std::min(at_, words_.size() - 1)].place, what,
                         "a field is name: value, or name { fields }");
    }
    failed_ = true;
    at_ = words_.size();
  }

  ConfigNode message(const Place& place, std::size_t depth) {
    ConfigNode node;
    node.kind = ConfigNode::Kind::map;
    node.place = place;
    if (depth > kDeepest) fail(fmt::format("messages are nested more than {} deep", kDeepest));
    while (at_ < words_.size() && words_[at_].text != "}") {
      const ConfigNode name = words_[at_++];
      static_cast<void>(next_is(":"));
      if (at_ == words_.size() || std::string("{}[]:;").find(name.text) != std::string::npos) {
        fail(fmt::format("field '{}' has no value", name.text));
        break;
      }
      const Place begin = words_[at_].place;
      ConfigNode value;
      if (next_is("{")) {
        value = message(begin, depth + 1);
        if (!next_is("}")) fail("a closing '}' is missing");
      } else if (next_is("[")) {
        value.kind = ConfigNode::Kind::list;
        value.place = begin;
        while (at_ < words_.size() && words_[at_].text != "]") value.items.push_back(words_[at_++]);
        if (!next_is("]")) fail("a closing ']' is missing");
      } else {
        value = words_[at_++];
      }
      static_cast<void>(next_is(";"));
      node.entries.push_back({name.text, name.place, std::move(value)});
    }
    return node;
  }

  Diagnostics& diagnostics_;
  std::vector<ConfigNode> words_;
  ConfigNode root_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

class MeshReader {
 public:
  MeshReader(DrawnNetwork& drawn, Diagnostics& diagnostics)
      : drawn_(drawn), diagnostics_(diagnostics) {}

  void read_proto(const ConfigNode& root) {
    const std::vector<const ConfigNode*> meshes = all(root, "mesh_descriptors");
    const ConfigNode& top = value_at(root, "top_level_instance");
    if (top.find("graph") != nullptr) {
      return diagnostics_.error(
          top.find("graph")->place,
          "this graph joins several meshes, and the file does not say which chips the cables join",
          "write a graph file with nodes and links (docs/topologies.md)");
    }
    const std::string wanted = text(value_at(top, "mesh"), "mesh_descriptor");
    const auto mesh = std::find_if(meshes.begin(), meshes.end(), [&](const ConfigNode* each) {
      return wanted.empty() || text(*each, "name") == wanted;
    });
    if (mesh == meshes.end()) {
      return diagnostics_.error(root.place,
                                fmt::format("there is no mesh descriptor '{}'", wanted));
    }
    const ConfigNode& shape = value_at(**mesh, "device_topology");
    const ConfigNode& channels = value_at(**mesh, "channels");
    build(**mesh, value_at(shape, "dims").items, value_at(shape, "dim_types").items,
          channels.find("count") == nullptr
              ? 1
              : number_of(channels.find("count")->value, "count", 1, kMostChannels, diagnostics_),
          text(**mesh, "arch"));
    for (const ConfigNode* express : all(**mesh, "express_connections")) {
      const auto device = [&](const char* key) {
        const ConfigEntry* entry = express->find(key);
        return entry == nullptr
                   ? 0
                   : number_of(entry->value, key, 0, drawn_.vertices.size() - 1, diagnostics_);
      };
      if (!drawn_.vertices.empty()) join(device("src"), device("dst"), express->place);
    }
  }

  void read_yaml(const ConfigNode& root) {
    const auto& meshes = value_at(root, "Mesh").items;
    if (meshes.size() != 1 || !value_at(root, "Graph").items.empty()) {
      return diagnostics_.error(
          root.find("Mesh")->place,
          fmt::format("found {} meshes; one mesh without a Graph is read", meshes.size()),
          "write a graph file with nodes and links (docs/topologies.md)");
    }
    const ConfigNode& spec = value_at(root, "ChipSpec");
    const ConfigNode& ports = value_at(spec, "ethernet_ports");
    const ConfigEntry* north = ports.find("N");
    std::string type;
    for (const ConfigNode& board : value_at(root, "Board").items) {
      if (text(board, "name") == text(meshes[0], "board")) type = text(board, "type");
    }
    ConfigNode wrap;
    wrap.text = type == "Torus" ? "RING" : "LINE";
    build(meshes[0], value_at(meshes[0], "device_topology").items, {wrap, wrap},
          north == nullptr ? 1 : number_of(north->value, "N", 1, kMostChannels, diagnostics_),
          text(spec, "arch"));
  }

 private:
  [[nodiscard]] static const std::string& text(const ConfigNode& node, const char* key) {
    return value_at(node, key).text;
  }
  [[nodiscard]] static std::vector<const ConfigNode*> all(const ConfigNode& node, const char* key) {
    std::vector<const ConfigNode*> found;
    for (const ConfigEntry& entry : node.entries) {
      if (entry.key != key) continue;
      if (entry.value.items.empty()) found.push_back(&entry.value);
      for (const ConfigNode& item : entry.value.items) found.push_back(&item);
    }
    return found;
  }

  // Chips are numbered row by row.
  void build(const ConfigNode& mesh, const std::vector<ConfigNode>& dims,
             const std::vector<ConfigNode>& types, std::uint64_t channels, std::string arch) {
    std::uint64_t chips = 1;
    std::vector<std::uint64_t> sides;
    for (const ConfigNode& side : dims) {
      sides.push_back(number_of(side, "dims", 1, kMostNodes, diagnostics_));
      chips = std::min<std::uint64_t>(chips * sides.back(), kMostNodes + 1);
    }
    if (sides.empty() || sides.size() > 3 || chips > kMostNodes) {
      return diagnostics_.error(mesh.place, "a mesh has 1 to 3 dims and at most 65536 chips",
                                "device_topology { dims: [ 8, 4 ] dim_types: [ RING, LINE ] }");
    }
    arch = in_lower_case(std::move(arch));
    channels_ = static_cast<std::uint32_t>(channels);
    if (arch == "blackhole" || arch == "wormhole_b0") {
      rate_ = arch == "blackhole" ? 50'000'000'000 : 12'500'000'000;
      assumed_ =
          fmt::format("Ethernet {} Gb/s, from arch {}", arch == "blackhole" ? 400 : 100, arch);
    }
    for (std::uint64_t chip = 0; chip < chips; ++chip) {
      drawn_.add(fmt::format("n_{}", chip), "chip", true);
    }
    std::uint64_t stride = 1;
    for (std::size_t d = sides.size(); d-- > 0;) {
      const bool is_ring = d < types.size() && types[d].text == "RING" && sides[d] > 2;
      for (std::uint64_t chip = 0; chip < chips; ++chip) {
        const std::uint64_t at = chip / stride % sides[d];
        if (at + 1 < sides[d]) {
          join(chip, chip + stride, mesh.place);
        } else if (is_ring) {
          join(chip, chip - at * stride, mesh.place);
        }
      }
      stride *= sides[d];
    }
  }

  void join(std::uint64_t a, std::uint64_t b, const Place& place) {
    drawn_.links.push_back(
        {a, b, rate_, 0, channels_, place, false, DrawnLink::Kind::network, assumed_});
  }

  DrawnNetwork& drawn_;
  Diagnostics& diagnostics_;
  std::uint64_t rate_ = 0;
  std::uint32_t channels_ = 1;
  std::string assumed_;
};

}  // namespace

void read_mesh_descriptor(const std::string& file_name, const std::string& text,
                          DrawnNetwork& drawn, Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  MeshReader reader(drawn, diagnostics);
  const std::size_t errors_before = diagnostics.num_errors();
  if (text.find("mesh_descriptors") != std::string::npos) {
    const TextProto proto(text, drawn.source, diagnostics);
    if (diagnostics.num_errors() == errors_before) reader.read_proto(proto.root());
  } else if (const auto root = load_yaml(text, drawn.source, diagnostics)) {
    reader.read_yaml(*root);
  }
}

}  // namespace espalier
