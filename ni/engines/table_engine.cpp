#include "ni/engines/table_engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {
StallReason reason_of(const TableEvent& event) {
  if (event.is_send()) return StallReason::injection;
  return event.kind == TableEvent::Kind::reduced ? StallReason::children : StallReason::parent;
}

}  // namespace

TableEngine::TableEngine(const TableProgram& program, const NodeFrame& frame, const Spec& spec)
    : program_(program),
      frame_(frame),
      spec_(spec),
      dependencies_(spec.dependencies(program, spec.turnaround, spec.issue_per_cycle)) {}

bool TableEngine::has_room(const ProgramEntry& entry, const BackEnd& back_end) const {
  for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
    Operation routed = program_.sends[entry.first_send + s];
    routed.route = frame_.route_in_network(routed.route);
    if (!back_end.has_room(routed)) return false;
  }
  return true;
}

void TableEngine::issue(const ProgramEntry& entry, Cycle now, BackEnd& back_end) const {
  for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
    Operation operation = frame_.in_network(program_.sends[entry.first_send + s]);
    operation.ready = now;
    back_end.issue(operation, now);
  }
}

void TableEngine::tell_of_issue(std::size_t index, Release why, Cycle now) {
  const auto entry = static_cast<std::uint32_t>(index);
  const bool waited = program_.entries[entry].waits_for != 0;
  if (waited && dependencies_->clear_at(entry) == now) why = Release::event;
  for (EngineObserver* observer : observers_) {
    observer->entry_issued(entry, why, issued_last_, now);
  }
  issued_last_ = entry;
  if (lockstep_until() != counted_until_) loader_ = entry;
  counted_until_ = lockstep_until();
}

void TableEngine::enter_step(bool is_posted, Cycle now, const BackEnd& back_end) {
  step_entered_ = now;
  const auto& releases = spec_.releases;
  Release why = is_posted ? Release::post : timestep() == 1 ? Release::start : Release::order;
  if (next_release_ < releases.size() && releases[next_release_].step == timestep()) {
    if (releases[next_release_++].at == now) why = Release::doorbell;
  }
  if (is_observed()) tell_of_step(why, now, back_end);
}

void TableEngine::tell_of_step(Release why, Cycle now, const BackEnd& back_end) {
  const bool adds_first =
      spec_.lockstep != LockstepMode::off && spec_.lockstep != LockstepMode::nop;
  if (timestep() != 1) {
    if (waited_for_ports_) why = Release::any_port;
    if (adds_first && back_end.reduction_idle_at() == now) why = Release::reduction;
    if (counted_until_ == now) why = Release::counter;
  }
  const std::uint32_t by = why == Release::counter ? loader_ : issued_last_;
  for (EngineObserver* observer : observers_) observer->timestep_began(timestep(), why, by, now);
}

void TableEngine::clear(const TableEvent& event, Cycle now) {
  dependencies_->set(event, now);
  if (!is_observed()) return;
  const auto before = [](const TableProgram::Waiter& w, const TableEvent& e) {
    return w.event < e;
  };
  const auto& waiters = program_.waiters;
  for (auto w = std::lower_bound(waiters.begin(), waiters.end(), event, before);
       w != waiters.end() && w->event == event; ++w) {
    const auto number = static_cast<std::size_t>(w - waiters.begin());
    for (EngineObserver* observer : observers_) observer->event_came(w->entry, number, now);
  }
}

bool TableEngine::sent(const Operation& operation, Cycle now) {
  const bool reduce = operation.on_arrival == TransferKind::reduce;
  const auto kind = reduce ? TableEvent::Kind::reduce_sent : TableEvent::Kind::gather_sent;
  clear(frame_.in_table({operation.flow, kind, operation.to}), now);
  return !done() && may_issue();
}

bool TableEngine::completed(const Operation& operation, Cycle now) {
  const bool reduced = operation.on_arrival == TransferKind::reduce;
  const auto kind = reduced ? TableEvent::Kind::reduced : TableEvent::Kind::gathered;
  clear(frame_.in_table({operation.flow, kind, operation.from}), now);
  return !done() && may_issue();
}

bool TableEngine::may_add(const Operation& operation) const {
  const FlowId flow = frame_.in_table(operation.flow);
  const auto& holds = program_.holds;
  const auto before = [](const TableProgram::Hold& h, FlowId f) { return h.flow < f; };
  for (auto h = std::lower_bound(holds.begin(), holds.end(), flow, before);
       h != holds.end() && h->flow == flow; ++h) {
    if (!dependencies_->flows_complete(h->entry)) return false;
  }
  return true;
}

void TableEngine::prepare_to_show() {
  if (!waiters_of_entry_.empty()) return;
  waiters_of_entry_.resize(program_.entries.size());
  for (std::size_t w = 0; w < program_.waiters.size(); ++w) {
    waiters_of_entry_[program_.waiters[w].entry].push_back(static_cast<std::uint32_t>(w));
  }
}

void TableEngine::show(EngineView& shown) const {
  TableView& view = shown.table.emplace();
  view.timestep = timestep();
  view.lockstep_until = lockstep_until();
  view.head = head_;
  view.done = done();
  view.stall = stall_;
  if (done()) return;
  const ProgramEntry& entry = program_.entries[head_];
  view.op = static_cast<std::uint8_t>(entry.op);
  view.flow = entry.flow;
  if (view.flow.valid()) {
    view.flow = frame_.in_network({entry.flow, TableEvent::Kind::gathered, NodeId(0)}).flow;
  }
  view.head_step = entry.step;
  const std::vector<std::uint32_t>& waiters = waiters_of_entry_[head_];
  for (std::size_t bit = 0; bit < waiters.size(); ++bit) {
    const std::uint32_t waiter = waiters[bit];
    if (dependencies_->has_come(waiter)) {
      if (bit < kReadyBits) view.ready_bits |= std::uint64_t{1} << bit;
      continue;
    }
    if (view.stall == StallReason::event) view.stall = reason_of(program_.waiters[waiter].event);
  }
}

void TableEngine::explain(const std::string& who, const std::vector<std::string>& ni_names,
                          WaitList& waits) const {
  for (const TableEvent& in_table : head_waits_for()) {
    const TableEvent event = frame_.in_network(in_table);
    const bool own = event.is_send();
    waits.push_back(
        {who, own ? who : ni_names[event.peer.index()],
         fmt::format("table entry {} (step {}) waits for the {} of flow {} {} node {}", head_,
                     timestep(), event.is_reduce() ? "Reduce" : "Gather", event.flow.index(),
                     own ? "to be sent to" : "from", event.peer.index())});
  }
}

std::vector<TableEvent> TableEngine::head_waits_for() const {
  std::vector<TableEvent> missing;
  for (std::size_t w = 0; w < program_.waiters.size() && !done(); ++w) {
    if (program_.waiters[w].entry == head_ && !dependencies_->has_come(w))
      missing.push_back(program_.waiters[w].event);
  }
  return missing;
}

}  // namespace espalier
