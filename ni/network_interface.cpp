#include "ni/network_interface.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

NetworkInterface::NetworkInterface(sc_core::sc_module_name module_name, NodeId node,
                                   ClockDomain& clock, const NiSpec& spec, MessageStore& messages,
                                   const std::vector<BoundRoute>& routes,
                                   DeliveryObserver& observer)
    : sc_module(module_name),
      node_(node),
      clock_(clock),
      id_(clock.add(*this)),
      spec_(spec),
      messages_(messages),
      routes_(routes),
      observer_(observer),
      dma_(spec.dma) {}

void NetworkInterface::add_injection(std::unique_ptr<InjectionPort> port) {
  ports_.push_back(std::move(port));
  port_at_.push_back(kNever);
}

void NetworkInterface::connect() { reduction_.emplace(spec_.reduction, ports_.size()); }

void NetworkInterface::load(const TableProgram& program, const NodeFrame& frame,
                            const ScheduleTableEngine::Spec& engine, NodeMemory memory) {
  engine_.emplace(program, engine);
  frame_ = frame;
  memory_.emplace(std::move(memory));
  wake_at(0);
}

void NetworkInterface::post(const Operation& operation) {
  posted_.push_back(operation);
  if (posted_.size() == 1) wake_at(operation.ready);
}

// Decisions come first: they use what was written in earlier cycles. What arrives in this cycle can
// be used from the next one on.
void NetworkInterface::evaluate(Cycle now) {
  // What was due now has been put off since, and left its wake-up behind.
  if (now < next_evaluation_ && !clock_.always_clocked()) return;
  next_evaluation_ = kNever;
  issue_posted(now);
  issue_entries(now);
  send_flits(now);
  if (!arrivals_.empty()) take_arrivals(now);
  if (!reductions_.empty()) finish_reductions(now);
  wake(due(now));
  if (next_evaluation_ != kNever) clock_.wake(id_, next_evaluation_);
}

void NetworkInterface::issue_entries(Cycle now) {
  if (!engine_ || engine_->done()) return;
  if (engine_at_ > now) return;
  const BackEndState back_end{reduction_->idle(now), reduction_->busy_until(), queued_ == 0};
  engine_at_ = engine_->evaluate(
      now, back_end,
      [this](const Operation& op) { return has_room(frame_.route_in_network(op.route)); },
      [this, now](const Operation& in_table) {
        Operation op = frame_.in_network(in_table);
        op.ready = now;
        issue(op, now);
      });
}

void NetworkInterface::issue_posted(Cycle now) {
  for (; next_posted_ < posted_.size(); ++next_posted_) {
    const Operation& next = posted_[next_posted_];
    if (next.ready > now) return;
    if (!has_room(next.route)) return;  // the port's progress wakes this NI
    issue(next, now);
  }
}

void NetworkInterface::issue(const Operation& operation, Cycle now) {
  const BoundRoute& route = routes_[operation.route.index()];
  const Framing framing(spec_.injection.framing, operation.bytes);
  const PacketGrid grid = framing.grid();
  const MessageId message =
      messages_.open(operation, {grid, grid.flits, route.path}, memory_ ? &*memory_ : nullptr);
  SendQueue& queue = ports_[route.injection_port]->queue();
  queue.push(message, framing);
  ++queued_;
  if (!dma_.is_limited()) queue.fetch_all(now + spec_.dma.latency);
  port_at_[route.injection_port] = now;
  observer_.issued(operation, now);
}

void NetworkInterface::send_flits(Cycle now) {
  if (dma_.is_limited()) {
    // What it reads now may be sent later: every port is asked.
    wake(dma_.evaluate(now, ports_));
    std::fill(port_at_.begin(), port_at_.end(), now);
  }
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (port_at_[p] <= now) ports_[p]->prefetch();
  }
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (port_at_[p] <= now) {
      port_at_[p] = ports_[p]->evaluate(now);
      const MessageId sent = ports_[p]->take_sent();
      if (sent.valid()) message_sent(sent, now);
    }
  }
}

