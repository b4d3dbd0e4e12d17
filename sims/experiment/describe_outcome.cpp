#include "sims/experiment/describe_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "sims/experiment/point_run.h"
#include "sims/point/config.h"
#include "sims/point/enum_names.h"

namespace espalier {

using Json = nlohmann::ordered_json;

namespace {

// Loads are shares of what the racks' uplinks carry.
Json describe_tenants(const RunPoint& point, const RackShape& racks,
                      const TenantStatistics& statistics) {
  const double ns = nanoseconds(statistics.duration, point.system.clock);
  // Of the uplinks of all racks together, in one direction.
  const double capacity = static_cast<double>(racks.racks) * racks.uplinks *
                          static_cast<double>(racks.uplink.bytes_per_second) / 1e9;
  const double offered = static_cast<double>(statistics.posted_bytes) / ns;
  const double accepted = static_cast<double>(statistics.bytes) / ns;
  Json tenants;
  tenants["flows"] = point.tenants->flows;
  tenants["message_bytes"] = point.tenants->message_bytes;
  tenants["messages"] = statistics.messages;
  tenants["bytes"] = statistics.bytes;
  tenants["offered_GBps"] = offered;
  tenants["accepted_GBps"] = accepted;
  tenants["offered_load"] = offered / capacity;
  tenants["accepted_load"] = accepted / capacity;
  tenants["latency_mean_cycles"] = statistics.mean_cycles;
  return tenants;
}

// `oversubscription` and `tenants` of a network with racks.
void describe_racks(Json& result, const RunPoint& point, const SimulationOutcome& outcome) {
  const TopologyConfig& topology = point.system.topology;
  if (topology.family().racks == nullptr) return;
  const RackShape racks = topology.family().racks(topology, point.system.link);
  result["oversubscription"]["rack"] = racks.rack_oversubscription;
  if (racks.aggregation_oversubscription != 0) {
    result["oversubscription"]["aggregation"] = racks.aggregation_oversubscription;
  }
  if (outcome.tenants) result["tenants"] = describe_tenants(point, racks, *outcome.tenants);
}

// Numbers of a window are null where they cannot be told.
void describe_traffic(Json& result, const TrafficStatistics& traffic) {
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(); };
  if (traffic.generated) {
    result["generated_flits_per_node_cycle"] = *traffic.generated;
    result["accepted_flits_per_node_cycle"] = known(traffic.accepted);
    result["accepted_min_flits_per_node_cycle"] = known(traffic.accepted_min);
    result["saturated"] = known(traffic.saturated);
  }
  result["measured_messages"] = traffic.messages;
  result["message_latency_mean_cycles"] = traffic.mean_cycles;
  result["message_latency_half_width_cycles"] = known(traffic.half_width_cycles);
  result["message_latency_p50_cycles"] = traffic.p50_cycles;
  result["message_latency_p95_cycles"] = traffic.p95_cycles;
  result["message_latency_p99_cycles"] = traffic.p99_cycles;
  result["message_latency_max_cycles"] = traffic.max_cycles;
}

}  // namespace

void describe_control(Json& result, const RunPoint& point, const SimulationOutcome& outcome) {
  if (!outcome.control) return;
  Json& control = result["control"];
  control["pattern"] = name_of(point.control->pattern);
  control["injection_rate"] = point.control->injection_rate;
  control["message_bytes"] = point.control->message_bytes;
  control["vcs"] = name_of(point.control->vcs);
  control["messages"] = outcome.control->messages;
  control["latency_mean_cycles"] = outcome.control->mean_cycles;
  control["latency_p99_cycles"] = outcome.control->p99_cycles;
  control["latency_max_cycles"] = outcome.control->max_cycles;
}

void describe_simulation(Json& result, const RunPoint& point, const SimulationOutcome& outcome) {
  result["cycles"] = outcome.cycles;
  result["time_ns"] = nanoseconds(outcome.cycles, point.system.clock);
  result["link_utilization_mean"] = outcome.link_utilization_mean;
  const std::uint64_t payload_flits = outcome.flits_injected - outcome.head_flits;
  result["head_flit_overhead"] = payload_flits == 0 ? 0.0
                                                    : static_cast<double>(outcome.head_flits) /
                                                          static_cast<double>(payload_flits);
  result["flit_hops"] = outcome.flit_hops;
  for (const CounterRow& row : counter_rows()) {
    result[row.name] = outcome.counters[counter(row.name)];
  }
  result["ni_ports"] = outcome.ni_ports;
  if (outcome.traffic) {
    describe_traffic(result, *outcome.traffic);
  } else {
    result["message_latency_mean_cycles"] = outcome.latency.mean_cycles;
    result["message_latency_max_cycles"] = outcome.latency.max_cycles;
  }
  result["messages"] = outcome.latency.messages;
  describe_control(result, point, outcome);
  describe_racks(result, point, outcome);
  describe_verdict(result, outcome);
}

void describe_verdict(Json& result, const SimulationOutcome& outcome) {
  result["verified"] = outcome.verified;
  if (!outcome.failure.empty()) result["failure"] = outcome.failure;
}

void describe_links(Json& result, const Topology& topology, const SimulationOutcome& outcome) {
  if (outcome.link_utilization.empty()) return;
  Json& links = result["links"];
  for (std::size_t l = 0; l < outcome.link_utilization.size(); ++l) {
    const TopologyLink& link = topology.links()[l];
    links.push_back(Json{{"from", topology.vertex_name(link.from)},
                         {"to", topology.vertex_name(link.to)},
                         {"utilization", outcome.link_utilization[l]}});
  }
}

void describe_rank_order(Json& result, const RankOrderConfig& order) {
  result["rank_order"] = order.source;
  if (order.is_random()) result["rank_order_seed"] = order.seed;
}

namespace {

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

// The class of schedules, and the certificate by names of vertices. Precondition: there is one.
Json describe_proof(const Topology& topology, const CollectiveBound& bound) {
  Json proof{{"schedules", to_string(bound.schedules)}};
  proof.update(std::visit(ProofWriter(topology), *bound.certificate));
  return proof;
}

}  // namespace

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
