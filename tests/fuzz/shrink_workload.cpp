// Steps that make messages fewer, shorter and earlier.
#include <algorithm>
#include <functional>

#include "flowctl/framing.h"
#include "shrink_steps.h"
#include "sims/system/fabric.h"
#include "tests/support/generate_traffic.h"

namespace espalier::fuzz {

namespace {

bool lists_messages(const FuzzCase& fuzz_case) {
  const auto& traffic = fuzz_case.point.traffic;
  return traffic && traffic->pattern == TrafficPattern::file;
}

// As the reader sorts them: cases that differ in the order only are equal.
void sort_messages(std::vector<TrafficMessage>& messages) {
  std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
    return std::make_pair(a.from, a.ready) < std::make_pair(b.from, b.ready);
  });
}

}  // namespace

std::vector<FuzzCase> with_fewer_messages(const FuzzCase& from, std::size_t length) {
  std::vector<FuzzCase> cases;
  if (!lists_messages(from)) return cases;
  const auto& all = from.point.traffic->messages;
  for (std::size_t begin = 0; begin < all.size(); begin += length) {
    const std::size_t end = std::min(begin + length, all.size());
    if (end - begin == all.size()) continue;
    FuzzCase fewer = from;
    auto& messages = fewer.point.traffic->messages;
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(begin),
                   messages.begin() + static_cast<std::ptrdiff_t>(end));
    cases.push_back(std::move(fewer));
  }
  return cases;
}

std::vector<FuzzCase> with_listed_messages(const FuzzCase& from) {
  if (!from.point.traffic || lists_messages(from) || from.point.traffic->is_closed_loop())
    return {};
  const Topology topology = topology_of(from);
  RouteSet routes(topology);
  FuzzCase listed = from;
  TrafficConfig& traffic = *listed.point.traffic;
  const std::uint64_t flits =
      Framing(framing_spec(from.point.system), traffic.message_bytes).flits();
  for (const Operation& o : generate_traffic(topology, *from.point.traffic, flits, routes)) {
    traffic.messages.push_back({o.ready, o.from, o.to, o.bytes});
  }
  traffic.pattern = TrafficPattern::file;
  if (traffic.messages.empty()) return {};
  return {listed};
}

std::vector<FuzzCase> with_simpler_messages(const FuzzCase& from) {
  std::vector<FuzzCase> cases;
  if (!lists_messages(from)) return cases;
  const auto& all = from.point.traffic->messages;
  Cycle first = kNever;
  for (const TrafficMessage& message : all) first = std::min(first, message.ready);
  if (first != 0) {
    cases.push_back(from);
    for (TrafficMessage& message : cases.back().point.traffic->messages) message.ready -= first;
  }
  const auto change = [&](std::size_t m, Cycle ready, Bytes bytes) {
    if (ready == all[m].ready && bytes == all[m].bytes) return;
    cases.push_back(from);
    auto& messages = cases.back().point.traffic->messages;
    messages[m].ready = ready;
    messages[m].bytes = bytes;
    sort_messages(messages);
  };
  const Bytes flit = from.point.system.clock.flit_bytes;
  for (std::size_t m = 0; m < all.size(); ++m) {
    const auto& [ready, sender, receiver, bytes] = all[m];
    for (const Bytes fewer : {flit, bytes / 2, (bytes - 1) / flit * flit}) {
      if (fewer != 0 && fewer < bytes) change(m, ready, fewer);
    }
    for (const Cycle earlier : {first, first + (ready - first) / 2, ready - 1}) {
      if (earlier < ready) change(m, earlier, bytes);
    }
  }
  return cases;
}

}  // namespace espalier::fuzz
