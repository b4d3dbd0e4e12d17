#include "sims/workload/graph/work_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  WorkChecker(const WorkGraph& graph, std::size_t most) : graph_(graph), most_(most) {
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      first_.push_back(met_.size());
      for (std::uint32_t n = 0; n < work(rank).nodes.size(); ++n) {
        met_.push_back(posts_.size());
        posts_.push_back({rank, n});
      }
    }
  }

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
  void report(std::uint32_t rank, std::string what) {
    if (mistakes_.size() < most_) mistakes_.push_back({rank, std::move(what)});
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
    for (const Post& post : posts_) check_node(post);
  }

  void check_node(const Post& post) {
    const WorkNode& n = node(post);
    if (n.kind == WorkKind::send || n.kind == WorkKind::receive) {
      const char* what = n.kind == WorkKind::send ? "sends to" : "receives from";
      if (n.peer >= ranks()) {
        report(post.rank, fmt::format("{} {} rank {}, but there are {} ranks", name(post), what,
                                      n.peer, ranks()));
      } else if (n.peer == post.rank) {
        report(post.rank, fmt::format("{} {} its own rank", name(post), what));
      }
    } else if (n.kind == WorkKind::collective && set_of_.at(n.group)[post.rank] == kNone) {
      report(post.rank,
             fmt::format("{} runs a collective of group {}, of which rank {} is no member",
                         name(post), graph_.groups[n.group].name, post.rank));
    }
  }

  // The messages of a tag from one rank to another, and their receives, by size.
  void check_messages() {
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // from, to, tag
    std::map<Channel, std::array<std::vector<Post>, 2>> channels;             // sends, receives
    for (const Post& post : posts_) {
      const WorkNode& end = node(post);
      if (end.kind == WorkKind::send) channels[{post.rank, end.peer, end.tag}][0].push_back(post);
      if (end.kind == WorkKind::receive)
        channels[{end.peer, post.rank, end.tag}][1].push_back(post);
    }
    for (auto& [channel, ends] : channels) {
      for (auto& side : ends) {
        std::stable_sort(side.begin(), side.end(), [&](const Post& a, const Post& b) {
          return node(a).bytes < node(b).bytes;
        });
      }
      const auto& [sends, receives] = ends;
      const auto& [from, to, tag] = channel;
      for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        if (i >= receives.size()) {
          report(from, fmt::format("{} sends to rank {} with tag {}, where no receive is left",
                                   name(sends[i]), to, tag));
        } else if (i >= sends.size()) {
          report(to,
                 fmt::format("{} receives from rank {} with tag {}, which sends no such message",
                             name(receives[i]), from, tag));
        } else if (node(sends[i]).bytes != node(receives[i]).bytes) {
          report(from, fmt::format("{} sends {} B with tag {}, but {} receives {} B",
                                   name(sends[i]), node(sends[i]).bytes, tag, name(receives[i]),
                                   node(receives[i]).bytes));
        }
      }
      if (sends.size() == 1 && receives.size() == 1) arrivals_.emplace_back(sends[0], receives[0]);
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
      const auto posts_less = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto least = std::min_element(counts.begin(), counts.end(), posts_less);
      const auto most = std::max_element(counts.begin(), counts.end(), posts_less);
      if (least->second == most->second) continue;
      const auto first =
          std::find_if(posts.begin(), posts.end(),
                       [&, rank = most->first](const Post& post) { return post.rank == rank; });
      const std::string instead = other_posts(group, set, least->first, kind);
      report(
          most->first,
          fmt::format("rank {} posts {} x {} of {} B in group {}, first with {}, but rank {} posts "
                      "{}{}",
                      most->first, most->second, to_string(op), bytes, graph_.groups[group].name,
                      name(*first), least->first, least->second, instead));
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

  // Each rank's nodes in an order in which none waits for a later one. Reports a circle.
  void order_nodes() {
    orders_.resize(ranks());
    for (const std::size_t n : order_of_all()) orders_[posts_[n].rank].push_back(posts_[n].node);
  }

  // Looks for a circle among the waits of all ranks, where a collective is one node for all members
  // that is known to meet there, and a receive waits for its send.
  void check_waits() {
    for (const auto& [kind, posts] : kinds_) {
      const std::size_t count =
          posts.size() / graph_.groups[std::get<0>(kind)].sets[std::get<1>(kind)].size();
      bool all = true;
      for (std::size_t p = 0; p < posts.size() && all; p += count) {
        all = are_ordered(posts, p, p + count);
      }
      for (std::size_t p = count; p < posts.size() && all; ++p) {
        met_[index(posts[p])] = index(posts[p % count]);
      }
    }
    order_of_all();
  }

  [[nodiscard]] std::size_t index(const Post& post) const { return first_[post.rank] + post.node; }

  // Visits what each node of all ranks waits for.
  template <class Visit>
  void for_each_wait(const Visit& visit) const {
    for (const Post& post : posts_) {
      const RankWork& of = work(post.rank);
      for (std::uint32_t w = of.first_wait[post.node]; w < of.first_wait[post.node + 1]; ++w) {
        visit(post, Post{post.rank, of.waits[w]});
      }
    }
    for (const auto& [send, receive] : arrivals_) visit(receive, send);
  }

  // All nodes (of those that meet, one), none before what it waits for. Reports a circle.
  std::vector<std::size_t> order_of_all() {
    std::vector<std::size_t> first(met_.size() + 1);
    std::vector<std::size_t> waiting(met_.size());
    for_each_wait([&](const Post& post, const Post& before) {
      ++first[met_[index(before)] + 1];
      ++waiting[met_[index(post)]];
    });
    for (std::size_t n = 0; n < met_.size(); ++n) first[n + 1] += first[n];
    std::vector<std::size_t> children(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for_each_wait([&](const Post& post, const Post& before) {
      children[next[met_[index(before)]]++] = met_[index(post)];
    });
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < met_.size(); ++n) {
      if (waiting[n] == 0) order.push_back(n);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
      for (std::size_t c = first[order[done]]; c < first[order[done] + 1]; ++c) {
        if (--waiting[children[c]] == 0) order.push_back(children[c]);
      }
    }
    if (order.size() != met_.size()) report_circle(waiting);
    return order;
  }

  // `waiting` of a node is above 0 if it is on a circle or behind one.
  void report_circle(const std::vector<std::size_t>& waiting) {
    constexpr std::size_t kMostNamed = 12;
    std::map<std::size_t, std::pair<Post, Post>> waits;  // one of each node that is stuck
    for_each_wait([&](const Post& post, const Post& before) {
      if (waiting[met_[index(before)]] == 0) return;
      waits.emplace(met_[index(post)], std::make_pair(post, before));
    });
    std::map<std::size_t, std::size_t> place;
    std::vector<std::string> path;
    std::size_t at = waits.begin()->first;
    while (place.emplace(at, path.size()).second) {
      const auto& [post, before] = waits.at(at);
      path.push_back(fmt::format("{} waits for {}", name(post), name(before)));
      at = met_[index(before)];
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(place.at(at)));
    if (path.size() > kMostNamed) {
      path[kMostNamed] = fmt::format("and {} more", path.size() - kMostNamed);
      path.resize(kMostNamed + 1);
    }
    report(waits.at(at).first.rank,
           fmt::format("nodes wait for each other in a circle{}: {}",
                       kinds_.empty() && arrivals_.empty()
                           ? ""
                           : ", where a collective waits for all its ranks",
                       fmt::join(path, ", ")));
  }

  const WorkGraph& graph_;
  std::size_t most_;
  std::vector<WorkMistake> mistakes_;
  std::vector<std::vector<std::uint32_t>> set_of_;  // by group and rank; kNone: in no set
  std::vector<std::vector<std::uint32_t>> orders_;  // by rank: nodes
  std::map<Kind, std::vector<Post>> kinds_;         // posts by rank, in the order of orders_
  std::vector<std::pair<Post, Post>> arrivals_;     // sends and receives that are sure to meet
  // Nodes of all ranks have numbers.
  std::vector<Post> posts_;         // by number
  std::vector<std::size_t> first_;  // by rank: the number of its first node
  // By number: of a collective whose members' nodes are known to meet, that of the first member.
  std::vector<std::size_t> met_;
  std::uint64_t visits_ = 0;
};

}  // namespace

std::vector<WorkMistake> check_work(const WorkGraph& graph, std::size_t most) {
  return WorkChecker(graph, most).check();
}

}  // namespace espalier
