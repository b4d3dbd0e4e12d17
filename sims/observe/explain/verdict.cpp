#include "sims/observe/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "sims/model/faults.h"
#include "sims/observe/explain/segment.h"
#include "sims/point/config.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// A share of the time below this is not named on its own.
constexpr double kNamedShare = 0.2;
constexpr double kLateShare = 0.02;
// Nearer to the bound, waiting in one place or another costs next to nothing.
constexpr double kNearBound = 0.97;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::uint64_t cycles_of(const Json& totals, const char* kind) {
  const auto cycles = totals.find(kind);
  return cycles == totals.end() ? 0 : cycles->get<std::uint64_t>();
}

// "12.5 GB/s"
std::string rate_text(std::uint64_t bytes_per_second) {
  return fmt::format("{:g} GB/s", static_cast<double>(bytes_per_second) / 1e9);
}

// The rate of most links.
std::uint64_t usual_rate(const std::vector<TopologyLink>& links) {
  std::map<std::uint64_t, std::size_t> count;
  for (const TopologyLink& link : links) ++count[link.spec.bytes_per_second];
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == count.end() ? 0 : most->first;
}

// A channel of the network as readers know it.
struct NamedChannel {
  std::string words;                   // "link r_2_2 -> r_2_3", "injection port of the NI at r_1_2"
  const TopologyLink* link = nullptr;  // none for a port of an NI
  std::size_t number = 0;              // of the link
};

NamedChannel name_channel(const std::string& channel, const Topology& topology,
                          const std::vector<TopologyLink>& links) {
  for (std::size_t l = 0; l < links.size(); ++l) {
    const TopologyLink& link = links[l];
    if (channel != channel_name(topology, link)) continue;
    return {fmt::format("link {} -> {}", topology.vertex_name(link.from),
                        topology.vertex_name(link.to)),
            &link, l};
  }
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const std::string& name = topology.vertex_name(NodeId(n));
    if (channel.rfind(fmt::format("net.{}.in_ni", name), 0) == 0) {
      return {fmt::format("the injection port of the NI at {}", name)};
    }
  }
  // Where one NPU stands for all, its router has another name.
  return {(channel.find(".in_ni") == std::string::npos ? "channel " : "the NI's injection port ") +
          channel};
}

// ", which runs at 4 GB/s where most links run at 16 GB/s"; empty if the link is no slower.
std::string slowness_of(const NamedChannel& channel, const Topology& topology,
                        const std::vector<TopologyLink>& links) {
  const std::uint64_t usual = usual_rate(links);
  if (channel.link == nullptr || channel.link->spec.bytes_per_second >= usual) return {};
  const bool is_fault =
      channel.link->spec.bytes_per_second < topology.links()[channel.number].spec.bytes_per_second;
  return fmt::format(", which runs at {}{} where most links run at {}",
                     rate_text(channel.link->spec.bytes_per_second),
                     is_fault ? " (faults.slow_links)" : "", rate_text(usual));
}

// " The late start of net.ni_1_1 takes 3000 cycles of the critical path, 12 %.", and likewise of a
// skewed clock.
// `is_faulty`: whether a node has the fault.
template <class IsFaulty>
std::string fault_text(const Json& explanation, const Topology& topology, const std::string& kind,
                       IsFaulty&& is_faulty) {
  std::string faulty;
  std::size_t count = 0;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    if (is_faulty(NodeId(n)) && ++count == 1) faulty = topology.vertex_name(NodeId(n));
  }
  if (count == 0) return {};
  const auto cycles = explanation.at("cycles").get<double>();
  for (const Json& cause : explanation.at("causes")) {
    if (cause.at("kind") != kind) continue;
    const auto added = cause.at("cycles").get<double>();
    if (added < kLateShare * cycles) return {};
    return fmt::format(" The {} of {} takes {:.0f} cycles of the critical path, {}.",
                       plain_words(kind), cause.value("ni", std::string("an NI")), added,
                       percent(added / cycles));
  }
  return fmt::format(" The {} of {} is not on the critical path.", plain_words(kind),
                     count == 1 ? faulty : fmt::format("{} nodes", count));
}

