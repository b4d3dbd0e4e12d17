#include "sims/observe/explain/critical_path.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace espalier {

namespace {

// Numbers of steps and of requests, from 0, over all contexts.
using StepIndex = std::size_t;
using RequestIndex = std::size_t;
constexpr std::size_t kNone = ~std::size_t{0};

// A program's recorded steps and requests, with the messages and slots that connect them.
class ProgramIndex {
 public:
  struct Step {
    NodeId rank;
    std::uint32_t in_context = 0;  // in ContextRecord::steps
    RequestIndex first = 0;
    std::size_t requests = 0;
    const ContextRecord::Step* record = nullptr;
  };
  struct Request {
    StepIndex step = 0;
    RecordIndex sends = kNowhere;     // a message
    RecordIndex receives = kNowhere;  // a message
    std::size_t slot = kNone;         // number of the connection's slot that it begins
    const RequestTimes* times = nullptr;
  };

  // Both must outlive it. The run is complete.
  ProgramIndex(const ContextProgram& program, const RunRecord& record)
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
      // Of a request over several routes, the part that came last.
      if (of[number] == kNowhere || record.messages[of[number]].done <= record.messages[m].done) {
        of[number] = m;
      }
    }
    for (std::size_t r = 0; r < program.program().ranks.size(); ++r) {
      const NodeId rank(r);
      first_step_.emplace_back();
      for (std::size_t b = 0; b < record.nis[r].contexts.size(); ++b) add_context(rank, b);
      first_step_.back().push_back(steps_.size());
    }
    for (RecordIndex m = 0; m < record.messages.size(); ++m) {
      const Operation& operation = record.messages[m].operation;
      if (operation.is_background()) continue;
      senders_[m] = senders_[messages_[operation.flow.index()][operation.first_chunk.index()]];
    }
  }

  [[nodiscard]] const Step& step(StepIndex s) const { return steps_[s]; }
  [[nodiscard]] const Request& request(RequestIndex r) const { return requests_[r]; }
  [[nodiscard]] std::size_t num_steps() const { return steps_.size(); }
  // A step of a pass of a block; kNone if it did not run. Passes come one after the other, each
  // with all steps of the block.
  [[nodiscard]] StepIndex find(NodeId rank, const StepPlace& place) const {
    const auto [first, last] = steps_of(rank, place.block);
    const std::size_t length = program_.blocks(rank)[place.block].steps.size();
    const StepIndex at = first + place.tile * length + place.step;
    return at < last ? at : kNone;
  }
  // A context's steps: [first, last).
  [[nodiscard]] std::pair<StepIndex, StepIndex> steps_of(NodeId rank, std::size_t block) const {
    const std::vector<StepIndex>& firsts = first_step_[rank.index()];
    return {firsts[block], firsts[block + 1]};
  }
  // The request that sends a message.
  [[nodiscard]] RequestIndex sender(RecordIndex message) const { return senders_[message]; }
  // The request that frees the `n`-th slot of a connection, counted from 0; kNone if none does.
  [[nodiscard]] RequestIndex giver(ConnectionId connection, std::size_t n) const {
    const std::vector<RequestIndex>& of = givers_[connection.index()];
    return n < of.size() ? of[n] : kNone;
  }

 private:
  void add_context(NodeId rank, std::size_t block) {
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
      steps_.push_back(
          {rank, static_cast<std::uint32_t>(s), requests_.size(), of.num_requests, &of});
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

  const ContextProgram& program_;
  const RunRecord& record_;
  std::vector<Step> steps_;
  std::vector<Request> requests_;
  std::vector<std::vector<StepIndex>> first_step_;  // by rank and block; one more at the end
  std::vector<std::vector<RecordIndex>> messages_;  // by connection, in order
  std::vector<RequestIndex> senders_;               // by message
  std::vector<std::vector<RequestIndex>> givers_;   // by connection, in order
};

// The last stage between the work on a request and its issue.
Cycle ready_to_leave(const RequestTimes& at) {
  if (at.posted != kNever) return at.posted;
  return at.fenced != kNever ? at.fenced : at.worked;
}

// From the end of the last context's last step back to the hosts' call.
class PathFinder : public Backtrack {
 public:
  PathFinder(const ContextProgram& program, const RecordedRun& run,
             const std::vector<SlotCredits::Spec>& slots, const std::vector<NodeClock>& clocks)
      : Backtrack(run),
        program_(program),
        run_(run),
        index_(program, run.record),
        slots_(slots),
        clocks_(clocks) {}

