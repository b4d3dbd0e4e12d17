#include "sims/formats/astra_network_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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
    const std::vector<std::uint64_t> rates = link_rates(bandwidths);
    if (rates.empty()) return std::nullopt;
    AstraNetwork network;
    for (std::size_t d = 0; d < shapes.values.size(); ++d) {
      const auto shape = static_cast<DimensionShape>(shapes.values[d].number);
      network.dimensions.shape.push_back(shape);
      network.dimensions.size.push_back(static_cast<std::uint32_t>(sizes.values[d].number));
      network.dimensions.bytes_per_second.push_back(rates[d]);
      const double picoseconds = std::round(latencies.values[d].fraction * 1000) * hops_in(shape);
      network.dimensions.latency_ps.push_back(
          std::max<std::uint64_t>(1, static_cast<std::uint64_t>(picoseconds)));
    }
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

  [[nodiscard]] double bytes_per_cycle(double gigabytes_per_second) const {
    return gigabytes_per_second * kTheirGigabyte / static_cast<double>(clock_.hertz);
  }

  // Whether one tick of the network suits all links, each as wide as it needs (time_links()).
  [[nodiscard]] bool have_a_tick(const std::vector<std::uint64_t>& rates) const {
    constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 20;
    std::uint64_t ticks = 1;
    for (const std::uint64_t rate : rates) {
      const std::uint64_t full = (rate + clock_.hertz - 1) / clock_.hertz * clock_.hertz;
      ticks = std::lcm(ticks, rate / std::gcd(full, rate));
      if (ticks > kMostTicks) return false;
    }
    return true;
  }

  // In bytes per second: the bandwidths as multiples of their common divisor, which is rounded to
  // a binary fraction of a byte per cycle. Empty if there are none.
  [[nodiscard]] std::vector<std::uint64_t> fractional_rates(const List& bandwidths) const {
    constexpr double kMillion = 1e6;
    constexpr double kGoodRounding = 0.0005;
    std::vector<std::uint64_t> multiples;  // at first in MB/s / 1000, the format's precision
    std::uint64_t common = 0;
    for (const Value& value : bandwidths.values) {
      multiples.push_back(static_cast<std::uint64_t>(std::llround(value.fraction * kMillion)));
      common = std::gcd(common, multiples.back());
    }
    if (common == 0) return {};
    const double exact = bytes_per_cycle(static_cast<double>(common) / kMillion);
    for (std::uint64_t parts = 1; clock_.hertz % parts == 0; parts *= 2) {
      const double rounded = std::round(exact * static_cast<double>(parts));
      if (std::abs(rounded / (exact * static_cast<double>(parts)) - 1) > kGoodRounding) continue;
      std::vector<std::uint64_t> rates;
      for (const std::uint64_t multiple : multiples) {
        rates.push_back(multiple / common * static_cast<std::uint64_t>(rounded) *
                        (clock_.hertz / parts));
      }
      if (have_a_tick(rates)) return rates;
    }
    return {};
  }

  // In bytes per second; empty after an error.
  [[nodiscard]] std::vector<std::uint64_t> link_rates(const List& bandwidths) {
    std::vector<std::uint64_t> rates = fractional_rates(bandwidths);
    const bool are_whole = rates.empty();
    for (std::size_t d = 0; d < bandwidths.values.size(); ++d) {
      const double exact = bytes_per_cycle(bandwidths.values[d].fraction);
      if (exact < 1) {
        diagnostics_.error(bandwidths.places[d],
                           fmt::format("bandwidth: a link carries {:.4g} B per cycle; it must "
                                       "carry at least 1 B per cycle",
                                       exact),
                           "a slower system.router.clock has more bytes per cycle");
        return {};
      }
      if (!are_whole) continue;
      const double rounded = std::round(exact);
      rates.push_back(static_cast<std::uint64_t>(rounded) * clock_.hertz);
      if (std::abs(rounded / exact - 1) <= kRoundingWorthAWarning) continue;
      diagnostics_.warning(
          bandwidths.places[d],
          fmt::format("bandwidth: a link's {:.4g} B per cycle are rounded to {:.0f} B, {:+.1f} %",
                      exact, rounded, 100 * (rounded / exact - 1)),
          "bandwidths that are multiples of each other, or a slower system.router.clock");
    }
    return rates;
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
