// The tracks of a step of training.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sims/observe/timeline/tracks.h"
#include "sims/workload/graph/work_path.h"

namespace espalier {

namespace {

constexpr std::size_t kMostNodes = 1'000'000;  // some 60 MB, which viewers open

class StepTracks {
 public:
  StepTracks(const GraphHosts& hosts, const PerfettoClock& clock, PerfettoFile& file)
      : hosts_(hosts), graph_(hosts.graph()), sets_(sets_of(graph_)), clock_(clock), file_(file) {}

  void write_path(const std::vector<PathPart>& path) {
    const PerfettoTrack track = file_.add_track(file_.add_process("critical path"), "work");
    for (const PathPart& part : path) {
      const WorkNode& node = graph_.ranks[part.rank.index()]->nodes[part.node];
      slice(track, fmt::format("rank {}: {}", part.rank.value(), graph_.names[node.name]),
            part.from, part.to, {{"node", node.id}});
    }
  }

  void write_ranks(const std::vector<PathPart>& path) {
    // The ranks of the critical path come first; each rank is in the list once or twice.
    std::vector<std::uint32_t> order;
    for (const PathPart& part : path) order.push_back(part.rank.value());
    for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) order.push_back(r);
    std::size_t nodes = 0;
    for (const std::uint32_t r : order) {
      if (shown_.count(r) != 0) continue;
      nodes += graph_.ranks[r]->nodes.size();
      if (nodes > kMostNodes && !shown_.empty()) break;
      shown_.insert(r);
    }
    if (shown_.size() != graph_.ranks.size()) {
      static_cast<void>(file_.add_process(
          fmt::format("{} of {} ranks are shown", shown_.size(), graph_.ranks.size())));
    }
    for (const std::uint32_t r : shown_) write_rank(RankId(r));
    write_arrows();
  }

 private:
  using RankAndNode = std::pair<std::uint32_t, std::uint32_t>;
  struct ArrowPlace {
    PerfettoTrack track;
    Cycle cycle = 0;
  };
  struct Piece {
    Cycle begin = 0;
    Cycle end = 0;
    std::uint32_t node = 0;
  };

  void write_rank(RankId rank) {
    const std::uint32_t process = file_.add_process(fmt::format("rank {}", rank.value()));
    const std::vector<WorkNode>& nodes = graph_.ranks[rank.index()]->nodes;
    // By kind and group.
    std::map<std::pair<WorkKind, std::uint32_t>, std::vector<Piece>> rows;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      const NodeTimes& times = hosts_.node_times(rank, n);
      Piece piece{times.begin, times.end, n};
      if (nodes[n].kind == WorkKind::receive) {
        // Most receives are posted long before; the message is under way from its send on.
        piece.begin = std::max(
            piece.begin, std::min(sender(nodes[n], times).begin, piece.end - (piece.end != 0)));
        piece.end = std::max(piece.end, piece.begin + 1);
      }
      const bool is_row = nodes[n].kind == WorkKind::collective;
      if (piece.begin >= piece.end) continue;
      rows[{nodes[n].kind, is_row ? nodes[n].group : 0}].push_back(piece);
    }
    // By WorkKind.
    constexpr const char* kNames[] = {"none", "compute", "host", "send", "receive", "group "};
    for (auto& [row, pieces] : rows) {
      std::string name = kNames[static_cast<std::size_t>(row.first)];
      if (row.first == WorkKind::collective) name += graph_.groups[row.second].name;
      PerfettoLanes lanes(file_, process, name);
      std::stable_sort(pieces.begin(), pieces.end(),
                       [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
      for (const Piece& piece : pieces) {
        write_node(rank, nodes[piece.node], piece, lanes.take(piece.begin, piece.end));
      }
    }
  }

  void write_node(RankId rank, const WorkNode& node, const Piece& piece, PerfettoTrack track) {
    const NodeTimes& times = hosts_.node_times(rank, piece.node);
    PerfettoArgs args{{"node", node.id}};
    if (const std::string phase = phase_of(graph_.names[node.name]); !phase.empty()) {
      args["phase"] = phase;
    }
    if (node.bytes != 0) args["bytes"] = node.bytes;
    if (node.kind == WorkKind::send || node.kind == WorkKind::receive) {
      args["peer"] = node.peer;
      args["tag"] = node.tag;
    }
    if (node.kind == WorkKind::collective) {
      const HostCollective& what = hosts_.collectives()[times.partner].what;
      args["op"] = to_string(node.op);
      args["ranks"] = graph_.groups[sets_[what.group].group].sets[sets_[what.group].set];
      args["waits_us"] = clock_.between(clock_.tick(times.begin), clock_.tick(last_begin(times)));
    }
    slice(track, graph_.names[node.name], piece.begin, piece.end, args);
    const GraphCollective* const met =
        node.kind == WorkKind::collective ? &hosts_.collectives()[times.partner] : nullptr;
    if (node.kind == WorkKind::receive) {
      heads_.push_back({{node.peer, times.partner}, {track, piece.end - 1}});
    } else if (node.kind == WorkKind::send || (met != nullptr && met->last_rank == rank.value())) {
      tails_[{rank.value(), piece.node}] = {track, piece.begin};
    } else if (met != nullptr && times.begin < last_begin(times)) {
      heads_.push_back({{met->last_rank, met->last_node}, {track, last_begin(times) + 1}});
    }
  }

  void write_arrows() {
    std::uint64_t number = 0;
    for (const auto& [from, head] : heads_) {
      const auto tail = tails_.find(from);
      if (tail == tails_.end()) continue;  // of a rank that is not shown
      ++number;
      for (const auto& [end, at] : {std::pair(PerfettoFile::ArrowEnd::tail, tail->second),
                                    std::pair(PerfettoFile::ArrowEnd::head, head)}) {
        file_.arrow(end, at.track, number, clock_.tick(at.cycle));
      }
    }
  }

  [[nodiscard]] const NodeTimes& sender(const WorkNode& receive, const NodeTimes& times) const {
    return hosts_.node_times(RankId(receive.peer), times.partner);
  }
  // When the last rank of the collective began it.
  [[nodiscard]] Cycle last_begin(const NodeTimes& of) const {
    const GraphCollective& met = hosts_.collectives()[of.partner];
    return hosts_.node_times(RankId(met.last_rank), met.last_node).begin;
  }
  void slice(PerfettoTrack track, const std::string& name, Cycle begin, Cycle end,
             const PerfettoArgs& args) {
    file_.slice(track, name, clock_.tick(begin), clock_.tick(end), args);
  }

  const GraphHosts& hosts_;
  const WorkGraph& graph_;
  std::vector<WorkSet> sets_;
  const PerfettoClock& clock_;
  PerfettoFile& file_;
  std::set<std::uint32_t> shown_;
  std::map<RankAndNode, ArrowPlace> tails_;
  std::vector<std::pair<RankAndNode, ArrowPlace>> heads_;
};

}  // namespace

void write_step(const GraphHosts& hosts, const BusyLinks& links, const PerfettoClock& clock,
                PerfettoFile& file) {
  const std::vector<PathPart> path = critical_path(hosts.graph(), hosts);
  write_counters(links, clock, file.add_process("links"), file);
  StepTracks tracks(hosts, clock, file);
  tracks.write_path(path);
  tracks.write_ranks(path);
}

}  // namespace espalier
