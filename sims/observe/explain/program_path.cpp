#include "sims/observe/explain/program_path.h"

#include <algorithm>
#include <utility>

namespace espalier {

ProgramPath::ProgramPath(const ContextProgram& program, const ProgramIndex& index,
                         const MessageWalk& walk, Spec spec)
    : program_(program),
      index_(index),
      walk_(walk),
      spec_(std::move(spec)),
      sent_(index.record().channels.size()) {
  const std::vector<MessageRecord>& messages = index.record().messages;
  for (RecordIndex m = 0; m < messages.size(); ++m) {
    if (messages[m].operation.is_background()) continue;
    sent_[messages[m].channel].emplace_back(messages[m].sent, m);
  }
  for (auto& of_channel : sent_) std::sort(of_channel.begin(), of_channel.end());
}

CriticalPath ProgramPath::find(Cycle cycles) const {
  CriticalPath path;
  path.last_delivery = cycles;
  Event event;
  for (StepIndex s = 0; s < index_.num_steps(); ++s) {
    if (index_.step(s).record->times.ended != cycles) continue;
    event = {Event::Kind::step_ended, s};
    break;
  }
  Trail trail(cycles, 0);
  while (event.kind != Event::Kind::start) event = back_from(event, trail);
  // The rules have come to a start before their time.
  trail.add({}, 0);
  path.segments = trail.take();
  return path;
}

ProgramPath::Event ProgramPath::back_from(Event event, Trail& trail) const {
  switch (event.kind) {
    case Event::Kind::turn:
      return back_from_turn(event.of, trail);
    case Event::Kind::decoded:
      return back_from_decoded(event.of, trail);
    case Event::Kind::started:
      return back_from_started(event.of, trail);
    case Event::Kind::worked:
      return back_from_worked(event.of, trail);
    case Event::Kind::ended:
      return back_from_ended(event.of, trail);
    case Event::Kind::step_ended:
      return back_from_step(event.of);
    case Event::Kind::message_sent:
      walk_.sent_to_issue(static_cast<RecordIndex>(event.of), trail);
      return {Event::Kind::worked, index_.sender(static_cast<RecordIndex>(event.of))};
    case Event::Kind::message_arrived:
      walk_.to_issue(static_cast<RecordIndex>(event.of), trail);
      return {Event::Kind::worked, index_.sender(static_cast<RecordIndex>(event.of))};
    case Event::Kind::start:
      break;
  }
  return {};
}

ProgramPath::Event ProgramPath::back_from_step(StepIndex s) const {
  const ProgramIndex::Step& step = index_.step(s);
  if (step.requests == 0) return {Event::Kind::decoded, s};
  return {Event::Kind::ended, step.first + step.requests - 1};
}

ProgramPath::Event ProgramPath::back_from_turn(StepIndex s, Trail& trail) const {
  if (index_.step(s).in_context != 0) return {Event::Kind::step_ended, s - 1};
  return back_from_launch(s, trail);
}

ProgramPath::Event ProgramPath::back_from_launch(StepIndex s, Trail& trail) const {
  const NodeId rank = index_.step(s).rank;
  const NiRecord& ni = index_.record().nis[rank.index()];
  const auto& blocks = program_.blocks(rank);
  const std::uint32_t call = blocks[index_.step(s).record->place.block].call;
  const auto launch = std::find_if(ni.launches.begin(), ni.launches.end(),
                                   [&](const auto& each) { return each.call == call; });
  if (launch == ni.launches.end()) return {};
  Segment segment;
  segment.kind = SegmentKind::launch;
  segment.vertex = rank.value();
  trail.add(segment, launch->at);
  if (launch == ni.launches.begin()) {
    back_from_post(spec_.clocks[rank.index()], segment, trail);
    return {};
  }
  // The host sees that the call before is over.
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto [first, last] = index_.steps_of(rank, b);
    if (blocks[b].call >= call || first == last) continue;
    if (index_.step(last - 1).record->times.ended + 1 != launch->at) continue;
    trail.add(segment, launch->at - 1);
    return {Event::Kind::step_ended, last - 1};
  }
  return {};
}

