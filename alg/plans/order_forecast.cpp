#include "alg/plans/order_forecast.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <utility>

namespace espalier {
namespace {

Bytes divided_up(Bytes a, Bytes b) { return (a + b - 1) / b; }

// A message of a stage on the links of a dimension.
struct Send {
  std::uint64_t rank = 0;    // start order of its stage in the dimension
  std::uint64_t number = 0;  // order of issue among equal ranks
  Cycle issued = 0;
  Tick duration = 0;
  StageRef stage;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
};

// The links of one direction, to one peer, or of all planes, as one server.
struct LinkServer {
  std::vector<Send> waiting;  // by rank and number
  Tick free = 0;
  bool busy = false;

  void push(const Send& send) {
    const auto after = std::find_if(waiting.begin(), waiting.end(),
                                    [&](const Send& other) { return other.rank > send.rank; });
    waiting.insert(after, send);
  }
};

struct Dimension {
  Dimension(const ForecastDimension& model, StageSteps steps_of_it, const ArbiterSpec& arbiter,
            FlightGate flight)
      : timing(model), steps(steps_of_it), queue(arbiter), gate(flight) {
    const bool connected = timing.shape == DimensionShape::fully_connected;
    out.resize(connected ? steps.size() : 1);
    one_for_all_peers = connected && steps.algorithm() == DimensionAlgorithm::direct;
  }

  // Lanes that differ. The two directions of a ring carry the same at the same time on links of
  // their own.
  [[nodiscard]] std::uint32_t lanes() const {
    return timing.shape == DimensionShape::ring ? 1 : steps.lanes();
  }
  // Messages of a step that differ, likewise.
  [[nodiscard]] std::uint32_t sends(StageKind kind, std::uint32_t step) const {
    return one_for_all_peers ? 1 : steps.num_sends(kind, step);
  }

  // The server of the links that a message from coordinate 0 takes.
  [[nodiscard]] std::uint32_t server(std::uint32_t peer) const {
    return timing.shape == DimensionShape::fully_connected && !one_for_all_peers ? peer : 0;
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
  FlightGate gate;
  std::vector<LinkServer> out;
  bool one_for_all_peers = false;
  Tick from_switch_free = 0;
  std::uint64_t started = 0;
  bool choosing = false;
};

enum class EventKind : std::uint8_t { start, sent, at_switch, step_done };

struct Event {
  Cycle at = 0;
  // Events of one cycle are handled in the order in which they were created.
  std::uint64_t number = 0;
  EventKind kind = EventKind::start;
  StageRef stage;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
  std::uint32_t server = 0;  // sent

