#include "sims/workload/graph/graph_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace espalier {

namespace {

constexpr std::uint64_t kNanosecond = 1000;  // in picoseconds

void push(std::vector<std::uint32_t>& heap, std::uint32_t node) {
  heap.push_back(node);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

std::uint32_t pop(std::vector<std::uint32_t>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const std::uint32_t node = heap.back();
  heap.pop_back();
  return node;
}

template <class T>
std::uint32_t place_of(const std::vector<T>& sorted, const T& value) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
  return found == sorted.end() || *found != value
             ? ~std::uint32_t{0}
             : static_cast<std::uint32_t>(found - sorted.begin());
}

template <class T>
void sort_once(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::vector<WorkSet> sets_of(const WorkGraph& graph) {
  std::vector<WorkSet> sets;
  for (std::uint32_t g = 0; g < graph.groups.size(); ++g) {
    for (std::uint32_t s = 0; s < graph.groups[g].sets.size(); ++s) sets.push_back({g, s});
  }
  return sets;
}

GraphHosts::GraphHosts(const WorkGraph& graph, IssueOrder issue, const ClockSpec& clock,
                       std::uint32_t chunks, bool keeps_times, const FoldedWork& folded)
    : graph_(graph),
      issue_(issue),
      clock_(clock),
      chunks_(chunks),
      sets_(sets_of(graph)),
      ranks_(graph.ranks.size()),
      times_(graph.ranks.size()),
      numbers_(sets_.size()),
      folded_(folded) {
  // By rank: group, and number of the rank's set. Ascending in the group.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> member(ranks_.size());
  for (std::uint32_t s = 0; s < sets_.size(); ++s) {
    for (const std::uint32_t r : graph.groups[sets_[s].group].sets[sets_[s].set]) {
      member[r].push_back({sets_[s].group, s});
    }
  }
  std::size_t nodes = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const RankWork& work = *graph.ranks[r];
    auto known = shapes_.find(&work);
    if (known == shapes_.end()) known = shapes_.emplace(&work, make_shape(work)).first;
    Rank& rank = ranks_[r];
    rank.shape = &known->second;
    rank.first = nodes;
    rank.left = static_cast<std::uint32_t>(work.nodes.size());
    rank.posted.resize(rank.shape->groups.size(), 0);
    rank.channels.resize(rank.shape->channels.size());
    for (const std::uint32_t group : rank.shape->groups) {
      const auto of_group = std::lower_bound(member[r].begin(), member[r].end(),
                                             std::pair<std::uint32_t, std::uint32_t>{group, 0});
      const bool is_member = of_group != member[r].end() && of_group->first == group;
      rank.sets.push_back(is_member ? of_group->second : kNone);
    }
    nodes += work.nodes.size();
    missing_.insert(missing_.end(), rank.shape->waits.begin(), rank.shape->waits.end());
  }
  if (keeps_times) node_times_.resize(nodes);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].left != 0 && runs(r)) ++left_;
  }
}

bool GraphHosts::runs(std::size_t rank) const {
  if (folded_.alike == nullptr) return true;
  const std::vector<std::uint32_t>& first = folded_.alike->blocks.front().ranks;
  return std::binary_search(first.begin(), first.end(), rank);
}

GraphHosts::Shape GraphHosts::make_shape(const RankWork& work) const {
  const std::size_t nodes = work.nodes.size();
  Shape shape;
  shape.work = &work;
  shape.in_file.resize(nodes);
  std::iota(shape.in_file.begin(), shape.in_file.end(), 0U);
  std::sort(shape.in_file.begin(), shape.in_file.end(),
            [&](std::uint32_t a, std::uint32_t b) { return work.nodes[a].id < work.nodes[b].id; });
  std::vector<std::uint32_t> number(nodes);  // by number in the work
  for (std::uint32_t n = 0; n < nodes; ++n) number[shape.in_file[n]] = n;
  shape.first_child.assign(nodes + 1, 0);
  for (const std::uint32_t before : work.waits) ++shape.first_child[number[before] + 1];
  std::partial_sum(shape.first_child.begin(), shape.first_child.end(), shape.first_child.begin());
  shape.children.resize(work.waits.size());
  std::vector<std::uint32_t> next(shape.first_child);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const std::uint32_t in_file = shape.in_file[n];
    const std::uint32_t first = work.first_wait[in_file];
    const std::uint32_t last = work.first_wait[in_file + 1];
    shape.waits.push_back(last - first);
    for (std::uint32_t w = first; w < last; ++w) shape.children[next[number[work.waits[w]]]++] = n;
    const WorkNode& node = work.nodes[in_file];
    if (node.kind == WorkKind::collective) shape.groups.push_back(node.group);
    if (node.kind == WorkKind::receive) shape.channels.push_back({node.peer, node.tag, node.bytes});
  }
  sort_once(shape.groups);
  sort_once(shape.channels);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const WorkNode& node = shape.node(n);
    shape.place.push_back(node.kind == WorkKind::collective ? place_of(shape.groups, node.group)
                          : node.kind == WorkKind::receive
                              ? place_of(shape.channels, {node.peer, node.tag, node.bytes})
                              : 0);
  }
  if (issue_ == IssueOrder::streams) order_launches(shape);
  return shape;
}

