#include "sims/system/simulated_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "sims/model/external_parts.h"
#include "sims/model/faults.h"
#include "sims/point/fidelity.h"

namespace espalier {

namespace {

constexpr Cycle kProgressCycles = 5000;
constexpr Cycle kLongestSlice = Cycle{1} << 36;
// Events for observers are kept until the slice ends, so the slice must be short.
constexpr Cycle kLongestWatchedSlice = Cycle{1} << 16;
// Between two reports of progress, if slices may grow.
constexpr double kProgressSeconds = 0.05;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

sc_core::sc_time clock_period(const ClockSpec& clock) {
  return sc_core::sc_time(1.0 / static_cast<double>(clock.hertz), sc_core::SC_SEC);
}

// External modules need a program that attaches them, and a system in which they are exact.
const RunPoint& with_possible_modules(const RunPoint& point, const Topology& topology,
                                      const SimulationHooks& hooks) {
  if (!point.system.topology.external.any()) return point;
  if (const auto problem = external_problem(point, topology)) {
    throw std::invalid_argument(fmt::format("{}; {}", problem->what, problem->hint));
  }
  if (!hooks.elaborate) {
    throw std::invalid_argument(
        "system.topology.external: routers and NIs named there are modules of a program that links "
        "the library and sets SimulationHooks::elaborate (docs/plug_in.md); without such a "
        "program, remove the section");
  }
  return point;
}

std::uint64_t longest_link_latency(const SystemTiming& timing) {
  Cycle longest = 1;
  for (const LinkTiming& link : timing.links) longest = std::max(longest, link.latency);
  return longest;
}

}  // namespace

SimulatedSystem::SimulatedSystem(const Topology& topology, const RunPoint& point,
                                 const RouteSet& routes, const std::vector<RouteId>& used_routes,
                                 std::uint32_t ni_ports, std::uint64_t operations,
                                 const SimulationHooks& hooks, const std::string& suffix)
    : point_(with_possible_modules(point, topology, hooks)),
      topology_(topology),
      routes_(routes),
      timing_(time_links(faulty_links(topology, point.faults), point.system.clock)),
      clock_(("clock" + suffix).c_str(), clock_period(point.system.clock),
             point.simulation.always_clocked),
      hooks_(hooks),
      deliveries_(clock_, operations, hooks.delivered),
      fabric_(("net" + suffix).c_str(), clock_, point.system, point.simulation, topology, timing_,
              routes, used_routes, ni_ports, deliveries_, point.control ? &*point.control : nullptr,
              point.tenants.has_value()),
      ni_ports_(ni_ports) {
  if (sc_core::sc_start_of_simulation_invoked()) {
    throw std::invalid_argument(
        "this process has simulated before, and SystemC elaborates once per process; simulate the "
        "next system in another process");
  }
  slow_dma_engines();
  if (point.control) connect_control(*point.control);
  if (point.tenants) connect_tenants(*point.tenants);
  if (point.traffic) traffic_.emplace(topology, point, clock_, fabric_, deliveries_);
}

SimulationOutcome SimulatedSystem::run(Bytes total_bytes) {
  const double begin = cpu_seconds();
  if (hooks_.elaborate) let_program_elaborate();
  // Control messages stop with the collective. Without a collective, their time is configured.
  if (control_ && deliveries_.expected() == 0) control_->close(kNever - 1);
  deliveries_.stop_if_all();
  std::string stuck;
  std::uint64_t moved_before = 0;
  std::uint64_t deliveries_before = 0;
  Cycle still = 0;
  Cycle slice = std::min(kProgressCycles, point_.simulation.watchdog_cycles);
  // In train fidelity the system can stand still only if the clock stops, which is noticed with a
  // slice of any length.
  const bool may_grow = chosen_fidelity(point_) == Fidelity::train;
  const Cycle longest = hooks_.observers.empty() ? kLongestSlice : kLongestWatchedSlice;
  for (SystemObserver* observer : hooks_.observers) observer->begin(fabric_);
  while (!clock_.stopped() && stuck.empty()) {
    const Cycle reached = sc_core::sc_time_stamp().value() / clock_.period().value();
    if (clock_.time_is_up() || reached >= clock_.last_cycle()) {
      stuck = fmt::format(
          "simulated time ends at cycle {}, because the kernel counts femtoseconds in 64 bits; a "
          "faster system.router.clock allows more cycles",
          clock_.last_cycle());
      break;
    }
    const double slice_begin = cpu_seconds();
    const Cycle step = std::min(slice, clock_.last_cycle() - reached);
    sc_core::sc_start(clock_.period() * static_cast<double>(step));
    for (SystemObserver* observer : hooks_.observers) observer->advance(clock_.now() + 1);
    if (sockets_) stuck = end_of_sockets();
    if (!stuck.empty()) break;
    const bool was_quick = cpu_seconds() - slice_begin < kProgressSeconds;
    if (may_grow && was_quick && slice < longest) slice *= 2;
    if (may_grow && !was_quick && slice > kProgressCycles) slice /= 2;
    if (hooks_.at_least) hooks_.at_least(least_cycles());
    if (hooks_.progress && traffic_ && total_bytes == 0) {
      hooks_.progress(traffic_->progress(clock_.now()));
    } else if (hooks_.progress && total_bytes != 0) {
      hooks_.progress(static_cast<double>(deliveries_.bytes()) / static_cast<double>(total_bytes));
    }
    const bool delivered = deliveries_.count() != deliveries_before;
    deliveries_before = deliveries_.count();
    const bool alive = delivered || is_under_way() || moved_since(moved_before);
    still = alive ? 0 : still + step;
    const bool patience_ends = still >= patience();
    if (sockets_ && sockets_->waits_for_program()) continue;
    if (!clock_.stopped() && (clock_.idle() || patience_ends)) stuck = describe_stop();
    if (clock_.evaluations() > hooks_.most_evaluations)
      stuck = "its budget of evaluations is spent";
  }
  for (SystemObserver* observer : hooks_.observers) observer->finish(clock_.now() + 1);
  SimulationOutcome outcome = collect();
  outcome.engine_seconds = cpu_seconds() - begin;
  outcome.complete = deliveries_.all();
  outcome.failure = stuck;
  if (outcome.failure.empty() && fabric_.sockets() != nullptr) {
    outcome.failure = fabric_.sockets()->clock.watch().problem();
  }
  // Other tenants send for ever, so the network never drains. Sockets may, too.
  const bool drained = outcome.complete && !tenants_ && (!sockets_ || sockets_->in_flight() == 0);
  if (outcome.failure.empty()) outcome.failure = fabric_.monitor_violation(drained);
  return outcome;
}

void SimulatedSystem::expect_on_links(RouteId route, Bytes bytes) {
  expected_bytes_.resize(topology_.num_links(), 0);
  for (std::size_t hop = 0; hop < routes_.hops(route); ++hop) {
    expected_bytes_[routes_.link(route, hop).index()] += bytes;
  }
}

Cycle SimulatedSystem::least_cycles() const {
  Cycle rest = 0;
  const std::vector<std::uint64_t> flits = fabric_.link_flits();
  for (std::size_t l = 0; l < expected_bytes_.size(); ++l) {
    // Head flits, packets that are not full and background traffic make the bound smaller.
    const LinkSpec& link = topology_.link(LinkId(l)).spec;
    const std::uint64_t all = expected_bytes_[l] / flit_bytes_of(link, point_.system.clock);
    const std::uint64_t left = all - std::min(all, flits[l]);
    rest = std::max(rest, left * timing_.links[l].ticks_per_flit / timing_.ticks_per_cycle);
  }
  return deliveries_.elapsed(clock_.now()) + rest;
}

void SimulatedSystem::let_program_elaborate() {
  const bool is_run = point_.traffic && point_.traffic->pattern == TrafficPattern::sockets;
  sockets_.emplace(topology_, clock_, fabric_, deliveries_, is_run ? &*traffic_ : nullptr);
  elaboration_.emplace(fabric_, *sockets_);
  hooks_.elaborate(*elaboration_);
  elaboration_->check_attached();
}

// A program may end the simulation by sc_stop(), after which the kernel does not start again.
std::string SimulatedSystem::end_of_sockets() {
  const auto has_ended = [] { return sc_core::sc_get_status() == sc_core::SC_STOPPED; };
  // A slice ends in front of the processes that run at its last time.
  while (!clock_.stopped() && !has_ended() && sc_core::sc_pending_activity_at_current_time()) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  if (clock_.stopped()) return {};
  const bool is_stopped = has_ended();
  if (sockets_->is_run() && (is_stopped || (sockets_->waits_for_program() && clock_.is_alone()))) {
    const std::string missing = sockets_->end();
    if (missing.empty()) return {};
    return fmt::format("the simulation ended in cycle {}: {}", clock_.now(), missing);
  }
  if (!is_stopped) return {};
  return fmt::format("sc_stop() was called before the run had ended; {}", describe_stop());
}

void SimulatedSystem::slow_dma_engines() {
  if (!point_.faults.dma_jitter) return;
  for (std::size_t n = 0; n < fabric_.num_nis(); ++n) {
    const NodeId node(n);
    fabric_.ni(node).set_dma_jitter(
        {jitter_of(point_.faults, node), point_.faults.dma_jitter->seed, node});
  }
}

void SimulatedSystem::connect_control(const ControlConfig& config) {
  control_.emplace(topology_, config, control_message_flits(point_.system, config),
                   [this](const RouteSet& routes, RouteId route) {
                     return fabric_.bind_control(routes, route);
                   });
  deliveries_.connect_control(*control_);
  for (std::size_t n = 0; n < fabric_.num_nis(); ++n) {
    fabric_.ni(NodeId(n)).connect_control(control_->source(NodeId(n)));
  }
}

void SimulatedSystem::connect_tenants(const TenantsConfig& config) {
  tenants_.emplace(
      topology_, config, point_.system.clock,
      [this](const RouteSet& routes, RouteId route) { return fabric_.bind_side(routes, route); });
  deliveries_.connect_tenants(*tenants_, topology_.num_nodes());
  for (std::uint32_t r = 0; r < topology_.shape().racks.racks; ++r) {
    fabric_.tenant_unit(topology_.rack_switch(r)).connect_source(tenants_->source(r));
  }
}

bool SimulatedSystem::is_under_way() const {
  if (hosts_ != nullptr && hosts_->under_way(clock_.now())) return true;
  if (only_gradients_count()) return fabric_.nis_under_way(clock_.now());
  return fabric_.under_way(clock_.now()) || (control_ && control_->has_more(clock_.now())) ||
         (traffic_ && traffic_->has_more(clock_.now())) ||
         (sockets_ && sockets_->has_more(clock_.now()));
}

// Routers cannot tell other tenants' flits from the job's, so the flits at the job's NIs are
// counted.
std::uint64_t SimulatedSystem::movement() const {
  if (tenants_) return fabric_.injected_flits() + fabric_.received_flits();
  return only_gradients_count() ? fabric_.gradient_flit_hops() : fabric_.flit_hops();
}

bool SimulatedSystem::moved_since(std::uint64_t& before) const {
  const std::uint64_t earlier = std::exchange(before, movement());
  return before != earlier;
}

Cycle SimulatedSystem::patience() const {
  const Cycle watchdog = point_.simulation.watchdog_cycles;
  if (!only_gradients_count()) return watchdog;
  const Cycle link = longest_link_latency(timing_);
  return watchdog + link + std::max(link, point_.system.credit_latency_cycles) +
         point_.system.router.pipeline_cycles;
}

std::string SimulatedSystem::describe_stop() const {
  std::string control;
  if (control_ && control_->is_closed()) {
    control = fmt::format(" and {} of {} control messages", control_->num_delivered(),
                          control_->expected());
  }
  WaitList waits = fabric_.waits(clock_.now());
  if (hosts_ != nullptr) hosts_->explain_waits(waits);
  std::string sockets = sockets_ ? sockets_->describe_waits() : std::string();
  if (!sockets.empty()) sockets = "; " + sockets;
  const bool sockets_are_run = sockets_ && sockets_->is_run();
  const std::uint64_t of_traffic = sockets_are_run ? sockets_->posted()
                                   : traffic_      ? traffic_->posted(clock_.now())
                                                   : deliveries_.expected();
  const char* const by_chance =
      point_.simulation.stall_probability == 0
          ? ""
          : "this need not be a deadlock, because random stalls (simulation.stall_probability) may "
            "outlast simulation.watchdog_cycles; ";
  return fmt::format("no progress at cycle {}: {} of {} messages{} delivered; {}{}{}", clock_.now(),
                     deliveries_.count(), of_traffic, control, by_chance, describe_waits(waits),
                     sockets);
}

SimulationOutcome SimulatedSystem::collect() {
  SimulationOutcome outcome;
  outcome.cycles = deliveries_.cycles();
  outcome.flit_hops = fabric_.flit_hops();
  outcome.counters = fabric_.counters();
  outcome.flits_injected = fabric_.injected_flits();
  outcome.head_flits = fabric_.head_flits();
  outcome.latency = deliveries_.latency();
  if (control_) outcome.control = control_->statistics();
  if (traffic_) outcome.traffic = traffic_->statistics();
  if (tenants_) outcome.tenants = tenants_->statistics(clock_.now());
  outcome.events = fabric_.events();
  outcome.events.payload_bytes = deliveries_.bytes() + deliveries_.control_bytes();
  outcome.ni_ports = ni_ports_;
  outcome.evaluations = clock_.evaluations();
  outcome.stops = fabric_.packet_stops();
  outcome.link_flits = fabric_.link_flits();
  measure_links(outcome);
  return outcome;
}

void SimulatedSystem::measure_links(SimulationOutcome& outcome) const {
  double busy_ticks = 0;  // a sum of integers, so the order does not matter
  const auto& flits = outcome.link_flits;
  outcome.link_utilization.clear();
  for (std::size_t l = 0; l < flits.size(); ++l) {
    const double ticks =
        static_cast<double>(flits[l]) * static_cast<double>(timing_.links[l].ticks_per_flit);
    busy_ticks += ticks;
    if (point_.simulation.link_utilization && outcome.cycles != 0) {
      outcome.link_utilization.push_back(ticks / (static_cast<double>(outcome.cycles) *
                                                  static_cast<double>(timing_.ticks_per_cycle)));
    }
  }
  const double capacity_ticks = static_cast<double>(flits.size()) *
                                static_cast<double>(outcome.cycles) *
                                static_cast<double>(timing_.ticks_per_cycle);
  outcome.link_utilization_mean = capacity_ticks == 0 ? 0 : busy_ticks / capacity_ticks;
}

std::string check_data(const std::vector<NodeMemory>& memories, CollectiveOp op,
                       const std::vector<Chunk>& chunks, ChunkId first, const Scope& scope) {
  const auto promised = promised_tags(op, chunks, memories.size(), first, scope);
  for (std::size_t n = 0; n < memories.size(); ++n) {
    const NodeId rank(n);
    const auto wrong = wrong_chunks(rank, memories[n], op, chunks, promised, scope);
    if (!wrong.empty()) {
      return fmt::format("wrong data at rank {}: chunk {} (and {} more)", n, wrong.front().index(),
                         wrong.size() - 1);
    }
  }
  return {};
}

std::uint32_t ni_ports_for_all_links(const Topology& topology, const SystemConfig& system) {
  return system.ni.ports != 0 ? system.ni.ports : most_links_of_a_node(topology);
}

}  // namespace espalier