ProgramPath::Event ProgramPath::back_from_decoded(StepIndex s, Trail& trail) const {
  const ProgramIndex::Step& step = index_.step(s);
  const StepTimes& at = step.record->times;
  trail.add(at_step(SegmentKind::decode, s), at.ready);
  if (at.ready == at.turn) return {Event::Kind::turn, s};
  const ProgramStep& waits = step.record->step;
  const StepPlace place{static_cast<std::size_t>(waits.wait_block), step.record->place.tile,
                        static_cast<std::size_t>(waits.wait_step)};
  const StepIndex done = index_.find(step.rank, place);
  if (done == kNone || index_.step(done).record->times.ended + 1 != at.ready) return {};
  trail.add(at_step(SegmentKind::dependency, s), at.ready - 1);
  return {Event::Kind::step_ended, done};
}

RequestIndex ProgramPath::slot_giver(RequestIndex r, Cycle at) const {
  const ProgramIndex::Request& request = index_.request(r);
  if (request.slot == kNone) return kNone;
  const ConnectionId connection(index_.record().messages[request.sends].operation.flow.index());
  const SlotCredits::Spec& slots = spec_.slots[connection.index()];
  if (request.slot < slots.slots) return kNone;
  const RequestIndex giver = index_.giver(connection, request.slot - slots.slots);
  if (giver == kNone || times(giver).ended + slots.latency != at) return kNone;
  return giver;
}

ProgramPath::Event ProgramPath::back_from_started(RequestIndex r, Trail& trail) const {
  const ProgramIndex::Request& request = index_.request(r);
  const ProgramIndex::Step& step = index_.step(request.step);
  const Cycle at = times(r).started;
  if (request.receives != kNowhere && index_.record().messages[request.receives].done + 1 == at) {
    trail.add(at_request(SegmentKind::dependency, r), at - 1);
    return {Event::Kind::message_arrived, request.receives};
  }
  if (const RequestIndex giver = slot_giver(r, at); giver != kNone) {
    trail.add(at_request(SegmentKind::slot_credit, r), times(giver).ended);
    return {Event::Kind::ended, giver};
  }
  if (step.record->times.decoded == at) return {Event::Kind::decoded, request.step};
  if (r == step.first) return {};
  if (times(r - 1).started == at) return {Event::Kind::started, r - 1};
  const std::size_t most = program_.spec().requests;
  if (r - step.first >= most && times(r - most).ended == at) {
    return back_through_limit(r - most, trail);
  }
  return {};
}

ProgramPath::Event ProgramPath::back_through_limit(RequestIndex r, Trail& trail) const {
  Trail inside(trail.at(), 0);
  Event event{Event::Kind::ended, r};
  // Requests end in order: what held this one up may be one before it.
  while (event.kind == Event::Kind::ended || event.kind == Event::Kind::message_sent ||
         event.kind == Event::Kind::worked) {
    event = back_from(event, inside);
  }
  std::vector<Segment> segments = inside.take();
  std::reverse(segments.begin(), segments.end());
  for (const Segment& segment : segments) {
    if (!is_own_latency(segment, index_.request(r).step)) {
      trail.add(segment, segment.from);
      continue;
    }
    Segment limit = at_step(SegmentKind::request_limit, index_.request(r).step);
    limit.message = segment.message;
    trail.add(limit, segment.from);
  }
  return event;
}

bool ProgramPath::is_own_latency(const Segment& segment, StepIndex s) const {
  const ProgramIndex::Step& step = index_.step(s);
  if (segment.message == kNowhere) {
    if (segment.vertex != step.rank.value() || segment.step != step.in_context) return false;
    if (segment.context != step.record->place.block) return false;
  } else if (index_.request(index_.sender(segment.message)).step != s) {
    return false;
  }
  if (segment.kind == SegmentKind::fence || segment.kind == SegmentKind::dependency) return true;
  // An engine of limited bandwidth has work to do meanwhile.
  const bool reads_packets =
      segment.message != kNowhere && index_.record().messages[segment.message].read == kNever;
  return segment.kind == SegmentKind::dma && !reads_packets;
}