void GraphHosts::order_launches(Shape& shape) {
  shape.launches.resize(shape.groups.size());
  shape.turn.resize(shape.in_file.size());
  std::vector<std::uint32_t> missing = shape.waits;
  std::vector<std::uint32_t> free;
  for (std::uint32_t n = 0; n < missing.size(); ++n) {
    if (missing[n] == 0) push(free, n);
  }
  while (!free.empty()) {
    const std::uint32_t n = pop(free);
    if (shape.node(n).kind == WorkKind::collective && shape.node(n).bytes != 0) {
      auto& of_group = shape.launches[shape.place[n]];
      shape.turn[n] = static_cast<std::uint32_t>(of_group.size());
      of_group.push_back(n);
    }
    for (std::uint32_t c = shape.first_child[n]; c < shape.first_child[n + 1]; ++c) {
      if (--missing[shape.children[c]] == 0) push(free, shape.children[c]);
    }
  }
}

void GraphHosts::start(HostServices& services) {
  services_ = &services;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (!runs(r)) continue;
    Rank& rank = ranks_[r];
    for (std::uint32_t n = 0; n < rank.left; ++n) {
      if (rank.shape->waits[n] == 0) make_ready(rank, n);
    }
    if (rank.left != 0) services.wake(RankId(r), 1);
  }
}

void GraphHosts::unfold_if_quiet(Cycle now) {
  // Ranks begin in cycle 1.
  if (now == 1 || under_way_ != 0 || now <= last_done_ + folded_.settling) return;
  if (now < folded_.until) {
    last_quiet_ = now;
    return;
  }
  const std::vector<AlikeBlock>& blocks = folded_.alike->blocks;
  services_->unfold();
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    for (std::size_t r = 0; r < blocks[b].ranks.size(); ++r) {
      const std::uint32_t model = blocks.front().ranks[r];
      const RankId id(blocks[b].ranks[r]);
      Rank& rank = ranks_[id.index()];
      const Rank& other = ranks_[model];
      Rank copy = other;
      copy.first = rank.first;
      copy.sets = std::move(rank.sets);
      rank = std::move(copy);
      std::copy_n(missing_.begin() + static_cast<std::ptrdiff_t>(other.first),
                  rank.shape->waits.size(),
                  missing_.begin() + static_cast<std::ptrdiff_t>(rank.first));
      for (std::size_t g = 0; g < rank.sets.size(); ++g) {
        if (rank.posted[g] != 0) numbers_[rank.sets[g]] = numbers_[other.sets[g]];
      }
      times_[id.index()] = times_[model];
      if (rank.left != 0) ++left_;
      for (const Busy& place : {rank.host, rank.compute}) {
        if (place.node != kNone) services_->wake(id, place.end + 1);
      }
    }
  }
  first_unfolded_ = collectives_.size();
  folded_.alike = nullptr;
}

bool GraphHosts::takes_no_time(const Rank& rank, std::uint32_t node) const {
  const WorkNode& work = rank.shape->node(node);
  switch (work.kind) {
    case WorkKind::none:
      return true;
    case WorkKind::compute:
    case WorkKind::host:
      return work.picoseconds == 0 && issue_ == IssueOrder::streams;
    case WorkKind::collective: {
      const std::uint32_t set = rank.sets[rank.shape->place[node]];
      // A rank alone in its set stands for others that are not.
      return work.bytes == 0 || (set != kNone && !joins_blocks(work.group) &&
                                 graph_.groups[sets_[set].group].sets[sets_[set].set].size() == 1);
    }
    case WorkKind::send:
    case WorkKind::receive:
      break;
  }
  return false;
}

