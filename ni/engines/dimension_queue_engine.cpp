#include "ni/engines/dimension_queue_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "ni/engines/engine_observer.h"

namespace espalier {

namespace {
const char* name_of(StageKind kind) {
  return kind == StageKind::reduce_scatter ? "reduce_scatter" : "all_gather";
}
}  // namespace

DimensionQueueEngine::DimensionQueueEngine(const DimensionProgram& program, NodeId node,
                                           const Spec& spec)
    : program_(program),
      node_(node),
      spec_(spec),
      next_stage_(program.plan().chunks.size(), 0),
      slot_of_(program.plan().chunks.size(), kNone) {
  for (std::uint32_t d = 0; d < program.plan().dimensions.size(); ++d) {
    queues_.push_back(
        {spec.arbiter_of_dimension(spec.arbiter, spec.arbitration, program.plan().chunks.size()),
         FlightGate(program.plan().dimensions[d], spec.flight)});
  }
  for (std::uint32_t c = 0; c < program.plan().chunks.size(); ++c) {
    stages_left_ += program.plan().chunks[c].stages.size();
    ready_chunks_.push_back(c);
  }
}

Cycle DimensionQueueEngine::evaluate(Cycle now, BackEnd& back_end) {
  queue_next_stages(now);
  for (std::size_t d = 0; d < queues_.size(); ++d) arbitrate(d, now);
  for (std::size_t i = 0; i < advancing_.size(); ++i) send_steps(advancing_[i], now);
  advancing_.clear();
  for (DimensionQueue& queue : queues_) {
    while (!queue.blocked.empty() && back_end.has_room(queue.blocked.front())) {
      back_end.issue(queue.blocked.front(), now);
      queue.blocked.pop_front();
    }
  }
  Cycle next = ready_chunks_.empty() ? kNever : now + 1;
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    next = std::min(next, queues_[d].arbiter->rest(inputs_of(d)));
  }
  return next;
}

// Stages that become ready in the same cycle enter their queues in ascending chunk number.
void DimensionQueueEngine::queue_next_stages(Cycle now) {
  std::sort(ready_chunks_.begin(), ready_chunks_.end());
  for (const std::uint32_t chunk : ready_chunks_) {
    const StageRef stage{chunk, next_stage_[chunk]};
    queues_[program_.stage(stage).dimension].arbiter->push(
        stage, arbitration_key(program_.plan(), stage, spec_.arbiter.key));
    for (EngineObserver* observer : observers_) observer->stage_ready(stage, now);
  }
  ready_chunks_.clear();
}

DimensionArbiter::Inputs DimensionQueueEngine::inputs_of(std::size_t dimension) const {
  const DimensionQueue& queue = queues_[dimension];
  const auto& orders = program_.plan().start_order;
  DimensionArbiter::Inputs inputs;
  inputs.open = queue.gate.open();
  inputs.is_fixed = !orders.empty();
  if (inputs.is_fixed && queue.next_in_order < orders[dimension].size()) {
    inputs.next = orders[dimension][queue.next_in_order];
  }
  return inputs;
}

void DimensionQueueEngine::arbitrate(std::size_t dimension, Cycle now) {
  DimensionQueue& queue = queues_[dimension];
  const std::optional<StageRef> stage = queue.arbiter->decide(now, inputs_of(dimension));
  if (!stage) return;
  ++queue.next_in_order;
  queue.started_last = stage;
  queue.gate.enter(program_.stage(*stage).kind, program_.plan().resident_before(*stage));
  start(*stage, now);
}

void DimensionQueueEngine::show(EngineView& view) const {
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    const DimensionQueue& queue = queues_[d];
    DimensionView& shown = view.dimensions.emplace_back();
    shown.depth = queue.arbiter->size();
    const auto& orders = program_.plan().start_order;
    if (!orders.empty()) {
      if (queue.next_in_order < orders[d].size()) {
        shown.head = orders[d][queue.next_in_order].chunk;
      }
    } else if (const std::optional<StageRef> head = queue.arbiter->head()) {
      shown.head = head->chunk;
    }
    if (queue.started_last) shown.chosen = queue.started_last->chunk;
    shown.in_flight = in_flight(d);
  }
}