void NetworkInterface::message_sent(MessageId message, Cycle now) {
  --queued_;
  const Operation& operation = messages_[message].operation;
  const bool reduce = operation.on_arrival == TransferKind::reduce;
  clear({operation.flow, reduce ? TableEvent::Kind::reduce_sent : TableEvent::Kind::gather_sent,
         operation.to},
        now);
  // There is room in a queue, and less left to send.
  if (engine_ && engine_->waits_for_ports()) look_at_table(now + 1);
  if (next_posted_ < posted_.size()) wake(std::max(now + 1, posted_[next_posted_].ready));
}

void NetworkInterface::credits_changed(std::uint32_t port, bool look_now) {
  const Cycle now = clock_.now();
  if (look_now) {
    port_at_[port] = now;
    wake(now);
    clock_.wake_now(id_);
  } else {
    // Usually they come before a train needs them, and its look at its last sure boundary is put
    // off.
    port_at_[port] = ports_[port]->credits_announced(now, port_at_[port]);
    if (next_evaluation_ <= now || dma_.is_limited()) return;
    next_evaluation_ = due(now);
    if (next_evaluation_ != kNever) clock_.wake(id_, next_evaluation_);
  }
}

// The next cycle in which the passing of time gives this NI something to do, as far as it is noted
// anywhere: an evaluation may want another one besides, in the next cycle or when the DMA engine is
// free.
Cycle NetworkInterface::due(Cycle now) const {
  Cycle next = engine_ && !engine_->done() ? engine_at_ : kNever;
  for (const Cycle at : port_at_) next = std::min(next, at);
  if (!arrivals_.empty()) next = std::min(next, arrivals_.front().at);
  for (const Reduction& reduction : reductions_) next = std::min(next, reduction.done);
  if (next_posted_ < posted_.size() && posted_[next_posted_].ready > now) {
    next = std::min(next, posted_[next_posted_].ready);
  }
  return next;
}

void NetworkInterface::packets_end(std::uint32_t port, MessageId message, std::uint64_t count,
                                   std::uint32_t flits, Cycle arrival) {
  const Cycle visible = arrival + spec_.delivery;
  Cycle lane_done = visible;
  if (messages_[message].operation.on_arrival == TransferKind::reduce) {
    const Message& routing = messages_.routing(message);
    const bool first = routing.flits_left == routing.grid.flits;
    const std::uint32_t head_flits = !routing.grid.message_mode || first ? 1 : 0;
    const Bytes bytes = Bytes{flits - head_flits} * spec_.injection.framing.flit_bytes;
    lane_done = reduction_->packets_visible(port, count, bytes, flits, visible);
  }
  if (messages_.received(message, count * flits)) {
    const auto later = [&](const Arrival& other) { return other.at > visible; };
    const auto place = std::find_if_not(arrivals_.rbegin(), arrivals_.rend(), later).base();
    arrivals_.insert(place, {visible, port, message, lane_done});
    wake_at(visible);
  }
}

void NetworkInterface::take_arrivals(Cycle now) {
  const auto due = std::find_if(arrivals_.begin(), arrivals_.end(),
                                [&](const Arrival& arrival) { return arrival.at > now; });
  std::sort(arrivals_.begin(), due,
            [](const Arrival& a, const Arrival& b) { return a.port < b.port; });
  for (auto arrival = arrivals_.begin(); arrival != due; ++arrival) {
    const Operation& operation = messages_[arrival->message].operation;
    if (operation.on_arrival == TransferKind::copy) {
      complete(arrival->message, now);
    } else if (!engine_ || engine_->may_add(frame_.in_table(operation.flow))) {
      start_reduction(*arrival, now);
    } else {
      held_.push_back(*arrival);
    }
  }
  arrivals_.erase(arrivals_.begin(), due);
}

