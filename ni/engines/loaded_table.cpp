#include "ni/engines/loaded_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {
StallReason reason_of(const TableEvent& event) {
  if (event.is_send()) return StallReason::injection;
  return event.kind == TableEvent::Kind::reduced ? StallReason::children : StallReason::parent;
}

}  // namespace

bool LoadedTable::has_room(std::size_t index, const BackEnd& back_end) const {
  const ProgramEntry& entry = program_.entries[index];
  for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
    Operation routed = program_.sends[entry.first_send + s];
    routed.route = frame_.route_in_network(routed.route);
    if (!back_end.has_room(routed)) return false;
  }
  return true;
}

void LoadedTable::issue(std::size_t index, Cycle now, BackEnd& back_end) const {
  const ProgramEntry& entry = program_.entries[index];
  for (std::uint32_t s = 0; s < entry.num_sends; ++s) {
    Operation operation = frame_.in_network(program_.sends[entry.first_send + s]);
    operation.ready = now;
    back_end.issue(operation, now);
  }
}

void LoadedTable::sent(const Operation& operation, Cycle now) {
  const bool reduce = operation.on_arrival == TransferKind::reduce;
  const auto kind = reduce ? TableEvent::Kind::reduce_sent : TableEvent::Kind::gather_sent;
  dependencies_->set(frame_.in_table({operation.flow, kind, operation.to}), now);
}

void LoadedTable::completed(const Operation& operation, Cycle now) {
  const bool reduced = operation.on_arrival == TransferKind::reduce;
  const auto kind = reduced ? TableEvent::Kind::reduced : TableEvent::Kind::gathered;
  dependencies_->set(frame_.in_table({operation.flow, kind, operation.from}), now);
}

bool LoadedTable::may_add(const Operation& operation) const {
  const FlowId flow = frame_.in_table(operation.flow);
  const auto& holds = program_.holds;
  const auto before = [](const TableProgram::Hold& h, FlowId f) { return h.flow < f; };
  for (auto h = std::lower_bound(holds.begin(), holds.end(), flow, before);
       h != holds.end() && h->flow == flow; ++h) {
    if (!dependencies_->flows_complete(h->entry)) return false;
  }
  return true;
}

std::vector<TableEvent> LoadedTable::missing(std::size_t entry) const {
  std::vector<TableEvent> missing;
  for (std::size_t w = 0; w < program_.waiters.size(); ++w) {
    if (program_.waiters[w].entry == entry && !dependencies_->has_come(w))
      missing.push_back(program_.waiters[w].event);
  }
  return missing;
}

void LoadedTable::prepare_to_show() {
  if (!waiters_of_entry_.empty()) return;
  waiters_of_entry_.resize(program_.entries.size());
  for (std::size_t w = 0; w < program_.waiters.size(); ++w) {
    waiters_of_entry_[program_.waiters[w].entry].push_back(static_cast<std::uint32_t>(w));
  }
}

void LoadedTable::show(TableView& view) const {
  view.done = view.head == program_.entries.size();
  if (view.done) return;
  const ProgramEntry& entry = program_.entries[view.head];
  view.op = static_cast<std::uint8_t>(entry.op);
  view.flow = entry.flow;
  if (view.flow.valid()) {
    view.flow = frame_.in_network({entry.flow, TableEvent::Kind::gathered, NodeId(0)}).flow;
  }
  view.head_step = entry.step;
  const std::vector<std::uint32_t>& waiters = waiters_of_entry_[view.head];
  for (std::size_t bit = 0; bit < waiters.size(); ++bit) {
    const std::uint32_t waiter = waiters[bit];
    if (dependencies_->has_come(waiter)) {
      if (bit < kReadyBits) view.ready_bits |= std::uint64_t{1} << bit;
      continue;
    }
    if (view.stall == StallReason::event) view.stall = reason_of(program_.waiters[waiter].event);
  }
}

void LoadedTable::explain(std::size_t entry, Timestep timestep, const std::string& who,
                          const std::vector<std::string>& ni_names, WaitList& waits) const {
  for (const TableEvent& in_table : missing(entry)) {
    const TableEvent event = frame_.in_network(in_table);
    const bool own = event.is_send();
    waits.push_back(
        {who, own ? who : ni_names[event.peer.index()],
         fmt::format("table entry {} (step {}) waits for the {} of flow {} {} node {}", entry,
                     timestep, event.is_reduce() ? "Reduce" : "Gather", event.flow.index(),
                     own ? "to be sent to" : "from", event.peer.index())});
  }
}

}  // namespace espalier
