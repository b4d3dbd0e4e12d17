#include "sims/system/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "hw/clock_domain.h"
#include "hw/link_timing.h"
#include "ni/schedule_table_issue.h"
#include "sims/config/fidelity.h"
#include "sims/system/fabric.h"
#include "sims/system/step_time.h"
#include "sims/system/traffic.h"
#include "sims/system/wait_graph.h"

namespace espalier {

namespace {

constexpr Cycle kProgressCycles = 5000;
constexpr Cycle kLongestSlice = Cycle{1} << 36;
constexpr double kProgressSeconds =
    0.05;  // between two looks at the progress, where slices may grow

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Stops the clock when everything has arrived: the last gradient, and what control messages were
// posted until then.
class Deliveries : public DeliveryObserver {
 public:
  Deliveries(ClockDomain& clock, std::uint64_t expected, const DeliveryCallback& delivered,
             const std::vector<PostedCollective>& posts)
      : clock_(clock),
        expected_(expected),
        delivered_(delivered),
        posts_(posts),
        spans_(posts.size()) {}

  void connect_control(ControlTraffic& control) { control_ = &control; }
  void issued(const Operation& operation, Cycle now) override {
    if (operation.is_control) return;
    first_issue_ = std::min(first_issue_, now);
    if (spans_.empty()) return;
    CollectiveSpan& span = spans_[post_of(operation)];
    span.first_issue = std::min(span.first_issue, now);
  }
  void delivered(const Operation& operation, Cycle now) override {
    if (operation.is_control) {
      control_->delivered(now - operation.ready);
      if (delivered_) delivered_(operation, now);
      stop_if_all();
      return;
    }
    if (!spans_.empty()) spans_[post_of(operation)].last_visible = now;
    last_delivery_ = std::max(last_delivery_, now);
    bytes_ += operation.bytes;
    sum_latency_ += now - operation.ready;
    max_latency_ = std::max(max_latency_, now - operation.ready);
    if (delivered_) delivered_(operation, now);
    if (++count_ != expected_) return;
    if (control_ != nullptr) control_->close(now);
    stop_if_all();
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t expected() const { return expected_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] bool all() const {
    return count_ == expected_ && (control_ == nullptr || control_->all());
  }
  void stop_if_all() {
    if (all()) clock_.stop();
  }
  [[nodiscard]] LatencyStatistics latency() const {
    return {count_,
            count_ == 0 ? 0 : static_cast<double>(sum_latency_) / static_cast<double>(count_),
            max_latency_};
  }
  [[nodiscard]] const std::vector<CollectiveSpan>& spans() const { return spans_; }
  [[nodiscard]] Cycle cycles() const { return count_ == 0 ? 0 : last_delivery_ - first_issue_; }

 private:
  [[nodiscard]] std::size_t post_of(const Operation& operation) const {
    const auto after = std::upper_bound(
        posts_.begin(), posts_.end(), operation.first_chunk,
        [](ChunkId chunk, const PostedCollective& post) { return chunk < post.first_chunk; });
    return static_cast<std::size_t>(after - posts_.begin()) - 1;
  }

  ClockDomain& clock_;
  std::uint64_t expected_;
  const DeliveryCallback& delivered_;
  const std::vector<PostedCollective>& posts_;  // ascending in first_chunk, the first one's is 0
  std::vector<CollectiveSpan> spans_;
  ControlTraffic* control_ = nullptr;
  std::uint64_t count_ = 0;
  Bytes bytes_ = 0;
  Cycle first_issue_ = kNever;
  Cycle last_delivery_ = 0;
  Cycle sum_latency_ = 0;
  Cycle max_latency_ = 0;
};

sc_core::sc_time clock_period(const ClockSpec& clock) {
  return sc_core::sc_time(1.0 / static_cast<double>(clock.hertz), sc_core::SC_SEC);
}

std::uint64_t longest_link_latency(const SystemTiming& timing) {
  Cycle longest = 1;
  for (const LinkTiming& link : timing.links) longest = std::max(longest, link.latency);
  return longest;
}

// Everything that one simulation owns.
class Run {
 public:
  Run(const Topology& topology, const RunPoint& point, const RouteSet& routes,
      const std::vector<RouteId>& used_routes, std::uint32_t ni_ports, std::uint64_t messages,
      const std::vector<PostedCollective>& posts, const SimulationHooks& hooks)
      : point_(point),
        topology_(topology),
        timing_(time_links(topology, point.system.clock)),
        clock_("clock", clock_period(point.system.clock), point.simulation.always_clocked),
        hooks_(hooks),
        deliveries_(clock_, messages, hooks.delivered, posts),
        fabric_("net", clock_, point.system, point.simulation, topology, timing_, routes,
                used_routes, ni_ports, deliveries_, point.control ? &*point.control : nullptr),
        ni_ports_(ni_ports) {
    if (point.control) connect_control(*point.control);
  }

