// Executes a schedule in a random order that its dependencies allow, with multisets of
// contributions in place of numbers. Written against the IR's definition only, for tests of the
// generators.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/routes/links.h"
#include "alg/schedule/schedule.h"

namespace espalier::test {

// What a node does. `added`: sends as soon as the dependencies allow, reads at any time from then
// to the delivery, and adds a Reduce that arrives to its memory at once. `held`: as an NI with a
// schedule table, sends in the order of steps, and keeps a Reduce beside until it sends the flow on
// itself. Composed phases need that: nothing tells a sender that the receiver has finished the
// phase before.
enum class Arrival : std::uint8_t { added, held };

class ScheduleOracle {
 public:
  using Contributions = std::vector<std::uint32_t>;  // how often each rank's data is contained

  ScheduleOracle(const Schedule& schedule, Arrival arrival, std::uint32_t seed)
      : schedule_(schedule), arrival_(arrival), random_(seed) {
    const std::size_t nodes = schedule.num_nodes;
    memory_.assign(nodes, std::vector<Contributions>(schedule.chunks.size(), Contributions(nodes)));
    for (std::size_t n = 0; n < nodes; ++n) {
      for (std::size_t c = 0; c < schedule.chunks.size(); ++c) {
        const bool has = !starts_scattered(schedule.op) || schedule.chunks[c].owner == NodeId(n);
        memory_[n][c][n] = has && schedule.scope.has(NodeId(n), schedule.chunks[c].group) ? 1 : 0;
      }
    }
    for (const Transfer& t : schedule.transfers) sends_.emplace(t.from, t.flow);
  }

  // False where not all transfers could take place or an output is wrong.
  [[nodiscard]] bool runs_and_is_right() { return run() && is_right(); }

 private:
  using Payload = std::vector<Contributions>;
  struct Flying {
    std::size_t transfer;
    bool read_late;
    Payload payload;
  };

