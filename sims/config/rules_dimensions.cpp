// Rules of section system.dimensions.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "hw/topology/topology.h"
#include "sims/config/keys.h"
#include "sims/config/rules.h"
#include "sims/formats/topology_file.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/idle_times.h"
#include "sims/point/enum_names.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

class DimensionsChecker {
 public:
  DimensionsChecker(const SystemConfig& system, const DimensionPlace& place,
                    Diagnostics& diagnostics)
      : system_(system),
        config_(system.dimensions),
        place_(place),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.num_errors()) {}

  bool check() {
    check_lengths();
    if (failed()) return false;
    for (std::size_t d = 0; d < config_.shape.size(); ++d) {
      check_links(d);
      check_flits(d);
      check_algorithm(d);
    }
    if (failed()) return false;
    check_size();
    for (std::size_t d = 0; d < config_.shape.size(); ++d) check_latency(d);
    if (failed()) return false;
    check_ticks();
    check_vc_depths();
    return !failed();
  }

 private:
  [[nodiscard]] bool failed() const { return diagnostics_.num_errors() != errors_before_; }

  void error(const char* key, std::size_t d, const std::string& what, const std::string& hint) {
    diagnostics_.error(place_(key, d), fmt::format("system.dimensions.{}: {}", key, what), hint);
  }

  void check_length(const char* key, std::size_t length) {
    const std::size_t dimensions = config_.shape.size();
    if (length == dimensions) return;
    error(key, kWholeList,
          fmt::format("has {} entr{}, but system.dimensions.shape has {}", length,
                      length == 1 ? "y" : "ies", dimensions),
          "give one entry for each dimension");
  }
  // A list of length 0 stands for "auto".
  void check_auto_length(const char* key, std::size_t length) {
    if (length != 0) check_length(key, length);
  }

  void check_lengths() {
    check_length("size", config_.size.size());
    check_length("bandwidth", config_.bytes_per_second.size());
    check_length("latency", config_.latency_ps.size());
    check_auto_length("links", config_.links.size());
    check_auto_length("flit_bytes", config_.flit_bytes.size());
    check_auto_length("vc_depth_flits", config_.vc_depth_flits.size());
    check_auto_length("algorithm", config_.algorithm.size());
  }

  void check_links(std::size_t d) {
    if (config_.links.empty() || config_.links[d] == 0) return;
    const std::uint32_t links = config_.links[d];
    const std::uint32_t fewest = fewest_links(config_.shape[d], config_.size[d]);
    if (links % fewest == 0) return;
    const bool ring = config_.shape[d] == DimensionShape::ring;
    error(
        "links", d,
        ring ? fmt::format(
                   "a ring needs an even number of links, half of them to either side; found {}",
                   links)
             : fmt::format(
                   "an NPU needs the same number of links to each peer; found {} links to {} peers",
                   links, fewest),
        fmt::format("for example {}", (links / fewest + 1) * fewest));
  }

  [[nodiscard]] std::uint64_t flit_bytes(std::size_t d) const {
    const std::uint32_t given = config_.flit_bytes.empty() ? 0 : config_.flit_bytes[d];
    return given != 0 ? given : narrowest_flit_bytes(config_.bytes_per_second[d], system_.clock);
  }

  void check_flits(std::size_t d) {
    const std::uint64_t rate = config_.bytes_per_second[d];
    const std::uint64_t narrowest = narrowest_flit_bytes(rate, system_.clock);
    if (narrowest > kWidestFlit) {
      error("bandwidth", d,
            fmt::format("{} at {} needs flits of {} B; allowed are at most {} B",
                        format_quantity(Quantity::rate, rate),
                        format_quantity(Quantity::frequency, system_.clock.hertz), narrowest,
                        kWidestFlit),
            "use a faster system.router.clock, or more links");
      return;
    }
    if (flit_bytes(d) >= narrowest) return;
    error("flit_bytes", d,
          fmt::format("a link carries at most one flit per router cycle: {} is more than {} B x {}",
                      format_quantity(Quantity::rate, rate), flit_bytes(d),
                      format_quantity(Quantity::frequency, system_.clock.hertz)),
          fmt::format("at least {}, or auto", narrowest));
  }

  void check_algorithm(std::size_t d) {
    if (config_.algorithm.empty() || !config_.algorithm[d]) return;
    const DimensionAlgorithm algorithm = *config_.algorithm[d];
    const auto fitting = fitting_algorithms(config_.shape[d], config_.size[d]);
    if (std::find(fitting.begin(), fitting.end(), algorithm) != fitting.end()) return;
    std::vector<std::string> names;
    for (const DimensionAlgorithm other : fitting) names.emplace_back(name_of(other));
    error("algorithm", d,
          fmt::format("{} does not run on a dimension that is {} of {} NPUs", name_of(algorithm),
                      shape_with_article(config_.shape[d]), config_.size[d]),
          fmt::format("allowed: {}", fmt::join(names, ", ")));
  }

  static const char* shape_with_article(DimensionShape shape) {
    switch (shape) {
      case DimensionShape::ring:
        return "a ring";
      case DimensionShape::fully_connected:
        return "a fully connected group";
      case DimensionShape::switched:
        break;
    }
    return "a switch";
  }

  void check_size() {
    std::uint64_t nodes = 1;
    for (const std::uint32_t size : config_.size) {
      nodes *= size;
      if (nodes > kMostNodes) {
        error("size", kWholeList,
              fmt::format("the system has more than {} nodes, which is the limit", kMostNodes),
              fmt::format("{} nodes in all", fmt::join(config_.size, " x ")));
        return;
      }
    }
    std::uint64_t links = 0;
    std::uint64_t ports = 0;
    for (std::size_t d = 0; d < config_.shape.size(); ++d) {
      const std::uint32_t given = config_.links.empty() ? 0 : config_.links[d];
      const std::uint64_t of_node =
          given != 0 ? given : fewest_links(config_.shape[d], config_.size[d]);
      links += nodes * of_node * hops_in(config_.shape[d]);
      ports += of_node;
      if (config_.shape[d] == DimensionShape::switched && config_.size[d] > kMostPorts) {
        error("size", d, fmt::format("a switch has at most {} ports", kMostPorts), "");
      }
    }
    if (links > kMostLinks) {
      error("links", kWholeList,
            fmt::format("the system has {} links; allowed are at most {}", links, kMostLinks), "");
    } else if (ports > kMostPorts) {
      error("links", kWholeList,
            fmt::format("an NPU has {} links; allowed are at most {}", ports, kMostPorts), "");
    }
  }

  void check_latency(std::size_t d) {
    const std::uint64_t latency = config_.latency_ps[d];
    const Cycle shortest =
        hops_in(config_.shape[d]) + cycles_beside_links(system_, config_.shape[d],
                                                        config_.bytes_per_second[d],
                                                        static_cast<std::uint32_t>(flit_bytes(d)));
    if (cycles_covering(latency, system_.clock) < shortest) {
      error("latency", d,
            fmt::format(
                "{} leaves less than a cycle for each link: NIs and routers take {} cycles at {}",
                format_quantity(Quantity::time, latency), shortest - hops_in(config_.shape[d]),
                format_quantity(Quantity::frequency, system_.clock.hertz)),
            fmt::format("the shortest possible is {}, {} cycles",
                        format_quantity(Quantity::time, picoseconds_of(shortest, system_.clock)),
                        shortest));
      return;
    }
    check_whole_cycles("system.dimensions.latency", latency, system_.clock, place_("latency", d),
                       diagnostics_);
  }

  // All links of a dimension are equal, so one link of each is enough.
  void check_ticks() {
    Topology probe("one link of each dimension");
    const NodeId a = probe.add_node("a");
    const NodeId b = probe.add_node("b");
    for (const DimensionSpec& dimension : dimension_specs(system_)) {
      const std::string port = fmt::format("{}", probe.num_links());
      probe.add_link(a, b, dimension.link, port, port);
    }
    try {
      static_cast<void>(time_links(probe, system_.clock));
    } catch (const std::invalid_argument& problem) {
      error("bandwidth", kWholeList, problem.what(),
            "choose flit_bytes for which the rates are simple fractions of a flit per cycle");
    }
  }

  void check_vc_depths() {
    if (config_.vc_depth_flits.empty()) return;
    const std::uint64_t packet = std::uint64_t{config_.packet_flits} + 1;
    const std::vector<DimensionSpec> specs = dimension_specs(system_);
    for (std::size_t d = 0; d < specs.size(); ++d) {
      const std::uint64_t depth = config_.vc_depth_flits[d];
      if (depth == 0) continue;
      if (system_.router.switching == Switching::vct && depth < packet) {
        error("vc_depth_flits", d,
              fmt::format("virtual cut-through needs room for a whole packet of {} flits, but a VC "
                          "holds {} flits",
                          packet, depth),
              fmt::format("at least {}", packet));
        continue;
      }
      const std::uint64_t enough = full_rate_depth_in(system_, specs[d]);
      if (depth >= enough) continue;
      diagnostics_.warning(place_("vc_depth_flits", d),
                           shallow_vcs_text("system.dimensions.vc_depth_flits", depth) +
                               ", so one VC alone cannot use a link's full rate",
                           fmt::format("{} flits or more cover it", enough));
    }
  }

  const SystemConfig& system_;
  const DimensionsConfig& config_;
  const DimensionPlace& place_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_;
};

}  // namespace

bool check_dimensions(const SystemConfig& system, const DimensionPlace& place,
                      Diagnostics& diagnostics) {
  return DimensionsChecker(system, place, diagnostics).check();
}

}  // namespace espalier