namespace {
// The last of what comes between the work on a request and its issue.
Cycle ready_to_leave(const RequestTimes& at) {
  if (at.posted != kNever) return at.posted;
  return at.fenced != kNever ? at.fenced : at.worked;
}
}  // namespace

ProgramPath::Event ProgramPath::back_from_ready(RequestIndex r, Trail& trail) const {
  const RequestTimes& at = times(r);
  if (at.posted != kNever) {
    trail.add(at_request(SegmentKind::network_post, r),
              at.fenced != kNever ? at.fenced : at.worked);
  }
  if (at.fenced != kNever) {
    trail.add(at_request(SegmentKind::fence, r), at.fence);
    // It began when the request before had left.
    if (at.fence != at.worked) return {Event::Kind::ended, r - 1};
  }
  if (at.worked != at.work.done) {
    trail.add(at_request(SegmentKind::context_rate, r), at.started);
    return {Event::Kind::started, r};
  }
  trail.add(at_request(SegmentKind::reduction, r), at.work.read);
  trail.add(at_request(SegmentKind::dma, r), at.work.moved);
  trail.add(at_request(SegmentKind::memory_port, r), at.started);
  return {Event::Kind::started, r};
}

ProgramPath::Event ProgramPath::back_from_worked(RequestIndex r, Trail& trail) const {
  const ProgramIndex::Request& request = index_.request(r);
  const RequestTimes& at = times(r);
  const Cycle done = request.sends == kNowhere ? at.ended : at.issued;
  if (ready_to_leave(at) == done) return back_from_ready(r, trail);
  const bool is_first = r == index_.step(request.step).first;
  const auto done_of = [&](RequestIndex other) {
    return request.sends == kNowhere ? times(other).ended : times(other).issued;
  };
  if (!is_first && done_of(r - 1) == done) return {Event::Kind::worked, r - 1};
  if (request.sends == kNowhere) return {};
  const RecordIndex before = made_room(request.sends, done);
  if (before == kNowhere) return {};
  Segment segment = at_request(SegmentKind::ni_queue, r);
  segment.channel = index_.record().messages[request.sends].channel;
  segment.other = before;
  trail.add(segment, done - 1);
  return {Event::Kind::message_sent, before};
}

RecordIndex ProgramPath::made_room(RecordIndex message, Cycle at) const {
  const auto& sent = sent_[index_.record().messages[message].channel];
  const auto found =
      std::lower_bound(sent.begin(), sent.end(), std::make_pair(at - 1, RecordIndex{0}));
  return found != sent.end() && found->first + 1 == at ? found->second : kNowhere;
}

ProgramPath::Event ProgramPath::back_from_ended(RequestIndex r, Trail& trail) const {
  const ProgramIndex::Request& request = index_.request(r);
  if (request.sends == kNowhere) return {Event::Kind::worked, r};
  const Cycle at = times(r).ended;
  if (index_.record().messages[request.sends].sent + 1 == at) {
    trail.add(at_request(SegmentKind::dependency, r), at - 1);
    return {Event::Kind::message_sent, request.sends};
  }
  const bool is_first = r == index_.step(request.step).first;
  if (!is_first && times(r - 1).ended == at) return {Event::Kind::ended, r - 1};
  return {};
}

Segment ProgramPath::at_step(SegmentKind kind, StepIndex s) const {
  const ProgramIndex::Step& step = index_.step(s);
  Segment segment;
  segment.kind = kind;
  segment.vertex = step.rank.value();
  segment.context = static_cast<std::uint32_t>(step.record->place.block);
  segment.step = step.in_context;
  return segment;
}

Segment ProgramPath::at_request(SegmentKind kind, RequestIndex r) const {
  Segment segment = at_step(kind, index_.request(r).step);
  segment.message = index_.request(r).sends;
  return segment;
}

}  // namespace espalier