  Fabric& fabric() { return fabric_; }
  [[nodiscard]] const SystemTiming& timing() const { return timing_; }

  SimulationOutcome run(Bytes total_bytes) {
    const double begin = cpu_seconds();
    // What is posted for as long as a collective runs ends with it; alone it has a time of its own.
    if (control_ && deliveries_.expected() == 0) control_->close(kNever - 1);
    deliveries_.stop_if_all();
    std::string stuck;
    std::uint64_t hops_before = 0;
    std::uint64_t deliveries_before = 0;
    Cycle still = 0;
    Cycle slice = std::min(kProgressCycles, point_.simulation.watchdog_cycles);
    // Trains stand still only where the clock does, which is noticed whatever the slice.
    const bool may_grow = chosen_fidelity(point_) == Fidelity::train;
    while (!clock_.stopped() && stuck.empty()) {
      const Cycle reached = sc_core::sc_time_stamp().value() / clock_.period().value();
      if (clock_.time_is_up() || reached >= clock_.last_cycle()) {
        stuck = fmt::format(
            "simulated time ends at cycle {}: the kernel counts femtoseconds in 64 bits; a faster "
            "clock has more cycles",
            clock_.last_cycle());
        break;
      }
      const double slice_begin = cpu_seconds();
      const Cycle step = std::min(slice, clock_.last_cycle() - reached);
      sc_core::sc_start(clock_.period() * static_cast<double>(step));
      const bool was_quick = cpu_seconds() - slice_begin < kProgressSeconds;
      if (may_grow && was_quick && slice < kLongestSlice) slice *= 2;
      if (may_grow && !was_quick && slice > kProgressCycles) slice /= 2;
      if (hooks_.progress && total_bytes != 0) {
        hooks_.progress(static_cast<double>(deliveries_.bytes()) /
                        static_cast<double>(total_bytes));
      }
      const bool delivered = deliveries_.count() != deliveries_before;
      deliveries_before = deliveries_.count();
      const bool alive = delivered || is_under_way() || moved_since(hops_before);
      still = alive ? 0 : still + step;
      const bool patience_ends = still >= patience();
      if (!clock_.stopped() && (clock_.idle() || patience_ends)) stuck = describe_stop();
    }
    SimulationOutcome outcome = collect();
    outcome.engine_seconds = cpu_seconds() - begin;
    outcome.complete = deliveries_.all();
    outcome.failure = stuck;
    if (outcome.failure.empty()) outcome.failure = fabric_.monitor_violation(outcome.complete);
    return outcome;
  }

 private:
  void connect_control(const ControlConfig& config) {
    control_.emplace(topology_, config, control_message_flits(point_.system, config),
                     [this](const RouteSet& routes, RouteId route) {
                       return fabric_.bind_control(routes, route);
                     });
    deliveries_.connect_control(*control_);
    for (std::size_t n = 0; n < fabric_.num_nis(); ++n) {
      fabric_.ni(NodeId(n)).connect_control(control_->source(NodeId(n)));
    }
  }

