#include "sims/observe/explain/parts.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace espalier {

namespace {

using Json = Describer::Json;

bool waits_for(const Segment& segment, std::uint32_t channel) {
  const SegmentKind kind = segment.kind;
  const bool waits = kind == SegmentKind::arbitration || kind == SegmentKind::credit ||
                     kind == SegmentKind::allocation || kind == SegmentKind::ni_queue;
  return waits && (segment.channel == channel || segment.bottleneck == channel);
}

// A message waits in its NI behind another one, and both leave the first router by this channel.
bool queues_for(const ChannelLog& log, const Segment& segment, std::uint32_t channel) {
  const auto leaves_by = [&](RecordIndex m) {
    return log.hops(m) > 1 && log.find(m, 1, 0).channel == channel;
  };
  return segment.kind == SegmentKind::ni_queue && segment.other != kNowhere &&
         leaves_by(segment.message) && leaves_by(segment.other);
}

// The NI itself spends the time, and does not wait. Its queue works, too, if flits of another
// message pass the queue's end meanwhile.
bool works(const RunRecord& record, const Segment& segment, NodeId ni) {
  std::uint32_t party = segment.vertex;
  const RecordIndex of = segment.other != kNowhere ? segment.other : segment.message;
  if (of != kNowhere && (segment.other != kNowhere || party == kNowhere)) {
    party = record.messages[of].operation.from.value();
  }
  const bool sends_other = segment.kind == SegmentKind::ni_queue && segment.other != kNowhere &&
                           segment.bottleneck == segment.channel;
  return party == ni.value() && (is_work(segment.kind) || sends_other);
}

// A down-counter stands for the time of the step in which it is loaded. A step takes at least a
// cycle.
std::optional<Cycle> planned_begin(const TableEngine::Spec& engine, Timestep step) {
  const LockstepMode mode = engine.lockstep;
  if (mode != LockstepMode::estimate && mode != LockstepMode::full) return std::nullopt;
  Cycle begin = 0;
  auto release = engine.releases.begin();
  for (Timestep s = 1;; ++s) {
    for (; release != engine.releases.end() && release->step <= s; ++release) {
      begin = std::max(begin, release->at);
    }
    if (s == step) return begin;
    begin += std::max(engine.step_time[s - 1], Cycle{1});
  }
}

}  // namespace

Json ni_account(const Backtrack& back, const Describer& describer, NodeId ni) {
  const RecordedRun& run = back.run();
  std::vector<std::pair<Cycle, PathEvent>> events;
  for (const RecordIndex m : run.index.of(ni)) {
    events.push_back({run.record.messages[m].issued, {PathEvent::Kind::issued, m}});
  }
  const Cycle last_issue = events.empty() ? 0 : events.back().first;
  for (const RecordIndex m : run.index.to(ni)) {
    const Cycle done = run.index.done(m);
    if (done > last_issue) events.push_back({done, {PathEvent::Kind::done, m}});
  }
  events.push_back(back.last_at(ni));
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  TimePath path;
  Cycle worked = 0;
  for (const auto& [at, event] : events) {
    if (at <= path.to) continue;
    for (const Segment& segment : back.path(path.to, at, event).segments) {
      path.segments.push_back(segment);
      if (works(run.record, segment, ni)) worked += segment.cycles();
    }
    path.to = at;
  }
  Json json{{"ni", describer.ni(ni.value())}, {"cycles", path.to}, {"worked_cycles", worked}};
  describer.add_path(json, path);
  return json;
}

