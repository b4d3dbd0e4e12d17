// Keysight's InfraGraph: devices of components and links, instances of devices, edges between them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "sims/formats/networks/network_formats.h"
#include "sims/text/text_lines.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr std::size_t kDeepestDevice = 8;
constexpr std::size_t kMostParts = 4 * kMostNodes;

// Links without a bandwidth, by words of their name, description, or both. NVLinks and xGMI share
// the accelerator's whole rate, because an edge may stand for several links.
struct KnownLink {
  const char* word;
  const char* what;
  std::uint64_t tenths;  // of GB/s
  bool is_shared = false;
};
constexpr std::array<KnownLink, 13> kKnownLinks{{
    {"nvlink_5", "NVLink 5: 18 links of 40.1 GB/s an accelerator", 7218, true},
    {"nvlink_4", "NVLink 4: 18 links of 20.6 GB/s an accelerator", 3708, true},
    {"nvlink_3", "NVLink 3: 12 links of 20 GB/s an accelerator", 2400, true},
    {"nvlink_2", "NVLink 2: 6 links of 20 GB/s an accelerator", 1200, true},
    {"nvlink_1", "NVLink 1: 4 links of 18 GB/s an accelerator", 720, true},
    {"infinity_fabric", "xGMI: 7 links of 48 GB/s an accelerator", 3360, true},
    {"gen6", "PCIe Gen 6 x16, 96 GB/s", 960},
    {"gen5", "PCIe Gen 5 x16, 48 GB/s", 480},
    {"gen4", "PCIe Gen 4 x16, 24 GB/s", 240},
    {"gen3", "PCIe Gen 3 x16, 12 GB/s", 120},
    {"pci", "PCIe Gen 3 x16, 12 GB/s", 120},
    {"qpi", "QPI, 10 GB/s", 100},
    {"upi", "UPI, 10 GB/s", 100},
}};
constexpr KnownLink kBetweenCpus{"", "16 GB/s between CPUs", 160};

struct Link {
  std::uint64_t bytes_per_second = 0;
  std::uint64_t latency_ps = 0;
  const KnownLink* known = nullptr;
  DrawnLink::Kind kind = DrawnLink::Kind::network;
};

struct Device {
  const ConfigNode* node = nullptr;
  std::map<std::string, Link> links;
};

// The vertices of a component or of a nested device, by index and then by the names below it.
struct Part {
  std::size_t vertex = 0;
  std::map<std::string, std::vector<Part>> parts;  // of a device
  bool is_device = false;
};

class InfraGraphReader {
 public:
  InfraGraphReader(DrawnNetwork& drawn, Diagnostics& diagnostics)
      : drawn_(drawn), diagnostics_(diagnostics) {}

  void read(const ConfigNode& root) {
    if (const ConfigEntry* name = root.find("name")) drawn_.name = name->value.text;
    for (const ConfigNode& node : value_at(root, "devices").items) {
      Device device{&node, links_of(node)};
      if (!devices_.emplace(text(node, "name"), device).second) {
        error(node, fmt::format("device '{}' is given twice", text(node, "name")));
      }
    }
    const std::map<std::string, Link> links = links_of(root);
    Part all;
    for (const ConfigNode& node : value_at(root, "instances").items) {
      const auto device = devices_.find(text(node, "device"));
      if (device == devices_.end()) {
        error(node, fmt::format("device '{}' is not among the devices", text(node, "device")));
        continue;
      }
      std::vector<Part>& parts = all.parts[text(node, "name")];
      const std::uint64_t count = count_of(node);
      for (std::uint64_t i = 0; i < count && good(); ++i) {
        parts.push_back(made(device->second, fmt::format("{}_{}", text(node, "name"), i), 0));
      }
    }
    for (const ConfigNode& edge : value_at(root, "edges").items) {
      if (good()) join(all, edge, links, true);
    }
    share();
  }

 private:
  [[nodiscard]] bool good() const { return diagnostics_.num_errors() < kMostErrors && !is_full_; }
  void error(const ConfigNode& at, const std::string& what, const std::string& hint = {}) {
    diagnostics_.error(at.place, what, hint);
  }

