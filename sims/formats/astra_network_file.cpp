#include "sims/formats/astra_network_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sims/text/strict_map.h"
#include "sims/text/values.h"
#include "sims/text/yaml_loader.h"

namespace espalier {

namespace {

constexpr double kTheirGigabyte = 1024.0 * 1024.0 * 1024.0;
constexpr double kRoundingWorthAWarning = 0.01;

const std::vector<std::string> kKeys{"topology", "npus_count", "bandwidth", "latency"};

ValueShape shape_of(const std::string& key) {
  ValueShape shape;
  if (key == "topology") {
    shape.type = ValueType::name;
    shape.names = {"Ring", "FullyConnected", "Switch"};  // in the order of DimensionShape
  } else if (key == "npus_count") {
    return range_shape(2, 65536);
  } else {
    shape.type = ValueType::fraction;
    shape.min_excluded = true;
    shape.max_fraction = 1e6;
  }
  return shape;
}

class AstraNetworkParser {
 public:
  AstraNetworkParser(const ClockSpec& clock, Diagnostics& diagnostics)
      : clock_(clock), diagnostics_(diagnostics) {}

  std::optional<AstraNetwork> parse(const std::string& file_name, const std::string& text) {
    const SourceIndex source = diagnostics_.add_file(file_name, text);
    const std::size_t errors_before = diagnostics_.num_errors();
    const auto root = load_yaml_map(
        text, source,
        "expected a mapping with the keys topology, npus_count, bandwidth and latency",
        "for example 'topology: [Ring, Switch]' and 'npus_count: [4, 8]'", diagnostics_);
    if (!root) return std::nullopt;
    check_keys(*root, "", kKeys, diagnostics_);
    const Place start{source, 1, 1};
    const List shapes = read_list(*root, "topology", start);
    const List sizes = read_list(*root, "npus_count", start);
    const List bandwidths = read_list(*root, "bandwidth", start);
    const List latencies = read_list(*root, "latency", start);
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    AstraNetwork network;
    for (std::size_t d = 0; d < shapes.values.size(); ++d) {
      add(network, shapes.values[d].number, sizes.values[d].number, bandwidths.values[d].fraction,
          latencies.values[d].fraction, bandwidths.places[d]);
    }
    if (diagnostics_.num_errors() != errors_before) return std::nullopt;
    network.places = {{"shape", shapes.places},
                      {"size", sizes.places},
                      {"bandwidth", bandwidths.places},
                      {"latency", latencies.places}};
    return network;
  }

 private:
  struct List {
    std::vector<Value> values;
    std::vector<Place> places;
  };

  List read_list(const ConfigNode& root, const std::string& key, const Place& start) {
    const ConfigEntry* entry = root.find(key);
    if (entry == nullptr) {
      diagnostics_.error(start, fmt::format("missing key '{}'", key),
                         "give a list for each of topology, npus_count, bandwidth and latency");
      return {};
    }
    const ConfigNode& node = entry->value;
    const std::size_t entries = node.items.size();
    if (node.kind != ConfigNode::Kind::list || entries == 0 || entries > kMostDimensions) {
      diagnostics_.error(
          entry->place,
          fmt::format("{}: expected a list of 1 to {} entries, one for each dimension", key,
                      kMostDimensions));
      return {};
    }
    if (length_ == 0) length_ = entries;
    if (entries != length_) {
      diagnostics_.error(
          node.place,
          fmt::format("{}: has {} entries, but the lists before it have {}", key, entries, length_),
          "give one entry for each dimension");
    }
    List list;
    for (ConfigNode item : node.items) {
      if (item.kind == ConfigNode::Kind::null) item.place = entry->place;
      const auto value = parse_value(item, key, shape_of(key), diagnostics_);
      list.values.push_back(value ? *value : Value{});
      list.places.push_back(item.place);
    }
    return list;
  }

  void add(AstraNetwork& network, std::uint64_t shape_number, std::uint64_t npus,
           double gigabytes_per_second, double nanoseconds_of_hop, const Place& bandwidth_place) {
    const auto shape = static_cast<DimensionShape>(shape_number);
    const auto size = static_cast<std::uint32_t>(npus);
    DimensionsConfig& dimensions = network.dimensions;
    dimensions.shape.push_back(shape);
    dimensions.size.push_back(size);
    const double exact = gigabytes_per_second * kTheirGigabyte / fewest_links(shape, size);
    const auto hertz = static_cast<double>(clock_.hertz);
    if (exact < hertz) {
      diagnostics_.error(
          bandwidth_place,
          fmt::format(
              "bandwidth: a link carries {:.4g} B per cycle; it must carry at least 1 B per cycle",
              exact / hertz),
          "a slower system.router.clock has more bytes per cycle");
    }
    const double bytes_per_cycle = std::max(1.0, std::round(exact / hertz));
    const double change = bytes_per_cycle * hertz / exact - 1;
    if (exact >= hertz && std::abs(change) > kRoundingWorthAWarning) {
      diagnostics_.warning(
          bandwidth_place,
          fmt::format("bandwidth: a link's {:.4g} B per cycle are rounded to {:.0f} B, {:+.1f} %",
                      exact / hertz, bytes_per_cycle, 100 * change),
          "a slower system.router.clock has more bytes per cycle");
    }
    dimensions.bytes_per_second.push_back(static_cast<std::uint64_t>(bytes_per_cycle) *
                                          clock_.hertz);
    const double picoseconds = std::round(nanoseconds_of_hop * 1000) * hops_in(shape);
    dimensions.latency_ps.push_back(
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(picoseconds)));
  }

  const ClockSpec& clock_;
  Diagnostics& diagnostics_;
  std::size_t length_ = 0;  // length of the first list, which the others must have
};

}  // namespace

std::optional<AstraNetwork> parse_astra_network(const std::string& file_name,
                                                const std::string& text, const ClockSpec& clock,
                                                Diagnostics& diagnostics) {
  return AstraNetworkParser(clock, diagnostics).parse(file_name, text);
}

}  // namespace espalier
