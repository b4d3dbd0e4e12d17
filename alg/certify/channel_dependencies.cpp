#include "alg/certify/channel_dependencies.h"

#include "alg/routes/routing.h"
#include "alg/schedule/schedule_text.h"

namespace espalier {

namespace {

// Every vertex that is not in the order waits for another such vertex, so following the waits leads
// into a cycle.
std::vector<std::uint32_t> find_cycle(std::size_t vertices,
                                      const std::vector<Precedence>& precedences,
                                      const std::vector<std::uint32_t>& missing) {
  std::vector<std::uint32_t> waits_for(vertices, 0);
  std::uint32_t start = 0;
  for (const Precedence& p : precedences) {
    if (missing[p.before] == 0 || missing[p.after] == 0) continue;
    waits_for[p.after] = p.before;
    start = p.after;
  }
  std::vector<bool> seen(vertices, false);
  std::uint32_t v = start;
  for (; !seen[v]; v = waits_for[v]) seen[v] = true;
  std::vector<std::uint32_t> cycle;
  const std::uint32_t first = v;
  do {
    cycle.push_back(v);
    v = waits_for[v];
  } while (v != first);
  return cycle;
}

}  // namespace

TopologicalOrder sort_topologically(std::size_t vertices,
                                    const std::vector<Precedence>& precedences) {
  std::vector<std::uint32_t> missing(vertices, 0);  // predecessors not yet in the order
  std::vector<std::size_t> begin(vertices + 1, 0);
  for (const Precedence& p : precedences) {
    ++missing[p.after];
    ++begin[p.before + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) begin[v + 1] += begin[v];
  std::vector<std::uint32_t> successors(precedences.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const Precedence& p : precedences) successors[next[p.before]++] = p.after;

  TopologicalOrder result;
  result.order.reserve(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    if (missing[v] == 0) result.order.push_back(v);
  }
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    const std::uint32_t v = result.order[i];
    for (std::size_t s = begin[v]; s < begin[v + 1]; ++s) {
      if (--missing[successors[s]] == 0) result.order.push_back(successors[s]);
    }
  }
  if (result.order.size() != vertices) result.cycle = find_cycle(vertices, precedences, missing);
  return result;
}

ChannelDependencies::ChannelDependencies(const Topology& topology, std::uint32_t vc_classes)
    : topology_(topology),
      classes_(std::max(vc_classes, 1U)),
      wanted_(topology.num_links() * classes_) {}

void ChannelDependencies::add(const RouteSet& routes, RouteId route) {
  if (routes.hops(route) == 1) return;
  const std::vector<std::uint32_t> wanted = vc_classes_of(topology_, routes, route);
  const auto channel = [&](std::size_t hop) {
    return routes.link(route, hop).value() * classes_ + std::min(wanted[hop], classes_ - 1);
  };
  for (std::size_t hop = 1; hop < routes.hops(route); ++hop) {
    std::vector<std::uint32_t>& next = wanted_[channel(hop - 1)];
    if (std::find(next.begin(), next.end(), channel(hop)) != next.end()) continue;
    next.push_back(channel(hop));
    has_new_ = true;
  }
}

std::string ChannelDependencies::cycle(std::size_t longest) {
  if (!has_new_) return {};
  std::vector<Precedence> waits;
  for (std::uint32_t held = 0; held < wanted_.size(); ++held) {
    for (const std::uint32_t next : wanted_[held]) waits.push_back({next, held});
  }
  const std::vector<std::uint32_t> cycle = sort_topologically(wanted_.size(), waits).cycle;
  has_new_ = !cycle.empty();
  if (!has_new_) return {};
  const auto line = [&](std::size_t i) {
    return fmt::format("link {} in VC class {} waits for",
                       link_name(topology_, LinkId(cycle[i] / classes_)), cycle[i] % classes_);
  };
  return cycle_text("virtual channels wait for each other in a cycle:", cycle.size(), line,
                    longest);
}

}  // namespace espalier