std::vector<RtlPlace> DimensionQueueEngine::rtl(const std::string& scope) {
  std::vector<RtlPlace> models;
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    RtlProbe* probe = queues_[d].arbiter->rtl_probe();
    if (probe != nullptr) models.push_back({fmt::format("{}.dim{}", scope, d + 1), probe});
  }
  return models;
}

void DimensionQueueEngine::start(StageRef stage, Cycle now) {
  for (EngineObserver* observer : observers_) observer->stage_started(stage, now);
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(active_.size()));
    active_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slot_of_[stage.chunk] = slot;
  Active& active = active_[slot];
  active.stage = stage;
  active.rank = queues_[program_.stage(stage).dimension].started++;
  active.blocks = program_.layout().blocks_at(stage, node_);
  active.coordinate = program_.shape().coordinate(node_, program_.stage(stage).dimension);
  count_transfers(active);
  // Counts messages that other NIs sent before this NI started the stage.
  const auto mine = [&](const Early& early) { return early.place.stage == stage; };
  for (const Early& early : early_) {
    if (mine(early)) arrived(active, early.place, early.from);
  }
  early_.erase(std::remove_if(early_.begin(), early_.end(), mine), early_.end());
  active.advances = true;
  advancing_.push_back(slot);
}

Bytes DimensionQueueEngine::bytes_of(const Active& active, BlockRange blocks,
                                     std::uint32_t lane) const {
  const auto lanes = static_cast<std::uint32_t>(active.lanes.size());
  return program_.layout().bytes(PlanLayout::part_of(active.blocks, blocks, lane, lanes));
}

// Transfers of 0 bytes are not sent, so they are not counted.
void DimensionQueueEngine::count_transfers(Active& active) const {
  const PlannedStage& stage = program_.stage(active.stage);
  const StageSteps& steps = program_.steps_of(stage.dimension);
  active.sends_left = 0;
  active.receives_left = 0;
  active.came_from.clear();
  active.lanes.resize(steps.lanes());
  for (std::uint32_t lane = 0; lane < steps.lanes(); ++lane) {
    active.lanes[lane].next_step = 0;
    active.lanes[lane].missing.assign(steps.steps(), 0);
    for (std::uint32_t step = 0; step < steps.steps(); ++step) {
      for (std::uint32_t i = 0; i < steps.num_sends(stage.kind, step); ++i) {
        const StageSend send = steps.send(stage.kind, active.coordinate, lane, step, i);
        if (bytes_of(active, send.blocks, lane) != 0) ++active.sends_left;
      }
      for (std::uint32_t i = 0; i < steps.num_receives(stage.kind, step); ++i) {
        const StageReceive receive = steps.receive(stage.kind, active.coordinate, lane, step, i);
        if (bytes_of(active, receive.blocks, lane) == 0) continue;
        ++active.lanes[lane].missing[step];
        ++active.receives_left;
      }
    }
  }
}

// Sends every step for which all data have arrived.
void DimensionQueueEngine::send_steps(std::uint32_t slot, Cycle now) {
  Active& active = active_[slot];
  active.advances = false;
  for (std::uint32_t l = 0; l < active.lanes.size(); ++l) {
    Lane& lane = active.lanes[l];
    while (lane.next_step < lane.missing.size() &&
           (lane.next_step == 0 || lane.missing[lane.next_step - 1] == 0)) {
      send_step(active, l, lane.next_step++, now);
    }
  }
  finish_if_over(slot, now);  // a stage without a byte ends at once
}