void GraphHosts::make_ready(Rank& rank, std::uint32_t node) {
  const WorkKind kind = rank.shape->node(node).kind;
  if (kind == WorkKind::receive || takes_no_time(rank, node)) {
    rank.at_once.push_back(node);
  } else if (kind == WorkKind::collective && issue_ == IssueOrder::streams &&
             rank.shape->turn[node] != rank.posted[rank.shape->place[node]]) {
    return;  // post() looks at it again when the ones before have been posted
  } else {
    push(kind == WorkKind::compute ? rank.for_compute
         : kind == WorkKind::host  ? rank.for_host
                                   : rank.for_network,
         node);
  }
}

void GraphHosts::learn(RankId id, std::uint32_t node, Cycle at) {
  Rank& rank = ranks_[id.index()];
  rank.ended.push_back({node, at});
  if (rank.woken_at == at + 1) return;
  rank.woken_at = at + 1;
  services_->wake(id, at + 1);
}

void GraphHosts::woken(RankId id, Cycle now) {
  if (folded_.alike != nullptr) unfold_if_quiet(now);
  Rank& rank = ranks_[id.index()];
  // All ends of the cycle before are known, whatever the order of events in this cycle.
  const Cycle begin = now - 1;
  bool walks = !rank.has_begun;
  rank.has_begun = true;
  account(rank, times_[id.index()], begin);
  for (Busy* place : {&rank.host, &rank.compute}) {
    if (place->end > begin) continue;
    const std::uint32_t node = place->node;
    *place = {};
    end(id, node, begin);
    walks = true;
  }
  std::size_t kept = 0;
  for (std::size_t e = 0; e < rank.ended.size(); ++e) {
    const Ended ended = rank.ended[e];
    if (ended.at > begin) {
      rank.ended[kept++] = ended;
      continue;
    }
    const auto over = std::find_if(rank.under_way.begin(), rank.under_way.end(),
                                   [&](const UnderWay& u) { return u.node == ended.node; });
    if (over != rank.under_way.end()) {
      rank.under_way.erase(over);
      --under_way_;
    }
    end(id, ended.node, begin);
    walks = true;
  }
  rank.ended.resize(kept);
  if (walks && failure_.empty()) walk(id, begin, now);
}

void GraphHosts::account(Rank& rank, RankTimes& times, Cycle until) {
  const Cycle cycles = until - rank.accounted;
  rank.accounted = until;
  if (rank.compute.node != kNone) {
    times.compute += cycles;
  } else if (!rank.under_way.empty()) {
    times.exposed += cycles;
    const CollectiveNumber oldest = rank.under_way.front().collective;
    (oldest == kNone ? exposed_sends_ : collectives_[oldest].exposed) += cycles;
  }
}

void GraphHosts::end(RankId id, std::uint32_t node, Cycle at) {
  Rank& rank = ranks_[id.index()];
  times_of(rank, node).end = at;
  const Shape& shape = *rank.shape;
  for (std::uint32_t c = shape.first_child[node]; c < shape.first_child[node + 1]; ++c) {
    if (--missing_[rank.first + shape.children[c]] == 0) make_ready(rank, shape.children[c]);
  }
  if (--rank.left != 0) return;
  times_[id.index()].end = at;
  --left_;
}

void GraphHosts::walk(RankId id, Cycle begin, Cycle now) {
  Rank& rank = ranks_[id.index()];
  std::vector<std::uint32_t> at_once;
  std::uint32_t left = 0;
  do {
    left = rank.left;
    compute(id, rank.host, rank.for_host, begin);
    compute(id, rank.compute, rank.for_compute, begin);
    while (!rank.for_network.empty() && (issue_ == IssueOrder::streams || rank.under_way.empty())) {
      communicate(id, pop(rank.for_network), begin, now);
    }
    at_once.swap(rank.at_once);
    std::sort(at_once.begin(), at_once.end());
    for (const std::uint32_t node : at_once) {
      times_of(rank, node).begin = begin;
      const bool is_receive = rank.shape->node(node).kind == WorkKind::receive;
      if (!is_receive || receive(id, node)) end(id, node, begin);
    }
    at_once.clear();
  } while (rank.left != left);  // an end makes others ready
}

