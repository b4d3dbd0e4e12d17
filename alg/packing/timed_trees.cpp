#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "alg/packing/forest_task.h"

namespace espalier {

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNoTreeEdge = ~0U;

class TimedTrees {
 public:
  TimedTrees(const Topology& topology, const PackGraph& graph, std::uint32_t pieces, Bytes bytes,
             const MessageTiming& timing, TimedOrder order, bool reversed, const WorkBudget& budget)
      : graph_(graph),
        budget_(budget),
        order_(order),
        reversed_(reversed),
        nodes_(graph.nodes),
        out_(topology.num_links()),
        first_links_(nodes_),
        free_(topology.num_links(), 0),
        sent_until_(topology.num_links(), 0),
        crossing_(nodes_, 0),
        received_(nodes_, 0),
        have_(nodes_) {
    RouteSet routes(topology);
    const MessageTimes times(topology, routes, timing);
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      const PackEdge& edge = graph.edges[e];
      std::vector<LinkId> path = edge.path;
      if (reversed) std::reverse(path.begin(), path.end());
      RoundOp op;
      op.route = routes.add(topology, path);
      if (reversed) op.kind = TransferKind::reduce;
      Way way;
      way.occupied_ps = times.slowest_ps(op.route, bytes);
      way.arrival_ps = times.arrival_ps(op, bytes);
      for (std::size_t h = 0; h < path.size(); ++h) {
        const std::uint64_t head = times.flight_ps(op.route, h);
        way.head_ps.push_back(reversed ? way.arrival_ps - head - way.occupied_ps : head);
      }
      if (reversed) std::reverse(way.head_ps.begin(), way.head_ps.end());
      ways_.push_back(std::move(way));
      auto& out = out_[edge.path.front().index()];
      if (out.empty()) first_links_[edge.from].push_back(edge.path.front().value());
      out.push_back(e);
    }
    find_distances();
    for (std::uint32_t root = 0; root < nodes_; ++root) {
      if (!graph.is_root(root)) continue;
      for (std::uint32_t i = 0; i < pieces; ++i) {
        Piece piece;
        piece.tree.tree.root = root;
        piece.has.assign(nodes_, false);
        piece.carries.assign(nodes_, false);
        piece.nearest.assign(nodes_, kNever);
        piece.behind.assign(nodes_, 0);
        pieces_.push_back(std::move(piece));
      }
    }
  }