  // The events of contexts lie between those of messages.
  [[nodiscard]] PathEvent before(PathEvent event, Trail& trail) const override {
    Event at{Event::Kind::step_ended, event.message};
    if (event.kind == PathEvent::Kind::done) at.kind = Event::Kind::message_arrived;
    if (event.kind == PathEvent::Kind::sent) at.kind = Event::Kind::message_sent;
    if (event.kind == PathEvent::Kind::issued) {
      at = {Event::Kind::worked, index_.sender(event.message)};
    }
    do {
      at = back_from(at, trail);
      const auto message = static_cast<RecordIndex>(at.of);
      if (at.kind == Event::Kind::message_arrived) return {PathEvent::Kind::done, message};
      if (at.kind == Event::Kind::message_sent) return {PathEvent::Kind::sent, message};
    } while (at.kind != Event::Kind::start);
    return {};
  }
  // The end of its last context; of all contexts if `ni` is invalid.
  [[nodiscard]] std::pair<Cycle, PathEvent> last_at(NodeId ni) const override {
    std::pair<Cycle, PathEvent> last{};
    for (StepIndex s = 0; s < index_.num_steps(); ++s) {
      const Cycle ended = index_.step(s).record->times.ended;
      if ((ni.valid() && index_.step(s).rank != ni) || ended <= last.first) continue;
      last = {ended, {PathEvent::Kind::ended, static_cast<std::uint32_t>(s)}};
    }
    return last;
  }
  [[nodiscard]] TimePath whole_run() const override {
    const auto [end, event] = last_at(NodeId());
    return path(0, end, event);
  }

  // By message; nullptr for background messages.
  [[nodiscard]] std::vector<const ContextRecord::Step*> senders() const {
    std::vector<const ContextRecord::Step*> steps(run_.record.messages.size(), nullptr);
    for (RecordIndex m = 0; m < steps.size(); ++m) {
      const RequestIndex sender = index_.sender(m);
      if (sender != kNone) steps[m] = index_.step(index_.request(sender).step).record;
    }
    return steps;
  }

 private:
  // An event in cycle trail.at().
  struct Event {
    enum class Kind : std::uint8_t {
      start,         // the host's call
      turn,          // a step has its turn
      decoded,       // a step is decoded
      started,       // a request starts
      worked,        // memory and ALU are done with a request, and a message is issued
      ended,         // a request ends
      step_ended,    // a step ends
      message_sent,  // a message's last flit has left its NI
      message_arrived
    };
    Kind kind = Kind::start;
    std::size_t of = kNone;  // step, request or message
  };

  // The share for which this holds, of an operation over several routes; kNowhere: none.
  template <class Holds>
  [[nodiscard]] RecordIndex share_with(RecordIndex message, Holds holds) const {
    const auto& messages = run_.record.messages;
    const RecordIndex whole = messages[message].whole;
    for (RecordIndex m = whole; m < messages.size() && messages[m].whole == whole; ++m) {
      if (holds(messages[m])) return m;
    }
    return kNowhere;
  }

