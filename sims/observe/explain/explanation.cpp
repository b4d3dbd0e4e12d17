#include "sims/observe/explain/explanation.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

Json totals(const TimePath& path) {
  std::array<Cycle, kNumSegmentKinds> by_kind{};
  for (const Segment& segment : path.segments) {
    by_kind[static_cast<std::size_t>(segment.kind)] += segment.cycles();
  }
  Json totals = Json::object();
  for (std::size_t k = 0; k < kNumSegmentKinds; ++k) {
    if (by_kind[k] != 0) totals[name_of(static_cast<SegmentKind>(k))] = by_kind[k];
  }
  return totals;
}

// Places with equal cycles stay in the order of their keys.
template <class Sums>
std::vector<Segment> largest_first(const Sums& sums) {
  std::vector<Segment> order;
  order.reserve(sums.size());
  for (const auto& [key, sum] : sums) order.push_back(sum);
  std::stable_sort(order.begin(), order.end(),
                   [](const Segment& a, const Segment& b) { return a.cycles() > b.cycles(); });
  return order;
}

struct OrderByWhat {
  bool operator()(const Segment& a, const Segment& b) const { return a.what() < b.what(); }
};

}  // namespace

Json Describer::message(RecordIndex m) const {
  const Operation& operation = record_.messages[m].operation;
  Json json{{"id", m}};
  if (operation.is_background()) {
    json["op"] = "control";
  } else {
    json["op"] = operation.on_arrival == TransferKind::reduce ? "Reduce" : "Gather";
    const bool of_program = !record_.nis[operation.from.index()].contexts.empty();
    json[of_program ? "connection" : "flow"] = operation.flow.value();
  }
  json["from"] = ni(operation.from.value());
  json["to"] = ni(operation.to.value());
  if (!operation.is_background()) json.update(place_(m));
  return json;
}

Json Describer::cause(const Segment& segment) const {
  Json cause;
  cause["kind"] = name_of(segment.kind);
  if (segment.channel != kNowhere) cause["channel"] = channel(segment.channel);
  if (segment.waits_in != kNowhere) {
    const std::string& buffer = channel(segment.waits_in);
    cause["router"] = buffer.substr(0, buffer.rfind('.'));
    cause["waits_in"] = buffer;
  }
  if (segment.bottleneck != kNowhere && segment.bottleneck != segment.channel) {
    cause["held_up_by"] = channel(segment.bottleneck);
  }
  if (segment.vertex != kNowhere) cause["ni"] = ni(segment.vertex);
  if (segment.context != kNowhere) cause["context"] = segment.context;
  if (segment.other != kNowhere) cause["other"] = message(segment.other);
  return cause;
}

// Sums over all messages that were served instead; the path names each.
Json Describer::causes(const TimePath& path) const {
  std::map<Segment, Segment, OrderByWhat> sums;
  for (const Segment& segment : path.segments) {
    Segment place = segment;
    place.message = place.other = place.step = kNowhere;
    const auto [sum, is_new] = sums.emplace(place, place);
    if (!is_new) sum->second.to += segment.cycles();
  }
  Json causes = Json::array();
  for (const Segment& sum : largest_first(sums)) {
    causes.push_back(cause(sum));
    causes.back()["cycles"] = sum.cycles();
  }
  return causes;
}

// Cycles that a channel's rate decided: flits of the path's messages moved there one after the
// other, or waited for flits that moved there.
Json Describer::bottlenecks(const TimePath& path) const {
  std::map<std::uint32_t, Segment> sums;
  for (const Segment& segment : path.segments) {
    const bool moves = segment.kind == SegmentKind::serialization;
    Segment sum;
    sum.channel = moves ? segment.channel : segment.bottleneck;
    if (sum.channel == kNowhere) continue;
    sums.emplace(sum.channel, sum).first->second.to += segment.cycles();
  }
  Json list = Json::array();
  for (const Segment& sum : largest_first(sums)) {
    list.push_back({{"channel", channel(sum.channel)}, {"cycles", sum.cycles()}});
  }
  return list;
}

// The segments, grouped by message, or by the context's step that spends the time.
Json Describer::legs(const TimePath& path) const {
  Json legs = Json::array();
  Segment last;
  const auto goes_on = [&last](const Segment& segment) {
    if (segment.message != last.message) return false;
    const bool of_steps = segment.step != kNowhere || last.step != kNowhere;
    if (segment.message != kNowhere || !of_steps) return true;
    return segment.vertex == last.vertex && segment.context == last.context &&
           segment.step == last.step;
  };
  for (const Segment& segment : path.segments) {
    if (legs.empty() || !goes_on(segment)) {
      Json& leg = legs.emplace_back(Json::object());
      leg["from_cycle"] = segment.from;
      leg["to_cycle"] = segment.to;
      if (segment.message != kNowhere) {
        leg["message"] = message(segment.message);
      } else if (segment.step != kNowhere) {
        const ContextRecord& context = record_.nis[segment.vertex].contexts[segment.context];
        leg["step"] = describe_program_step(context.steps[segment.step]);
        leg["step"]["ni"] = ni(segment.vertex);
      }
      leg["segments"] = Json::array();
    }
    last = segment;
    Json& leg = legs.back();
    leg["to_cycle"] = segment.to;
    Json part = cause(segment);
    part["cycles"] = segment.cycles();
    leg["segments"].push_back(std::move(part));
  }
  return legs;
}

Json Describer::delay(const Delay& delay) const {
  Json json{{"ni", ni(delay.vertex)}};
  if (delay.step != 0) json["step"] = delay.step;
  json["at_cycle"] = delay.at;
  json["late_cycles"] = delay.cycles;
  if (delay.step != 0) json["behind_median_cycles"] = delay.behind;
  if (delay.message != kNowhere) json["waited_for"] = message(delay.message);
  if (delay.cause.cycles != 0) json["cause"] = cause(delay.cause.where);
  json["cause_cycles"] = delay.cause.cycles;
  return json;
}

void Describer::add_path(Json& to, const TimePath& path) const {
  to["totals"] = totals(path);
  to["causes"] = causes(path);
  to["bottlenecks"] = bottlenecks(path);
  to["path"] = legs(path);
}

Json Describer::whole_run(const TimePath& path, const std::vector<Delay>& delays) const {
  Json json{{"cycles", path.to - path.from},
            {"first_issue_cycle", path.from},
            {"last_delivery_cycle", path.to}};
  add_path(json, path);
  json["slips"] = Json::array();
  for (const Delay& each : delays) json["slips"].push_back(delay(each));
  return json;
}

Json describe_program_step(const ContextRecord::Step& step) {
  Json json;
  json["op"] = to_string(step.step.op);
  json["context"] = step.place.block;
  json["context_step"] = step.place.step;
  json["pass"] = step.place.tile;
  return json;
}

}  // namespace espalier
