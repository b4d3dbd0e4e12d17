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
      dma_(spec.dma),
      memory_port_(spec.memory_bytes_per_cycle) {}

void NetworkInterface::add_injection(std::unique_ptr<InjectionPort> port) {
  ports_.push_back(std::move(port));
  port_at_.push_back(kNever);
  release_at_.push_back(kNever);
}

void NetworkInterface::connect() { reduction_.emplace(spec_.reduction, ports_.size()); }

void NetworkInterface::load(std::unique_ptr<IssueEngine> engine, DataMemory& memory, Cycle start) {
  engine_ = std::move(engine);
  engine_at_ = start;
  engine_start_ = start;
  memory_ = &memory;
  wake_at(start);
}

void NetworkInterface::post(const Operation& operation) {
  posted_.push_back(operation);
  if (posted_.size() == 1) wake_at(operation.ready);
}

void NetworkInterface::connect_control(MessageSource& source) {
  control_ = &source;
  if (source.next_ready() != kNever) wake_at(source.next_ready());
}

void NetworkInterface::connect_source(MessageSource& source) {
  sources_.push_back(&source);
  if (source.next_ready() != kNever) wake_at(source.next_ready());
}

// Decisions are taken first, from state of earlier cycles. Data that arrive in this cycle can be
// used from the next cycle on.
void NetworkInterface::evaluate(Cycle now) {
  // The evaluation was postponed, and this is the old wake-up.
  if (now < next_evaluation_ && !clock_.always_clocked()) return;
  asked_ = next_evaluation_ = kNever;
  engine_acted_ = false;
  issue_posted(now);
  for (MessageSource* source : sources_) issue_from(*source, now);
  run_engine(now);
  if (control_ != nullptr) issue_control(now);
  send_flits(now);
  if (!arrivals_.empty()) take_arrivals(now);
  if (!reductions_.empty()) finish_reductions(now);
  next_evaluation_ = std::min(asked_, due(now));
  if (next_evaluation_ != kNever) clock_.wake(id_, next_evaluation_);
  for (NiObserver* observer : ni_observers_) observer->evaluated(*this, now);
}

void NetworkInterface::run_engine(Cycle now) {
  if (!engine_ || engine_->done()) return;
  if (engine_at_ > now) return;
  engine_acted_ = true;
  engine_at_ = engine_->evaluate(now, *this);
  if (!held_.empty()) release_held(now);
}

void NetworkInterface::issue_posted(Cycle now) {
  for (; next_posted_ < posted_.size(); ++next_posted_) {
    const Operation& next = posted_[next_posted_];
    if (next.ready > now) return;
    if (!has_room(next)) return;  // the port's progress wakes this NI
    issue(next, now);
  }
}

// Control messages are normal packets with wormhole switching, whatever the collective's mode is.
// Their few bytes come with the descriptor, so they do not wait for the DMA engine.
void NetworkInterface::issue_control(Cycle now) {
  while (control_->next_ready() <= now) {
    const Operation& operation = control_->front();
    const BoundRoute& route = routes_[operation.route.index()];
    SendQueue& queue = ports_[route.injection_port]->control_queue();
    if (queue.full()) break;  // the port's progress wakes this NI
    FramingSpec spec = queue.spec().framing;
    spec.message_mode = false;
    spec.pad_last_packet = false;
    const Framing framing(spec, operation.bytes);
    const PacketGrid grid = framing.grid();
    const MessageId message = messages_.open(
        operation, {grid, grid.flits, route.path, Switching::wormhole, Lane::control}, nullptr);
    queue.push(message, framing, route.injection_vcs);
    queue.fetch_all(now + spec_.dma.latency);
    port_at_[route.injection_port] = now;
    tell_of_issue(message, route.injection_port, now + spec_.dma.latency, now);
    observer_.issued(operation, now);
    control_->pop();
  }
}

void NetworkInterface::issue_from(MessageSource& source, Cycle now) {
  while (source.next_ready() <= now) {
    const Operation& next = source.front();
    if (!has_room(next)) break;  // the port's progress wakes this NI
    issue(next, now);
    source.pop();
  }
}

bool NetworkInterface::has_room(const Operation& operation) const {
  for (std::uint32_t s = 0; s < operation.stripes; ++s) {
    const BoundRoute& route = routes_[operation.route.index() + s];
    if (ports_[port_for(route)]->queue().full()) return false;
  }
  return true;
}