  [[nodiscard]] Event back_from(Event event, Trail& trail) const {
    switch (event.kind) {
      case Event::Kind::turn:
        if (index_.step(event.of).in_context == 0) return back_from_launch(event.of, trail);
        return {Event::Kind::step_ended, event.of - 1};
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
        run_.back_from_sent(static_cast<RecordIndex>(event.of), trail);
        return {Event::Kind::worked, index_.sender(static_cast<RecordIndex>(event.of))};
      case Event::Kind::message_arrived:
        run_.back_to_issue(static_cast<RecordIndex>(event.of), trail);
        return {Event::Kind::worked, index_.sender(static_cast<RecordIndex>(event.of))};
      case Event::Kind::start:
        break;
    }
    return {};
  }
  // Precondition: the step waits for another.
  [[nodiscard]] StepIndex awaited_by(const ProgramIndex::Step& step) const {
    const ProgramStep& waits = step.record->step;
    return index_.find(step.rank,
                       {static_cast<std::size_t>(waits.wait_block), step.record->place.tile,
                        static_cast<std::size_t>(waits.wait_step)});
  }
  [[nodiscard]] Event back_from_decoded(StepIndex s, Trail& trail) const {
    const ProgramIndex::Step& step = index_.step(s);
    const StepTimes& at = step.record->times;
    trail.add(at_step(SegmentKind::decode, s), at.ready);
    if (at.ready == at.turn) return {Event::Kind::turn, s};
    const StepIndex done = awaited_by(step);
    if (done == kNone || index_.step(done).record->times.ended + 1 != at.ready) return {};
    trail.add(at_step(SegmentKind::dependency, s), at.ready - 1);
    return {Event::Kind::step_ended, done};
  }
  [[nodiscard]] Event back_from_started(RequestIndex r, Trail& trail) const {
    const ProgramIndex::Request& request = index_.request(r);
    const ProgramIndex::Step& step = index_.step(request.step);
    Cycle at = times(r).started;
    if (times(r).received == at) {
      at = times(r).taken;
      trail.add(at_request(SegmentKind::network_post, r), at);
    }
    if (request.receives != kNowhere && run_.record.messages[request.receives].done + 1 == at) {
      trail.add(at_request(SegmentKind::dependency, r), at - 1);
      return {Event::Kind::message_arrived, request.receives};
    }
    const ProgramStep& of = step.record->step;
    if (of.on_the_fly && of.wait_block != kNoPeer) {
      const RequestIndex same = index_.step(awaited_by(step)).first + (r - step.first);
      if (times(same).ended + 1 == at) {
        trail.add(at_request(SegmentKind::dependency, r), at - 1);
        return {Event::Kind::ended, same};
      }
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
  [[nodiscard]] Event back_from_ready(RequestIndex r, Trail& trail) const {
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
  [[nodiscard]] Event back_from_worked(RequestIndex r, Trail& trail) const {
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
    const RecordIndex waited = share_with(
        request.sends, [](const MessageRecord& share) { return share.room_by != kNowhere; });
    if (waited == kNowhere) return {};
    const RecordIndex before = run_.record.messages[waited].room_by;
    Segment segment = at_request(SegmentKind::ni_queue, r);
    segment.channel = run_.record.messages[waited].channel;
    segment.other = before;
    trail.add(segment, done - 1);
    return {Event::Kind::message_sent, before};
  }
  [[nodiscard]] Event back_from_ended(RequestIndex r, Trail& trail) const {
    const ProgramIndex::Request& request = index_.request(r);
    if (request.sends == kNowhere) return {Event::Kind::worked, r};
    const Cycle at = times(r).ended;
    const RecordIndex last =
        share_with(request.sends, [&](const MessageRecord& share) { return share.sent + 1 == at; });
    if (last != kNowhere) {
      trail.add(at_request(SegmentKind::dependency, r), at - 1);
      return {Event::Kind::message_sent, last};
    }
    const bool is_first = r == index_.step(request.step).first;
    if (!is_first && times(r - 1).ended == at) return {Event::Kind::ended, r - 1};
    return {};
  }
  [[nodiscard]] Event back_from_step(StepIndex s) const {
    const ProgramIndex::Step& step = index_.step(s);
    if (step.requests == 0) return {Event::Kind::decoded, s};
    return {Event::Kind::ended, step.first + step.requests - 1};
  }
  [[nodiscard]] Event back_from_launch(StepIndex s, Trail& trail) const {
    const NodeId rank = index_.step(s).rank;
    const NiRecord& ni = run_.record.nis[rank.index()];
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
      back_from_post(clocks_[rank.index()], segment, trail);
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
  // The request that freed the slot that `r` took in cycle `at`; kNone if it was free before.
  [[nodiscard]] RequestIndex slot_giver(RequestIndex r, Cycle at) const {
    const ProgramIndex::Request& request = index_.request(r);
    if (request.slot == kNone) return kNone;
    const ConnectionId connection(run_.record.messages[request.sends].operation.flow.index());
    const SlotCredits::Spec& slots = slots_[connection.index()];
    if (request.slot < slots.slots) return kNone;
    const RequestIndex giver = index_.giver(connection, request.slot - slots.slots);
    if (giver == kNone || times(giver).ended + slots.latency != at) return kNone;
    return giver;
  }
  // The limit of requests in flight kept a request waiting until `r` had ended. Counts latency of
  // `r` as the limit's if another request in flight would have hidden it.
  [[nodiscard]] Event back_through_limit(RequestIndex r, Trail& trail) const {
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
  [[nodiscard]] bool is_own_latency(const Segment& segment, StepIndex s) const {
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
        segment.message != kNowhere && run_.record.messages[segment.message].read == kNever;
    return segment.kind == SegmentKind::dma && !reads_packets;
  }
  [[nodiscard]] Segment at_step(SegmentKind kind, StepIndex s) const {
    const ProgramIndex::Step& step = index_.step(s);
    Segment segment;
    segment.kind = kind;
    segment.vertex = step.rank.value();
    segment.context = static_cast<std::uint32_t>(step.record->place.block);
    segment.step = step.in_context;
    return segment;
  }
  [[nodiscard]] Segment at_request(SegmentKind kind, RequestIndex r) const {
    Segment segment = at_step(kind, index_.request(r).step);
    segment.message = index_.request(r).sends;
    return segment;
  }
  [[nodiscard]] const RequestTimes& times(RequestIndex r) const { return *index_.request(r).times; }

  const ContextProgram& program_;
  const RecordedRun& run_;
  ProgramIndex index_;
  const std::vector<SlotCredits::Spec>& slots_;
  const std::vector<NodeClock>& clocks_;
};

}  // namespace

ProgramBacktrack program_backtrack(const ContextProgram& program, const RecordedRun& run,
                                   const std::vector<SlotCredits::Spec>& slots,
                                   const std::vector<NodeClock>& clocks) {
  auto finder = std::make_unique<PathFinder>(program, run, slots, clocks);
  std::vector<const ContextRecord::Step*> senders = finder->senders();
  return {std::move(finder), std::move(senders)};
}

}  // namespace espalier
