#include "alg/order_forecast.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>

namespace espalier {
namespace {

Bytes divided_up(Bytes a, Bytes b) { return (a + b - 1) / b; }

// The links of one direction, to one peer or of all planes, seen as one.
class LinkServer {
 public:
  // Queues a message at cycle `now`; returns when its last flit has left.
  Cycle serve(Cycle now, Tick duration, Tick ticks_per_cycle) {
    free_ = std::max(free_, now * ticks_per_cycle) + duration;
    return divided_up(free_, ticks_per_cycle);
  }

 private:
  Tick free_ = 0;
};

struct Dimension {
  Dimension(const ForecastDimension& model, StageSteps steps_of_it, const ArbiterSpec& arbiter)
      : timing(model), steps(steps_of_it), queue(arbiter) {
    switch (timing.shape) {
      case DimensionShape::ring:
        out.resize(2);
        break;
      case DimensionShape::fully_connected:
        out.resize(steps.size());
        break;
      case DimensionShape::switched:
        out.resize(1);
        break;
    }
  }

  // The one that a message from coordinate 0 takes.
  LinkServer& server(std::uint32_t lane, std::uint32_t peer) {
    switch (timing.shape) {
      case DimensionShape::ring:
        return out[lane];
      case DimensionShape::fully_connected:
        return out[peer];
      case DimensionShape::switched:
        break;
    }
    return out[0];
  }

  [[nodiscard]] Tick duration(Bytes bytes) const {
    const Bytes share = divided_up(bytes, timing.links);
    const Bytes heads =
        timing.message_mode ? 1 : std::max<Bytes>(1, divided_up(share, timing.payload_bytes));
    return (heads + divided_up(share, timing.flit_bytes)) * timing.ticks_per_flit;
  }

  ForecastDimension timing;
  StageSteps steps;
  StageQueue queue;
  std::vector<LinkServer> out;
  LinkServer from_switch;
  std::uint32_t places_taken = 0;
  bool choosing = false;
};

enum class EventKind : std::uint8_t { start, at_switch, step_done };

struct Event {
  Cycle at = 0;
  std::uint64_t number = 0;  // events of a cycle take place in the order in which they were made
  EventKind kind = EventKind::start;
  StageRef stage;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;

  friend bool operator>(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.number > b.number;
  }
};

class Forecaster {
 public:
  Forecaster(const DimensionPlan& plan, const ForecastSpec& spec)
      : plan_(plan), spec_(spec), lanes_left_(plan.chunks.size(), 0) {
    if (spec.dimensions.size() != plan.dimensions.size() || spec.in_flight == 0) {
      throw std::invalid_argument("a forecast needs every dimension's timing and a place in each");
    }
    for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
      const PlannedDimension& planned = plan.dimensions[d];
      dimensions_.emplace_back(spec.dimensions[d], StageSteps(planned.algorithm, planned.size),
                               spec.arbiter);
    }
    forecast_.start_order.resize(plan.dimensions.size());
  }

  Forecast run() {
    for (std::size_t c = 0; c < plan_.chunks.size(); ++c) {
      if (!plan_.chunks[c].stages.empty()) ready_.push_back({static_cast<std::uint32_t>(c), 0});
    }
    choose_everywhere(0);
    while (!events_.empty()) {
      const Cycle now = events_.top().at;
      while (!events_.empty() && events_.top().at == now) {
        const Event event = events_.top();
        events_.pop();
        take_place(event);
      }
      choose_everywhere(now);
    }
    return std::move(forecast_);
  }

 private:
  [[nodiscard]] const PlannedStage& planned(StageRef ref) const {
    return plan_.chunks[ref.chunk].stages[ref.stage];
  }
  [[nodiscard]] Dimension& dimension_of(StageRef ref) {
    return dimensions_[planned(ref).dimension];
  }

  void add_event(Cycle at, EventKind kind, StageRef stage, std::uint32_t lane, std::uint32_t step) {
    events_.push({at, next_number_++, kind, stage, lane, step});
  }