void DimensionQueueEngine::send_step(const Active& active, std::uint32_t lane, std::uint32_t step,
                                     Cycle now) {
  const PlannedStage& stage = program_.stage(active.stage);
  const StageSteps& steps = program_.steps_of(stage.dimension);
  for (std::uint32_t i = 0; i < steps.num_sends(stage.kind, step); ++i) {
    const StageSend send = steps.send(stage.kind, active.coordinate, lane, step, i);
    const PieceRange pieces = PlanLayout::part_of(active.blocks, send.blocks, lane, steps.lanes());
    Operation operation;
    operation.bytes = program_.layout().bytes(pieces);
    if (operation.bytes == 0) continue;
    const RouteBundle& bundle = program_.routes().bundle(node_, stage.dimension, lane, send.peer);
    operation.flow = program_.flow_of({active.stage, lane, step});
    operation.from = node_;
    operation.to = program_.receiver(node_, stage.dimension, send.peer);
    operation.route = bundle.first;
    operation.stripes = bundle.count;
    operation.on_arrival =
        stage.kind == StageKind::reduce_scatter ? TransferKind::reduce : TransferKind::copy;
    operation.first_chunk = pieces.first;
    operation.num_chunks = pieces.count;
    operation.rank = active.rank;
    operation.ready = now;
    queues_[stage.dimension].blocked.push_back(operation);
  }
}

bool DimensionQueueEngine::sent(const Operation& operation, Cycle now) {
  const std::uint32_t slot = slot_of_[program_.place_of(operation.flow).stage.chunk];
  --active_[slot].sends_left;
  return finish_if_over(slot, now);
}

bool DimensionQueueEngine::completed(const Operation& operation, Cycle now) {
  const StagePlace place = program_.place_of(operation.flow);
  const std::uint32_t slot = slot_of_[place.stage.chunk];
  if (slot == kNone || !(active_[slot].stage == place.stage)) {
    early_.push_back({place, operation.from});
    return false;
  }
  Active& active = active_[slot];
  arrived(active, place, operation.from);
  if (finish_if_over(slot, now)) return true;
  const Lane& lane = active.lanes[place.lane];
  if (lane.missing[place.step] != 0 || lane.next_step != place.step + 1 ||
      lane.next_step == lane.missing.size()) {
    return false;
  }
  if (!active.advances) advancing_.push_back(slot);
  active.advances = true;
  return true;
}

void DimensionQueueEngine::arrived(Active& active, const StagePlace& place, NodeId from) const {
  --active.lanes[place.lane].missing[place.step];
  --active.receives_left;
  const PlannedStage& stage = program_.stage(place.stage);
  if (program_.steps_of(stage.dimension).num_receives(stage.kind, place.step) > 1) {
    active.came_from.push_back(from);
  }
}

bool DimensionQueueEngine::finish_if_over(std::uint32_t slot, Cycle now) {
  Active& active = active_[slot];
  if (active.sends_left != 0 || active.receives_left != 0) return false;
  if (active.advances) {  // steps of 0 bytes are never sent
    advancing_.erase(std::find(advancing_.begin(), advancing_.end(), slot));
    active.advances = false;
  }
  const std::uint32_t chunk = active.stage.chunk;
  for (EngineObserver* observer : observers_) observer->stage_ended(active.stage, now);
  const PlannedStage& ended = program_.stage(active.stage);
  queues_[ended.dimension].gate.leave(ended.kind, program_.plan().resident_before(active.stage));
  slot_of_[chunk] = kNone;
  free_slots_.push_back(slot);
  --stages_left_;
  if (++next_stage_[chunk] < program_.plan().chunks[chunk].stages.size()) {
    ready_chunks_.push_back(chunk);
  }
  return true;
}

bool DimensionQueueEngine::may_add(const Operation& operation) const {
  const StageRef stage = program_.place_of(operation.flow).stage;
  const std::uint32_t slot = slot_of_[stage.chunk];
  return slot != kNone && active_[slot].stage == stage;
}

bool DimensionQueueEngine::waits_for_ports() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const DimensionQueue& queue) { return !queue.blocked.empty(); });
}

bool DimensionQueueEngine::timer_running(Cycle /*now*/) const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const DimensionQueue& queue) { return queue.arbiter->is_choosing(); });
}