void GraphHosts::compute(RankId id, Busy& place, std::vector<std::uint32_t>& ready, Cycle begin) {
  if (place.node != kNone || ready.empty()) return;
  Rank& rank = ranks_[id.index()];
  place.node = pop(ready);
  const std::uint64_t picoseconds = rank.shape->node(place.node).picoseconds;
  place.end = begin + std::max<Cycle>(
                          1, cycles_covering(picoseconds != 0 ? picoseconds : kNanosecond, clock_));
  times_of(rank, place.node).begin = begin;
  services_->wake(id, place.end + 1);
}

void GraphHosts::communicate(RankId id, std::uint32_t node, Cycle begin, Cycle now) {
  Rank& rank = ranks_[id.index()];
  times_of(rank, node).begin = begin;
  const WorkNode& work = rank.shape->node(node);
  if (work.kind == WorkKind::collective) {
    post(id, node, now);
    return;
  }
  rank.under_way.push_back({node, kNone});
  ++under_way_;
  // A message without data has a head, too.
  services_->send({id, RankId(work.peer), std::max<Bytes>(1, work.bytes), node}, now + 1);
}

void GraphHosts::post(RankId id, std::uint32_t node, Cycle now) {
  Rank& rank = ranks_[id.index()];
  const WorkNode& work = rank.shape->node(node);
  if (joins_blocks(work.group)) return fail("ranks of several blocks meet");
  const std::uint32_t place = rank.shape->place[node];
  const std::uint32_t set = rank.sets[place];
  if (set == kNone) {
    fail(fmt::format("{} is a collective of group {}, in which the rank is not",
                     describe_ordered(id, node), graph_.groups[work.group].name));
    return;
  }
  const std::uint32_t index = rank.posted[place]++;
  if (issue_ == IssueOrder::streams && index + 1 < rank.shape->launches[place].size()) {
    const std::uint32_t next = rank.shape->launches[place][index + 1];
    if (missing_[rank.first + next] == 0) push(rank.for_network, next);
  }
  const HostCollective what{work.op, work.bytes, set};
  std::vector<CollectiveNumber>& numbers = numbers_[set];
  if (index == numbers.size()) {
    numbers.push_back(static_cast<CollectiveNumber>(collectives_.size()));
    collectives_.push_back({what, index, id.value(), rank.shape->in_file[node]});
  }
  const CollectiveNumber number = numbers[index];
  GraphCollective& known = collectives_[number];
  if (!(known.what == what)) {
    fail(fmt::format(
        "collective {} of group {} is {} of {} B in {}, and {} of {} B in {}{}", index + 1,
        graph_.groups[work.group].name, to_string(known.what.op), known.what.bytes,
        describe(RankId(known.rank), known.node), to_string(what.op), what.bytes,
        describe_ordered(id, node),
        issue_ == IssueOrder::lowest_id
            ? "; with workload.issue: lowest_id times decide the order, with streams the program"
            : ""));
    return;
  }
  known.last_rank = id.value();
  known.last_node = rank.shape->in_file[node];
  times_of(rank, node).partner = number;
  rank.under_way.push_back({node, number});
  ++under_way_;
  // Chunks of less than a byte for each rank become larger, as in ASTRA-sim.
  const Bytes least = graph_.groups[sets_[set].group].sets[sets_[set].set].size();
  for (std::uint32_t c = 0; c < chunks_; ++c) {
    HostCollective chunk = what;
    if (chunks_ != 1) {
      chunk.bytes = std::max(least, what.bytes / chunks_ + (c < what.bytes % chunks_ ? 1 : 0));
    }
    services_->post(id, number * chunks_ + c, chunk, now + 1);
  }
}

void GraphHosts::collective_done(RankId id, CollectiveNumber collective, Cycle now) {
  last_done_ = now;
  if ((collective + 1) % chunks_ != 0) return;
  for (const UnderWay& posted : ranks_[id.index()].under_way) {
    if (posted.collective == collective / chunks_) return learn(id, posted.node, now);
  }
}

void GraphHosts::received(const HostMessage& message, Cycle now) {
  const auto send = static_cast<std::uint32_t>(message.tag);
  learn(message.from, send, now);
  Rank& to = ranks_[message.to.index()];
  const WorkNode& sent = ranks_[message.from.index()].shape->node(send);
  const std::uint32_t place =
      place_of(to.shape->channels, {message.from.value(), sent.tag, sent.bytes});
  if (place == kNone) {
    fail(fmt::format("rank {} has no receive for the {} B of {}", message.to.value(), sent.bytes,
                     describe_ordered(message.from, send)));
    return;
  }
  Channel& channel = to.channels[place];
  if (channel.first == kNone || channel.holds_messages) {
    channel.holds_messages = true;
    queue(channel, send);
    return;
  }
  const std::uint32_t receive = take(channel);
  match(message.from, send, message.to, receive);
  learn(message.to, receive, now);
}

