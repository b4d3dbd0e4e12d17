#include "sims/system/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "alg/routes/routing.h"
#include "sims/point/config.h"
#include "sims/system/simulated_system.h"

namespace espalier {

namespace {

// A node's host. It has at most one message to post: a probe or an echo.
class ProbingHost : public MessageSource {
 public:
  [[nodiscard]] Cycle next_ready() const override { return operation_.ready; }
  [[nodiscard]] const Operation& front() override { return operation_; }
  void pop() override { operation_.ready = kNever; }
  void post(const Operation& operation) { operation_ = operation; }

 private:
  Operation operation_ = nothing();

  static Operation nothing() {
    Operation operation;
    operation.ready = kNever;
    return operation;
  }
};

class Prober : public SideListener {
 public:
  Prober(const Topology& topology, const ProbeSpec& spec, SimulatedSystem& system)
      : topology_(topology),
        spec_(spec),
        system_(system),
        nodes_(static_cast<std::uint32_t>(topology.num_nodes())),
        routes_(topology),
        bound_(std::size_t{nodes_} * nodes_),
        pair_of_(nodes_) {
    result_.nodes = nodes_;
    result_.round_trip.assign(std::size_t{nodes_} * nodes_, 0);
    for (std::uint32_t n = 0; n < nodes_; ++n) hosts_.push_back(std::make_unique<ProbingHost>());
    begin_round(0);
    for (std::uint32_t n = 0; n < nodes_; ++n) {
      system.fabric().ni(NodeId(n)).connect_source(*hosts_[n]);
    }
  }

  void delivered(const Operation& operation, Cycle now) override {
    Pair& pair = pairs_[pair_of_[operation.to.index()]];
    if (operation.to != pair.from) {
      post(operation.to, operation.from, now + 1);
      return;
    }
    pair.round_trips.push_back(now - pair.posted);
    if (pair.round_trips.size() == spec_.probes && !next_direction(pair)) {
      if (--pairs_left_ == 0) end_round(now);
      return;
    }
    probe(pair, now + 1);
  }

  [[nodiscard]] double part_done() const {
    return static_cast<double>(round_) / tournament_rounds(nodes_);
  }
  [[nodiscard]] ProbeResult result() && { return std::move(result_); }

 private:
  struct Pair {
    NodeId from;  // sends the probes at present
    NodeId to;
    bool is_back = false;  // the second direction is being measured
    Cycle posted = 0;
    std::vector<Cycle> round_trips;
  };

  void begin_round(Cycle at) {
    const auto pairs = tournament_pairs(nodes_, round_);
    pairs_.resize(pairs.size());
    pairs_left_ = pairs.size();
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      Pair& pair = pairs_[p];
      pair.from = NodeId(pairs[p].first);
      pair.to = NodeId(pairs[p].second);
      pair.is_back = false;
      pair_of_[pair.from.index()] = p;
      pair_of_[pair.to.index()] = p;
      probe(pair, at);
    }
  }

  void end_round(Cycle now) {
    if (++round_ == tournament_rounds(nodes_)) {
      system_.deliveries().program_done(now);
    } else {
      begin_round(now + 1);
    }
  }

  // Stores the result of this direction. Returns false if it was the second direction.
  bool next_direction(Pair& pair) {
    const std::size_t rank = (pair.round_trips.size() * spec_.percentile + 99) / 100;
    const auto place = pair.round_trips.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(pair.round_trips.begin(), place, pair.round_trips.end());
    result_.round_trip[pair.from.index() * nodes_ + pair.to.index()] = *place;
    pair.round_trips.clear();
    std::swap(pair.from, pair.to);
    return !std::exchange(pair.is_back, true);
  }

  void probe(Pair& pair, Cycle at) {
    pair.posted = at;
    post(pair.from, pair.to, at);
  }

  void post(NodeId from, NodeId to, Cycle at) {
    Operation operation;
    operation.traffic = TrafficClass::probe;
    operation.from = from;
    operation.to = to;
    operation.route = route(from, to);
    operation.bytes = spec_.payload;
    operation.ready = at;
    hosts_[from.index()]->post(operation);
    if (at != 0) system_.fabric().ni(from).wake_source(at);
  }

  RouteId route(NodeId from, NodeId to) {
    RouteId& known = bound_[from.index() * nodes_ + to.index()];
    if (!known.valid()) {
      const RouteId route = routes_.add(topology_, route_packet(topology_, from, to));
      known = system_.fabric().bind_side(routes_, route);
    }
    return known;
  }

  const Topology& topology_;
  const ProbeSpec& spec_;
  SimulatedSystem& system_;
  std::uint32_t nodes_;
  RouteSet routes_;
  std::vector<RouteId> bound_;  // by from * nodes + to; invalid until first used
  std::vector<std::unique_ptr<ProbingHost>> hosts_;  // by node
  std::vector<Pair> pairs_;                          // of the current round
  std::vector<std::size_t> pair_of_;                 // by node
  std::size_t pairs_left_ = 0;
  std::uint32_t round_ = 0;
  ProbeResult result_;
};

void check_spec(const Topology& topology, const ProbeSpec& spec) {
  if (topology.num_nodes() < 2) throw std::invalid_argument("probing needs at least 2 nodes");
  if (spec.probes == 0 || spec.payload == 0) {
    throw std::invalid_argument(
        fmt::format("probing needs at least 1 probe for each pair and at least 1 byte for each "
                    "probe; found {} probes of {} bytes",
                    spec.probes, spec.payload));
  }
  if (spec.percentile == 0 || spec.percentile > 100) {
    throw std::invalid_argument(
        fmt::format("a percentile must be 1 to 100; found {}", spec.percentile));
  }
}

// A point with the network and the other tenants, without the job's own traffic.
RunPoint probed(const RunPoint& point) {
  RunPoint alone;
  alone.system = point.system;
  alone.tenants = point.tenants;
  alone.faults = point.faults;
  alone.simulation = point.simulation;
  return alone;
}

}  // namespace

ProbeResult probe_latency(const Topology& topology, const RunPoint& point, const ProbeSpec& spec,
                          const ProgressCallback& progress) {
  check_spec(topology, spec);
  const RunPoint alone = probed(point);
  std::unique_ptr<Prober> prober;
  SimulationHooks hooks;
  if (progress) hooks.progress = [&](double) { progress(prober->part_done()); };
  SimulatedSystem system(topology, alone, RouteSet(topology), {},
                         ni_ports_for_all_links(topology, alone.system), 0, hooks);
  prober = std::make_unique<Prober>(topology, spec, system);
  system.deliveries().connect_side(*prober);
  system.deliveries().expect_programs(1);
  const SimulationOutcome outcome = system.run(1);
  if (!outcome.complete || !outcome.failure.empty()) throw std::runtime_error(outcome.failure);
  return std::move(*prober).result();
}

}  // namespace espalier
