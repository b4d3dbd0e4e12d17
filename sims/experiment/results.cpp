#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <variant>

#include "sims/experiment/result_parts.h"

namespace espalier {

std::optional<RackShape> SimulationResult::racks() const {
  const TopologyConfig& topology = point.system.topology;
  if (topology.family().racks == nullptr) return {};
  return topology.family().racks(topology, point.system.link);
}

TenantsResult SimulationResult::tenants() const {
  const RackShape shape = *racks();
  return {*point.tenants, *outcome.tenants,
          nanoseconds(outcome.tenants->duration, point.system.clock),
          static_cast<double>(shape.racks) * shape.uplinks *
              static_cast<double>(shape.uplink.bytes_per_second) / 1e9};
}

void write_fields(nlohmann::ordered_json& to, const Counters& counters) {
  for (const CounterRow& row : counter_rows()) put(to, row.name, counters[counter(row.name)]);
}

double rounded_ns(double seconds) {
  return std::strtod(fmt::format("{:.13e}", seconds * 1e9).c_str(), nullptr);
}

double bus_factor(CollectiveOp op, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
    case CollectiveOp::all_to_all:
      return (n - 1) / n;
    case CollectiveOp::broadcast:
    case CollectiveOp::reduce:
      return 1;
    default:
      return 0;
  }
}

std::size_t TablesResult::num_ranks() const {
  std::size_t ranks = 0;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    ranks += tables.scope.has(NodeId(n)) ? 1U : 0U;
  }
  return ranks;
}

std::optional<double> BoundResult::bound_ns() const {
  if (!run.bound) return {};
  return rounded_ns(run.bound->seconds);
}

std::optional<double> BoundResult::ratio() const {
  if (!run.bound) return {};
  return quotient(*bound_ns(), time_ns);
}

namespace {

std::vector<std::string> names_of(const Topology& topology, const std::vector<NodeId>& vertices) {
  std::vector<std::string> names;
  for (const NodeId v : vertices) names.push_back(topology.vertex_name(v));
  return names;
}

// Writes a certificate by names of vertices.
struct ProofWriter {
  const Topology& topology;
  BoundProof& proof;

  void operator()(const CrossingCertificate& crossing) const {
    proof.kind = "crossing";
    const auto inside =
        static_cast<std::size_t>(std::count(crossing.into.begin(), crossing.into.end(), true));
    const bool few = 2 * inside <= crossing.into.size();
    std::vector<NodeId> named;
    std::size_t nodes_inside = 0;
    for (std::size_t v = 0; v < crossing.into.size(); ++v) {
      if (crossing.into[v] == few) named.emplace_back(v);
      nodes_inside += crossing.into[v] && v < topology.num_nodes() ? 1U : 0U;
    }
    (few ? proof.into : proof.into_all_but) = names_of(topology, named);
    if (crossing.from.size() != topology.num_nodes() - nodes_inside) {
      proof.senders = names_of(topology, crossing.from);
    }
    if (crossing.to.size() != nodes_inside) proof.receivers = names_of(topology, crossing.to);
  }
  void operator()(const PartitionCertificate& partition) const {
    proof.kind = "partition";
    proof.counted = partition.outwards ? "out" : "in";
    const bool single = std::all_of(partition.parts.begin(), partition.parts.end(),
                                    [](const auto& part) { return part.size() == 1; });
    if (single) return;
    for (const std::vector<NodeId>& part : partition.parts) {
      proof.parts.push_back(names_of(topology, part));
    }
  }
  void operator()(const PriceCertificate& prices) const {
    proof.kind = "prices";
    const bool equal = std::all_of(prices.price.begin(), prices.price.end(),
                                   [&](double price) { return price == prices.price.front(); });
    if (equal && prices.input.empty()) return;
    for (std::size_t l = 0; l < prices.price.size(); ++l) {
      const TopologyLink& link = topology.links()[l];
      proof.prices.push_back(
          {topology.vertex_name(link.from), topology.vertex_name(link.to), prices.price[l], {}});
      if (!prices.input.empty() && prices.input[l] > 0) {
        proof.prices.back().input_price = prices.input[l];
      }
    }
  }
  void operator()(const DimensionCertificate& certificate) const {
    proof.kind = "dimensions";
    for (const std::uint32_t d : certificate.dimensions) proof.dimensions.push_back(d + 1);
  }
};

}  // namespace

BoundProof BoundResult::proof() const {
  BoundProof proof{to_string(run.bound->schedules)};
  std::visit(ProofWriter{run.network ? *run.network : topology, proof}, *run.bound->certificate);
  return proof;
}

}  // namespace espalier
