#include "sims/observe/explain/explanation.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

class Describer {
 public:
  Describer(const RunRecord& record, const DescribePlace& place) : record_(record), place_(place) {}

  [[nodiscard]] std::string ni(std::uint32_t vertex) const { return record_.nis[vertex].name; }

  void add_message(Json& to, RecordIndex m) const {
    const Operation& operation = record_.messages[m].operation;
    if (operation.is_background()) {
      to["op"] = "control";
    } else {
      to["op"] = operation.on_arrival == TransferKind::reduce ? "Reduce" : "Gather";
      const bool of_program = !record_.nis[operation.from.index()].contexts.empty();
      to[of_program ? "connection" : "flow"] = operation.flow.value();
    }
    to["from"] = ni(operation.from.value());
    to["to"] = ni(record_.messages[m].operation.to.value());
    if (!operation.is_background()) to.update(place_(m));
  }

  // The cause: its kind and place.
  [[nodiscard]] Json cause(const Segment& segment) const {
    Json cause;
    cause["kind"] = name_of(segment.kind);
    if (segment.channel != kNowhere) cause["channel"] = record_.channels[segment.channel].name;
    if (segment.waits_in != kNowhere) {
      const std::string& buffer = record_.channels[segment.waits_in].name;
      cause["router"] = buffer.substr(0, buffer.rfind('.'));
      cause["waits_in"] = buffer;
    }
    if (segment.bottleneck != kNowhere && segment.bottleneck != segment.channel) {
      cause["held_up_by"] = record_.channels[segment.bottleneck].name;
    }
    if (segment.vertex != kNowhere) cause["ni"] = ni(segment.vertex);
    if (segment.context != kNowhere) cause["context"] = segment.context;
    if (segment.other != kNowhere) add_message(cause["other"], segment.other);
    return cause;
  }

  // Adds the context's step that spends the time, for segments without a message.
  void add_step(Json& to, const Segment& segment) const {
    if (segment.step == kNowhere) return;
    const ContextRecord& context = record_.nis[segment.vertex].contexts[segment.context];
    to["step"] = describe_program_step(context.steps[segment.step]);
    to["step"]["ni"] = ni(segment.vertex);
  }

  [[nodiscard]] Json bottleneck(const Segment& sum) const {
    Json json;
    json["channel"] = record_.channels[sum.channel].name;
    json["cycles"] = sum.cycles();
    return json;
  }

 private:
  const RunRecord& record_;
  const DescribePlace& place_;
};

Json totals(const CriticalPath& path) {
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

// Sums over all messages that were served instead; the path names each.
Json causes(const CriticalPath& path, const Describer& describer) {
  std::map<Segment, Segment, OrderByWhat> sums;
  for (const Segment& segment : path.segments) {
    Segment place = segment;
    place.message = place.other = place.step = kNowhere;
    const auto [sum, is_new] = sums.emplace(place, place);
    if (!is_new) sum->second.to += segment.cycles();
  }
  Json causes = Json::array();
  for (const Segment& sum : largest_first(sums)) {
    Json& cause = causes.emplace_back(describer.cause(sum));
    cause["cycles"] = sum.cycles();
  }
  return causes;
}

// Cycles that a channel's rate decided: flits of the path's messages moved there one after the
// other, or waited for flits that moved there.
Json bottlenecks(const CriticalPath& path, const Describer& describer) {
  std::map<std::uint32_t, Segment> sums;
  for (const Segment& segment : path.segments) {
    const bool moves = segment.kind == SegmentKind::serialization;
    Segment sum;
    sum.channel = moves ? segment.channel : segment.bottleneck;
    if (sum.channel == kNowhere) continue;
    sums.emplace(sum.channel, sum).first->second.to += segment.cycles();
  }
  Json list = Json::array();
  for (const Segment& sum : largest_first(sums)) list.push_back(describer.bottleneck(sum));
  return list;
}

// The segments, grouped by message.
Json path_of(const CriticalPath& path, const Describer& describer) {
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
        describer.add_message(leg["message"], segment.message);
      } else {
        describer.add_step(leg, segment);
      }
      leg["segments"] = Json::array();
    }
    last = segment;
    Json& leg = legs.back();
    leg["to_cycle"] = segment.to;
    Json part = describer.cause(segment);
    part["cycles"] = segment.cycles();
    leg["segments"].push_back(std::move(part));
  }
  return legs;
}

Json delays_of(const std::vector<Delay>& delays, const Describer& describer) {
  Json list = Json::array();
  for (const Delay& delay : delays) {
    Json& entry = list.emplace_back(Json::object());
    entry["ni"] = describer.ni(delay.vertex);
    if (delay.step != 0) entry["step"] = delay.step;
    entry["at_cycle"] = delay.at;
    entry["late_cycles"] = delay.cycles;
    if (delay.step != 0) entry["behind_median_cycles"] = delay.behind;
    if (delay.message != kNowhere) describer.add_message(entry["waited_for"], delay.message);
    if (delay.cause.cycles != 0) entry["cause"] = describer.cause(delay.cause.where);
    entry["cause_cycles"] = delay.cause.cycles;
  }
  return list;
}

Json slack_of(const std::vector<StepSlack>& slack, const Describer& describer) {
  Json steps = Json::array();
  for (const StepSlack& of_ni : slack) {
    if (steps.empty() || steps.back()["step"] != of_ni.step) {
      Json& step = steps.emplace_back(Json::object());
      step["step"] = of_ni.step;
      step["least_cycles"] = of_ni.slack;
      step["least_at"] = describer.ni(of_ni.node.value());
      step["cycles_by_ni"] = Json::object();
    }
    Json& step = steps.back();
    if (of_ni.slack < step["least_cycles"].get<Cycle>()) {
      step["least_cycles"] = of_ni.slack;
      step["least_at"] = describer.ni(of_ni.node.value());
    }
    step["cycles_by_ni"][describer.ni(of_ni.node.value())] = of_ni.slack;
  }
  return steps;
}

}  // namespace

Json describe_program_step(const ContextRecord::Step& step) {
  Json json;
  json["op"] = to_string(step.step.op);
  json["context"] = step.place.block;
  json["context_step"] = step.place.step;
  json["pass"] = step.place.tile;
  return json;
}

Json describe_explanation(const RunRecord& record, const Explanation& explanation,
                          const DescribePlace& place) {
  const Describer describer(record, place);
  const CriticalPath& path = explanation.path;
  Json json;
  json["cycles"] = path.last_delivery - path.first_issue;
  json["first_issue_cycle"] = path.first_issue;
  json["last_delivery_cycle"] = path.last_delivery;
  json["totals"] = totals(path);
  json["causes"] = causes(path, describer);
  json["bottlenecks"] = bottlenecks(path, describer);
  json["path"] = path_of(path, describer);
  json["slips"] = delays_of(explanation.delays, describer);
  if (!explanation.slack.empty()) json["slack"] = slack_of(explanation.slack, describer);
  return json;
}

}  // namespace espalier