std::string faults_text(const Json& explanation, const Topology& topology, const RunPoint& point) {
  const FaultsConfig& faults = point.faults;
  return fault_text(explanation, topology, "late_start",
                    [&](NodeId n) { return host_delay(faults, n) != skew_of(faults, n); }) +
         fault_text(explanation, topology, "clock_skew",
                    [&](NodeId n) { return skew_of(faults, n) + skew_per_step(faults, n) != 0; });
}

}  // namespace

std::string channel_name(const Topology& topology, const TopologyLink& link) {
  return fmt::format("net.{}.in_{}", topology.vertex_name(link.to), link.in_name);
}

Json judged(const Json& explanation, const Json& result, const Topology& topology,
            const RunPoint& point) {
  const std::vector<TopologyLink> links = faulty_links(topology, point.faults);
  const auto add_place = [&](Json& each) {
    if (!each.contains("channel")) return;
    each["place"] = name_channel(each.at("channel").get<std::string>(), topology, links).words;
  };
  const auto add_places = [&](Json& to, const char* name) {
    if (!to.contains(name)) return;
    for (Json& each : to[name]) add_place(each);
  };
  Json all;
  all["verdict"] = "The run takes no time.";
  all["limit"] = nullptr;
  all.update(explanation);
  for (const char* list : {"causes", "bottlenecks", "parts"}) add_places(all, list);
  if (all.contains("parts")) {
    for (Json& part : all["parts"]) add_places(part, "route");
  }
  const auto cycles = explanation.at("cycles").get<double>();
  if (cycles == 0) return all;
  const auto ratio = result.find("bound_ratio");
  const double bound = ratio != result.end() && ratio->is_number() ? ratio->get<double>() : 0;
  if (bound >= kNearBound) {
    all["verdict"] =
        fmt::format("The run is at the bound, which is {:.1f} % of its time.", 100 * bound) +
        faults_text(explanation, topology, point);
    all["limit"] = {{"kind", "bound"}, {"share", bound}};
    return all;
  }

  const Json& totals = explanation.at("totals");
  std::string kind;
  std::uint64_t most = 0;
  for (const auto& [name, value] : totals.items()) {
    if (value.get<std::uint64_t>() <= most) continue;
    most = value.get<std::uint64_t>();
    kind = name;
  }
  Json limit{{"kind", kind}, {"share", static_cast<double>(most) / cycles}};
  const double lockstep = static_cast<double>(cycles_of(totals, "lockstep_wait")) / cycles;
  std::string text;
  if (lockstep >= kNamedShare) {
    text = fmt::format(
        "{} of the time NIs wait for lockstep's down-counters, which stand for the estimated time "
        "of the slowest transfer of a step.",
        percent(lockstep));
  }
  const Json& bottlenecks = explanation.at("bottlenecks");
  const double by_channel =
      bottlenecks.empty() ? 0 : bottlenecks.front().at("cycles").get<double>() / cycles;
  if (by_channel >= kNamedShare) {
    const auto name = bottlenecks.front().at("channel").get<std::string>();
    const NamedChannel channel = name_channel(name, topology, links);
    text += fmt::format("{}{} of the time is decided by {}{}.", text.empty() ? "" : " ",
                        percent(by_channel), channel.words, slowness_of(channel, topology, links));
    limit = {{"kind", "channel"}, {"share", by_channel}, {"channel", name}};
    if (channel.link != nullptr) {
      limit["rate_GBps"] = static_cast<double>(channel.link->spec.bytes_per_second) / 1e9;
      limit["usual_rate_GBps"] = static_cast<double>(usual_rate(links)) / 1e9;
    }
  } else if (text.empty()) {
    text = fmt::format("The largest part of the time, {}, is {}.",
                       percent(limit.at("share").get<double>()), meaning_of(kind));
  }
  all["verdict"] = text + faults_text(explanation, topology, point);
  all["limit"] = std::move(limit);
  return all;
}

}  // namespace espalier
