#include "sims/workload/graph/work_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace espalier {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// Visits of nodes, for the question whether dependencies order the collectives of a kind.
constexpr std::uint64_t kMostVisits = 20'000'000;

class WorkChecker {
 public:
  WorkChecker(const WorkGraph& graph, std::size_t most) : graph_(graph), most_(most) {}

  std::vector<WorkMistake> check() {
    check_nodes();
    if (mistakes_.empty()) order_nodes();
    if (mistakes_.empty()) check_messages();
    if (mistakes_.empty()) check_collectives();
    if (mistakes_.empty()) check_waits();
    return std::move(mistakes_);
  }

 private:
  struct Post {
    std::uint32_t rank;
    std::uint32_t node;
  };
  // Collectives that cannot be told apart, at one set of ranks.
  using Kind = std::tuple<std::uint32_t, std::uint32_t, CollectiveOp, Bytes>;  // group, set, ...

  [[nodiscard]] std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(graph_.ranks.size());
  }
  [[nodiscard]] const RankWork& work(std::uint32_t rank) const { return *graph_.ranks[rank]; }
  [[nodiscard]] const WorkNode& node(const Post& post) const {
    return work(post.rank).nodes[post.node];
  }
  // "node 17 (layer_3) of rank 5"
  [[nodiscard]] std::string name(const Post& post) const {
    const WorkNode& named = node(post);
    return fmt::format("node {} ({}) of rank {}", named.id, graph_.names[named.name], post.rank);
  }
  [[nodiscard]] std::string posted(const Post& post) const {
    const WorkNode& what = node(post);
    return fmt::format("{} of {} B by {}", to_string(what.op), what.bytes, name(post));
  }
  // False when there are enough mistakes.
  bool report(std::uint32_t rank, std::string what) {
    if (mistakes_.size() < most_) mistakes_.push_back({rank, std::move(what)});
    return mistakes_.size() < most_;
  }

  void check_nodes() {
    for (std::uint32_t group = 0; group < graph_.groups.size(); ++group) {
      auto& set_of = set_of_.emplace_back(ranks(), kNone);
      const auto& sets = graph_.groups[group].sets;
      for (std::uint32_t set = 0; set < sets.size(); ++set) {
        for (const std::uint32_t rank : sets[set]) {
          if (rank < ranks()) set_of[rank] = set;
        }
      }
    }
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      for (std::uint32_t n = 0; n < work(rank).nodes.size(); ++n) {
        if (!check_node({rank, n})) return;
      }
    }
  }

  bool check_node(const Post& post) {
    const WorkNode& n = node(post);
    if (n.kind == WorkKind::send || n.kind == WorkKind::receive) {
      const char* what = n.kind == WorkKind::send ? "sends to" : "receives from";
      if (n.peer >= ranks()) {
        return report(post.rank, fmt::format("{} {} rank {}, but there are {} ranks", name(post),
                                             what, n.peer, ranks()));
      }
      if (n.peer == post.rank) {
        return report(post.rank, fmt::format("{} {} its own rank", name(post), what));
      }
    }
    if (n.kind != WorkKind::collective || set_of_.at(n.group)[post.rank] != kNone) return true;
    return report(post.rank, fmt::format("{} runs a collective of group {}, of which rank {} is no "
                                         "member",
                                         name(post), graph_.groups[n.group].name, post.rank));
  }

  // Orders each rank's nodes so that none waits for a later one, and reports a circle.
  void order_nodes() {
    std::map<const RankWork*, std::uint32_t> known;  // ranks may share their work
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      const auto [same, is_new] = known.try_emplace(&work(rank), rank);
      orders_.push_back(is_new ? order_of(work(rank)) : orders_[same->second]);
      if (!is_new || orders_.back().size() == work(rank).nodes.size()) continue;
      if (!report(rank, circle_in(rank))) return;
    }
  }

  static std::vector<std::uint32_t> order_of(const RankWork& of) {
    const std::size_t nodes = of.nodes.size();
    std::vector<std::uint32_t> first(nodes + 1);
    std::vector<std::uint32_t> waiting(nodes);
    for (const std::uint32_t wait : of.waits) ++first[wait + 1];
    for (std::size_t n = 0; n < nodes; ++n) first[n + 1] += first[n];
    std::vector<std::uint32_t> children(of.waits.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    std::vector<std::uint32_t> order;
    order.reserve(nodes);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      waiting[n] = of.first_wait[n + 1] - of.first_wait[n];
      if (waiting[n] == 0) order.push_back(n);
      for (std::uint32_t w = of.first_wait[n]; w < of.first_wait[n + 1]; ++w) {
        children[next[of.waits[w]]++] = n;
      }
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
      const std::uint32_t n = order[done];
      for (std::uint32_t c = first[n]; c < first[n + 1]; ++c) {
        if (--waiting[children[c]] == 0) order.push_back(children[c]);
      }
    }
    return order;
  }

  [[nodiscard]] std::string circle_in(std::uint32_t rank) const {
    const RankWork& of = work(rank);
    std::vector<bool> is_stuck(of.nodes.size(), true);
    for (const std::uint32_t n : orders_[rank]) is_stuck[n] = false;
    std::vector<std::uint32_t> place(of.nodes.size(), kNone);  // on the path
    std::vector<std::uint32_t> path;
    auto at = static_cast<std::uint32_t>(std::find(is_stuck.begin(), is_stuck.end(), true) -
                                         is_stuck.begin());
    while (place[at] == kNone) {
      place[at] = static_cast<std::uint32_t>(path.size());
      path.push_back(at);
      const auto begin = of.waits.begin() + of.first_wait[at];
      at = *std::find_if(begin, of.waits.begin() + of.first_wait[at + 1],
                         [&](std::uint32_t wait) { return is_stuck[wait]; });
    }
    std::vector<std::string> names;
    for (std::size_t p = place[at]; p < path.size(); ++p) {
      const WorkNode& stuck = of.nodes[path[p]];
      names.push_back(fmt::format("{} ({})", stuck.id, graph_.names[stuck.name]));
    }
    return fmt::format("nodes of rank {} wait in a circle, each for the next: {}", rank,
                       listed(names));
  }

  // A circle may be long.
  static std::string listed(std::vector<std::string> names) {
    constexpr std::size_t kMostNames = 12;
    if (names.size() > kMostNames) {
      const std::size_t left_out = names.size() - kMostNames;
      names.resize(kMostNames);
      names.push_back(fmt::format("and {} more", left_out));
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  // The messages of a tag from one rank to another, and their receives.
  void check_messages() {
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // from, to, tag
    struct End {
      Channel channel;
      Bytes bytes;
      Post post;
    };
    std::vector<End> ends[2];  // sends, receives
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      for (const std::uint32_t n : orders_[rank]) {
        const WorkNode& end = work(rank).nodes[n];
        if (end.kind == WorkKind::send) {
          ends[0].push_back({{rank, end.peer, end.tag}, end.bytes, {rank, n}});
        } else if (end.kind == WorkKind::receive) {
          ends[1].push_back({{end.peer, rank, end.tag}, end.bytes, {rank, n}});
        }
      }
    }
    for (auto& side : ends) {
      std::stable_sort(side.begin(), side.end(), [](const End& a, const End& b) {
        return std::tie(a.channel, a.bytes) < std::tie(b.channel, b.bytes);
      });
    }
    const auto& [sends, receives] = ends;
    std::size_t s = 0;
    std::size_t r = 0;
    while (s < sends.size() || r < receives.size()) {
      const bool has_send =
          s < sends.size() && (r == receives.size() || !(receives[r].channel < sends[s].channel));
      const bool has_receive =
          r < receives.size() && (s == sends.size() || !(sends[s].channel < receives[r].channel));
      if (has_send && has_receive) {
        const End& send = sends[s++];
        const End& receive = receives[r++];
        if (send.bytes != receive.bytes &&
            !report(send.post.rank, fmt::format("{} sends {} B with tag {}, but {} receives {} B",
                                                name(send.post), send.bytes, node(send.post).tag,
                                                name(receive.post), receive.bytes))) {
          return;
        }
        const bool is_alone = (s < 2 || sends[s - 2].channel != send.channel) &&
                              (s == sends.size() || sends[s].channel != send.channel);
        if (is_alone) arrivals_.emplace_back(send.post, receive.post);
      } else {
        const Post post = has_send ? sends[s++].post : receives[r++].post;
        const WorkNode& end = node(post);
        if (!report(
                post.rank,
                fmt::format(has_send ? "{} sends to rank {} with tag {}, where no receive is left"
                                     : "{} receives from rank {} with tag {}, which sends no "
                                       "such message",
                            name(post), end.peer, end.tag))) {
          return;
        }
      }
    }
  }

  // Members of a set post the same collectives, in any order.
  void check_collectives() {
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      for (const std::uint32_t n : orders_[rank]) {
        const WorkNode& post = work(rank).nodes[n];
        if (post.kind != WorkKind::collective) continue;
        const std::uint32_t set = set_of_[post.group][rank];
        if (graph_.groups[post.group].sets[set].size() == 1) continue;
        kinds_[{post.group, set, post.op, post.bytes}].push_back({rank, n});
      }
    }
    for (const auto& [kind, posts] : kinds_) {
      const auto& [group, set, op, bytes] = kind;
      const auto& members = graph_.groups[group].sets[set];
      std::map<std::uint32_t, std::uint32_t> counts;
      for (const std::uint32_t rank : members) counts[rank] = 0;
      for (const Post& post : posts) ++counts[post.rank];
      const auto [least, most] =
          std::minmax_element(counts.begin(), counts.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
      if (least->second == most->second) continue;
      const auto first =
          std::find_if(posts.begin(), posts.end(),
                       [&, rank = most->first](const Post& post) { return post.rank == rank; });
      const std::string instead = other_posts(group, set, least->first, kind);
      if (!report(most->first,
                  fmt::format(
                      "rank {} posts {} x {} of {} B in group {}, first with {}, but rank {} "
                      "posts {}{}",
                      most->first, most->second, to_string(op), bytes, graph_.groups[group].name,
                      name(*first), least->first, least->second, instead))) {
        return;
      }
    }
  }

  // A collective of the rank that could be the one that is missing.
  [[nodiscard]] std::string other_posts(std::uint32_t group, std::uint32_t set, std::uint32_t rank,
                                        const Kind& but) const {
    for (auto kind = kinds_.lower_bound({group, set, CollectiveOp{}, 0}); kind != kinds_.end();
         ++kind) {
      if (std::get<0>(kind->first) != group || std::get<1>(kind->first) != set) break;
      if (kind->first == but) continue;
      for (const Post& post : kind->second) {
        if (post.rank == rank) return fmt::format(" (and {})", posted(post));
      }
    }
    return {};
  }

  // Whether dependencies order the posts, which are a rank's collectives of a kind. Spends visits.
  bool are_ordered(const std::vector<Post>& posts, std::size_t begin, std::size_t end) {
    if (end - begin < 2) return true;
    const RankWork& of = work(posts[begin].rank);
    const auto& order = orders_[posts[begin].rank];
    visits_ += order.size() + of.waits.size();
    if (visits_ > kMostVisits) return false;
    std::vector<std::uint32_t> depth(of.nodes.size());  // posts on the longest path to a node
    std::size_t next = begin;
    for (const std::uint32_t n : order) {
      for (std::uint32_t w = of.first_wait[n]; w < of.first_wait[n + 1]; ++w) {
        depth[n] = std::max(depth[n], depth[of.waits[w]]);
      }
      if (next < end && posts[next].node == n) {
        ++depth[n];
        ++next;
      }
    }
    return depth[posts[end - 1].node] == end - begin;
  }

  // Looks for a circle among the waits of all ranks, where a collective is one node for all members
  // that is known to meet there, and a receive waits for its send.
  void check_waits() {
    first_.assign(1, 0);
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      first_.push_back(first_.back() + work(rank).nodes.size());
    }
    // By node of all ranks: the first member's node of the same collective.
    std::vector<std::size_t> met(first_.back());
    for (std::size_t n = 0; n < met.size(); ++n) met[n] = n;
    for (const auto& [kind, posts] : kinds_) {
      const std::size_t count =
          posts.size() / graph_.groups[std::get<0>(kind)].sets[std::get<1>(kind)].size();
      bool all = true;
      for (std::size_t p = 0; p < posts.size() && all; p += count) {
        all = are_ordered(posts, p, p + count);
      }
      for (std::size_t p = count; p < posts.size() && all; ++p) {
        met[index(posts[p])] = index(posts[p % count]);
      }
    }
    std::vector<std::pair<std::size_t, std::size_t>> edges;  // from what is waited for
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      const RankWork& of = work(rank);
      for (std::uint32_t n = 0; n < of.nodes.size(); ++n) {
        for (std::uint32_t w = of.first_wait[n]; w < of.first_wait[n + 1]; ++w) {
          edges.emplace_back(met[first_[rank] + of.waits[w]], met[first_[rank] + n]);
        }
      }
    }
    for (const auto& [send, receive] : arrivals_) edges.emplace_back(index(send), index(receive));
    find_circle(met, std::move(edges));
  }

  [[nodiscard]] std::size_t index(const Post& post) const { return first_[post.rank] + post.node; }

  void find_circle(const std::vector<std::size_t>& met,
                   std::vector<std::pair<std::size_t, std::size_t>> edges) {
    std::vector<std::size_t> first(met.size() + 1);
    std::vector<std::size_t> waiting(met.size());
    for (const auto& [from, to] : edges) {
      ++first[from + 1];
      ++waiting[to];
    }
    for (std::size_t n = 0; n < met.size(); ++n) first[n + 1] += first[n];
    std::vector<std::size_t> children(edges.size());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (const auto& [from, to] : edges) children[next[from]++] = to;
    std::vector<std::size_t> done;
    for (std::size_t n = 0; n < met.size(); ++n) {
      if (waiting[n] == 0) done.push_back(n);
    }
    for (std::size_t d = 0; d < done.size(); ++d) {
      for (std::size_t c = first[done[d]]; c < first[done[d] + 1]; ++c) {
        if (--waiting[children[c]] == 0) done.push_back(children[c]);
      }
    }
    if (done.size() == met.size()) return;
    report_circle(met, waiting);
  }

  // `waiting` of a node is above 0 if it is on a circle or behind one.
  void report_circle(const std::vector<std::size_t>& met, const std::vector<std::size_t>& waiting) {
    struct Wait {
      Post post;
      Post for_what;
    };
    std::map<std::size_t, Wait> waits;  // one of each node that is stuck
    const auto post_of = [&](std::size_t n) {
      const auto rank = std::upper_bound(first_.begin(), first_.end(), n) - first_.begin() - 1;
      return Post{static_cast<std::uint32_t>(rank),
                  static_cast<std::uint32_t>(n - first_[static_cast<std::size_t>(rank)])};
    };
    for (std::size_t n = 0; n < met.size(); ++n) {
      if (waiting[met[n]] == 0) continue;
      const Post post = post_of(n);
      const RankWork& of = work(post.rank);
      for (std::uint32_t w = of.first_wait[post.node]; w < of.first_wait[post.node + 1]; ++w) {
        const Post before{post.rank, of.waits[w]};
        if (waiting[met[index(before)]] != 0) waits.emplace(met[n], Wait{post, before});
      }
    }
    for (const auto& [send, receive] : arrivals_) {
      if (waiting[index(send)] != 0) waits.emplace(index(receive), Wait{receive, send});
    }
    std::map<std::size_t, std::size_t> place;
    std::vector<std::string> path;
    std::size_t at = waits.begin()->first;
    std::uint32_t rank = 0;
    while (place.emplace(at, path.size()).second) {
      const Wait& wait = waits.at(at);
      path.push_back(fmt::format("{} waits for {}", name(wait.post), name(wait.for_what)));
      rank = wait.post.rank;
      at = met[index(wait.for_what)];
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(place.at(at)));
    report(rank,
           "ranks wait for each other, because collectives and messages end at all their "
           "ranks: " +
               listed(path));
  }

  const WorkGraph& graph_;
  std::size_t most_;
  std::vector<WorkMistake> mistakes_;
  std::vector<std::vector<std::uint32_t>> set_of_;  // by group and rank; kNone: in no set
  std::vector<std::vector<std::uint32_t>> orders_;  // by rank: nodes
  std::map<Kind, std::vector<Post>> kinds_;         // posts by rank, in the order of orders_
  std::vector<std::pair<Post, Post>> arrivals_;     // sends and receives that are sure to meet
  std::vector<std::size_t> first_;  // by rank: its first node among all ranks' nodes
  std::uint64_t visits_ = 0;
};

}  // namespace

std::vector<WorkMistake> check_work(const WorkGraph& graph, std::size_t most) {
  return WorkChecker(graph, most).check();
}

}  // namespace espalier