  // While control messages come for as long as the gradients take, they must not hide that nothing
  // else moves.
  [[nodiscard]] bool only_gradients_count() const { return control_ && !control_->is_closed(); }
  [[nodiscard]] bool is_under_way() const {
    if (only_gradients_count()) return fabric_.nis_under_way(clock_.now());
    return fabric_.under_way(clock_.now()) || (control_ && control_->has_more(clock_.now()));
  }
  // Whether flits have moved since `hops` was asked for last.
  [[nodiscard]] bool moved_since(std::uint64_t& hops) const {
    const std::uint64_t before = std::exchange(
        hops, only_gradients_count() ? fabric_.gradient_flit_hops() : fabric_.flit_hops());
    return hops != before;
  }
  // Where what is under way does not count, it is waited for.
  [[nodiscard]] Cycle patience() const {
    const Cycle watchdog = point_.simulation.watchdog_cycles;
    if (!only_gradients_count()) return watchdog;
    const Cycle link = longest_link_latency(timing_);
    return watchdog + link + std::max(link, point_.system.credit_latency_cycles) +
           point_.system.router.pipeline_cycles;
  }
  [[nodiscard]] std::string describe_stop() const {
    std::string control;
    if (control_ && control_->is_closed()) {
      control = fmt::format(" and {} of {} control messages", control_->num_delivered(),
                            control_->expected());
    }
    return fmt::format("no progress at cycle {}: {} of {} messages{} delivered; {}", clock_.now(),
                       deliveries_.count(), deliveries_.expected(), control,
                       describe_waits(fabric_.waits(clock_.now())));
  }

  [[nodiscard]] SimulationOutcome collect() {
    SimulationOutcome outcome;
    outcome.cycles = deliveries_.cycles();
    outcome.flit_hops = fabric_.flit_hops();
    outcome.link_conflicts = fabric_.link_conflicts();
    outcome.flits_injected = fabric_.injected_flits();
    outcome.head_flits = fabric_.head_flits();
    outcome.latency = deliveries_.latency();
    outcome.collectives = deliveries_.spans();
    if (control_) outcome.control = control_->statistics();
    outcome.ni_ports = ni_ports_;
    outcome.evaluations = clock_.evaluations();
    double busy = 0;
    const auto flits = fabric_.link_flits();
    for (std::size_t l = 0; l < flits.size(); ++l) {
      busy += static_cast<double>(flits[l]) * static_cast<double>(timing_.links[l].ticks_per_flit) /
              static_cast<double>(timing_.ticks_per_cycle);
    }
    const double capacity = static_cast<double>(flits.size()) * static_cast<double>(outcome.cycles);
    outcome.link_utilization_mean = capacity == 0 ? 0 : busy / capacity;
    return outcome;
  }

  const RunPoint& point_;
  const Topology& topology_;
  const SystemTiming timing_;
  ClockDomain clock_;
  const SimulationHooks& hooks_;
  Deliveries deliveries_;
  Fabric fabric_;
  std::optional<ControlTraffic> control_;
  std::uint32_t ni_ports_;
};

// By node.
const TableProgram& program_of(const std::vector<TableProgram>& programs, std::size_t node) {
  return programs.size() == 1 ? programs.front() : programs[node];
}

std::vector<RouteId> routes_in(const ScheduleTables& tables,
                               const std::vector<TableProgram>& programs, std::size_t nodes) {
  std::vector<RouteId> routes;
  for (std::size_t n = 0; n < nodes; ++n) {
    const NodeFrame frame(tables, NodeId(n));
    std::vector<RouteId> of_node;
    for (const Operation& send : program_of(programs, n).sends) of_node.push_back(send.route);
    std::sort(of_node.begin(), of_node.end());
    of_node.erase(std::unique(of_node.begin(), of_node.end()), of_node.end());
    for (const RouteId route : of_node) routes.push_back(frame.route_in_network(route));
  }
  std::sort(routes.begin(), routes.end());
  routes.erase(std::unique(routes.begin(), routes.end()), routes.end());
  return routes;
}

std::uint32_t ni_ports_for_all_links(const Topology& topology, const RunPoint& point) {
  std::uint32_t most_links = 1;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    most_links =
        std::max(most_links, static_cast<std::uint32_t>(topology.out_links(NodeId(n)).size()));
  }
  return point.system.ni.ports != 0 ? point.system.ni.ports : most_links;
}

std::string check_data(Fabric& fabric, const ScheduleTables& tables) {
  const auto promised = promised_tags(tables.op, tables.chunks, fabric.num_nis());
  for (std::size_t n = 0; n < fabric.num_nis(); ++n) {
    const NodeId rank(n);
    const auto wrong =
        wrong_chunks(rank, fabric.ni(rank).memory(), tables.op, tables.chunks, promised);
    if (!wrong.empty()) {
      return fmt::format("wrong data at rank {}: chunk {} (and {} more)", n, wrong.front().index(),
                         wrong.size() - 1);
    }
  }
  return {};
}

}  // namespace

SimulationOutcome simulate_collective(const Topology& topology, const RunPoint& point,
                                      const ScheduleTables& tables, const SimulationHooks& hooks) {
  return simulate_collectives(topology, point, tables, {}, hooks);
}

SimulationOutcome simulate_collectives(const Topology& topology, const RunPoint& point,
                                       const ScheduleTables& tables,
                                       const std::vector<PostedCollective>& posts,
                                       const SimulationHooks& hooks) {
  const std::vector<TableProgram> programs = load_tables(tables);
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const TableProgram& program = program_of(programs, n);
    messages += program.sends.size();
    for (const Operation& send : program.sends) bytes += send.bytes;
  }
  const std::uint32_t ports = point.system.ni.ports != 0 ? point.system.ni.ports : tables.ni_ports;
  Run run(topology, point, tables.routes, routes_in(tables, programs, topology.num_nodes()), ports,
          messages, posts, hooks);