  std::vector<TimedTree> run() {
    for (const std::uint64_t d : distance_) {
      if (d == kNever) return {};
    }
    for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
      const std::uint32_t root = pieces_[p].tree.tree.root;
      add_holder(p, root);
      arrivals_.push({0, p, root});
    }
    while (!arrivals_.empty() || !links_.empty()) {
      if (budget_.is_spent()) return {};
      if (links_.empty() ||
          (!arrivals_.empty() && std::get<0>(arrivals_.top()) <= links_.top().first)) {
        const auto [at, piece, node] = arrivals_.top();
        arrivals_.pop();
        have_[node].push_back(piece);
        for (const std::uint32_t l : first_links_[node]) links_.push({at, l});
        continue;
      }
      const auto [now, link] = links_.top();
      links_.pop();
      if (sent_until_[link] <= now) send(now, link);
    }
    std::vector<TimedTree> trees;
    for (Piece& piece : pieces_) {
      if (piece.holders != nodes_) return {};
      if (reversed_) mirror(piece.tree);
      trees.push_back(std::move(piece.tree));
    }
    return trees;
  }

 private:
  // A path of the graph, for one piece.
  struct Way {
    std::vector<std::uint64_t>
        head_ps;                    // by link: from the message's start until it takes the link
    std::uint64_t occupied_ps = 0;  // each link; a switch passes at the slower link's rate
    std::uint64_t arrival_ps = 0;
  };
  struct Piece {
    TimedTree tree;
    std::vector<bool> has;  // by node: now or soon
    // By node that has the piece: it passes the piece on, because it was nearer to other nodes than
    // all earlier holders.
    std::vector<bool> carries;
    std::uint32_t holders = 0;
    std::vector<std::uint64_t> nearest;  // by node: the way from the nearest holder
    // By node that lacks the piece: the longest way to a node to which it would be nearer than all
    // holders. 0 if there is only one such node: a short cut beside a slow link is not urgent.
    std::vector<std::uint64_t> behind;
    std::uint64_t most_behind = 0;
  };
  using Arrival = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // at, piece, node

  // The message that starts last in the mirrored network starts first.
  void mirror(TimedTree& tree) const {
    for (std::size_t i = 0; i < tree.start_ps.size(); ++i) {
      tree.start_ps[i] = end_ps_ - tree.start_ps[i] - ways_[tree.tree.edges[i]].arrival_ps;
    }
  }

  [[nodiscard]] std::uint64_t distance(std::size_t from, std::size_t to) const {
    return distance_[from * nodes_ + to];
  }

  // Distances of all pairs, on idle links (Floyd and Warshall 1962).
  void find_distances() {
    distance_.assign(nodes_ * nodes_, kNever);
    for (std::size_t n = 0; n < nodes_; ++n) distance_[n * nodes_ + n] = 0;
    for (std::size_t e = 0; e < ways_.size(); ++e) {
      std::uint64_t& d = distance_[graph_.edges[e].from * nodes_ + graph_.edges[e].to];
      d = std::min(d, ways_[e].arrival_ps);
    }
    for (std::size_t over = 0; over < nodes_; ++over) {
      for (std::size_t from = 0; from < nodes_; ++from) {
        if (distance(from, over) == kNever) continue;
        for (std::size_t to = 0; to < nodes_; ++to) {
          if (distance(over, to) == kNever) continue;
          std::uint64_t& d = distance_[from * nodes_ + to];
          d = std::min(d, distance(from, over) + distance(over, to));
        }
      }
    }
  }

  void add_holder(std::uint32_t p, std::uint32_t node) {
    Piece& piece = pieces_[p];
    budget_.spend(nodes_ * nodes_);
    piece.carries[node] = piece.behind[node] != 0 || piece.holders == 0;
    if (piece.carries[node]) ++crossing_[node];
    piece.has[node] = true;
    ++piece.holders;
    for (std::size_t n = 0; n < nodes_; ++n) {
      piece.nearest[n] = std::min(piece.nearest[n], distance(node, n));
    }
    piece.most_behind = 0;
    for (std::size_t v = 0; v < nodes_; ++v) {
      std::uint64_t& behind = piece.behind[v];
      // The way behind a node only becomes shorter.
      const bool was_none = piece.holders > 1 && behind == 0;
      behind = 0;
      if (piece.has[v] || was_none) continue;
      std::size_t nearer = 0;  // nodes, itself included
      for (std::size_t n = 0; n < nodes_; ++n) {
        if (!piece.has[n] && distance(v, n) < piece.nearest[n]) {
          behind = std::max(behind, distance(v, n));
          ++nearer;
        }
      }
      constexpr std::size_t kShortCut = 2;
      if (nearer <= kShortCut) behind = 0;
      piece.most_behind = std::max(piece.most_behind, behind);
    }
  }

  // The least value goes first.
  struct Choice {
    std::uint64_t not_behind = kNever;  // less, the longer the way behind the node that is sent to
    std::uint32_t holders = 0;
    std::uint32_t crossing = 0;  // pieces that this node is the first to take on their way
    std::uint64_t start_ps = kNever;
    std::uint32_t received = 0;  // pieces, by this node
    std::uint32_t piece = 0;
    std::uint32_t edge = kNoTreeEdge;
    friend bool operator<(const Choice& a, const Choice& b) {
      const auto key = [](const Choice& c) {
        return std::tie(c.not_behind, c.holders, c.crossing, c.start_ps, c.received, c.piece,
                        c.edge);
      };
      return key(a) < key(b);
    }
  };

  // The link's node sends the best of its pieces, or the link is asked again when a path is free.
  void send(std::uint64_t now, std::uint32_t link) {
    const std::uint32_t from = graph_.edges[out_[link].front()].from;
    std::vector<std::uint32_t>& held = have_[from];
    held.erase(std::remove_if(held.begin(), held.end(),
                              [&](std::uint32_t p) { return pieces_[p].holders == nodes_; }),
               held.end());
    starts_.clear();
    for (const std::uint32_t e : out_[link]) starts_.push_back(start_ps(now, e));
    Choice best;
    std::uint64_t again = kNever;
    for (const std::uint32_t p : held) {
      const Piece& piece = pieces_[p];
      const bool has_best = best.edge != kNoTreeEdge;
      if (has_best && std::make_pair(kNever - piece.most_behind, piece.holders) >
                          std::make_pair(best.not_behind, best.holders)) {
        continue;
      }
      for (std::size_t i = 0; i < starts_.size(); ++i) {
        Choice choice;
        choice.edge = out_[link][i];
        const std::uint32_t to = graph_.edges[choice.edge].to;
        if (piece.has[to] || ways_[choice.edge].arrival_ps > piece.nearest[to]) continue;
        // Only the node that was chosen to pass the piece on does so: the loads stay even.
        const bool waits = piece.behind[to] != 0 && order_ == TimedOrder::balanced;
        if (waits && !piece.carries[from]) continue;
        choice.start_ps = starts_[i];
        again = std::min(again, choice.start_ps);
        if (choice.start_ps != now && !waits) continue;
        choice.not_behind = kNever - piece.behind[to];
        choice.holders = piece.holders;
        choice.crossing = piece.behind[to] != 0 ? crossing_[to] : 0;
        choice.received = received_[to];
        choice.piece = p;
        if (best.edge == kNoTreeEdge || choice < best) best = choice;
      }
    }
    if (best.edge != kNoTreeEdge) again = best.start_ps;
    if (again != now) {
      if (again != kNever) links_.push({again, link});
      return;
    }
    const Way& way = ways_[best.edge];
    const PackEdge& edge = graph_.edges[best.edge];
    for (std::size_t h = 0; h < edge.path.size(); ++h) {
      free_[edge.path[h].index()] = now + way.head_ps[h] + way.occupied_ps;
    }
    TimedTree& tree = pieces_[best.piece].tree;
    tree.tree.edges.push_back(best.edge);
    tree.start_ps.push_back(now);
    ++received_[edge.to];
    add_holder(best.piece, edge.to);
    arrivals_.push({now + way.arrival_ps, best.piece, edge.to});
    end_ps_ = std::max(end_ps_, now + way.arrival_ps);
    sent_until_[link] = now + way.occupied_ps;
    links_.push({sent_until_[link], link});
  }

  // When a message that starts at `now` at the earliest finds all links free.
  [[nodiscard]] std::uint64_t start_ps(std::uint64_t now, std::uint32_t e) const {
    std::uint64_t start = now;
    const PackEdge& edge = graph_.edges[e];
    for (std::size_t h = 0; h < edge.path.size(); ++h) {
      const std::uint64_t free = free_[edge.path[h].index()];
      if (free > ways_[e].head_ps[h]) start = std::max(start, free - ways_[e].head_ps[h]);
    }
    return start;
  }

  using LinkEvent = std::pair<std::uint64_t, std::uint32_t>;  // when it may be free, the link

  const PackGraph& graph_;
  WorkBudget budget_;
  TimedOrder order_;
  bool reversed_;
  std::size_t nodes_;
  std::vector<Way> ways_;                                // by edge
  std::vector<std::vector<std::uint32_t>> out_;          // by link: the edges that begin with it
  std::vector<std::vector<std::uint32_t>> first_links_;  // by node
  std::vector<std::uint64_t> distance_;
  std::vector<std::uint64_t> free_;        // by link
  std::vector<std::uint64_t> sent_until_;  // by link out of a node: its last message
  std::uint64_t end_ps_ = 0;
  std::vector<std::uint32_t> crossing_;           // by node
  std::vector<std::uint32_t> received_;           // by node
  std::vector<std::vector<std::uint32_t>> have_;  // by node: pieces that have arrived
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> starts_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::priority_queue<LinkEvent, std::vector<LinkEvent>, std::greater<>> links_;
};

}  // namespace