void NetworkInterface::start_reduction(const Arrival& arrival, Cycle now) {
  const Bytes bytes = messages_[arrival.message].operation.bytes;
  const Cycle done = reduction_->message_visible(bytes, now, arrival.lane_done);
  reductions_.push_back({done, arrival.message});
  wake_at(done);
}

void NetworkInterface::start_held_reductions(Cycle now) {
  const auto ready = std::stable_partition(held_.begin(), held_.end(), [&](const Arrival& arrival) {
    return !engine_->may_add(frame_.in_table(messages_[arrival.message].operation.flow));
  });
  for (auto arrival = ready; arrival != held_.end(); ++arrival) start_reduction(*arrival, now);
  held_.erase(ready, held_.end());
}

void NetworkInterface::clear(const TableEvent& event, Cycle now) {
  if (!engine_) return;
  engine_->clear(frame_.in_table(event), now);
  if (!held_.empty()) start_held_reductions(now);
  if (engine_->head_clear()) look_at_table(now + 1);
}

void NetworkInterface::look_at_table(Cycle at) { engine_at_ = std::min(engine_at_, at); }

void NetworkInterface::finish_reductions(Cycle now) {
  const auto due = std::stable_partition(reductions_.begin(), reductions_.end(),
                                         [&](const Reduction& r) { return r.done != now; });
  // A completed flow may let held Reduces into the unit: what is due is taken out first.
  finished_.assign(due, reductions_.end());
  reductions_.erase(due, reductions_.end());
  for (const Reduction& reduction : finished_) complete(reduction.message, now);
}

void NetworkInterface::complete(MessageId id, Cycle now) {
  const GradientMessage& message = messages_[id];
  const Operation operation = message.operation;
  for (std::uint32_t c = 0; memory_ && c < operation.num_chunks; ++c) {
    const ChunkId chunk(operation.first_chunk.index() + c);
    if (operation.on_arrival == TransferKind::reduce) {
      memory_->reduce(chunk, message.data[c]);
    } else {
      memory_->copy(chunk, message.data[c]);
    }
  }
  messages_.close(id);
  const bool reduced = operation.on_arrival == TransferKind::reduce;
  clear({operation.flow, reduced ? TableEvent::Kind::reduced : TableEvent::Kind::gathered,
         operation.from},
        now);
  observer_.delivered(operation, now);
}

bool NetworkInterface::under_way(Cycle now) const {
  const auto port_under_way = [&](const auto& port) { return port->under_way(now); };
  return !arrivals_.empty() || !reductions_.empty() || dma_.busy(now) ||
         std::any_of(ports_.begin(), ports_.end(), port_under_way) ||
         (engine_ && engine_->timer_running(now)) ||
         (next_posted_ < posted_.size() && posted_[next_posted_].ready > now);
}

void NetworkInterface::explain_entry(const std::vector<std::string>& ni_names,
                                     WaitList& waits) const {
  if (engine_ && !engine_->done()) {
    for (const TableEvent& in_table : engine_->head_waits_for()) {
      const TableEvent event = frame_.in_network(in_table);
      const bool reduce =
          event.kind == TableEvent::Kind::reduced || event.kind == TableEvent::Kind::reduce_sent;
      const bool own = event.kind == TableEvent::Kind::reduce_sent ||
                       event.kind == TableEvent::Kind::gather_sent;
      waits.push_back(
          {name(), own ? std::string(name()) : ni_names[event.peer.index()],
           fmt::format("table entry {} (step {}) waits for the {} of flow {} {} node {}",
                       engine_->head(), engine_->timestep(), reduce ? "Reduce" : "Gather",
                       event.flow.index(), own ? "to leave for" : "from", event.peer.index())});
    }
  }
}

void NetworkInterface::explain_ports(WaitList& waits) const {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    if (*ports_[p]->blocked_on() == '\0') continue;
    waits.push_back({fmt::format("{}.inj{}", name(), p),
                     fmt::format("{}.vc0", ports_[p]->link_name()), ports_[p]->blocked_on()});
  }
}

}  // namespace espalier