  // After everything else of the cycle, so that who waits then is compared.
  void choose_everywhere(Cycle now) {
    std::sort(ready_.begin(), ready_.end(),
              [](StageRef a, StageRef b) { return a.chunk < b.chunk; });
    for (const StageRef ref : ready_) {
      dimension_of(ref).queue.push(ref, arbitration_key(plan_, ref, spec_.arbiter.key));
    }
    ready_.clear();
    for (Dimension& dimension : dimensions_) {
      if (dimension.choosing || dimension.queue.empty() ||
          dimension.places_taken >= spec_.in_flight) {
        continue;
      }
      dimension.choosing = true;
      ++dimension.places_taken;
      add_event(now + spec_.arbitration, EventKind::start, dimension.queue.pop(), 0, 0);
    }
  }

  void take_place(const Event& event) {
    switch (event.kind) {
      case EventKind::start:
        start(event);
        break;
      case EventKind::at_switch:
        leave_switch(event);
        break;
      case EventKind::step_done:
        end_step(event);
        break;
    }
  }

  void start(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    dimension.choosing = false;
    forecast_.start_order[planned(event.stage).dimension].push_back(event.stage);
    const std::uint32_t lanes = dimension.steps.lanes();
    lanes_left_[event.stage.chunk] = lanes;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) send(event.at, event.stage, lane, 0);
  }

  [[nodiscard]] Tick message_duration(const Dimension& dimension, StageRef ref,
                                      std::uint32_t blocks) const {
    const StageKind kind = planned(ref).kind;
    const double resident = plan_.resident_before(ref);
    const double block = kind == StageKind::reduce_scatter
                             ? resident / static_cast<double>(dimension.steps.size())
                             : resident;
    const double bytes = block * blocks / static_cast<double>(dimension.steps.lanes());
    return dimension.duration(static_cast<Bytes>(std::ceil(bytes)));
  }

  void send(Cycle now, StageRef ref, std::uint32_t lane, std::uint32_t step) {
    Dimension& dimension = dimension_of(ref);
    const StageKind kind = planned(ref).kind;
    const std::uint32_t sends = dimension.steps.num_sends(kind, step);
    // All messages of a step are of one size.
    const StageSend first = dimension.steps.send(kind, 0, lane, step, 0);
    const Tick duration = message_duration(dimension, ref, first.blocks.count);
    Cycle sent = now;
    for (std::uint32_t i = 0; i < sends; ++i) {
      const std::uint32_t peer = dimension.steps.send(kind, 0, lane, step, i).peer;
      sent = std::max(
          sent,
          dimension.server(lane, peer).serve(now, duration, dimension.timing.ticks_per_cycle));
    }
    if (dimension.steps.algorithm() == DimensionAlgorithm::in_network) {
      add_event(sent, EventKind::at_switch, ref, lane, step);
    } else {
      add_event(visible(dimension, kind, sent), EventKind::step_done, ref, lane, step);
    }
  }

  void leave_switch(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    const StageKind kind = planned(event.stage).kind;
    const Tick duration = message_duration(dimension, event.stage, 1);
    const std::uint32_t blocks = dimension.steps.num_receives(kind, event.step);
    const Cycle sent =
        dimension.from_switch.serve(event.at, duration * blocks, dimension.timing.ticks_per_cycle);
    add_event(visible(dimension, kind, sent), EventKind::step_done, event.stage, event.lane,
              event.step);
  }

  [[nodiscard]] Cycle visible(const Dimension& dimension, StageKind kind, Cycle sent) const {
    return sent + dimension.timing.overhead +
           (kind == StageKind::reduce_scatter ? spec_.reduction : 0);
  }

  void end_step(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    if (event.step + 1 < dimension.steps.steps()) {
      send(event.at, event.stage, event.lane, event.step + 1);
      return;
    }
    if (--lanes_left_[event.stage.chunk] != 0) return;
    --dimension.places_taken;
    forecast_.cycles = std::max(forecast_.cycles, event.at);
    const StageRef next{event.stage.chunk, event.stage.stage + 1};
    if (next.stage < plan_.chunks[next.chunk].stages.size()) ready_.push_back(next);
  }

  const DimensionPlan& plan_;
  const ForecastSpec& spec_;
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> lanes_left_;  // by chunk, of its stage that runs
  std::vector<StageRef> ready_;            // in this cycle
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
  Forecast forecast_;
};

}  // namespace

Forecast forecast_order(const DimensionPlan& plan, const ForecastSpec& spec) {
  return Forecaster(plan, spec).run();
}

}  // namespace espalier