bool NetworkInterface::has_ports_for(std::uint32_t messages) const {
  const auto free = std::count_if(ports_.begin(), ports_.end(),
                                  [](const auto& port) { return !port->queue().full(); });
  return static_cast<std::size_t>(free) >= std::min<std::size_t>(messages, ports_.size());
}

bool NetworkInterface::all_sent() const {
  if (!spec_.releases_early) return queued_ == 0;
  return held_ports() == 0;
}

std::size_t NetworkInterface::held_ports() const {
  std::size_t held = 0;
  for (const auto& port : ports_) held += port->queue().held();
  return held;
}

std::uint32_t NetworkInterface::port_for(const BoundRoute& route) const {
  if (!route.takes_any_port()) return route.injection_port;
  const auto least = std::min_element(
      ports_.begin(), ports_.end(),
      [](const auto& a, const auto& b) { return a->queue().held() < b->queue().held(); });
  return static_cast<std::uint32_t>(least - ports_.begin());
}

void NetworkInterface::issue(const Operation& operation, Cycle now) {
  observer_.issued(operation, now);
  if (operation.stripes == 1) {
    send(operation, MessageId(), now);
    return;
  }
  Operation stripe = operation;
  stripe.stripes = 1;
  MessageId whole;
  Bytes sent = 0;
  std::uint32_t stripes = 0;
  for (std::uint32_t s = 0; s < operation.stripes; ++s) {
    const Bytes end = end_of_part(operation.bytes, operation.stripes, s, [&](std::size_t place) {
      return routes_[operation.route.index() + place].share;
    });
    if (end == sent) continue;  // fewer bytes than stripes
    stripe.route = RouteId(operation.route.index() + s);
    stripe.bytes = end - sent;
    sent = end;
    const MessageId message = send(stripe, whole, now);
    if (!whole.valid()) whole = message;
    ++stripes;
  }
  messages_.set_whole(whole, operation, stripes);
}

WorkTimes NetworkInterface::work(const LocalWork& work, Cycle now) {
  WorkTimes times;
  times.moved = memory_port_.move(work.read + work.written, now);
  times.read = times.moved + (work.waits_for_read ? spec_.dma.latency : 0);
  times.done =
      work.reduced == 0 ? times.read : reduction_->operands_ready(work.reduced, times.read);
  return times;
}

void NetworkInterface::wake_engine(Cycle at) {
  if (!engine_ || engine_->done()) return;
  look_at_engine(at);
  wake_at(std::max(at, engine_start_));
}

// `whole` is the message that keeps the data of an operation over several links. It is invalid for
// this message itself, and for an operation over one link.
MessageId NetworkInterface::send(const Operation& stripe, MessageId whole, Cycle now) {
  const BoundRoute& route = routes_[stripe.route.index()];
  const std::uint32_t port = port_for(route);
  SendQueue& queue = ports_[port]->queue();
  const InjectionSpec& spec = queue.spec();
  const Framing framing(spec.framing, stripe.bytes);
  const PacketGrid grid = framing.grid();
  const MessageId message =
      messages_.open(stripe, {grid, grid.flits, route.path_of(stripe), spec.switching},
                     whole.valid() || stripe.is_background() ? nullptr : memory_, whole);
  queue.push(message, framing, route.injection_vcs, stripe.rank);
  if (spec_.releases_early) queue.begin_push(now);
  if (!stripe.is_background()) ++queued_;
  const Cycle read = dma_.is_limited() ? kNever : dma_.read_message(now);
  if (read != kNever) queue.fetch_all(read);
  port_at_[port] = now;
  tell_of_issue(message, port, read, now);
  return message;
}

void NetworkInterface::tell_of_issue(MessageId message, std::uint32_t port, Cycle read, Cycle now) {
  for (NiObserver* observer : ni_observers_) observer->message_issued(message, port, read, now);
}

void NetworkInterface::send_flits(Cycle now) {
  if (dma_.is_limited()) {
    // A read that starts now may concern any port, so every port is evaluated.
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
      if (spec_.releases_early) release_at_[p] = now;
    }
    if (release_at_[p] <= now) look_at_release(p, now);
  }
}

