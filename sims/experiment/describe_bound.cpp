#include "sims/experiment/describe_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// Rounded to 14 digits, which hides the rounding errors of the arithmetic: 1920, not
// 1919.9999999999998.
double as_nanoseconds(double seconds) {
  return std::strtod(fmt::format("{:.13e}", seconds * 1e9).c_str(), nullptr);
}

Json names_of(const Topology& topology, const std::vector<NodeId>& vertices) {
  Json names = Json::array();
  for (const NodeId v : vertices) names.push_back(topology.vertex_name(v));
  return names;
}

// Writes a certificate. What a reader can complete stays away: most networks are large.
class ProofWriter {
 public:
  explicit ProofWriter(const Topology& topology) : topology_(topology) {}

  Json operator()(const CrossingCertificate& crossing) const {
    Json proof{{"kind", "crossing"}};
    const auto inside =
        static_cast<std::size_t>(std::count(crossing.into.begin(), crossing.into.end(), true));
    const bool few = 2 * inside <= crossing.into.size();
    std::vector<NodeId> named;
    std::size_t nodes_inside = 0;
    for (std::size_t v = 0; v < crossing.into.size(); ++v) {
      if (crossing.into[v] == few) named.emplace_back(v);
      nodes_inside += crossing.into[v] && v < topology_.num_nodes() ? 1U : 0U;
    }
    proof[few ? "into" : "into_all_but"] = names_of(topology_, named);
    if (crossing.from.size() != topology_.num_nodes() - nodes_inside) {
      proof["senders"] = names_of(topology_, crossing.from);
    }
    if (crossing.to.size() != nodes_inside) proof["receivers"] = names_of(topology_, crossing.to);
    return proof;
  }
  Json operator()(const PartitionCertificate& partition) const {
    Json proof{{"kind", "partition"}, {"counted", partition.outwards ? "out" : "in"}};
    const bool single = std::all_of(partition.parts.begin(), partition.parts.end(),
                                    [](const auto& part) { return part.size() == 1; });
    if (single) return proof;
    for (const std::vector<NodeId>& part : partition.parts) {
      proof["parts"].push_back(names_of(topology_, part));
    }
    return proof;
  }
  Json operator()(const PriceCertificate& prices) const {
    Json proof{{"kind", "prices"}};
    const bool equal = std::all_of(prices.price.begin(), prices.price.end(),
                                   [&](double price) { return price == prices.price.front(); });
    if (equal) return proof;
    for (std::size_t l = 0; l < prices.price.size(); ++l) {
      const TopologyLink& link = topology_.links()[l];
      proof["prices"].push_back(Json{{"from", topology_.vertex_name(link.from)},
                                     {"to", topology_.vertex_name(link.to)},
                                     {"price", prices.price[l]}});
    }
    return proof;
  }
  Json operator()(const DimensionCertificate& certificate) const {
    Json proof{{"kind", "dimensions"}};
    for (const std::uint32_t d : certificate.dimensions) proof["dimensions"].push_back(d + 1);
    return proof;
  }

 private:
  const Topology& topology_;
};

}  // namespace

Json describe_proof(const Topology& topology, const CollectiveBound& bound) {
  Json proof{{"schedules", to_string(bound.schedules)}};
  proof.update(std::visit(ProofWriter(topology), *bound.certificate));
  return proof;
}

void describe_bound(Json& result, const Topology& topology, const RunBound& run, double time_ns) {
  result["bandwidth_GBps"] = time_ns == 0 ? 0.0 : static_cast<double>(run.size) / time_ns;
  if (run.bound) {
    const double bound_ns = as_nanoseconds(run.bound->seconds);
    result["bound_ns"] = bound_ns;
    result["bound_ratio"] = time_ns == 0 ? 0.0 : bound_ns / time_ns;
    result["bound_binding"] = run.bound->binding;
    if (run.bound->certificate) {
      result["bound_proof"] = describe_proof(run.network ? *run.network : topology, *run.bound);
    }
  } else {
    result["bound_ns"] = nullptr;
    result["bound_ratio"] = nullptr;
  }
  if (run.two_phase_seconds) {
    result["two_phase_bound_ns"] = as_nanoseconds(*run.two_phase_seconds);
  }
  if (run.ideal_seconds) result["ideal_ns"] = as_nanoseconds(*run.ideal_seconds);
}

}  // namespace espalier
