#include "sims/observe/explain/program_path.h"

#include <algorithm>

namespace espalier {

ProgramIndex::ProgramIndex(const ContextProgram& program, const RunRecord& record)
    : program_(program),
      record_(record),
      messages_(program.num_connections()),
      senders_(record.messages.size(), kNone),
      givers_(program.num_connections()) {
  for (RecordIndex m = 0; m < record.messages.size(); ++m) {
    const Operation& operation = record.messages[m].operation;
    if (operation.is_background()) continue;
    std::vector<RecordIndex>& of = messages_[operation.flow.index()];
    const std::size_t number = operation.first_chunk.index();
    if (number >= of.size()) of.resize(number + 1, kNowhere);
    of[number] = m;
  }
  for (std::size_t r = 0; r < program.program().num_ranks(); ++r) {
    const NodeId rank(r);
    first_step_.emplace_back();
    for (std::size_t b = 0; b < record.nis[r].contexts.size(); ++b) add_context(rank, b);
    first_step_.back().push_back(steps_.size());
  }
}

void ProgramIndex::add_context(NodeId rank, std::size_t block) {
  first_step_.back().push_back(steps_.size());
  const ContextRecord& context = record_.nis[rank.index()].contexts[block];
  const ConnectionId to = program_.send_connection(rank, block);
  const ConnectionId from = program_.recv_connection(rank, block);
  std::size_t sent = 0;
  std::size_t received = 0;
  std::size_t slots = 0;
  for (std::size_t s = 0; s < context.steps.size(); ++s) {
    const ContextRecord::Step& of = context.steps[s];
    const RequestGrid grid = program_.requests(of.step, of.place.tile);
    steps_.push_back({rank, static_cast<std::uint32_t>(s), requests_.size(), of.num_requests, &of});
    for (std::size_t q = 0; q < of.num_requests; ++q) {
      const espalier::Request cut = grid.at(q);
      const RequestIndex here = requests_.size();
      Request& request = requests_.emplace_back();
      request.step = steps_.size() - 1;
      request.times = &context.requests[of.first_request + q];
      if (sends(of.step.op)) {
        request.sends = messages_[to.index()][sent++];
        senders_[request.sends] = here;
        if (cut.begins_slot) request.slot = slots++;
      }
      if (receives(of.step.op)) {
        request.receives = messages_[from.index()][received++];
        if (cut.ends_slot) givers_[from.index()].push_back(here);
      }
    }
  }
}

std::pair<StepIndex, StepIndex> ProgramIndex::steps_of(NodeId rank, std::size_t block) const {
  const std::vector<StepIndex>& firsts = first_step_[rank.index()];
  return {firsts[block], firsts[block + 1]};
}

// Passes come one after the other, each with all steps of the block.
StepIndex ProgramIndex::find(NodeId rank, const StepPlace& place) const {
  const auto [first, last] = steps_of(rank, place.block);
  const std::size_t length = program_.blocks(rank)[place.block].steps.size();
  const StepIndex at = first + place.tile * length + place.step;
  return at < last ? at : kNone;
}

RequestIndex ProgramIndex::giver(ConnectionId connection, std::size_t n) const {
  const std::vector<RequestIndex>& of = givers_[connection.index()];
  return n < of.size() ? of[n] : kNone;
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
  // The walk reached a start too early: the rest of the time is unexplained.
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
  Cycle at = times(r).started;
  if (times(r).received == at) {
    at = times(r).taken;
    trail.add(at_request(SegmentKind::network_post, r), at);
  }
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
  // Requests end in order: an earlier request may have held this one up.
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
  // A DMA engine of limited bandwidth is busy: another request would not hide its latency.
  const bool reads_packets =
      segment.message != kNowhere && index_.record().messages[segment.message].read == kNever;
  return segment.kind == SegmentKind::dma && !reads_packets;
}

namespace {
// The last stage between the work on a request and its issue.
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
    // The fence began when the request before had left.
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
  // The message whose last flit made room in the injection queue.
  const NodeId rank = index_.step(request.step).rank;
  const std::uint32_t channel = index_.record().messages[request.sends].channel;
  const RecordIndex before = messages_.sent_at(rank, done - 1, channel);
  if (before == kNowhere) return {};
  Segment segment = at_request(SegmentKind::ni_queue, r);
  segment.channel = channel;
  segment.other = before;
  trail.add(segment, done - 1);
  return {Event::Kind::message_sent, before};
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