Json link_account(const RecordedRun& run, const Describer& describer, std::uint32_t channel) {
  Cycle cycles = 0;
  Json waits = Json::array();
  for (RecordIndex m = 0; m < run.record.messages.size(); ++m) {
    if (run.record.messages[m].operation.is_background()) continue;
    cycles = std::max(cycles, run.record.messages[m].done);
    std::vector<Segment> of_message;
    for (const Segment& segment : run.account_of(m)) {
      if (!waits_for(segment, channel) && !queues_for(run.log, segment, channel)) continue;
      const auto same =
          std::find_if(of_message.begin(), of_message.end(),
                       [&](const Segment& other) { return other.what() == segment.what(); });
      if (same == of_message.end()) {
        of_message.push_back(segment);
      } else {
        same->to += segment.cycles();
      }
    }
    for (const Segment& segment : of_message) {
      Json& wait = waits.emplace_back(describer.cause(segment));
      wait["cycles"] = segment.cycles();
      wait["message"] = describer.message(m);
    }
  }
  const Tick end = run.log.tick_of(cycles);
  std::vector<const Passage*> passages = run.log.sent_in(channel, 0, end);
  std::sort(passages.begin(), passages.end(), [](const Passage* a, const Passage* b) {
    return std::tie(a->sent.start, a->vc) < std::tie(b->sent.start, b->vc);
  });
  Json uses = Json::array();
  std::map<RecordIndex, std::size_t> use_of;  // by message: its place in `uses`
  Tick ticks = 0;
  for (const Passage* passage : passages) {
    const auto [place, is_new] = use_of.emplace(passage->message, uses.size());
    if (is_new) {
      uses.push_back({{"from_cycle", run.log.cycle_of(passage->sent.start)},
                      {"to_cycle", 0},
                      {"cycles", 0},
                      {"flits", 0},
                      {"message", describer.message(passage->message)}});
    }
    Json& use = uses[place->second];
    const std::uint64_t flits = passage->sent.before(end);
    // Whole cycles of all flits so far, so that no fraction of a cycle is lost.
    const Cycle before = run.log.cycle_of(ticks);
    ticks += flits * passage->sent.rate;
    use["to_cycle"] = run.log.cycle_of(passage->sent.end_of(flits));
    use["cycles"] = use["cycles"].get<Cycle>() + run.log.cycle_of(ticks) - before;
    use["flits"] = use["flits"].get<std::uint64_t>() + flits;
  }
  return {{"channel", describer.channel(channel)},
          {"cycles", cycles},
          {"busy_cycles", run.log.cycle_of(ticks)},
          {"uses", uses},
          {"waits", waits}};
}

Json message_account(const Backtrack& back, const Describer& describer, RecordIndex message) {
  const RecordedRun& run = back.run();
  const MessageRecord& record = run.record.messages[message];
  Trail trail(record.issued, 0);
  const PathEvent event = back.before({PathEvent::Kind::issued, record.whole}, trail);
  TimePath path{trail.at(), record.done, {}};
  path.segments = trail.take();
  for (const Segment& segment : run.account_of(message)) path.segments.push_back(segment);
  Json json{{"message", describer.message(message)},
            {"cycles", path.to - path.from},
            {"ready_cycle", path.from},
            {"issued_cycle", record.issued},
            {"delivered_cycle", record.done}};
  if (event.kind == PathEvent::Kind::done || event.kind == PathEvent::Kind::sent) {
    json["ready_by"] = describer.message(event.message);
  }
  json["route"] = Json::array();
  for (std::uint16_t h = 0; h < run.log.hops(message); ++h) {
    const std::uint64_t last = record.grid.flits - 1;
    const Passage& passage = run.log.find(message, h, 0);
    const Cycle latency = run.record.channels[passage.channel].link.latency;
    Cycle waited = 0;
    for (const Segment& segment : path.segments) {
      const bool is_here = segment.message == message && segment.channel == passage.channel;
      if (is_here && waits_for(segment, passage.channel)) waited += segment.cycles();
    }
    json["route"].push_back(
        {{"channel", describer.channel(passage.channel)},
         {"first_flit_cycle", run.log.cycle_of(passage.sent_at(0)) + latency},
         {"last_flit_cycle",
          run.log.cycle_of(run.log.find(message, h, last).sent_at(last)) + latency},
         {"waited_cycles", waited}});
  }
  describer.add_path(json, path);
  return json;
}

Json step_account(const Backtrack& back, const Describer& describer, const StepRules& rules,
                  Timestep step) {
  const std::optional<Cycle> planned = planned_begin(rules.healthy, step);
  Json json{{"step", step}, {"planned_cycle", nullptr}, {"nis", Json::array()}};
  if (planned) json["planned_cycle"] = *planned;
  for (const Delay& delay : delays_in_step(rules.causes, back.run(), rules.network, step)) {
    const auto& steps = back.run().record.nis[delay.vertex].steps;
    const bool goes_on = steps.size() > step + 1 && steps[step + 1].at != kNever;
    Json& entry = json["nis"].emplace_back(describer.delay(delay));
    entry["ended_cycle"] = goes_on ? steps[step + 1].at : back.last_at(NodeId(delay.vertex)).first;
    if (planned) entry["after_plan_cycles"] = static_cast<std::int64_t>(delay.at - *planned);
  }
  return json;
}

}  // namespace espalier