  // Of missing or other values an empty text or list; what needs them reports it.
  [[nodiscard]] static const std::string& text(const ConfigNode& node, const char* key) {
    return value_at(node, key).text;
  }
  [[nodiscard]] std::uint64_t count_of(const ConfigNode& node) {
    const ConfigEntry* count = node.find("count");
    return count == nullptr ? 1 : number_of(count->value, "count", 1, kMostNodes, diagnostics_);
  }

  [[nodiscard]] std::map<std::string, Link> links_of(const ConfigNode& owner) {
    std::map<std::string, Link> links;
    for (const ConfigNode& node : value_at(owner, "links").items) {
      std::string words = in_lower_case(text(node, "name") + " " + text(node, "description"));
      const std::size_t gen = words.find("gen ");  // "PCIe Gen 4"
      if (gen != std::string::npos) words.erase(gen + 3, 1);
      std::replace(words.begin(), words.end(), '-', '_');
      Link link;
      const auto mentions = [&](const char* word) { return words.find(word) != std::string::npos; };
      const auto* const known =
          std::find_if(kKnownLinks.begin(), kKnownLinks.end(),
                       [&](const KnownLink& each) { return mentions(each.word); });
      if (mentions("pci")) link.kind = DrawnLink::Kind::pcie;
      if (known != kKnownLinks.end()) link.known = known;
      if (const ConfigEntry* physical = node.find("physical")) read_physical(physical->value, link);
      links[text(node, "name")] = link;
    }
    return links;
  }

  void read_physical(const ConfigNode& physical, Link& link) {
    if (const ConfigEntry* entry = physical.find("bandwidth")) {
      const std::string unit = text(entry->value, "choice");
      const ConfigEntry* value = entry->value.find(unit);
      if (value == nullptr) {
        error(entry->value, "bandwidth: expected a choice and its value",
              "{choice: gigabits_per_second, gigabits_per_second: 400}");
      } else if (unit == "gigabits_per_second" || unit == "gigabytes_per_second") {
        link.bytes_per_second = quantity_of(Quantity::rate, value->value.text,
                                            unit == "gigabits_per_second" ? "Gb/s" : "GB/s",
                                            value->value.place, diagnostics_);
      } else {
        error(entry->value, fmt::format("bandwidth: {} has no rate without a width", unit),
              "gigabits_per_second or gigabytes_per_second");
      }
    }
    if (const ConfigEntry* entry = physical.find("latency")) {
      const std::string unit = text(entry->value, "choice");
      const ConfigEntry* value = entry->value.find(unit);
      if (value == nullptr || (unit != "ms" && unit != "us" && unit != "ns")) {
        error(entry->value, "latency: expected a choice and its value", "{choice: ns, ns: 500}");
      } else {
        link.latency_ps = quantity_of(Quantity::time, value->value.text, unit.c_str(),
                                      value->value.place, diagnostics_);
      }
    }
  }

  [[nodiscard]] Part made(const Device& device, const std::string& name, std::size_t depth) {
    Part all;
    all.is_device = true;
    if (depth > kDeepestDevice) {
      error(*device.node, fmt::format("devices are nested more than {} deep", kDeepestDevice));
      is_full_ = true;
    }
    work(1, *device.node);
    if (!good()) return all;
    const auto& components = value_at(*device.node, "components").items;
    // The chip of a switch or of a NIC is called a CPU, too.
    const bool is_server =
        std::any_of(components.begin(), components.end(),
                    [](const ConfigNode& each) { return text(each, "choice") == "xpu"; });
    for (const ConfigNode& component : components) {
      const std::string own = text(component, "name");
      const std::string choice = text(component, "choice");
      const std::uint64_t count = count_of(component);
      std::vector<Part>& parts = all.parts[own];
      for (std::uint64_t i = 0; i < count && good(); ++i) {
        const std::string full = fmt::format("{}_{}_{}", name, own, i);
        if (choice == "device") {
          const auto nested = devices_.find(own);
          if (nested == devices_.end()) {
            error(component, fmt::format("device '{}' is not among the devices", own));
            break;
          }
          parts.push_back(made(nested->second, full, depth + 1));
          continue;
        }
        if (drawn_.vertices.size() == kMostParts) {
          error(component, fmt::format("more than {} components", kMostParts));
          is_full_ = true;
          break;
        }
        Part part;
        part.vertex = drawn_.add(full, own, choice == "xpu");
        drawn_.vertices.back().is_joint = choice == "port" || choice == "custom";  // a slot
        is_cpu_.push_back(is_server && choice == "cpu");
        parts.push_back(part);
      }
    }
    for (const ConfigNode& edge : value_at(*device.node, "edges").items) {
      if (good()) join(all, edge, device.links, false);
    }
    return all;
  }

