#include "sims/observe/explain/dimension_causes.h"

#include <algorithm>
#include <utility>

namespace espalier {

DimensionCauses::DimensionCauses(const DimensionProgram& program, const RunRecord& record,
                                 const MessageIndex& index, std::vector<NodeClock> clocks,
                                 Cycle arbitration)
    : program_(program),
      record_(record),
      index_(index),
      clocks_(std::move(clocks)),
      arbitration_(arbitration) {
  for (std::size_t v = 0; v < record.nis.size(); ++v) {
    const NodeId vertex(v);
    const bool is_node = v < clocks_.size();
    for (const RecordIndex m : index.of(vertex)) {
      if (!is_node) break;
      const Operation& operation = record.messages[m].operation;
      const StageRef stage = program.place_of(operation.flow).stage;
      StageTimes& times = stages_[{vertex, stage.chunk, stage.stage}];
      if (operation.ready < times.start) {
        times.start = operation.ready;
        times.first = m;
      }
      note(vertex, stage, index.sent(m), {PathEvent::Kind::sent, m});
    }
    for (const RecordIndex m : index.to(vertex)) {
      const FlowId flow = record.messages[m].operation.flow;
      RecordIndex& last = received_.emplace(StepKey{vertex, flow}, m).first->second;
      if (index.done(m) > index.done(last)) last = m;
      if (is_node) {
        note(vertex, program.place_of(flow).stage, index.done(m), {PathEvent::Kind::done, m});
      }
    }
  }
  for (const auto& [key, times] : stages_) {
    const auto& [node, chunk, stage] = key;
    const std::uint32_t dimension = program.stage({chunk, stage}).dimension;
    ended_.emplace(MomentKey{node, dimension, times.end}, &times);
    started_.emplace(MomentKey{node, dimension, times.start}, &times);
  }
}

void DimensionCauses::note(NodeId node, StageRef stage, Cycle at, PathEvent event) {
  StageTimes& times = stages_[{node, stage.chunk, stage.stage}];
  if (at < times.end) return;
  times.end = at;
  times.last = event;
}

const DimensionCauses::StageTimes* DimensionCauses::in_dimension(NodeId node, StageRef stage,
                                                                 Cycle cycle, bool ended) const {
  const auto& moments = ended ? ended_ : started_;
  const auto found = moments.find({node, program_.stage(stage).dimension, cycle});
  return found == moments.end() ? nullptr : found->second;
}

PathEvent DimensionCauses::back_from_issue(RecordIndex message, Trail& trail) const {
  const Operation& operation = record_.messages[message].operation;
  if (operation.from.index() >= clocks_.size()) return back_at_switch(message, trail);
  Segment segment;
  segment.message = message;
  segment.vertex = operation.from.value();
  segment.kind = SegmentKind::ni_queue;
  trail.add(segment, operation.ready);
  const StagePlace place = program_.place_of(operation.flow);
  // The messages that the previous step with any bytes receives.
  for (std::uint32_t step = place.step; step-- > 0;) {
    const FlowId before = program_.flow_of({place.stage, place.lane, step});
    const auto found = received_.find({operation.from, before});
    if (found == received_.end()) continue;
    if (index_.done(found->second) + 1 == operation.ready) {
      segment.kind = SegmentKind::dependency;
      trail.add(segment, operation.ready - 1);
      return {PathEvent::Kind::done, found->second};
    }
    break;  // it had come before the stage started
  }
  return back_from_start(operation.from, place.stage, segment, trail);
}

PathEvent DimensionCauses::back_from_start(NodeId node, StageRef stage, Segment segment,
                                           Trail& trail) const {
  const Cycle chosen = trail.at() + 1 - arbitration_;
  const Cycle posted = clocks_[node.index()].start();
  segment.kind = SegmentKind::dimension_queue;
  trail.add(segment, chosen);
  // The chunk's stage before. One in which this NI has no bytes is over as it starts.
  const StageTimes* before = nullptr;
  Cycle empty_stages = 0;
  for (std::uint32_t s = stage.stage; s-- > 0 && before == nullptr;) {
    const auto found = stages_.find({node, stage.chunk, s});
    if (found != stages_.end()) {
      before = &found->second;
    } else {
      empty_stages += arbitration_;
    }
  }
  if (before != nullptr && before->end + 1 + empty_stages == chosen) {
    segment.kind = SegmentKind::dependency;
    trail.add(segment, before->end);
    return before->last;
  }
  if (before == nullptr && chosen == posted + empty_stages) {
    trail.add(segment, posted);
    back_from_post(clocks_[node.index()], segment, trail);
    return {};
  }
  // A place became free, or the arbiter had picked the one before.
  if (const StageTimes* ended = in_dimension(node, stage, chosen - 1, true)) {
    trail.add(segment, ended->end);
    return ended->last;
  }
  if (const StageTimes* started = in_dimension(node, stage, chosen - 1, false)) {
    trail.add(segment, started->start);
    return {PathEvent::Kind::issued, started->first};
  }
  if (before != nullptr) {
    trail.add(segment, before->end);
    return before->last;
  }
  trail.add(segment, posted);
  back_from_post(clocks_[node.index()], segment, trail);
  return {};
}

// The sum, or the copy, was complete in the cycle before it could go.
PathEvent DimensionCauses::back_at_switch(RecordIndex message, Trail& trail) const {
  const Operation& operation = record_.messages[message].operation;
  Segment segment;
  segment.message = message;
  segment.vertex = operation.from.value();
  segment.kind = SegmentKind::ni_queue;
  trail.add(segment, operation.ready);
  for (const RecordIndex m : index_.to(operation.from)) {
    if (record_.messages[m].operation.flow != operation.flow ||
        index_.done(m) + 1 != operation.ready) {
      continue;
    }
    segment.kind = SegmentKind::dependency;
    trail.add(segment, index_.done(m));
    return {PathEvent::Kind::done, m};
  }
  segment.kind = SegmentKind::unexplained;
  trail.add(segment, 0);
  return {};
}

// Its stage had to start first.
std::optional<PathEvent> DimensionCauses::back_from_hold(RecordIndex message, Trail& trail) const {
  const MessageRecord& held = record_.messages[message];
  const StageRef stage = program_.place_of(held.operation.flow).stage;
  const auto found = stages_.find({held.operation.to, stage.chunk, stage.stage});
  if (found == stages_.end() || found->second.start != trail.at() ||
      found->second.first == kNowhere) {
    return std::nullopt;
  }
  Segment segment;
  segment.message = message;
  segment.vertex = held.operation.to.value();
  return back_from_start(held.operation.to, stage, segment, trail);
}

}  // namespace espalier
