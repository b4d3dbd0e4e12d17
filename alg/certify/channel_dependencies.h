// A topological sort that finds cycles of waits, and the channel dependency graph of routes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "alg/routes/route_set.h"
#include "hw/topology/topology.h"

namespace espalier {

struct Precedence {
  std::uint32_t before;
  std::uint32_t after;
};

struct TopologicalOrder {
  std::vector<std::uint32_t> order;  // all vertices if there is no cycle
  // Each vertex must come after the next one, and the last one after the first. Empty if there is
  // no cycle.
  std::vector<std::uint32_t> cycle;
};

// Deterministic: a vertex enters the order after its last predecessor, lower numbers first.
// Iterative and linear, for millions of vertices.
[[nodiscard]] TopologicalOrder sort_topologically(std::size_t vertices,
                                                  const std::vector<Precedence>& precedences);

inline constexpr std::size_t kLongestPrintedCycle = 64;
// `line(i)` describes the i-th member of a cycle and how it waits for the next one. At most
// `longest` members are printed.
template <class Line>
std::string cycle_text(const char* title, std::size_t length, Line line,
                       std::size_t longest = kLongestPrintedCycle) {
  std::string text = title;
  for (std::size_t i = 0; i < std::min(length, longest); ++i) text += "\n  " + line(i);
  if (length > longest) text += fmt::format("\n  ... and {} more", length - longest);
  return text + "\n  (back to the first line)";
}

// Deadlock freedom of oblivious routes by the channel dependency graph (Dally and Seitz, IEEE ToC
// C-36(5), 1987): a packet in one virtual channel may wait for the next channel of its route. If
// these waits form no cycle, packets cannot deadlock, neither with wormhole nor with cut-through
// switching.
class ChannelDependencies {
 public:
  // Routes use the VC classes of vc_classes_of(). `vc_classes` classes are kept apart; higher
  // classes share the last one. The topology must outlive this object.
  ChannelDependencies(const Topology& topology, std::uint32_t vc_classes);

  void add(const RouteSet& routes, RouteId route);
  // Describes one cycle, at most `longest` channels of it; empty if there is no cycle. Costs
  // nothing if no dependency is new since the last answer.
  [[nodiscard]] std::string cycle(std::size_t longest = ~std::size_t{0});

 private:
  const Topology& topology_;
  std::uint32_t classes_;
  // By channel: those for which a packet that holds it may wait.
  std::vector<std::vector<std::uint32_t>> wanted_;
  bool has_new_ = false;
};

}  // namespace espalier
