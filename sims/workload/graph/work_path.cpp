#include "sims/workload/graph/work_path.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

namespace espalier {

namespace {

struct Place {
  RankId rank;
  std::uint32_t node = 0;
};

class PathWalk {
 public:
  PathWalk(const WorkGraph& graph, const GraphHosts& hosts) : graph_(graph), hosts_(hosts) {}

  std::vector<PathPart> run() {
    Place last = last_end();
    Cycle now = ends_of(last.rank).empty() ? 0 : times(last).end;
    // In a graph without circles, each step goes back to an earlier node.
    for (bool goes_on = now != 0; goes_on;) {
      Place begun = last;
      const WorkNode& work = node(last);
      if (work.kind == WorkKind::collective && times(last).partner != kNone) {
        const GraphCollective& met = hosts_.collectives()[times(last).partner];
        const Place latest{RankId(met.last_rank), met.last_node};
        // The root of a broadcast may be done before others begin.
        if (times(latest).begin < now) begun = latest;
      } else if (work.kind == WorkKind::receive && times(last).begin < now) {
        begun = last = {RankId(work.peer), times(last).partner};
      }
      const Cycle from = times(begun).begin;
      if (from < now) path_.push_back({last.rank, last.node, from, now});
      now = from;
      last = begun;
      goes_on = before(last, now);
    }
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  [[nodiscard]] const NodeTimes& times(Place at) const {
    return hosts_.node_times(at.rank, at.node);
  }
  [[nodiscard]] const WorkNode& node(Place at) const {
    return graph_.ranks[at.rank.index()]->nodes[at.node];
  }
  [[nodiscard]] Place last_end() {
    const std::vector<RankTimes>& ranks = hosts_.rank_times();
    const auto last = std::max_element(ranks.begin(), ranks.end(),
                                       [](const auto& a, const auto& b) { return a.end < b.end; });
    const RankId rank(static_cast<std::size_t>(last - ranks.begin()));
    const auto& ends = ends_of(rank);
    return {rank, ends.empty() ? 0 : ends.back().second};
  }
  // Goes to the node whose end let `at` begin in cycle `now`. False: nothing did.
  [[nodiscard]] bool before(Place& at, Cycle now) {
    const RankWork& work = *graph_.ranks[at.rank.index()];
    for (std::uint32_t w = work.first_wait[at.node]; w < work.first_wait[at.node + 1]; ++w) {
      if (times({at.rank, work.waits[w]}).end != now) continue;
      at.node = work.waits[w];
      return true;
    }
    if (now == 0) return false;
    const auto& ends = ends_of(at.rank);
    const auto held =
        std::lower_bound(ends.begin(), ends.end(), std::pair<Cycle, std::uint32_t>{now, 0});
    if (held == ends.end() || held->first != now || times({at.rank, held->second}).begin >= now) {
      return false;
    }
    at.node = held->second;
    return true;
  }
  // When those of the rank's nodes that took time ended, ascending.
  [[nodiscard]] const std::vector<std::pair<Cycle, std::uint32_t>>& ends_of(RankId rank) {
    auto& ends = ends_[rank];
    if (!ends.empty()) return ends;
    for (std::uint32_t n = 0; n < graph_.ranks[rank.index()]->nodes.size(); ++n) {
      const NodeTimes& of = hosts_.node_times(rank, n);
      if (of.begin < of.end) ends.push_back({of.end, n});
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  const WorkGraph& graph_;
  const GraphHosts& hosts_;
  std::map<RankId, std::vector<std::pair<Cycle, std::uint32_t>>> ends_;
  std::vector<PathPart> path_;
};

}  // namespace

const char* phase_of(const std::string& name) {
  const auto has = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return name.find(word) != std::string::npos; });
  };
  if (has({"optim", "Optim", " update", "adam", "Adam"})) return "optimizer";
  if (has({"backward", "Backward", "grad", "Grad", "bwd"})) return "backward";
  // "mb0.transformer.1.ffn.dx0@1_X1COMM": the last part before @ is the tensor.
  const std::size_t at = name.find('@');
  if (at != std::string::npos) {
    const std::size_t point = name.rfind('.', at);
    return name[point == std::string::npos ? 0 : point + 1] == 'd' ? "backward" : "forward";
  }
  return has({"forward", "Forward", "fwd"}) ? "forward" : "";
}

std::vector<PathPart> critical_path(const WorkGraph& graph, const GraphHosts& hosts) {
  return PathWalk(graph, hosts).run();
}

}  // namespace espalier