void NetworkInterface::look_at_release(std::size_t port, Cycle now) {
  SendQueue& queue = ports_[port]->queue();
  release_at_[port] = kNever;
  while (queue.held() != 0) {
    release_at_[port] = queue.pushed_at_best();
    if (release_at_[port] > now) return;
    const std::uint64_t flits = queue.flits_in_the_way();
    if (flits > ports_[port]->packets_left(now)) {
      release_at_[port] = ports_[port]->packets_left_at(flits);
      return;
    }
    release_at_[port] = kNever;
    const MessageId message = queue.release(now);
    for (NiObserver* observer : ni_observers_) observer->message_released(message, now);
    port_released(now);
  }
}

void NetworkInterface::message_sent(MessageId message, Cycle now) {
  for (NiObserver* observer : ni_observers_) observer->message_sent(message, now);
  const Operation& operation = messages_[message].operation;
  if (operation.is_background()) {
    wake(now + 1);  // there is room in its queue
    if (sources_.empty()) return;
  } else {
    --queued_;
    if (messages_.stripe_sent(message)) operation_sent(messages_.whole_of(message).operation, now);
  }
  port_released(now);
}

void NetworkInterface::port_released(Cycle now) {
  for (const MessageSource* source : sources_) {
    if (source->next_ready() <= now) wake(now + 1);
  }
  if (engine_ && engine_->waits_for_ports()) look_at_engine(now + 1);
  if (next_posted_ < posted_.size()) wake(std::max(now + 1, posted_[next_posted_].ready));
}

void NetworkInterface::operation_sent(const Operation& operation, Cycle now) {
  if (!engine_) return;
  engine_acted_ = true;
  if (engine_->sent(operation, now)) look_at_engine(now + 1);
  if (!held_.empty()) release_held(now);
}

void NetworkInterface::credits_changed(std::uint32_t port, bool look_now) {
  const Cycle now = clock_.now();
  // Credits usually arrive before a train needs them. Then the train's next check is postponed.
  port_at_[port] = look_now ? now : ports_[port]->credits_announced(now, port_at_[port]);
  if (port_at_[port] <= now) {
    wake(now);
    clock_.wake_now(id_);
    return;
  }
  // What else is due in this cycle has not been done yet, and stays due.
  next_evaluation_ = std::min(asked_, due(now - 1));
  if (next_evaluation_ > now && next_evaluation_ != kNever) clock_.wake(id_, next_evaluation_);
}

// The next cycle in which a time kept by this NI is due. An evaluation may ask for another one as
// well, in the next cycle or when the DMA engine is free.
Cycle NetworkInterface::due(Cycle now) const {
  Cycle next = engine_ && !engine_->done() ? engine_at_ : kNever;
  for (const Cycle at : port_at_) next = std::min(next, at);
  for (const Cycle at : release_at_) next = std::min(next, at);
  if (!arrivals_.empty()) next = std::min(next, arrivals_.front().at);
  for (const Reduction& reduction : reductions_) next = std::min(next, reduction.done);
  if (next_posted_ < posted_.size() && posted_[next_posted_].ready > now) {
    next = std::min(next, posted_[next_posted_].ready);
  }
  if (control_ != nullptr && control_->next_ready() > now) {
    next = std::min(next, control_->next_ready());
  }
  for (const MessageSource* source : sources_) {
    if (source->next_ready() > now) next = std::min(next, source->next_ready());
  }
  return next;
}

void NetworkInterface::packets_end(std::uint32_t port, MessageId message, std::uint64_t count,
                                   std::uint32_t flits, Cycle first, Cycle arrival) {
  const Cycle visible = arrival + spec_.delivery;
  Cycle lane_done = visible;
  if (messages_[message].operation.on_arrival == TransferKind::reduce) {
    const Message& routing = messages_.routing(message);
    const bool has_head = !routing.grid.message_mode || routing.flits_left == routing.grid.flits;
    const std::uint32_t head_flits = has_head ? 1 : 0;
    const Bytes flit_bytes = ports_[port]->queue().spec().framing.flit_bytes;
    const Bytes bytes = Bytes{flits - head_flits} * flit_bytes;
    lane_done =
        reduction_->packets_visible(port, count, bytes, flits, first + spec_.delivery, visible);
  }
  received_flits_ += count * flits;
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
    for (NiObserver* observer : ni_observers_) observer->message_visible(arrival->message, now);
    if (may_enter(messages_[arrival->message].operation)) {
      enter(*arrival, now);
      continue;
    }
    held_.push_back(*arrival);
    held_bytes_ += messages_[arrival->message].bytes;
    most_held_bytes_ = std::max(most_held_bytes_, held_bytes_);
  }
  arrivals_.erase(arrivals_.begin(), due);
}