  bool run() {
    const std::size_t count = schedule_.transfers.size();
    std::vector<std::size_t> missing(count, 0);
    std::vector<std::vector<std::size_t>> waiting(count);
    std::vector<std::size_t> ready;
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t d = schedule_.dependency_begin[t]; d < schedule_.dependency_begin[t + 1];
           ++d) {
        waiting[schedule_.dependencies[d].index()].push_back(t);
        ++missing[t];
      }
      if (missing[t] == 0) ready.push_back(t);
      unsent_[schedule_.transfers[t].from].insert(schedule_.transfers[t].step);
    }
    std::vector<Flying> flying;
    std::size_t delivered = 0;
    while (!ready.empty() || !flying.empty()) {
      const std::size_t choice = random_() % (ready.size() + flying.size());
      if (choice < ready.size()) {
        if (!is_next(ready[choice])) continue;
        std::swap(ready[choice], ready.back());
        const Transfer& sent = schedule_.transfers[ready.back()];
        auto& steps = unsent_[sent.from];
        steps.erase(steps.find(sent.step));
        Flying started{ready.back(), false, {}};
        ready.pop_back();
        started.read_late = arrival_ == Arrival::added && random_() % 2 == 0;
        if (!started.read_late) started.payload = read(started.transfer);
        flying.push_back(std::move(started));
        continue;
      }
      std::swap(flying[choice - ready.size()], flying.back());
      Flying arrived = std::move(flying.back());
      flying.pop_back();
      if (arrived.read_late) arrived.payload = read(arrived.transfer);
      write(arrived.transfer, arrived.payload);
      ++delivered;
      for (const std::size_t t : waiting[arrived.transfer]) {
        if (--missing[t] == 0) ready.push_back(t);
      }
    }
    return delivered == count && held_.empty();
  }

  // The transfer of the least unsent step of all nodes always is, so that the lot falls on one in
  // the end: its dependencies are of lower steps.
  [[nodiscard]] bool is_next(std::size_t transfer) const {
    const Transfer& t = schedule_.transfers[transfer];
    return arrival_ == Arrival::added || t.step == *unsent_.at(t.from).begin();
  }

  static void add_to(Payload& sum, const Payload& payload) {
    for (std::size_t c = 0; c < sum.size(); ++c) {
      for (std::size_t n = 0; n < sum[c].size(); ++n) sum[c][n] += payload[c][n];
    }
  }

  void add(std::size_t node, std::size_t first_chunk, const Payload& payload) {
    for (std::size_t c = 0; c < payload.size(); ++c) {
      for (std::size_t n = 0; n < payload[c].size(); ++n) {
        memory_[node][first_chunk + c][n] += payload[c][n];
      }
    }
  }

  using HeldKey = std::pair<std::size_t, std::pair<std::size_t, std::size_t>>;
  [[nodiscard]] static HeldKey key(std::size_t node, const Transfer& t) {
    return {node, {t.flow.index(), t.first_chunk.index()}};
  }

  Payload read(std::size_t index) {
    const Transfer& t = schedule_.transfers[index];
    const auto& memory = memory_[t.from.index()];
    const auto first = static_cast<std::ptrdiff_t>(t.first_chunk.index());
    const auto held = held_.find(key(t.from.index(), t));
    if (held != held_.end() && t.kind == TransferKind::copy) {
      add(t.from.index(), t.first_chunk.index(), held->second);
    }
    Payload payload(memory.begin() + first, memory.begin() + first + t.num_chunks);
    if (held != held_.end()) {
      if (t.kind == TransferKind::reduce) add_to(payload, held->second);
      held_.erase(held);
    }
    return payload;
  }

  void write(std::size_t index, const Payload& payload) {
    const Transfer& t = schedule_.transfers[index];
    if (t.kind == TransferKind::copy) {
      for (std::size_t c = 0; c < payload.size(); ++c) {
        memory_[t.to.index()][t.first_chunk.index() + c] = payload[c];
      }
    } else if (arrival_ == Arrival::added || sends_.count({t.to, t.flow}) == 0) {
      add(t.to.index(), t.first_chunk.index(), payload);
    } else {
      const auto [entry, is_new] = held_.emplace(key(t.to.index(), t), payload);
      if (!is_new) add_to(entry->second, payload);
    }
  }

  [[nodiscard]] bool is_right() const {
    const std::size_t nodes = schedule_.num_nodes;
    for (std::size_t c = 0; c < schedule_.chunks.size(); ++c) {
      const Chunk& chunk = schedule_.chunks[c];
      if (chunk.size == 0) continue;
      Contributions expected(nodes, 0);
      for (std::size_t n = 0; n < nodes; ++n) {
        expected[n] = schedule_.scope.has(NodeId(n), chunk.group) ? 1 : 0;
      }
      if (starts_scattered(schedule_.op)) {
        expected.assign(nodes, 0);
        expected.at(chunk.owner.index()) = 1;
      }
      for (std::size_t n = 0; n < nodes; ++n) {
        if (!schedule_.scope.has(NodeId(n), chunk.group)) continue;
        if (ends_at_owner(schedule_.op) && chunk.owner != NodeId(n)) continue;
        if (is_exchange(schedule_.op) && chunk.destination != NodeId(n)) continue;
        if (memory_[n][c] != expected) return false;
      }
    }
    return true;
  }

  const Schedule& schedule_;
  Arrival arrival_;
  std::mt19937 random_;
  std::vector<std::vector<Contributions>> memory_;  // by node and chunk
  std::set<std::pair<NodeId, FlowId>> sends_;
  std::map<NodeId, std::multiset<Timestep>> unsent_;
  std::map<HeldKey, Payload> held_;
};