  ScheduleTableEngine::Spec engine;
  engine.lockstep = point.system.ni.lockstep;
  engine.issue_per_cycle = ports;
  engine.turnaround = point.system.ni.turnaround_cycles;
  engine.step_time = step_times(tables, point.system, run.timing());
  for (const PostedCollective& post : posts) engine.releases.push_back({post.first_step, post.at});
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId node(n);
    run.fabric().ni(node).load(std::make_unique<ScheduleTableIssue>(
                                   program_of(programs, n), NodeFrame(tables, node), engine),
                               NodeMemory(node, tables.op, tables.chunks));
  }
  SimulationOutcome outcome = run.run(bytes);
  if (outcome.complete && outcome.failure.empty())
    outcome.failure = check_data(run.fabric(), tables);
  outcome.verified = outcome.complete && outcome.failure.empty();
  return outcome;
}

SimulationOutcome simulate_control(const Topology& topology, const RunPoint& point,
                                   const SimulationHooks& hooks) {
  if (point.control->duration_cycles == 0) {
    throw std::invalid_argument("control messages alone need a duration");
  }
  const std::vector<PostedCollective> no_posts;
  Run run(topology, point, RouteSet(topology), {}, ni_ports_for_all_links(topology, point), 0,
          no_posts, hooks);
  SimulationOutcome outcome = run.run(0);
  outcome.verified = outcome.complete && outcome.failure.empty();
  return outcome;
}

SimulationOutcome simulate_traffic(const Topology& topology, const RunPoint& point,
                                   const SimulationHooks& hooks) {
  const TrafficConfig& traffic = *point.traffic;
  RouteSet routes(topology);
  const std::uint64_t flits = Framing(framing_spec(point.system), traffic.message_bytes).flits();
  const auto messages = generate_traffic(topology, traffic, flits, routes);
  std::vector<RouteId> used;
  used.reserve(messages.size());
  for (const Operation& message : messages) used.push_back(message.route);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const std::uint32_t ports = ni_ports_for_all_links(topology, point);
  const std::vector<PostedCollective> no_posts;
  Run run(topology, point, routes, used, ports, messages.size(), no_posts, hooks);
  for (const Operation& message : messages) run.fabric().ni(message.from).post(message);
  Bytes bytes = 0;
  for (const Operation& message : messages) bytes += message.bytes;
  SimulationOutcome outcome = run.run(bytes);
  outcome.verified = outcome.complete && outcome.failure.empty();
  return outcome;
}

}  // namespace espalier