bool NetworkInterface::may_enter(const Operation& operation) const {
  if (!engine_ || operation.is_background()) return true;
  return operation.on_arrival == TransferKind::copy ? engine_->has_begun(operation)
                                                    : engine_->may_add(operation);
}

void NetworkInterface::enter(const Arrival& arrival, Cycle now) {
  if (messages_[arrival.message].operation.on_arrival == TransferKind::copy) {
    complete(arrival.message, now);
  } else {
    start_reduction(arrival, now);
  }
}

void NetworkInterface::start_reduction(const Arrival& arrival, Cycle now) {
  const Bytes bytes = messages_[arrival.message].bytes;
  const Cycle done = reduction_->message_visible(bytes, now, arrival.lane_done);
  reductions_.push_back({done, arrival.message});
  for (NiObserver* observer : ni_observers_) observer->reduction_begins(arrival.message, now);
  wake_at(done);
}

void NetworkInterface::release_held(Cycle now) {
  const auto ready = std::stable_partition(held_.begin(), held_.end(), [&](const Arrival& arrival) {
    return !may_enter(messages_[arrival.message].operation);
  });
  if (ready == held_.end()) return;
  // A message that enters may let other messages in.
  const std::vector<Arrival> released(ready, held_.end());
  held_.erase(ready, held_.end());
  for (const Arrival& arrival : released) {
    held_bytes_ -= messages_[arrival.message].bytes;
    enter(arrival, now);
  }
}

void NetworkInterface::finish_reductions(Cycle now) {
  const auto due = std::stable_partition(reductions_.begin(), reductions_.end(),
                                         [&](const Reduction& r) { return r.done != now; });
  // Due reductions are taken out first, because a completed flow may let held Reduces into the
  // unit.
  finished_.assign(due, reductions_.end());
  reductions_.erase(due, reductions_.end());
  for (const Reduction& reduction : finished_) complete(reduction.message, now);
}

void NetworkInterface::complete(MessageId id, Cycle now) {
  for (NiObserver* observer : ni_observers_) observer->message_done(id, now);
  if (!messages_.stripe_arrived(id)) return;
  const InFlightMessage& whole = messages_.whole_of(id);
  const Operation operation = whole.operation;
  if (memory_ != nullptr && operation.num_chunks != 0) memory_->write(operation, whole.data);
  messages_.close_whole(id);
  if (!operation.is_background() && engine_) {
    engine_acted_ = true;
    if (engine_->completed(operation, now)) look_at_engine(now + 1);
    if (!held_.empty()) release_held(now);
  }
  if (!operation.is_background()) delivered_bytes_ += operation.bytes;
  observer_.delivered(operation, now);
}

bool NetworkInterface::under_way(Cycle now) const {
  const auto port_under_way = [&](const auto& port) { return port->under_way(now); };
  return !arrivals_.empty() || !reductions_.empty() || dma_.busy(now) ||
         std::any_of(ports_.begin(), ports_.end(), port_under_way) ||
         (engine_ && !engine_->done() && (engine_start_ > now || engine_->timer_running(now))) ||
         (next_posted_ < posted_.size() && posted_[next_posted_].ready > now);
}

void NetworkInterface::explain_engine(const std::vector<std::string>& ni_names,
                                      WaitList& waits) const {
  if (engine_) engine_->explain(name(), ni_names, waits);
}

Counters NetworkInterface::counters() const {
  Counters sum = counters_;
  if (engine_) sum += engine_->counters();
  return sum;
}

void NetworkInterface::explain_ports(WaitList& waits) const {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    for (const char* what : {ports_[p]->blocked_on(), ports_[p]->control_blocked_on()}) {
      if (*what == '\0') continue;
      waits.push_back({fmt::format("{}.inj{}", name(), p),
                       fmt::format("{}.vc0", ports_[p]->link_name()), what});
    }
  }
}

}  // namespace espalier
