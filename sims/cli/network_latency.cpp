#include "sims/cli/network_latency.h"

#include <fmt/format.h>

#include "sims/formats/rank_order_file.h"
#include "sims/system/probe.h"
#include "sims/text/read_file.h"

namespace espalier {

std::vector<std::uint64_t> probed_latencies(const Topology& topology, const RunPoint& point,
                                            const std::function<void(double)>& progress) {
  ProbeSpec spec;
  spec.probes = point.reorder.probes;
  spec.payload = point.reorder.payload;
  spec.percentile = point.reorder.percentile;
  const ProbeResult result = probe_latency(topology, point, spec, progress);
  return {result.round_trip.begin(), result.round_trip.end()};
}

std::optional<std::vector<std::uint64_t>> measured_latencies(const std::string& path,
                                                             std::size_t nodes) {
  Diagnostics diagnostics;
  const FileText file = read_file_text(path);
  std::optional<std::vector<std::uint64_t>> latencies;
  if (file.text) {
    latencies = parse_latencies(path, *file.text, nodes, diagnostics);
  } else {
    const SourceIndex source = diagnostics.add_file(path, "");
    diagnostics.error({source, 0, 0}, fmt::format("the file {}", file.problem));
  }
  fmt::print(stderr, "{}", diagnostics.text());
  return latencies;
}

}  // namespace espalier
