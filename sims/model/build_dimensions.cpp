#include "sims/model/build_dimensions.h"

#include <fmt/format.h>

#include <stdexcept>

#include "sims/model/idle_times.h"
#include "sims/point/ni_config.h"
#include "sims/point/system_config.h"
#include "sims/point/topology_config.h"

namespace espalier {

namespace {

__extension__ using Wide = unsigned __int128;

// Entry `d` of a list. An empty list stands for "auto", so every entry is 0.
template <class T>
T entry_or_auto(const std::vector<T>& list, std::size_t d) {
  return list.empty() ? T{} : list.at(d);
}

DimensionSpec spec_of(const SystemConfig& system, std::size_t d) {
  const DimensionsConfig& config = system.dimensions;
  DimensionSpec spec;
  spec.shape = config.shape.at(d);
  spec.size = config.size.at(d);
  spec.links = entry_or_auto(config.links, d);
  if (spec.links == 0) spec.links = fewest_links(spec.shape, spec.size);
  spec.link.bytes_per_second = config.bytes_per_second.at(d);
  spec.link.flit_bytes = entry_or_auto(config.flit_bytes, d);
  if (spec.link.flit_bytes == 0) {
    spec.link.flit_bytes =
        static_cast<std::uint32_t>(narrowest_flit_bytes(spec.link.bytes_per_second, system.clock));
  }
  spec.one_switch = spec.shape == DimensionShape::switched &&
                    entry_or_auto(config.algorithm, d) == DimensionAlgorithm::in_network;
  const Cycle beside =
      cycles_beside_links(system, spec.shape, spec.link.bytes_per_second, spec.link.flit_bytes);
  const Cycle whole = cycles_covering(config.latency_ps.at(d), system.clock);
  const Cycle hops = hops_in(spec.shape);
  if (whole < beside + hops) {
    throw std::invalid_argument(fmt::format(
        "dimension {}: its latency is {} cycles, but a message takes at least {} cycles", d + 1,
        whole, beside + hops));
  }
  const Cycle links = whole - beside;
  const Cycle first = (links + hops - 1) / hops;
  spec.link.latency_ps = picoseconds_of(first, system.clock);
  if (first * hops != links) {
    spec.from_switch_latency_ps = picoseconds_of(links - first, system.clock);
  }
  return spec;
}

}  // namespace

std::vector<DimensionSpec> dimension_specs(const SystemConfig& system) {
  std::vector<DimensionSpec> specs;
  for (std::size_t d = 0; d < system.dimensions.shape.size(); ++d) {
    specs.push_back(spec_of(system, d));
  }
  return specs;
}

std::vector<PlannedDimension> planned_dimensions(const SystemConfig& system) {
  std::vector<PlannedDimension> planned;
  const std::vector<DimensionSpec> specs = dimension_specs(system);
  for (std::size_t d = 0; d < specs.size(); ++d) {
    const DimensionSpec& spec = specs[d];
    const auto algorithm = entry_or_auto(system.dimensions.algorithm, d);
    planned.push_back({spec.size,
                       algorithm ? *algorithm : fitting_algorithms(spec.shape, spec.size).front(),
                       spec.bytes_per_second(), system.dimensions.latency_ps[d]});
  }
  return planned;
}

std::vector<std::uint32_t> dimension_vc_depths(const SystemConfig& system) {
  std::vector<std::uint32_t> depths;
  const std::vector<DimensionSpec> specs = dimension_specs(system);
  for (std::size_t d = 0; d < specs.size(); ++d) {
    const std::uint32_t depth = entry_or_auto(system.dimensions.vc_depth_flits, d);
    depths.push_back(depth != 0 ? depth
                                : static_cast<std::uint32_t>(full_rate_depth_in(system, specs[d])));
  }
  return depths;
}

PlanRequest plan_request(const CollectiveConfig& collective) {
  PlanRequest request;
  request.op = collective.op;
  request.size = collective.size;
  request.element_bytes = collective.element_bytes;
  request.chunks = collective.chunks;
  request.threshold_divisor = collective.threshold_divisor;
  request.loads_start_at_fixed_delay = collective.loads_start_at_fixed_delay;
  return request;
}

std::uint64_t narrowest_flit_bytes(std::uint64_t bytes_per_second, const ClockSpec& clock) {
  return (bytes_per_second + clock.hertz - 1) / clock.hertz;
}

Cycle cycles_beside_links(const SystemConfig& system, DimensionShape shape,
                          std::uint64_t bytes_per_second, std::uint32_t flit_bytes) {
  // The second flit leaves in the first cycle in which the link is free again.
  const auto second_flit =
      static_cast<Cycle>(static_cast<Wide>(flit_bytes) * system.clock.hertz / bytes_per_second);
  const NiConfig& ni = system.ni;
  return ni.dma_latency_cycles + ni.injection_cycles +
         (hops_in(shape) + 1) * system.router.pipeline_cycles + ni.ejection_cycles +
         ni.delivery_cycles + second_flit;
}

std::vector<DimensionAlgorithm> fitting_algorithms(DimensionShape shape, std::uint32_t size) {
  using Algorithm = DimensionAlgorithm;
  switch (shape) {
    case DimensionShape::ring:
      return {Algorithm::ring};
    case DimensionShape::fully_connected:
      return {Algorithm::direct};
    case DimensionShape::switched:
      break;
  }
  if ((size & (size - 1)) != 0) return {Algorithm::direct, Algorithm::in_network};
  return {Algorithm::halving_doubling, Algorithm::direct, Algorithm::in_network};
}

std::uint64_t full_rate_depth_in(const SystemConfig& system, const DimensionSpec& dimension) {
  // dimension.link is the longest link of the dimension; a link from a switch back may be shorter.
  return full_rate_depth(system, dimension.link, std::uint64_t{system.dimensions.packet_flits} + 1);
}

}  // namespace espalier