  friend bool operator>(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.number > b.number;
  }
};

class Forecaster {
 public:
  Forecaster(const DimensionPlan& plan, const ForecastSpec& spec)
      : plan_(plan), spec_(spec), running_(plan.chunks.size()) {
    if (spec.dimensions.size() != plan.dimensions.size() || spec.flight.places == 0) {
      throw std::invalid_argument(
          "a forecast needs the timing of every dimension and at least one stage in flight");
    }
    for (std::size_t d = 0; d < plan.dimensions.size(); ++d) {
      const PlannedDimension& planned = plan.dimensions[d];
      dimensions_.emplace_back(spec.dimensions[d], StageSteps(planned.algorithm, planned.size),
                               spec.arbiter, FlightGate(planned, spec.flight));
    }
    for (std::uint32_t c = 0; c < plan.chunks.size(); ++c) {
      residents_.push_back(plan.residents(c));
      compared_residents_.push_back(plan.compared_residents(c));
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
  // Bytes that an NPU holds of the chunk when the stage starts.
  [[nodiscard]] double resident(StageRef ref) const { return residents_[ref.chunk][ref.stage]; }
  [[nodiscard]] Dimension& dimension_of(StageRef ref) {
    return dimensions_[planned(ref).dimension];
  }

  void add_event(Cycle at, EventKind kind, StageRef stage, std::uint32_t lane, std::uint32_t step,
                 std::uint32_t server = 0) {
    events_.push({at, next_number_++, kind, stage, lane, step, server});
  }

  // Runs after all other events of the cycle, so that the choice considers all waiting stages.
  void choose_everywhere(Cycle now) {
    std::sort(ready_.begin(), ready_.end(),
              [](StageRef a, StageRef b) { return a.chunk < b.chunk; });
    for (const StageRef ref : ready_) {
      const std::vector<std::uint64_t>& residents = compared_residents_[ref.chunk];
      dimension_of(ref).queue.push(
          ref, arbitration_key(residents[ref.stage], residents[ref.stage + 1], spec_.arbiter.key));
    }
    ready_.clear();
    for (Dimension& dimension : dimensions_) {
      if (dimension.choosing || dimension.queue.empty() || !dimension.gate.open()) continue;
      const StageRef stage = dimension.queue.pop();
      dimension.choosing = true;
      dimension.gate.enter(planned(stage).kind, resident(stage));
      add_event(now + spec_.arbitration, EventKind::start, stage, 0, 0);
    }
  }

  void take_place(const Event& event) {
    // In the order of EventKind.
    constexpr std::array kHandlers{&Forecaster::start, &Forecaster::end_message,
                                   &Forecaster::leave_switch, &Forecaster::end_step};
    (this->*kHandlers.at(static_cast<std::size_t>(event.kind)))(event);
  }

  void start(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    dimension.choosing = false;
    forecast_.start_order[planned(event.stage).dimension].push_back(event.stage);
    const std::uint32_t lanes = dimension.lanes();
    Running& running = running_[event.stage.chunk];
    running.lanes_left = lanes;
    running.rank = dimension.started++;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) send(event.at, event.stage, lane, 0);
  }

  [[nodiscard]] Tick message_duration(const Dimension& dimension, StageRef ref,
                                      std::uint32_t blocks) const {
    const StageKind kind = planned(ref).kind;
    const double block = kind == StageKind::reduce_scatter
                             ? resident(ref) / static_cast<double>(dimension.steps.size())
                             : resident(ref);
    const double bytes = block * blocks / static_cast<double>(dimension.steps.lanes());
    return dimension.duration(static_cast<Bytes>(std::ceil(bytes)));
  }

  void send(Cycle now, StageRef ref, std::uint32_t lane, std::uint32_t step) {
    Dimension& dimension = dimension_of(ref);
    const StageKind kind = planned(ref).kind;
    const std::uint32_t sends = dimension.sends(kind, step);
    // All messages of a step have the same size.
    const StageSend first = dimension.steps.send(kind, 0, lane, step, 0);
    const Tick duration = message_duration(dimension, ref, first.blocks.count);
    running_[ref.chunk].sends_left[lane] = sends;
    for (std::uint32_t i = 0; i < sends; ++i) {
      const std::uint32_t peer = dimension.steps.send(kind, 0, lane, step, i).peer;
      const std::uint32_t server = dimension.server(peer);
      dimension.out[server].push(
          {running_[ref.chunk].rank, next_number_++, now, duration, ref, lane, step});
      if (!dimension.out[server].busy) begin_message(dimension, server);
    }
  }

  void begin_message(Dimension& dimension, std::uint32_t number) {
    LinkServer& server = dimension.out[number];
    const Send send = server.waiting.front();
    server.waiting.erase(server.waiting.begin());
    server.busy = true;
    const Tick per_cycle = dimension.timing.ticks_per_cycle;
    server.free = std::max(server.free, send.issued * per_cycle) + send.duration;
    add_event(divided_up(server.free, per_cycle), EventKind::sent, send.stage, send.lane, send.step,
              number);
  }

  void end_message(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    LinkServer& server = dimension.out[event.server];
    server.busy = false;
    if (!server.waiting.empty()) begin_message(dimension, event.server);
    if (--running_[event.stage.chunk].sends_left[event.lane] != 0) return;
    const bool to_switch = dimension.steps.algorithm() == DimensionAlgorithm::in_network;
    pass_on(event, event.at,
            to_switch ? dimension.timing.overhead_to_switch : dimension.timing.overhead,
            to_switch ? EventKind::at_switch : EventKind::step_done);
  }

  void leave_switch(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    const StageKind kind = planned(event.stage).kind;
    const Tick duration = message_duration(dimension, event.stage, 1);
    const std::uint32_t blocks = dimension.steps.num_receives(kind, event.step);
    const Tick per_cycle = dimension.timing.ticks_per_cycle;
    Tick& free = dimension.from_switch_free;
    free = std::max(free, event.at * per_cycle) + duration * blocks;
    pass_on(event, divided_up(free, per_cycle), dimension.timing.overhead, EventKind::step_done);
  }

  // What was sent arrives after `overhead`, and is added where the stage reduces.
  void pass_on(const Event& event, Cycle sent, Cycle overhead, EventKind next) {
    const bool adds = planned(event.stage).kind == StageKind::reduce_scatter;
    add_event(sent + overhead + (adds ? spec_.reduction : 0), next, event.stage, event.lane,
              event.step);
  }

  void end_step(const Event& event) {
    Dimension& dimension = dimension_of(event.stage);
    if (event.step + 1 < dimension.steps.steps()) {
      send(event.at, event.stage, event.lane, event.step + 1);
      return;
    }
    if (--running_[event.stage.chunk].lanes_left != 0) return;
    dimension.gate.leave(planned(event.stage).kind, resident(event.stage));
    forecast_.cycles = std::max(forecast_.cycles, event.at);
    const StageRef next{event.stage.chunk, event.stage.stage + 1};
    if (next.stage < plan_.chunks[next.chunk].stages.size()) ready_.push_back(next);
  }

  const DimensionPlan& plan_;
  const ForecastSpec& spec_;
  std::vector<Dimension> dimensions_;
  std::vector<std::vector<double>> residents_;  // DimensionPlan::residents(), by chunk
  std::vector<std::vector<std::uint64_t>> compared_residents_;
  // The running stage of a chunk.
  struct Running {
    std::uint64_t rank = 0;
    std::uint32_t lanes_left = 0;
    std::array<std::uint32_t, 2> sends_left{};  // by lane, of the current step
  };
  std::vector<Running> running_;  // by chunk
  std::vector<StageRef> ready_;   // became ready in this cycle
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t next_number_ = 0;
  Forecast forecast_;
};

}  // namespace

Forecast forecast_order(const DimensionPlan& plan, const ForecastSpec& spec) {
  return Forecaster(plan, spec).run();
}

}  // namespace espalier
