#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ni/engines/dimension_program.h"
#include "sims/observe/explain/issue_causes.h"

namespace espalier {

namespace {

// The rules of dimension queues, and of switches that add and copy, read backwards.
class DimensionCauses : public IssueCauses {
 public:
  DimensionCauses(const DimensionProgram& program, const RunRecord& record,
                  const MessageIndex& index, const std::vector<NodeClock>& clocks,
                  Cycle arbitration)
      : program_(program),
        record_(record),
        index_(index),
        clocks_(clocks),
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
        RecordIndex& last = received_.emplace(std::pair(vertex, flow), m).first->second;
        if (index.done(m) > index.done(last)) last = m;
        if (is_node) {
          note(vertex, program.place_of(flow).stage, index.done(m), {PathEvent::Kind::done, m});
        }
      }
    }
    for (const auto& [key, times] : stages_) {
      const auto& [node, chunk, stage] = key;
      const std::uint32_t dimension = program.stage({chunk, stage}).dimension;
      ended_.emplace(std::tuple(node, dimension, times.end), &times);
      started_.emplace(std::tuple(node, dimension, times.start), &times);
    }
  }

  [[nodiscard]] PathEvent back_from_issue(RecordIndex message, Trail& trail) const override {
    const Operation& operation = record_.messages[message].operation;
    trail.add(Segment::at(SegmentKind::ni_queue, message, operation.from), operation.ready);
    if (operation.from.index() >= clocks_.size()) return back_at_switch(message, trail);
    const StagePlace place = program_.place_of(operation.flow);
    // A step waits for the messages that the last step with any bytes before it receives.
    for (std::uint32_t step = place.step; step-- > 0;) {
      const FlowId before = program_.flow_of({place.stage, place.lane, step});
      const auto found = received_.find({operation.from, before});
      if (found == received_.end()) continue;
      // An earlier message had come before the stage started.
      if (index_.done(found->second) + 1 != operation.ready) break;
      trail.add(Segment::at(SegmentKind::dependency, message, operation.from), operation.ready - 1);
      return {PathEvent::Kind::done, found->second};
    }
    return back_from_start(operation.from, place.stage, message, trail);
  }
  // The stage of the held Reduce had to start first.
  [[nodiscard]] std::optional<PathEvent> back_from_hold(RecordIndex message,
                                                        Trail& trail) const override {
    const Operation& held = record_.messages[message].operation;
    const StageRef stage = program_.place_of(held.flow).stage;
    const auto found = stages_.find({held.to, stage.chunk, stage.stage});
    if (found == stages_.end() || found->second.start != trail.at() ||
        found->second.first == kNowhere) {
      return std::nullopt;
    }
    return back_from_start(held.to, stage, message, trail);
  }

 private:
  // A stage at one NI: from its first operation until all its messages are sent, received and in
  // memory.
  struct StageTimes {
    Cycle start = kNever;
    RecordIndex first = kNowhere;  // its first issued message
    Cycle end = 0;
    PathEvent last;  // the event that ended it
  };
  void note(NodeId node, StageRef stage, Cycle at, PathEvent event) {
    StageTimes& times = stages_[{node, stage.chunk, stage.stage}];
    if (at < times.end) return;
    times.end = at;
    times.last = event;
  }

  // The sum, or the copy, was complete in the cycle before it could go.
  [[nodiscard]] PathEvent back_at_switch(RecordIndex message, Trail& trail) const {
    const Operation& operation = record_.messages[message].operation;
    for (const RecordIndex m : index_.to(operation.from)) {
      if (record_.messages[m].operation.flow != operation.flow ||
          index_.done(m) + 1 != operation.ready) {
        continue;
      }
      trail.add(Segment::at(SegmentKind::dependency, message, operation.from), index_.done(m));
      return {PathEvent::Kind::done, m};
    }
    trail.add(Segment::at(SegmentKind::unexplained, message, operation.from), 0);
    return {};
  }
  // Explains why the stage started at trail.at().
  [[nodiscard]] PathEvent back_from_start(NodeId node, StageRef stage, RecordIndex message,
                                          Trail& trail) const {
    const Cycle chosen = trail.at() + 1 - arbitration_;
    const NodeClock& clock = clocks_[node.index()];
    Segment segment = Segment::at(SegmentKind::dimension_queue, message, node);
    trail.add(segment, chosen);
    // The chunk's stage before. A stage in which this NI has no bytes is over as it starts.
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
    const Cycle ready = before != nullptr ? before->end + 1 : clock.start();
    if (ready + empty_stages != chosen) {
      // A place became free, or the arbiter had picked another stage in the cycle before.
      const std::tuple moment(node, program_.stage(stage).dimension, chosen - 1);
      if (const auto ended = ended_.find(moment); ended != ended_.end()) {
        trail.add(segment, chosen - 1);
        return ended->second->last;
      }
      if (const auto started = started_.find(moment); started != started_.end()) {
        trail.add(segment, chosen - 1);
        return {PathEvent::Kind::issued, started->second->first};
      }
    } else if (before != nullptr) {
      segment.kind = SegmentKind::dependency;
    }
    if (before != nullptr) {
      trail.add(segment, before->end);
      return before->last;
    }
    trail.add(segment, clock.start());
    back_from_post(clock, segment, trail);
    return {};
  }

  const DimensionProgram& program_;
  const RunRecord& record_;
  const MessageIndex& index_;
  const std::vector<NodeClock>& clocks_;
  Cycle arbitration_;
  // By node, chunk and stage.
  std::map<std::tuple<NodeId, std::uint32_t, std::uint32_t>, StageTimes> stages_;
  // The last message that a step of a stage received; by receiver and flow.
  std::map<std::pair<NodeId, FlowId>, RecordIndex> received_;
  // By node, dimension and cycle: the stage that ended, and the stage that started.
  using Moments = std::map<std::tuple<NodeId, std::uint32_t, Cycle>, const StageTimes*>;
  Moments ended_;
  Moments started_;
};

}  // namespace

std::unique_ptr<IssueCauses> dimension_causes(const DimensionProgram& program,
                                              const RunRecord& record, const MessageIndex& index,
                                              const std::vector<NodeClock>& clocks,
                                              Cycle arbitration) {
  return std::make_unique<DimensionCauses>(program, record, index, clocks, arbitration);
}

}  // namespace espalier
