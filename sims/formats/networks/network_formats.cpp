#include "sims/formats/networks/network_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sims/formats/program/mscclpp.h"
#include "sims/text/foreign_formats.h"
#include "sims/text/text_lines.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

// What recognition looks at: the first line that is no comment, in words, and the keys of a YAML
// or JSON mapping.
class NetworkText {
 public:
  explicit NetworkText(const std::string& text) : text_(text), xml_(xml_root(text)) {
    if (!xml_.empty()) return;
    Diagnostics unheard;
    const SourceIndex source = unheard.add_file("", "");
    for_each_line(text, source, unheard, [&](std::string_view line, const Place& place) {
      words_ = words_of(line.substr(0, line.find('#')), place);
      return words_.empty();
    });
    // A mapping begins with "key:" or a brace. Schedules and plans in JSON are long, and no
    // networks.
    if (text.substr(0, 4096).find("espalier-schedule") != std::string::npos) return;
    if (is_mscclpp_plan(text)) return;
    if (words_.empty() || text.find(':') == std::string::npos) return;
    if (words_[0].text.find_first_of(":{\"'-") == std::string::npos &&
        !(words_.size() > 1 && words_[1].text == ":"))
      return;
    if (auto root = load_yaml(text, source, unheard)) root_ = *std::move(root);
  }

  [[nodiscard]] bool is_xml(const char* root) const { return xml_ == root; }
  [[nodiscard]] bool is_program() const { return xml_ == "algo" || is_mscclpp_plan(text_); }
  [[nodiscard]] bool has(const char* word) const { return text_.find(word) != std::string::npos; }
  [[nodiscard]] bool has_keys(std::initializer_list<const char*> keys) const {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const char* key) { return root_.find(key) != nullptr; });
  }
  [[nodiscard]] std::string word(std::size_t i) const {
    return i < words_.size() ? in_lower_case(words_[i].text) : "";
  }
  [[nodiscard]] std::size_t num_words() const { return words_.size(); }
  [[nodiscard]] bool is_number(std::size_t i) const {
    return i < words_.size() && words_[i].text.find_first_not_of("0123456789") == std::string::npos;
  }
  [[nodiscard]] bool is_vertex(std::size_t i) const {
    return i < words_.size() &&
           words_[i].text.find_first_of(":={}[]\"'<>,;()") == std::string::npos;
  }

 private:
  const std::string& text_;
  std::string xml_;
  std::vector<ConfigNode> words_;
  ConfigNode root_;
};

// A format that names no links, or an older dialect: the error says what to give instead.
template <const char* const& what, const char* const& hint>
void refuse(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
            Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  diagnostics.error({drawn.source, 1, 1}, what, hint);
}

constexpr const char* kDims = "ASTRA-sim's logical dimensions have no links";
constexpr const char* kDimsHint =
    "give the network itself: the .topo or .txt file of the ns-3 or htsim front end, or a "
    "network.yml with topology, npus_count, bandwidth and latency";
constexpr const char* kOldInfraGraph =
    "this is an older dialect of InfraGraph, without counts or without edges";
constexpr const char* kOldInfraGraphHint =
    "write it in schema 3: components with count and choice, instances, and edges with ep1, ep2, "
    "scheme and link in place of connections";
constexpr const char* kProgram = "this is a program of MSCCL or MSCCL++, not a network";
constexpr const char* kProgramHint = "name it in collective.program.file, or run and check it";
constexpr const char* kBlocks = "Slurm's blocks (BlockName) have no switches";
constexpr const char* kBlocksHint = "give the tree: SwitchName=s0 Nodes=n[0-7]";

struct NetworkFormat {
  bool (*is_it)(const NetworkText&);
  ReadDrawn read;  // nullptr: a reader of our own, for this family
  Family::Source source = Family::Source::graph_file;
};