CollectiveNumber GraphHosts::collective_of(FlowId flow) const {
  // Hosts post collectives for the first time in the order of their numbers.
  const auto next = std::upper_bound(
      collectives_.begin(), collectives_.end(), flow,
      [](FlowId of, const GraphCollective& other) { return of < other.first_flow; });
  return static_cast<CollectiveNumber>(next - collectives_.begin() - 1);
}

bool GraphHosts::receive(RankId id, std::uint32_t node) {
  Rank& rank = ranks_[id.index()];
  Channel& channel = rank.channels[rank.shape->place[node]];
  if (channel.first == kNone || !channel.holds_messages) {
    channel.holds_messages = false;
    queue(channel, node);
    return false;
  }
  match(RankId(rank.shape->node(node).peer), take(channel), id, node);
  return true;
}

void GraphHosts::queue(Channel& channel, std::uint32_t node) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(queued_.size()));
    queued_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  queued_[place] = {node, kNone};
  (channel.first == kNone ? channel.first : queued_[channel.last].next) = place;
  channel.last = place;
}

std::uint32_t GraphHosts::take(Channel& channel) {
  const std::uint32_t place = channel.first;
  channel.first = queued_[place].next;
  free_.push_back(place);
  return queued_[place].node;
}

void GraphHosts::match(RankId from, std::uint32_t send, RankId to, std::uint32_t receive) {
  times_of(ranks_[to.index()], receive).partner = ranks_[from.index()].shape->in_file[send];
}

std::string GraphHosts::describe(RankId rank, std::uint32_t node) const {
  const WorkNode& work = graph_.ranks[rank.index()]->nodes[node];
  return fmt::format("node {} ({}) of rank {}", work.id, graph_.names[work.name], rank.value());
}

std::string GraphHosts::name_of(CollectiveNumber collective) const {
  const GraphCollective& known = collectives_[collective / chunks_];
  return fmt::format("{}, {}collective {} of group {}", describe(RankId(known.rank), known.node),
                     chunks_ == 1 ? "" : fmt::format("chunk {} of ", collective % chunks_ + 1),
                     known.index + 1, graph_.groups[sets_[known.what.group].group].name);
}

void GraphHosts::explain(WaitList& waits) const {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    if (rank.left == 0 || !runs(r)) continue;
    const RankId id(r);
    const std::size_t before = waits.size();
    for (const UnderWay& under_way : rank.under_way) {
      if (under_way.collective != kNone) {
        explain_collective(id, under_way, waits);
      } else {
        waits.push_back(
            {host_name(id), "", describe_ordered(id, under_way.node) + " has not arrived"});
      }
    }
    for (const Channel& channel : rank.channels) {
      if (channel.holds_messages || channel.first == kNone) continue;
      const std::uint32_t node = queued_[channel.first].node;
      waits.push_back({host_name(id), host_name(RankId(rank.shape->node(node).peer)),
                       describe_ordered(id, node) + " waits for its message"});
    }
    if (waits.size() != before) continue;
    // Nothing is under way, so nodes wait for each other, or for a computation.
    for (std::uint32_t n = 0; n < rank.shape->waits.size(); ++n) {
      if (missing_[rank.first + n] == 0) continue;
      waits.push_back({host_name(id), "",
                       fmt::format("{} waits for {} nodes of its rank", describe_ordered(id, n),
                                   missing_[rank.first + n])});
      break;
    }
  }
}

void GraphHosts::explain_collective(RankId id, const UnderWay& waits_for, WaitList& waits) const {
  const GraphCollective& what = collectives_[waits_for.collective];
  const WorkSet set = sets_[what.what.group];
  for (const std::uint32_t r : graph_.groups[set.group].sets[set.set]) {
    const Rank& other = ranks_[r];
    const std::uint32_t place = place_of(other.shape->groups, set.group);
    if (place != kNone && other.posted[place] > what.index) continue;
    waits.push_back({host_name(id), host_name(RankId(r)),
                     fmt::format("{}: rank {} has not begun collective {} of group {}",
                                 describe_ordered(id, waits_for.node), r, what.index + 1,
                                 graph_.groups[set.group].name)});
    return;
  }
  waits.push_back({host_name(id), "", describe_ordered(id, waits_for.node) + " has not ended"});
}

}  // namespace espalier
