// Algorithms over parallel planes: every plane carries out the collective on its share of the data,
// unless small data are planned to be faster on the network as a whole.
#include <algorithm>
#include <numeric>
#include <utility>

#include "alg/generators/generator.h"
#include "alg/packing/round_plan.h"
#include "alg/routes/planes.h"
#include "alg/time/schedule_time.h"

namespace espalier {

namespace {

// The part of the network that is one plane.
struct PlaneNetwork {
  std::vector<LinkId> links;  // of the whole network, by link of the plane
  Topology topology;
};

PlaneNetwork network_of(const Topology& topology, const Planes& planes, std::uint32_t plane) {
  std::vector<LinkId> kept;
  std::vector<bool> lost_links(topology.num_links(), true);
  std::vector<bool> lost_vertices(topology.num_vertices(), true);
  for (std::size_t l = 0; l < lost_links.size(); ++l) {
    if (planes.of(LinkId(l)) != plane) continue;
    lost_links[l] = false;
    kept.emplace_back(l);
    lost_vertices[topology.link(LinkId(l)).from.index()] = false;
  }
  return {std::move(kept), without_parts(topology, topology.name(), lost_vertices, lost_links)};
}

// Each plane's share of `bytes`, in proportion to its rate. Slower planes get whole units, the
// first one the rest: where a unit divides among the ranks, remainders of several planes cannot add
// up.
std::vector<Bytes> cut_by_rates(Bytes bytes, const std::vector<std::uint64_t>& rates, Bytes unit) {
  std::vector<Bytes> shares;
  Bytes end = 0;
  for (std::size_t p = 0; p < rates.size(); ++p) {
    const auto rate_of = [&](std::size_t plane) { return rates[plane]; };
    const Bytes begin = std::exchange(end, end_of_part(bytes / unit, rates.size(), p, rate_of));
    shares.push_back((end - begin) * unit);
  }
  shares.front() += bytes % unit;
  return shares;
}

// Appends the schedule of a plane.
void append(Schedule& whole, const Schedule& part, const Topology& topology,
            const std::vector<LinkId>& links, Bytes offset) {
  const std::size_t first_chunk = whole.chunks.size();
  const std::size_t first_transfer = whole.transfers.size();
  std::size_t first_flow = 0;
  for (const Transfer& t : whole.transfers) first_flow = std::max(first_flow, t.flow.index() + 1);
  for (Chunk chunk : part.chunks) {
    chunk.offset += offset;
    whole.chunks.push_back(chunk);
  }
  std::vector<RouteId> routes(part.routes.size());  // of the whole, by route of the plane
  for (std::size_t i = 0; i < part.transfers.size(); ++i) {
    Transfer t = part.transfers[i];
    RouteId& route = routes[t.route.index()];
    if (!route.valid()) {
      std::vector<LinkId> way;
      for (const LinkId l : part.routes.links(t.route)) way.push_back(links[l.index()]);
      route = whole.routes.add(topology, way);
    }
    t.route = route;
    t.flow = FlowId(t.flow.index() + first_flow);
    t.first_chunk = ChunkId(t.first_chunk.index() + first_chunk);
    std::vector<TransferId> after;
    for (const TransferId waits : part.dependencies_of(TransferId(i))) {
      after.emplace_back(waits.index() + first_transfer);
    }
    whole.add(t, after);
  }
  whole.num_steps = std::max(whole.num_steps, part.num_steps);
  whole.ni_ports += part.ni_ports;
  whole.listed_order = part.listed_order;
}

}  // namespace

Schedule Generator::generate(const Topology& topology, const CollectiveRequest& request) const {
  if (plans_times) return make(topology, request);
  const Planes planes(topology);
  if (planes.size() < 2) return make(topology, request);
  std::vector<std::uint64_t> rates = planes.rates();
  // A message of an even share of a rank's data must not be too small in the slowest plane.
  const Bytes least = kLeastMessage * topology.num_nodes();
  const Bytes unit = request.element_bytes * topology.num_nodes();
  while (rates.size() > 1 && cut_by_rates(request.size, rates, unit).back() < least) {
    rates.pop_back();
  }
  Schedule whole = empty_schedule(name.c_str(), topology, request);
  whole.ni_ports = 0;
  const std::vector<Bytes> sizes = cut_by_rates(request.size, rates, unit);
  std::vector<std::vector<Bytes>> counts(rates.size());  // by plane; of each pair or rank
  for (const Bytes count : request.counts) {
    const std::vector<Bytes> shares = cut_by_rates(count, rates, request.element_bytes);
    for (std::size_t p = 0; p < shares.size(); ++p) counts[p].push_back(shares[p]);
  }
  Bytes offset = 0;
  for (std::size_t p = 0; p < rates.size(); ++p) {
    const PlaneNetwork plane = network_of(topology, planes, static_cast<std::uint32_t>(p));
    CollectiveRequest share = request;
    share.size = has_unequal_parts(request.op)
                     ? std::accumulate(counts[p].begin(), counts[p].end(), Bytes{0})
                     : sizes[p];
    if (auto_segments != nullptr) share.segments = auto_segments(request);
    share.counts = counts[p];
    const Schedule part = make(plane.topology, share);
    if (part.symmetry)
      return make(topology, request);  // one table of a plane says nothing of others
    append(whole, part, topology, plane.links, offset);
    for (const Chunk& chunk : part.chunks) offset += chunk.size;
  }
  whole = finished(std::move(whole));
  // An algorithm that follows links uses all planes by itself, with fewer messages, which may be
  // better for small data.
  constexpr Bytes kSmall = 64;  // of the least messages
  if (request.size > kSmall * least || !unsuited_for_times(topology, name.c_str()).empty()) {
    return whole;
  }
  Schedule other = make(topology, request);
  const std::uint64_t planned = schedule_time_ps(topology, whole, request.timing);
  return schedule_time_ps(topology, other, request.timing, planned) < planned ? other : whole;
}

}  // namespace espalier