  // The parts that "name[0:8:2]" selects from those of `all`.
  [[nodiscard]] std::vector<const Part*> chosen(const std::map<std::string, std::vector<Part>>& all,
                                                const std::string& written, const ConfigNode& at) {
    const std::size_t open = written.find('[');
    const auto found = all.find(written.substr(0, open));
    if (found == all.end()) {
      error(at,
            fmt::format("'{}' is not among the components or instances", written.substr(0, open)));
      return {};
    }
    const auto size = static_cast<std::int64_t>(found->second.size());
    std::int64_t bounds[3] = {0, size, 1};
    if (open != std::string::npos) {
      const std::size_t close = written.find(']', open);
      std::string inside =
          written.substr(open + 1, close == std::string::npos ? 0 : close - open - 1);
      const std::int64_t colons = std::count(inside.begin(), inside.end(), ':');
      bool good = close == written.size() - 1 && colons <= 2 && !inside.empty();
      std::size_t begin = 0;
      for (std::int64_t part = 0; good && part <= colons; ++part) {
        const std::size_t end = std::min(inside.find(':', begin), inside.size());
        const std::string number = inside.substr(begin, end - begin);
        begin = end + 1;
        good = number.size() <= 9 && number.find_first_not_of("0123456789") == std::string::npos &&
               (colons > 0 || !number.empty());
        if (good && !number.empty()) bounds[part] = std::stol(number);
      }
      if (good && colons == 0) {
        bounds[1] = bounds[0] + 1;
        good = bounds[0] < size;
      }
      if (!good || bounds[2] == 0) {
        error(at, fmt::format("'{}' selects nothing of {} parts", written, size),
              "a[2] is one part, a[0:4] the first four, a[0:8:2] every second one");
        return {};
      }
    }
    std::vector<const Part*> parts;
    for (std::int64_t i = bounds[0]; i < std::min(bounds[1], size); i += bounds[2]) {
      parts.push_back(&found->second[static_cast<std::size_t>(i)]);
    }
    return parts;
  }

  // The vertices of an end: the instance, the nested device and the component may all be slices.
  [[nodiscard]] std::vector<std::size_t> vertices_of(const Part& all, const ConfigNode& end,
                                                     bool has_instance) {
    std::vector<const Part*> parts{&all};
    std::vector<std::string> path;
    const std::string component = text(end, "component");
    for (std::size_t begin = 0; begin <= component.size();) {
      const std::size_t dot = std::min(component.find('.', begin), component.size());
      path.push_back(component.substr(begin, dot - begin));
      begin = dot + 1;
    }
    if (has_instance) path.insert(path.begin(), text(end, "instance"));
    if (end.find("device") != nullptr) path.push_back(text(end, "device"));
    for (const std::string& step : path) {
      std::vector<const Part*> below;
      for (const Part* part : parts) {
        const auto some = chosen(part->parts, step, end);
        below.insert(below.end(), some.begin(), some.end());
        if (!good()) return {};
      }
      parts = std::move(below);
    }
    std::vector<std::size_t> vertices;
    for (const Part* part : parts) {
      if (part->is_device) {
        error(end,
              fmt::format("'{}' is a device; an edge ends at one of its components", component),
              "component: nic[0].port[0]");
        return {};
      }
      vertices.push_back(part->vertex);
    }
    return vertices;
  }

