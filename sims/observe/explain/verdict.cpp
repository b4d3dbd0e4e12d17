#include "sims/observe/explain/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sims/model/faults.h"
#include "sims/text/units.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// A share of the time below this is not named on its own.
constexpr double kNamedShare = 0.2;
constexpr double kLateShare = 0.02;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::uint64_t cycles_of(const Json& totals, const char* kind) {
  const auto cycles = totals.find(kind);
  return cycles == totals.end() ? 0 : cycles->get<std::uint64_t>();
}

// The rate of most links.
std::uint64_t usual_rate(const std::vector<TopologyLink>& links) {
  std::map<std::uint64_t, std::size_t> count;
  for (const TopologyLink& link : links) ++count[link.spec.bytes_per_second];
  const auto most = std::max_element(
      count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == count.end() ? 0 : most->first;
}

// "link r_2_2 -> r_2_3, which runs at 4GB/s where most links run at 16GB/s"; the channel's own name
// if it is not a link between routers.
std::string place_of(const std::string& channel, const Topology& topology,
                     const std::vector<TopologyLink>& links) {
  for (const TopologyLink& link : links) {
    const std::string& to = topology.vertex_name(link.to);
    if (channel != fmt::format("net.{}.in_{}", to, link.in_name)) continue;
    std::string place = fmt::format("link {} -> {}", topology.vertex_name(link.from), to);
    const std::uint64_t usual = usual_rate(links);
    if (link.spec.bytes_per_second < usual) {
      place += fmt::format(", which runs at {} where most links run at {}",
                           format_quantity(Quantity::rate, link.spec.bytes_per_second),
                           format_quantity(Quantity::rate, usual));
    }
    return place;
  }
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const std::string& name = topology.vertex_name(NodeId(n));
    if (channel.rfind(fmt::format("net.{}.in_ni", name), 0) == 0) {
      return fmt::format("the injection port of the NI at {}", name);
    }
  }
  // Where one NPU stands for all, its router has another name.
  return (channel.find(".in_ni") == std::string::npos ? "channel " : "the NI's injection port ") +
         channel;
}

// What the kind of a segment means for a reader who does not know the list of kinds.
std::string meaning_of(const std::string& kind) {
  static const std::map<std::string, std::string> meanings{
      {"serialization", "sending flits over links, no single one of which decides"},
      {"link_latency", "the latency of links, because steps wait for one another"},
      {"router_pipeline", "the pipelines of routers"},
      {"arbitration_loss", "contention: waiting for other messages at routers"},
      {"credit_stall", "waiting for credits: buffers are too shallow for the links"},
      {"ni_queue", "waiting in the queue of an NI behind its other messages"},
      {"reduction", "reduction units of NIs"},
      {"lockstep_wait", "waiting for lockstep's down-counters"},
      {"dependency_wait", "waiting for data that other messages bring"},
      {"late_start", "hosts that start late"},
      {"clock_skew", "skewed lockstep clocks"},
      {"dimension_queue", "waiting in the queues of dimensions"},
      {"memory_port", "memory ports of NIs"},
      {"context_rate", "the request rate of program contexts"},
      {"slot_credit", "waiting for FIFO slots of connections"},
      {"request_limit", "the limit of requests in flight"},
      {"doorbell", "doorbells of hosts"},
      {"launch", "launching programs"},
      {"decode", "decoding the steps of programs"}};
  const auto found = meanings.find(kind);
  if (found != meanings.end()) return found->second;
  std::string words = kind;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// "NI net.ni_1_1 starts 3000 cycles late. "
std::string late_text(const Json& explanation, double cycles) {
  for (const Json& cause : explanation.at("causes")) {
    if (cause.at("kind") != "late_start") continue;
    const auto late = cause.at("cycles").get<std::uint64_t>();
    if (static_cast<double>(late) < kLateShare * cycles) return {};
    return fmt::format(" The late start of {} adds {} cycles, {}.",
                       cause.value("ni", std::string("an NI")), late,
                       percent(static_cast<double>(late) / cycles));
  }
  return {};
}

}  // namespace

std::string verdict_of(const Json& explanation, const Topology& topology, const RunPoint& point) {
  const auto cycles = explanation.at("cycles").get<double>();
  if (cycles == 0) return "The run takes no time.";
  const std::vector<TopologyLink> links = faulty_links(topology, point.faults);
  const Json& totals = explanation.at("totals");
  const Json& bottlenecks = explanation.at("bottlenecks");
  std::string kind;
  std::uint64_t most = 0;
  for (const auto& [name, value] : totals.items()) {
    if (value.get<std::uint64_t>() <= most) continue;
    most = value.get<std::uint64_t>();
    kind = name;
  }
  const double by_kind = static_cast<double>(most) / cycles;
  const double by_channel =
      bottlenecks.empty() ? 0 : bottlenecks.front().at("cycles").get<double>() / cycles;
  const double lockstep = static_cast<double>(cycles_of(totals, "lockstep_wait")) / cycles;
  std::string text;
  if (lockstep >= kNamedShare) {
    text = fmt::format(
        "{} of the time NIs wait for lockstep's down-counters, which stand for the estimated time "
        "of "
        "the slowest transfer of a step.",
        percent(lockstep));
  }
  if (by_channel >= kNamedShare) {
    text += fmt::format(
        "{}{} of the time is decided by {}.", text.empty() ? "" : " ", percent(by_channel),
        place_of(bottlenecks.front().at("channel").get<std::string>(), topology, links));
  } else if (text.empty()) {
    text =
        fmt::format("The largest part of the time, {}, is {}.", percent(by_kind), meaning_of(kind));
  }
  return text + late_text(explanation, cycles);
}

}  // namespace espalier
