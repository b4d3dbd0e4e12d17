#include "ni/engines/program_context.h"

#include <algorithm>

namespace espalier {

bool ProgramScoreboard::show_published() {
  const bool has_shown = has_news();
  for (const News& n : published_) done_[n.block] = std::max(done_[n.block], n.value);
  published_.clear();
  return has_shown;
}

ProgramContext::ProgramContext(const ContextProgram& program, NodeId rank, std::size_t block)
    : block_(&program.blocks(rank)[block]),
      number_(block),
      send_connection_(program.send_connection(rank, block)),
      recv_connection_(program.recv_connection(rank, block)),
      tiles_(block_->steps.empty() ? 0 : program.tiling().tiles) {}

Cycle ProgramContext::advance(Cycle now, Shared& shared) {
  issued_ = false;
  has_started_ = false;
  if (begins_ > now) return begins_;
  if (asleep_until_ > now) return asleep_until_;
  waits_for_room_ = false;
  const Cycle next = proceed(now, shared);
  if (!has_moved() && !waits_for_room_) asleep_until_ = next;
  return next;
}

Cycle ProgramContext::proceed(Cycle now, Shared& shared) {
  times_.stalls[static_cast<std::size_t>(stall_)] += now - counted_;
  counted_ = now;
  while (!done()) {
    Cycle next = kNever;
    if (phase_ == Phase::turn) begin_step(now, shared);
    if (phase_ != Phase::move) {
      if (!is_decoded(now, shared, next)) return next;
      grid_ = shared.program.requests(step(), tile_);
      started_ = ended_ = 0;
      phase_ = Phase::move;
    }
    next = move(now, shared);
    if (started_ != grid_.size() || !under_way_.empty()) return next;
    end_step(now, shared);
  }
  return kNever;
}

void ProgramContext::begin_step(Cycle now, const Shared& shared) {
  times_ = {};
  times_.turn = now;
  phase_ = Phase::fetch;
  for (EngineObserver* observer : shared.observers) observer->step_began(place(), step(), now);
}

bool ProgramContext::is_decoded(Cycle now, const Shared& shared, Cycle& next) {
  const ProgramStep& step = block_->steps[step_];
  if (phase_ == Phase::fetch) {
    if (step.wait_block != kNoPeer && !step.on_the_fly &&
        !shared.scoreboard.is_done(static_cast<std::size_t>(step.wait_block), tile_,
                                   static_cast<std::size_t>(step.wait_step))) {
      stall_ = ContextStall::dependency;
      return false;
    }
    times_.ready = now;
    times_.decoded = now + shared.program.spec().decode;
    phase_ = Phase::decode;
  }
  stall_ = ContextStall::busy;
  next = times_.decoded;
  return times_.decoded <= now;
}

Cycle ProgramContext::move(Cycle now, Shared& shared) {
  Cycle next = kNever;
  do {
    next = start_requests(now, shared);
    next = std::min(next, carry_on(now, shared));
  } while (end_requests(now, shared));
  return next;
}

Cycle ProgramContext::start_requests(Cycle now, Shared& shared) {
  stall_ = ContextStall::none;
  for (; started_ < grid_.size(); ++started_) {
    if (under_way_.size() == shared.program.spec().requests) {
      stall_ = ContextStall::requests;
      return kNever;
    }
    if (step().on_the_fly && step().wait_block != kNoPeer &&
        !shared.scoreboard.is_done(static_cast<std::size_t>(step().wait_block), tile_,
                                   static_cast<std::size_t>(step().wait_step), started_ + 1)) {
      stall_ = ContextStall::dependency;
      return kNever;
    }
    if (receives(step().op) && !shared.memory.has_arrived(recv_connection_)) {
      stall_ = ContextStall::message;
      return kNever;
    }
    if (has_started_) return kNever;  // one request for each context in turn
    if (const Cycle received = post_receive(now, shared); received > now) {
      stall_ = ContextStall::busy;
      return received;
    }
    if (sends(step().op) && grid_.at(started_).begins_slot) {
      const Cycle free = shared.credits.free_from(send_connection_, now);
      if (free > now) {
        stall_ = ContextStall::slot;
        waits_for_room_ = true;
        return free;
      }
      shared.credits.take(send_connection_);
    }
    start_request(now, shared);
    has_started_ = true;
  }
  return kNever;
}

Cycle ProgramContext::post_receive(Cycle now, Shared& shared) {
  const Cycle takes = shared.program.spec().network_receive;
  if (takes == 0 || !receives(step().op) || !grid_.at(started_).begins_slot ||
      !shared.program.leaves_server(recv_connection_)) {
    return now;
  }
  if (received_ == kNever) {
    taken_ = now;
    received_ = shared.network_free = std::max(shared.network_free, now) + takes;
  }
  return received_;
}

void ProgramContext::start_request(Cycle now, Shared& shared) {
  const ProgramOp op = step().op;
  UnderWay& request = under_way_.emplace_back();
  request.request = grid_.at(started_);
  if (receives(op)) request.data = shared.memory.take(recv_connection_);
  const Bytes bytes = request.request.bytes;
  LocalWork work;
  if (reads_source(op)) work.read += bytes;
  if (op == ProgramOp::reduce) work.read += bytes;
  if (writes_target(op) && !step().on_the_fly) work.written = bytes;
  if (reduces(op)) work.reduced = bytes;
  // The DMA engine reads data to be sent, so the context does not wait for them.
  work.waits_for_read = work.read != 0 && !sends(op);
  request.times.taken = taken_;
  request.times.received = received_;
  taken_ = received_ = kNever;
  request.times.started = now;
  request.times.work = shared.back_end->work(work, now);
  request.times.worked = std::max(request.times.work.done, move_by_context(op, bytes, now, shared));
  if (!sends(op)) return;
  request.number = next_number_++;
  const ContextSpec& spec = shared.program.spec();
  request.has_flag =
      request.request.ends_slot && shared.program.protocol().has_fence && spec.fence != 0;
  request.is_for_network = spec.network_slot != 0 && request.request.begins_slot &&
                           shared.program.leaves_server(send_connection_);
}

// The context's own loads and stores. Data that are sent or received count in bytes on the wire.
Cycle ProgramContext::move_by_context(ProgramOp op, Bytes bytes, Cycle now, const Shared& shared) {
  const Bytes rate = shared.program.spec().bytes_per_cycle;
  if (rate == 0 || shared.program.is_switch(shared.rank)) return now;
  if (sends(op) || receives(op)) bytes = shared.program.protocol().wire_bytes(bytes);
  mover_free_ = std::max(mover_free_, now) + (bytes + rate - 1) / rate;
  return mover_free_;
}

Cycle ProgramContext::carry_on(Cycle now, Shared& shared) {
  for (UnderWay& request : under_way_) {
    if (request.issued || request.ended) continue;
    if (request.times.worked > now) {
      stall_ = ContextStall::busy;
      return request.times.worked;
    }
    if (!request.performed) {
      request.data = shared.memory.execute(step(), tile_, request.request, request.data);
      request.performed = true;
    }
    if (!sends(step().op)) {
      request.ended = true;
      continue;
    }
    Cycle next = kNever;
    if (!may_leave(request, now, shared, next)) {
      stall_ = ContextStall::busy;
      return next;
    }
    if (issued_) return kNever;  // one request for each context in turn
    if (!issue(request, now, shared)) {
      stall_ = ContextStall::port;
      waits_for_room_ = true;
      return kNever;
    }
  }
  return kNever;
}

// The fence begins when all earlier requests have left, because the flag says that their data are
// complete.
bool ProgramContext::may_leave(UnderWay& request, Cycle now, Shared& shared, Cycle& next) {
  RequestTimes& times = request.times;
  if (request.has_flag && times.fence == kNever) {
    if (&request != &under_way_.front()) return false;
    times.fence = now;
    times.fenced = now + shared.program.spec().fence;
  }
  if (request.has_flag && times.fenced > now) {
    next = times.fenced;
    return false;
  }
  if (request.is_for_network && times.posted == kNever) {
    shared.network_free = std::max(shared.network_free, now) + shared.program.spec().network_slot;
    times.posted = shared.network_free;
  }
  if (request.is_for_network && times.posted > now) {
    next = times.posted;
    return false;
  }
  return true;
}

bool ProgramContext::issue(UnderWay& request, Cycle now, Shared& shared) {
  const ProgramRoute& route = shared.program.route(send_connection_);
  Operation operation;
  operation.flow = FlowId(send_connection_.index());
  operation.from = NodeId(route.connection.from);
  operation.to = NodeId(route.connection.to);
  operation.route = route.routes.first;
  operation.bytes = shared.program.protocol().wire_bytes(request.request.bytes);
  if (route.routes.size() > 1) {
    operation.stripes = static_cast<std::uint32_t>(route.routes.cut(operation.bytes).size());
  }
  operation.first_chunk = ChunkId(request.number);
  operation.num_chunks = request.request.num_chunks;
  operation.ready = now;
  if (!shared.back_end->has_room(operation)) return false;
  shared.memory.put_outgoing(request.data);
  shared.back_end->issue(operation, now);
  request.times.issued = now;
  request.issued = true;
  issued_ = true;
  return true;
}

void ProgramContext::sent(std::uint64_t number) {
  const auto left = std::find_if(under_way_.begin(), under_way_.end(),
                                 [&](const UnderWay& r) { return r.issued && r.number == number; });
  left->ended = true;
  wake();
}

bool ProgramContext::end_requests(Cycle now, Shared& shared) {
  bool ended = false;
  for (; !under_way_.empty() && under_way_.front().ended; under_way_.pop_front()) {
    ended = true;
    ++ended_;
    if (step().on_the_fly && step().signals) {
      shared.scoreboard.publish(number_, tile_, step_, ended_);
    }
    under_way_.front().times.ended = now;
    for (EngineObserver* observer : shared.observers) {
      observer->request_ended(place(), under_way_.front().times);
    }
    if (receives(step().op) && under_way_.front().request.ends_slot) {
      shared.credits.give_back(recv_connection_, now);
    }
  }
  return ended;
}

void ProgramContext::end_step(Cycle now, Shared& shared) {
  times_.ended = now;
  for (EngineObserver* observer : shared.observers) observer->step_ended(place(), times_);
  if (step().signals) shared.scoreboard.publish(number_, tile_, step_);
  if (step().op != ProgramOp::nop) ++steps_done_;
  phase_ = Phase::turn;
  if (++step_ == block_->steps.size()) {
    step_ = 0;
    ++tile_;
  }
}

ContextView ProgramContext::view() const {
  ContextView view;
  view.tile = tile_;
  view.pc = step_;
  view.done = done();
  view.requests = under_way_.size();
  if (done()) return view;
  view.op = static_cast<std::uint8_t>(step().op);
  view.stall = stall_;
  return view;
}

}  // namespace espalier