  void join(const Part& all, const ConfigNode& edge, const std::map<std::string, Link>& links,
            bool has_instance) {
    const ConfigEntry* first = edge.find("ep1");
    const ConfigEntry* second = edge.find("ep2");
    const auto link = links.find(text(edge, "link"));
    if (first == nullptr || second == nullptr || link == links.end()) {
      return error(edge, first == nullptr || second == nullptr
                             ? "an edge needs ep1 and ep2"
                             : fmt::format("link '{}' is not among the links", text(edge, "link")));
    }
    const auto a = vertices_of(all, first->value, has_instance);
    const auto b = vertices_of(all, second->value, has_instance);
    work(a.size() + b.size() + 1, edge);
    if (a.empty() || b.empty()) return;
    const std::string scheme = text(edge, "scheme");
    const bool is_same = a == b;
    if (scheme == "many2many") {
      for (std::size_t i = 0; i < a.size() && good(); ++i) {
        for (std::size_t j = is_same ? i + 1 : 0; j < b.size() && good(); ++j) {
          if (a[i] != b[j]) add(a[i], b[j], link->second, edge);
        }
      }
    } else if (scheme == "ring") {
      std::vector<std::size_t> ring = a;
      if (!is_same) ring.insert(ring.end(), b.begin(), b.end());
      for (std::size_t i = 0; i < ring.size() && ring.size() > 1; ++i) {
        if (i + 1 < ring.size() || ring.size() > 2) {
          add(ring[i], ring[(i + 1) % ring.size()], link->second, edge);
        }
      }
    } else if (scheme == "one2one" || scheme.empty()) {
      // The package joins as many as both ends have.
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        add(a[i], b[i], link->second, edge);
      }
    } else {
      error(edge, fmt::format("scheme '{}' is unknown", scheme), "one2one, many2many or ring");
    }
  }

  // Counts devices and ends of edges, of which a short file may describe any number.
  void work(std::size_t done, const ConfigNode& at) {
    work_ += done;
    if (work_ <= kMostWork || is_full_) return;
    error(at, "the instances have too many devices and edges",
          "at most 65536 nodes and 2^20 links");
    is_full_ = true;
  }

  void add(std::size_t a, std::size_t b, const Link& link, const ConfigNode& at) {
    if (drawn_.links.size() == kMostLinks) {
      if (!is_full_) error(at, fmt::format("more than {} links", kMostLinks));
      is_full_ = true;
      return;
    }
    const bool cpus = is_cpu_[a] && is_cpu_[b];
    DrawnLink made{a, b, link.bytes_per_second, link.latency_ps, 1, at.place};
    made.kind = is_cpu_[a] || is_cpu_[b] ? DrawnLink::Kind::cpu : link.kind;
    const KnownLink* known =
        cpus && (link.known == nullptr || link.known->is_shared) ? &kBetweenCpus : link.known;
    if (made.bytes_per_second == 0 && known != nullptr) {
      made.bytes_per_second = known->tenths * kTenth;
      made.assumed = known->what;
      if (known->is_shared) shared_.push_back(drawn_.links.size());
    }
    drawn_.links.push_back(made);
  }

  // An accelerator's links of one kind share its rate, in steps of 0.1 GB/s.
  void share() {
    std::map<std::size_t, std::uint64_t> links;  // by accelerator
    for (const std::size_t l : shared_) {
      ++links[drawn_.links[l].a];
      ++links[drawn_.links[l].b];
    }
    for (const std::size_t l : shared_) {
      DrawnLink& link = drawn_.links[l];
      const auto at = [&](std::size_t v) { return drawn_.vertices[v].is_node ? links[v] : 1; };
      const std::uint64_t among = std::max(at(link.a), at(link.b));
      link.bytes_per_second = std::max(kTenth, link.bytes_per_second / among / kTenth * kTenth);
    }
  }

  static constexpr std::size_t kMostErrors = 100;
  static constexpr std::size_t kMostWork = std::size_t{1} << 24;

  DrawnNetwork& drawn_;
  Diagnostics& diagnostics_;
  std::map<std::string, Device> devices_;
  std::vector<bool> is_cpu_;         // by vertex
  std::vector<std::size_t> shared_;  // links whose rate is an accelerator's
  std::size_t work_ = 0;
  bool is_full_ = false;
};

}  // namespace

void read_infragraph(const std::string& file_name, const std::string& text, DrawnNetwork& drawn,
                     Diagnostics& diagnostics) {
  drawn.source = diagnostics.add_file(file_name, text);
  const auto root = load_yaml(text, drawn.source, diagnostics);
  if (root) InfraGraphReader(drawn, diagnostics).read(*root);
}

}  // namespace espalier
