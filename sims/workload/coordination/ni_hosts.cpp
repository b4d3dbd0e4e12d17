#include "sims/workload/coordination/ni_hosts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sims/workload/coordination/control_pattern.h"

namespace espalier {

namespace {

// A message names its unit or collective, and which way it goes: 2 B and the tree's, in a flit.
constexpr Bytes kMessageBytes = 4;
constexpr std::uint64_t kDown = std::uint64_t{1} << 32;

}  // namespace

NiHosts::NiHosts(const TrainingJob& job) : EventDrivenHosts(job) {
  missing_.reserve(job.spec.ranks * job.units.size());
  for (std::size_t r = 0; r < job.spec.ranks; ++r) {
    missing_.insert(missing_.end(), job.units.size(), 1 + children_of(RankId(r)));
  }
}

std::uint32_t NiHosts::children_of(RankId rank) const {
  return tree_children(job().spec.ranks, job().spec.arity, rank);
}

void NiHosts::set_bit(RankId rank, UnitId unit, Cycle now) {
  if (--missing(rank, unit) != 0) return;
  missing(rank, unit) = 1 + children_of(rank);
  const Cycle shown = now + job().spec.times.ni_update;
  if (rank == kRoot) {
    at_root_.push_back({shown, unit});
    services().wake(kRoot, shown);
    return;
  }
  const RankId parent((rank.index() - 1) / job().spec.arity);
  services().send({rank, parent, kMessageBytes, unit.index()}, shown);
}

// Units that show in the same cycle start in the order of their numbers.
void NiHosts::woken(RankId rank, Cycle now) {
  EventDrivenHosts::woken(rank, now);
  if (rank != kRoot || at_root_.empty()) return;
  std::vector<UnitId> shown;
  for (const Complete& complete : at_root_) {
    if (complete.at == now) shown.push_back(complete.unit);
  }
  at_root_.erase(std::remove_if(at_root_.begin(), at_root_.end(),
                                [&](const Complete& c) { return c.at == now; }),
                 at_root_.end());
  std::sort(shown.begin(), shown.end());
  for (const UnitId unit : shown) {
    started_.push_back(unit);
    start_collective(kRoot, static_cast<CollectiveNumber>(started_.size() - 1), now);
  }
}

void NiHosts::start_collective(RankId rank, CollectiveNumber collective, Cycle now) {
  const Cycle shown = now + job().spec.times.ni_update;
  post(rank, collective, started_[collective], shown);
  for (std::uint32_t c = 0; c < children_of(rank); ++c) {
    const RankId child(rank.index() * job().spec.arity + 1 + c);
    services().send({rank, child, kMessageBytes, kDown | collective}, shown);
  }
}

void NiHosts::received(const HostMessage& message, Cycle now) {
  recorder().control_messages(1, message.bytes);
  if ((message.tag & kDown) != 0) {
    start_collective(message.to, static_cast<CollectiveNumber>(message.tag & (kDown - 1)), now);
  } else {
    set_bit(message.to, UnitId(message.tag), now);
  }
}

void NiHosts::explain(WaitList& waits) const {
  for (std::size_t r = 0; r < job().spec.ranks; ++r) {
    for (std::size_t u = 0; u < job().units.size(); ++u) {
      const std::uint32_t left = missing_[r * job().units.size() + u];
      const std::uint32_t all = 1 + children_of(RankId(r));
      if (left == all) continue;
      waits.push_back(
          {host_name(RankId(r)), "", fmt::format("{} of {} bits of unit {}", left, all, u)});
    }
  }
}

}  // namespace espalier