std::vector<TimedTree> timed_out_trees(const Topology& topology, const PackGraph& graph,
                                       std::uint32_t pieces, Bytes bytes,
                                       const MessageTiming& timing, TimedOrder order, bool reversed,
                                       const WorkBudget& budget) {
  return TimedTrees(topology, graph, pieces, bytes, timing, order, reversed, budget).run();
}

namespace {

constexpr std::uint32_t kMostTimedPieces = 32;  // of a root's data

bool fits_pieces(const ForestTask& task, std::uint32_t pieces) {
  const CollectiveRequest& request = task.request;
  if (pieces == request.segments || pieces == 1) return true;
  if (request.segments != 0) return false;
  const std::size_t rows = (task.ranks.size() - 1) * pieces;
  const bool fits_table = request.table_rows == 0 || rows <= 2 * request.table_rows;
  return fits_table && pieces <= kMostTimedPieces &&
         request.size / task.ranks.size() / pieces >=
             std::max(kLeastMessage, request.element_bytes);
}

// Returns the planned time, or nothing if there are no trees. `graphs`: by phase.
std::optional<std::uint64_t> add_timed(const ForestTask& task, SegmentSearch& search,
                                       const std::vector<PackGraph>& graphs, std::uint32_t pieces,
                                       TimedOrder kind) {
  TreeOps forest = task.no_trees(pieces);
  const Bytes bytes = search.unit_bytes(forest);
  std::vector<std::uint64_t> starts;
  for (std::size_t phase = 0; phase < graphs.size(); ++phase) {
    const bool reversed = task.phases[phase];
    const std::vector<TimedTree> trees =
        timed_out_trees(task.topology, graphs[phase], pieces, bytes, task.request.timing, kind,
                        reversed, search.budget());
    if (trees.empty()) return std::nullopt;
    // The root that was reduced to last decides when all of them pass on the sums.
    const std::uint64_t after =
        phase == 0 ? 0 : search.end_ps(forest, starts) + task.request.timing.turnaround_ps;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const PackedTree& tree = trees[t].tree;
      const std::vector<std::uint64_t>& times = trees[t].start_ps;
      task.add_tree(graphs[phase], tree, task.ranks[tree.root] * pieces + t % pieces, reversed,
                    forest);
      if (reversed) {
        starts.insert(starts.end(), times.rbegin(), times.rend());
      } else {
        for (const std::uint64_t time : times) starts.push_back(after + time);
      }
    }
  }
  return search.consider_starts(forest, std::move(starts));
}

}  // namespace

void plan_timed_trees(const ForestTask& task, SegmentSearch& search) {
  LinkOrder order(task.topology);
  std::vector<PackGraph> graphs;
  for (const bool reversed : task.phases) graphs.push_back(task.paths_of_pairs(reversed, order));
  for (const TimedOrder kind : {TimedOrder::busy, TimedOrder::balanced}) {
    std::uint64_t best_ps = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t pieces = std::max(1U, task.request.segments); fits_pieces(task, pieces);
         pieces *= 2) {
      const std::optional<std::uint64_t> time_ps = add_timed(task, search, graphs, pieces, kind);
      if (!time_ps || task.request.segments != 0 || *time_ps >= best_ps) break;
      best_ps = *time_ps;
    }
  }
}

}  // namespace espalier