// The first row that fits counts.
constexpr NetworkFormat kFormats[] = {
    {[](const NetworkText& t) { return t.is_xml("system"); }, read_nccl_topology},
    {[](const NetworkText& t) { return t.is_xml("graphml"); }, read_graphml},
    {[](const NetworkText& t) { return t.is_program(); }, refuse<kProgram, kProgramHint>},
    {[](const NetworkText& t) {
       return t.num_words() >= 3 && t.num_words() <= 6 && t.is_number(0) && t.is_number(1) &&
              t.is_number(2) && t.has("bps");
     },
     read_ns3_topology},
    {[](const NetworkText& t) {
       return (t.word(0) == "nodes" || t.word(0) == "tiers" || t.word(0) == "podsize") &&
              t.is_number(1);
     },
     read_htsim_topology},
    {[](const NetworkText& t) { return t.word(0).rfind("switchname=", 0) == 0; },
     read_slurm_topology},
    {[](const NetworkText& t) {
       return t.word(0).rfind("blockname=", 0) == 0 || t.word(0).rfind("blocksizes=", 0) == 0;
     },
     refuse<kBlocks, kBlocksHint>},
    {[](const NetworkText& t) {
       return t.word(0).rfind("mesh_descriptors", 0) == 0 || t.has_keys({"ChipSpec", "Mesh"});
     },
     read_mesh_descriptor},
    {[](const NetworkText& t) {
       return (t.word(0) == "router" || t.word(0) == "node") && t.is_number(1);
     },
     nullptr, Family::Source::anynet_file},
    {[](const NetworkText& t) {
       return t.has_keys({"topology", "npus_count"});
     },
     nullptr, Family::Source::astra_file},
    {[](const NetworkText& t) { return t.has_keys({"logical-dims"}); }, refuse<kDims, kDimsHint>},
    {[](const NetworkText& t) {
       return t.has_keys({"directed", "nodes"});
     },
     read_node_link},
    {[](const NetworkText& t) {
       return t.has_keys({"nodes", "links"});
     },
     nullptr},
    {[](const NetworkText& t) {
       return t.has_keys({"infrastructure"}) || t.has_keys({"device"}) ||
              (t.has_keys({"devices"}) && (t.has("connections:") || !t.has_keys({"instances"})));
     },
     refuse<kOldInfraGraph, kOldInfraGraphHint>},
    {[](const NetworkText& t) {
       return t.has_keys({"devices", "instances"});
     },
     read_infragraph},
    {[](const NetworkText& t) {
       // Two plain words alone may be any text.
       const bool is_edge = t.num_words() == 2 ? t.is_number(0) && t.is_number(1)
                                               : t.word(2)[0] == '{' || t.num_words() == 3;
       const bool is_weight =
           t.num_words() < 3 || std::string("0123456789.{").find(t.word(2)[0]) != std::string::npos;
       return t.is_vertex(0) && t.is_vertex(1) && is_edge && is_weight;
     },
     read_edge_list},
};

const NetworkFormat* format_of(const std::string& text) {
  const NetworkText looked(text);
  const auto* const found =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const NetworkFormat& format) { return format.is_it(looked); });
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

std::string network_type(const std::string& text) {
  const NetworkFormat* format = format_of(text);
  const bool is_program = format != nullptr && format->read == &refuse<kProgram, kProgramHint>;
  return format == nullptr || is_program ? "" : family_of(format->source);
}

std::optional<Topology> read_network(const std::string& file_name, const std::string& text,
                                     const TopologyFileContext& context, Diagnostics& diagnostics) {
  const NetworkFormat* format = format_of(text);
  if (format != nullptr && format->read != nullptr) {
    const std::size_t errors_before = diagnostics.num_errors();
    DrawnNetwork drawn;
    format->read(file_name, text, drawn, diagnostics);
    if (diagnostics.num_errors() != errors_before) return std::nullopt;
    return make_drawn(std::move(drawn), file_name, context, diagnostics);
  }
  return format != nullptr && format->source == Family::Source::anynet_file
             ? parse_anynet(file_name, text, context, diagnostics)
             : parse_topology(file_name, text, context, diagnostics);
}

std::uint64_t quantity_of(Quantity quantity, const std::string& text, const char* suffix,
                          const Place& place, Diagnostics& diagnostics) {
  ParsedQuantity parsed = parse_quantity(quantity, text + suffix);
  if (!parsed.value) {
    // More digits than the base unit has, as programs print them.
    std::size_t digits = text.find('.');
    if (digits != std::string::npos && text.size() > digits + 4) {
      parsed = parse_quantity(quantity, text.substr(0, digits + 4) + suffix);
    }
  }
  if (!parsed.value) {
    diagnostics.error(place, parsed.error, parsed.hint);
  } else if (*parsed.value == 0 && quantity == Quantity::rate) {
    diagnostics.error(place, fmt::format("a link of {}{} carries nothing", text, suffix),
                      "leave the link out");
  }
  return parsed.value.value_or(0);
}

const ConfigNode& value_at(const ConfigNode& node, const char* key) {
  static const ConfigNode none;
  const ConfigEntry* entry = node.find(key);
  return entry == nullptr ? none : entry->value;
}

std::uint64_t number_of(const ConfigNode& word, const std::string& what, std::uint64_t min,
                        std::uint64_t max, Diagnostics& diagnostics) {
  const auto value = parse_value(word, what, range_shape(min, max), diagnostics);
  return value ? value->number : min;
}

}  // namespace espalier
