#include "ni/engines/schedule_table_issue.h"

#include <fmt/format.h>

namespace espalier {

Cycle ScheduleTableIssue::evaluate(Cycle now, BackEnd& back_end) {
  const BackEndState state{back_end.reduction_idle(now), back_end.reduction_idle_at(),
                           back_end.all_sent()};
  return engine_.evaluate(
      now, state,
      [&](const Operation& in_table) {
        Operation routed = in_table;
        routed.route = frame_.route_in_network(in_table.route);
        return back_end.has_room(routed);
      },
      [&](const Operation& in_table) {
        Operation operation = frame_.in_network(in_table);
        operation.ready = now;
        back_end.issue(operation, now);
      });
}

bool ScheduleTableIssue::sent(const Operation& operation, Cycle now) {
  const bool reduce = operation.on_arrival == TransferKind::reduce;
  return clear(
      {operation.flow, reduce ? TableEvent::Kind::reduce_sent : TableEvent::Kind::gather_sent,
       operation.to},
      now);
}

bool ScheduleTableIssue::completed(const Operation& operation, Cycle now) {
  const bool reduced = operation.on_arrival == TransferKind::reduce;
  return clear({operation.flow, reduced ? TableEvent::Kind::reduced : TableEvent::Kind::gathered,
                operation.from},
               now);
}

bool ScheduleTableIssue::clear(const TableEvent& event, Cycle now) {
  engine_.clear(frame_.in_table(event), now);
  return engine_.head_clear();
}

void ScheduleTableIssue::show(EngineView& view) const {
  view.table = engine_.view();
  FlowId& flow = view.table->flow;
  if (flow.valid()) flow = frame_.in_network({flow, TableEvent::Kind::gathered, NodeId(0)}).flow;
}

void ScheduleTableIssue::explain(const std::string& who, const std::vector<std::string>& ni_names,
                                 WaitList& waits) const {
  if (engine_.done()) return;
  for (const TableEvent& in_table : engine_.head_waits_for()) {
    const TableEvent event = frame_.in_network(in_table);
    const bool reduce =
        event.kind == TableEvent::Kind::reduced || event.kind == TableEvent::Kind::reduce_sent;
    const bool own =
        event.kind == TableEvent::Kind::reduce_sent || event.kind == TableEvent::Kind::gather_sent;
    waits.push_back(
        {who, own ? who : ni_names[event.peer.index()],
         fmt::format("table entry {} (step {}) waits for the {} of flow {} {} node {}",
                     engine_.head(), engine_.timestep(), reduce ? "Reduce" : "Gather",
                     event.flow.index(), own ? "to leave for" : "from", event.peer.index())});
  }
}

}  // namespace espalier
