#include "alg/certify/route_relation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "alg/certify/channel_dependencies.h"
#include "alg/schedule/schedule_text.h"

namespace espalier {

void RouteRelation::add_wait(ChannelNumber holds, std::vector<ChannelNumber> wants) {
  used_[holds] = true;
  for (const ChannelNumber channel : wants) used_[channel] = true;
  waits_.push_back({holds, std::move(wants)});
}

void RouteRelation::add_route(const std::vector<ChannelNumber>& channels) {
  for (const ChannelNumber channel : channels) used_[channel] = true;
  for (std::size_t hop = 1; hop < channels.size(); ++hop) {
    add_wait(channels[hop - 1], {channels[hop]});
  }
}

std::string RouteRelation::add_choices(NodeId to, const std::vector<std::vector<Choice>>& choices) {
  std::vector<bool> reached(used_.size(), false);
  std::vector<ChannelNumber> found;
  bool marks = false;
  bool lacks = false;
  for (const auto& at_vertex : choices) {
    bool here = false;
    for (const Choice& choice : at_vertex) {
      here |= choice.escape;
      if (!reached[choice.channel]) found.push_back(choice.channel);
      reached[choice.channel] = true;
    }
    marks |= here;
    lacks |= !here && !at_vertex.empty();
  }
  if (marks && lacks) {
    return fmt::format("some vertices mark an escape channel for '{}', others mark none",
                       topology_.vertex_name(to));
  }
  for (const ChannelNumber holds : found) {
    const NodeId at = topology_.link(LinkId(holds / classes_)).to;
    used_[holds] = true;
    if (at == to) continue;
    if (choices[at.index()].empty()) {
      return fmt::format("a packet for '{}' has no choice at '{}'", topology_.vertex_name(to),
                         topology_.vertex_name(at));
    }
    std::vector<ChannelNumber> wants;
    for (const Choice& choice : choices[at.index()]) wants.push_back(choice.channel);
    add_wait(holds, std::move(wants));
  }
  destinations_.push_back({to, choices});
  return {};
}

RouteVerdict RouteRelation::decide() const {
  RouteVerdict verdict;
  decide_cut_through(verdict);
  if (verdict.cut_through) decide_wormhole(verdict);
  return verdict;
}

void RouteRelation::decide_cut_through(RouteVerdict& verdict) const {
  // A wait blocks its holder while all wanted channels may be blocked; a channel with no such wait
  // becomes free again.
  std::vector<std::vector<std::uint32_t>> wanted_by(used_.size());
  std::vector<std::uint32_t> blocking(used_.size(), 0);  // waits, by holder
  std::vector<bool> can_move(waits_.size(), false);
  for (std::uint32_t w = 0; w < waits_.size(); ++w) {
    ++blocking[waits_[w].holds];
    for (const ChannelNumber channel : waits_[w].wants) wanted_by[channel].push_back(w);
  }
  std::vector<ChannelNumber>& order = verdict.proof;
  for (ChannelNumber c = 0; c < used_.size(); ++c) {
    if (used_[c] && blocking[c] == 0) order.push_back(c);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t w : wanted_by[order[i]]) {
      if (can_move[w]) continue;
      can_move[w] = true;
      if (--blocking[waits_[w].holds] == 0) order.push_back(waits_[w].holds);
    }
  }
  verdict.cut_through = order.size() == num_channels();
  if (verdict.cut_through) return;

  // One blocked packet for each channel, and all channels that these packets lead to.
  std::vector<std::uint32_t> blocked(used_.size(), static_cast<std::uint32_t>(waits_.size()));
  for (std::uint32_t w = 0; w < waits_.size(); ++w) {
    std::uint32_t& chosen = blocked[waits_[w].holds];
    if (can_move[w]) continue;
    if (chosen == waits_.size() || waits_[w].wants.size() < waits_[chosen].wants.size()) chosen = w;
  }
  ChannelNumber at = 0;
  while (blocked[at] == waits_.size()) ++at;
  // Following first wishes ends in a cycle, from which the list starts.
  std::vector<bool> seen(used_.size(), false);
  for (; !seen[at]; at = waits_[blocked[at]].wants.front()) seen[at] = true;
  order.assign(1, at);
  seen.assign(used_.size(), false);
  seen[at] = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const ChannelNumber next : waits_[blocked[order[i]]].wants) {
      if (!seen[next]) order.push_back(next);
      seen[next] = true;
    }
  }
}

void RouteRelation::decide_wormhole(RouteVerdict& verdict) const {
  std::vector<std::size_t> rank(used_.size(), 0);
  for (std::size_t i = 0; i < verdict.proof.size(); ++i) rank[verdict.proof[i]] = i;
  // Waits on routes without a choice count as they are.
  std::set<std::pair<ChannelNumber, ChannelNumber>> waits;  // wanted, held
  for (const Wait& wait : waits_) {
    if (wait.wants.size() == 1) waits.emplace(wait.wants.front(), wait.holds);
  }
  const auto escapes = [&](const std::vector<Choice>& choices) {
    std::vector<ChannelNumber> found;
    for (const Choice& choice : choices) {
      if (choice.escape) found.push_back(choice.channel);
    }
    if (found.empty() && !choices.empty()) {
      found.push_back(
          std::min_element(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
            return rank[a.channel] < rank[b.channel];
          })->channel);
    }
    return found;
  };
  std::vector<bool> is_escape(used_.size(), false);
  for (const Destination& d : destinations_) {
    for (const auto& choices : d.choices) {
      for (const ChannelNumber channel : escapes(choices)) is_escape[channel] = true;
    }
  }
  const auto head = [&](ChannelNumber c) { return topology_.link(LinkId(c / classes_)).to; };
  for (const Destination& d : destinations_) {
    // Behind each vertex, the escapes for which a packet may wait later.
    std::vector<std::vector<ChannelNumber>> later(topology_.num_vertices());
    for (std::size_t v = 0; v < later.size(); ++v) {
      std::vector<bool> seen(later.size(), false);
      std::vector<NodeId> stack{NodeId(v)};
      seen[v] = true;
      while (!stack.empty()) {
        const NodeId at = stack.back();
        stack.pop_back();
        if (at == d.to) continue;
        const auto& choices = d.choices[at.index()];
        for (const ChannelNumber channel : escapes(choices)) later[v].push_back(channel);
        for (const Choice& choice : choices) {
          const NodeId next = head(choice.channel);
          if (!seen[next.index()]) stack.push_back(next);
          seen[next.index()] = true;
        }
      }
    }
    for (const auto& choices : d.choices) {
      for (const Choice& choice : choices) {
        if (!is_escape[choice.channel]) continue;
        for (const ChannelNumber wanted : later[head(choice.channel).index()]) {
          waits.emplace(wanted, choice.channel);
        }
      }
    }
  }
  std::vector<Precedence> precedences;
  for (const auto& [wanted, held] : waits) precedences.push_back({wanted, held});
  verdict.wormhole_cycle = sort_topologically(used_.size(), precedences).cycle;
  verdict.wormhole = verdict.wormhole_cycle.empty();
}

std::string RouteRelation::channel_name(ChannelNumber channel) const {
  return fmt::format("link {} in VC class {}", link_name(topology_, LinkId(channel / classes_)),
                     channel % classes_);
}

std::size_t RouteRelation::num_channels() const {
  return static_cast<std::size_t>(std::count(used_.begin(), used_.end(), true));
}

}  // namespace espalier