void DimensionQueueEngine::explain(const std::string& who, const std::vector<std::string>& ni_names,
                                   WaitList& waits) const {
  const auto& orders = program_.plan().start_order;
  for (std::size_t d = 0; d < queues_.size(); ++d) {
    if (orders.empty() || queues_[d].next_in_order >= orders[d].size()) continue;
    const StageRef next = orders[d][queues_[d].next_in_order];
    if (queues_[d].gate.open() && !queues_[d].arbiter->holds(next)) {
      waits.push_back(
          {fmt::format("{}.dim{}", who, d + 1), fmt::format("{}.chunk{}", who, next.chunk),
           fmt::format("the start order of dimension {} has chunk {} next", d + 1, next.chunk)});
    }
  }
  for (const std::uint32_t slot : slot_of_) {
    if (slot == kNone) continue;
    explain_stage(active_[slot], who, ni_names, waits);
  }
  for (std::uint32_t c = 0; c < slot_of_.size(); ++c) {
    if (slot_of_[c] != kNone || next_stage_[c] >= program_.plan().chunks[c].stages.size()) continue;
    const std::uint32_t d = program_.stage({c, next_stage_[c]}).dimension;
    const DimensionQueue& queue = queues_[d];
    // Names the stages that occupy the dimension.
    for (const std::uint32_t slot : slot_of_) {
      if (queue.gate.open() || slot == kNone) continue;
      const StageRef other = active_[slot].stage;
      if (program_.stage(other).dimension != d) continue;
      waits.push_back(
          {fmt::format("{}.chunk{}", who, c), fmt::format("{}.chunk{}", who, other.chunk),
           queue.gate.in_flight() == 1
               ? fmt::format("dimension {} already has 1 stage in flight, its limit", d + 1)
               : fmt::format("dimension {} already has {} stages in flight, its limit", d + 1,
                             queue.gate.in_flight())});
    }
    if (queue.gate.open()) {
      waits.push_back({fmt::format("{}.chunk{}", who, c), fmt::format("{}.dim{}", who, d + 1),
                       fmt::format("another chunk is next in dimension {}", d + 1)});
    }
  }
}

void DimensionQueueEngine::explain_stage(const Active& active, const std::string& who,
                                         const std::vector<std::string>& ni_names,
                                         WaitList& waits) const {
  const PlannedStage& stage = program_.stage(active.stage);
  const StageSteps& steps = program_.steps_of(stage.dimension);
  for (std::uint32_t l = 0; l < active.lanes.size(); ++l) {
    const auto& missing = active.lanes[l].missing;
    const auto found = std::find_if(missing.begin(), missing.end(), [](auto m) { return m != 0; });
    if (found == missing.end()) continue;
    const auto step = static_cast<std::uint32_t>(found - missing.begin());
    // A sum from the switch needs a contribution from every other NPU.
    const bool waits_for_all =
        program_.adds_in_switch(stage.dimension) && stage.kind == StageKind::reduce_scatter;
    const std::uint32_t others =
        waits_for_all ? steps.size() - 1 : steps.num_receives(stage.kind, step);
    for (std::uint32_t i = 0; i < others; ++i) {
      StageReceive receive =
          steps.receive(stage.kind, active.coordinate, l, step, waits_for_all ? 0 : i);
      if (waits_for_all) receive.peer = (active.coordinate + 1 + i) % steps.size();
      const NodeId peer = program_.shape().peer(node_, stage.dimension, receive.peer);
      const auto& came = active.came_from;
      if (bytes_of(active, receive.blocks, l) == 0 ||
          std::find(came.begin(), came.end(), peer) != came.end()) {
        continue;
      }
      waits.push_back(
          {fmt::format("{}.chunk{}", who, active.stage.chunk),
           fmt::format("{}.chunk{}", ni_names[peer.index()], active.stage.chunk),
           fmt::format("{} on dimension {} waits for step {} from node {}", name_of(stage.kind),
                       stage.dimension + 1, step + 1, peer.index())});
    }
  }
}

}  // namespace espalier