// Chunks cover the data; routes, steps and dependencies fit together; the contention claim is
// exact.
inline void require_well_formed(const Topology& topology, const Schedule& s) {
  REQUIRE(s.num_nodes == topology.num_nodes());
  REQUIRE(s.dependency_begin.size() == s.transfers.size() + 1);
  Bytes end = 0;
  for (const Chunk& chunk : s.chunks) {
    REQUIRE(chunk.offset == end);
    end += chunk.size;
    if (s.op != CollectiveOp::all_reduce) REQUIRE(chunk.owner.index() < s.num_nodes);
  }
  REQUIRE(end == data_bytes(s.op, s.size, s.scope, s.num_nodes));

  bool shares_no_link = true;
  bool contention_free = true;
  std::map<std::pair<Timestep, std::size_t>, std::uint64_t> used;
  std::uint64_t slowest = topology.links().front().spec.bytes_per_second;
  for (const TopologyLink& link : topology.links()) {
    slowest = std::min(slowest, link.spec.bytes_per_second);
  }
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    REQUIRE(t.step >= 1);
    REQUIRE(t.step <= s.num_steps);
    if (i > 0) REQUIRE(s.transfers[i - 1].step <= t.step);
    REQUIRE(t.num_chunks >= 1);
    REQUIRE(t.first_chunk.index() + t.num_chunks <= s.chunks.size());
    REQUIRE(s.bytes_of(t) > 0);
    const std::size_t hops = s.routes.hops(t.route);
    REQUIRE(topology.link(s.routes.link(t.route, 0)).from == t.from);
    REQUIRE(topology.link(s.routes.link(t.route, hops - 1)).to == t.to);
    for (std::size_t hop = 0; hop < hops; ++hop) {
      // A link of twice the slowest one's rate carries two transfers in a step.
      const LinkId link = s.routes.link(t.route, hop);
      const std::uint64_t rate = topology.link(link).spec.bytes_per_second;
      const std::uint64_t transfers = ++used[{t.step, link.index()}];
      if (transfers > 1) shares_no_link = false;
      if (transfers * slowest > std::max(rate, slowest)) contention_free = false;
    }
    for (std::size_t d = s.dependency_begin[i]; d < s.dependency_begin[i + 1]; ++d) {
      const Transfer& before = s.transfers[s.dependencies[d].index()];
      REQUIRE(before.to == t.from);
      if (s.listed_order) {
        REQUIRE(s.dependencies[d].index() < i);
      } else {
        REQUIRE(before.step < t.step);
      }
      // Exchanges of one message at a time also wait for other data.
      const Generator* const generator = find_generator(s.algorithm);
      const bool in_rings = generator != nullptr && generator->exchanges_slowly;
      if (is_exchange(s.op) && (in_rings || s.algorithm == "pairwise")) continue;
      REQUIRE(before.first_chunk.index() < t.first_chunk.index() + t.num_chunks);
      REQUIRE(t.first_chunk.index() < before.first_chunk.index() + before.num_chunks);
    }
  }
  // A generator that does not count rates may say less than is true of links of unequal rates.
  if (shares_no_link) REQUIRE(s.contention_free);
  if (!contention_free) REQUIRE_FALSE(s.contention_free);
}

// A claim of no contention is proven. One that does not count rates may be missing on links of
// unequal rates, and only there.
inline void require_contention_as_claimed(const Topology& topology, const Schedule& s,
                                          bool proven) {
  const std::vector<std::uint32_t> units = link_units(topology);
  const bool is_even = std::all_of(units.begin(), units.end(), [](auto u) { return u == 1; });
  CHECK((is_even ? proven == s.contention_free : proven || !s.contention_free));
}

// What NI schedule tables can say: a node sends a flow's Reduce once and gets its Gather once, and
// waits for Reduces or the Gather of the flow it sends, or for other flows that are complete by it.
inline void require_fits_tables(const Schedule& s) {
  using NodeFlow = std::pair<NodeId, FlowId>;
  std::set<NodeFlow> sends_reduce;
  std::set<NodeFlow> gets_gather;
  for (const Transfer& t : s.transfers) {
    const bool first = t.kind == TransferKind::reduce ? sends_reduce.emplace(t.from, t.flow).second
                                                      : gets_gather.emplace(t.to, t.flow).second;
    REQUIRE(first);
  }
  for (std::size_t i = 0; i < s.transfers.size(); ++i) {
    const Transfer& t = s.transfers[i];
    for (std::size_t d = s.dependency_begin[i]; d < s.dependency_begin[i + 1]; ++d) {
      const Transfer& before = s.transfers[s.dependencies[d].index()];
      const bool root = sends_reduce.count({t.from, before.flow}) == 0;
      if (before.flow == t.flow) {
        REQUIRE((t.kind == before.kind || root));
      } else {
        REQUIRE((before.kind == TransferKind::copy || root));
      }
    }
  }
}

inline constexpr CollectiveOp kAllOps[] = {CollectiveOp::all_reduce, CollectiveOp::reduce_scatter,
                                           CollectiveOp::all_gather};

}  // namespace espalier::test
