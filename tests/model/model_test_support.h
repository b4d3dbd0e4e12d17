// Simulated systems for tests. SystemC elaborates once per process, so each simulation runs in a
// child of the test's process and only its results come back: a test may compare as many of them as
// it likes.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "alg/generators/generator.h"
#include "alg/routes/routing.h"
#include "hw/clock/clock_domain.h"
#include "hw/topology/link_timing.h"
#include "sims/model/idle_times.h"
#include "sims/point/config.h"
#include "sims/system/fabric.h"
#include "sims/system/simulation.h"

namespace espalier::test {

inline constexpr FlowControlMode kFlowControlModes[] = {FlowControlMode::message,
                                                        FlowControlMode::packet};

using Numbers = std::vector<std::uint64_t>;

// Numbers and a text: whatever a simulation has to tell.
struct Report {
  Numbers numbers;
  std::string text;
};

// Runs `simulation` in a child process. Throws std::runtime_error with the child's words where it
// throws, or where it dies.
inline Report in_child(const std::function<Report()>& simulation) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    std::ostringstream out;
    try {
      const Report report = simulation();
      out << "ok " << report.numbers.size();
      for (const std::uint64_t n : report.numbers) out << ' ' << n;
      out << ' ' << report.text;
    } catch (const std::exception& error) {
      out << "threw " << error.what();
    }
    const std::string text = out.str();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t written = write(ends[1], text.data() + done, text.size() - done);
      if (written <= 0) _exit(1);
      done += static_cast<std::size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("the simulation died");
  }
  std::istringstream in(text);
  std::string outcome;
  in >> outcome;
  if (outcome != "ok") throw std::runtime_error(text);
  Report report;
  std::size_t count = 0;
  in >> count;
  report.numbers.resize(count);
  for (std::uint64_t& n : report.numbers) in >> n;
  in.get();
  report.text.assign(std::istreambuf_iterator<char>(in), {});
  return report;
}

inline constexpr std::uint64_t kFlitPerCycle = 16'000'000'000;  // bytes/s at 1 GHz

// Latency in cycles of 1 ns.
inline LinkSpec link_of(Cycle latency, std::uint64_t bytes_per_second = kFlitPerCycle) {
  return {latency * 1000, bytes_per_second};
}
inline constexpr LinkSpec kDefaultLink{150'000, kFlitPerCycle};

// Counters as numbers, by CounterId, and back.
inline Numbers counts_of(const Counters& counters) {
  Numbers numbers;
  for (std::size_t i = 0; i < counter_rows().size(); ++i) numbers.push_back(counters[CounterId(i)]);
  return numbers;
}
inline Counters counters_of(Numbers::const_iterator numbers) {
  Counters counters;
  for (std::size_t i = 0; i < counter_rows().size(); ++i) counters[CounterId(i)] = *numbers++;
  return counters;
}
[[nodiscard]] inline std::uint64_t link_conflicts(const Counters& counters) {
  return counters[counter("link_conflicts")];
}

// Messages posted by hand ------------------------------------------------------------------------

struct Post {
  std::size_t from = 0;
  std::size_t to = 1;
  Bytes bytes = 256;
  Cycle ready = 0;
  TransferKind kind = TransferKind::copy;
  std::vector<std::size_t> links = {};  // empty: the route of a normal packet
};

struct BenchResult {
  std::vector<Cycle> delivered;  // by post: cycle of visibility, reduction included; kNever: never
  std::vector<Cycle> issued;     // by post
  std::uint64_t flit_hops = 0;
  Counters counters;
  std::vector<std::uint64_t> link_flits;
  std::string violation;
};

// Notes when each posted message was issued and became visible: Operation::flow is its number.
class PostLog : public DeliveryObserver {
 public:
  PostLog(ClockDomain& clock, std::size_t posts)
      : issued_(posts, kNever), delivered_(posts, kNever), clock_(clock), left_(posts) {}
  void issued(const Operation& operation, Cycle now) override {
    issued_[operation.flow.index()] = now;
  }
  void delivered(const Operation& operation, Cycle now) override {
    delivered_[operation.flow.index()] = now;
    if (--left_ == 0) clock_.stop();
  }
  [[nodiscard]] const std::vector<Cycle>& issue_cycles() const { return issued_; }
  [[nodiscard]] const std::vector<Cycle>& delivery_cycles() const { return delivered_; }

 private:
  std::vector<Cycle> issued_;
  std::vector<Cycle> delivered_;
  ClockDomain& clock_;
  std::size_t left_;
};

// Posts the messages (per node in ascending `ready`) and runs until all are visible or `limit`
// cycles are over. Monitors are on, but for trains.
inline BenchResult post_messages(const Topology& topology, const SystemConfig& config,
                                 const std::vector<Post>& posts, SimulationConfig simulation = {},
                                 Cycle limit = 2'000'000) {
  const Report report = in_child([&] {
    simulation.monitors = simulation.fidelity != Fidelity::train;
    const SystemTiming timing = time_links(topology, config.clock);
    RouteSet routes(topology);
    std::vector<Operation> operations;
    std::vector<RouteId> used;
    for (const Post& post : posts) {
      Operation operation;
      operation.flow = FlowId(operations.size());
      operation.from = NodeId(post.from);
      operation.to = NodeId(post.to);
      std::vector<LinkId> links;
      for (const std::size_t l : post.links) links.emplace_back(l);
      if (links.empty()) links = route_packet(topology, operation.from, operation.to);
      operation.route = routes.add(topology, links);
      operation.on_arrival = post.kind;
      operation.bytes = post.bytes;
      operation.ready = post.ready;
      operations.push_back(operation);
      used.push_back(operation.route);
    }
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    const sc_core::sc_time period(1e9 / static_cast<double>(config.clock.hertz), sc_core::SC_NS);
    ClockDomain clock("clock", period, simulation.always_clocked);
    PostLog log(clock, posts.size());
    const std::uint32_t ports = config.ni.ports != 0 ? config.ni.ports : 6;
    Fabric fabric("net", clock, config, simulation, topology, timing, routes, used, ports, log);
    for (const Operation& operation : operations) fabric.ni(operation.from).post(operation);
    sc_core::sc_start(period * static_cast<double>(limit));
    Report result;
    for (const Cycle c : log.issue_cycles()) result.numbers.push_back(c);
    for (const Cycle c : log.delivery_cycles()) result.numbers.push_back(c);
    result.numbers.push_back(fabric.flit_hops());
    for (const std::uint64_t n : counts_of(fabric.counters())) result.numbers.push_back(n);
    for (const std::uint64_t flits : fabric.link_flits()) result.numbers.push_back(flits);
    result.text = fabric.monitor_violation(clock.stopped());
    return result;
  });
  const auto begin = report.numbers.begin();
  const auto count = static_cast<std::ptrdiff_t>(posts.size());
  BenchResult result;
  result.issued.assign(begin, begin + count);
  result.delivered.assign(begin + count, begin + 2 * count);
  result.flit_hops = *(begin + 2 * count);
  const auto counts = begin + 2 * count + 1;
  result.counters = counters_of(counts);
  result.link_flits.assign(counts + static_cast<std::ptrdiff_t>(counter_rows().size()),
                           report.numbers.end());
  result.violation = report.text;
  return result;
}

// Cycles from issue to visibility of one message alone in the system.
inline Cycle lone_message(const Topology& topology, const SystemConfig& config, const Post& post) {
  const BenchResult result = post_messages(topology, config, {post});
  if (!result.violation.empty()) throw std::runtime_error(result.violation);
  return result.delivered[0] - result.issued[0];
}

// Whole points -----------------------------------------------------------------------------------

inline SimulationOutcome outcome_of(const std::function<SimulationOutcome()>& simulate) {
  const Report report = in_child([&] {
    const SimulationOutcome o = simulate();
    Report child{
        {o.complete ? 1U : 0U, o.verified ? 1U : 0U, o.cycles, o.flit_hops, o.flits_injected,
         o.head_flits, o.ni_ports, o.latency.messages, o.latency.max_cycles,
         static_cast<std::uint64_t>(
             o.latency.mean_cycles * static_cast<double>(o.latency.messages) + 0.5),
         o.evaluations},
        o.failure};
    child.numbers.push_back(o.stops.flit_hops);
    for (const std::uint64_t n : o.stops.flits) child.numbers.push_back(n);
    for (const std::uint64_t n : counts_of(o.counters)) child.numbers.push_back(n);
    return child;
  });
  SimulationOutcome outcome;
  outcome.complete = report.numbers[0] != 0;
  outcome.verified = report.numbers[1] != 0;
  outcome.cycles = report.numbers[2];
  outcome.flit_hops = report.numbers[3];
  outcome.flits_injected = report.numbers[4];
  outcome.head_flits = report.numbers[5];
  outcome.ni_ports = static_cast<std::uint32_t>(report.numbers[6]);
  outcome.latency.messages = report.numbers[7];
  outcome.latency.max_cycles = report.numbers[8];
  outcome.latency.mean_cycles = static_cast<double>(report.numbers[9]) /
                                static_cast<double>(std::max<std::uint64_t>(1, report.numbers[7]));
  outcome.evaluations = report.numbers[10];
  outcome.stops.flit_hops = report.numbers[11];
  auto stops = report.numbers.begin() + 12;
  for (std::uint64_t& flits : outcome.stops.flits) flits = *stops++;
  outcome.counters = counters_of(stops);
  outcome.failure = report.text;
  return outcome;
}

// All that must not depend on how a run was executed.
inline Numbers reproducible(const SimulationOutcome& o) {
  Numbers numbers{o.complete ? 1U : 0U,
                  o.verified ? 1U : 0U,
                  o.cycles,
                  o.flit_hops,
                  o.flits_injected,
                  o.head_flits,
                  o.latency.messages,
                  o.latency.max_cycles,
                  static_cast<std::uint64_t>(
                      o.latency.mean_cycles * static_cast<double>(o.latency.messages) + 0.5)};
  for (const std::uint64_t n : counts_of(o.counters)) numbers.push_back(n);
  return numbers;
}

inline ScheduleTables tables_for(const std::string& algorithm, const Topology& topology, Bytes size,
                                 CollectiveOp op = CollectiveOp::all_reduce) {
  const Generator* generator = find_generator(algorithm);
  if (generator == nullptr) throw std::invalid_argument("no algorithm " + algorithm);
  const std::string unsuited = generator->unsuited(topology);
  if (!unsuited.empty()) throw std::invalid_argument(unsuited);
  CollectiveRequest request;
  request.op = op;
  request.size = size;
  return lower_to_tables(generator->generate(topology, request));
}

inline SimulationOutcome run_tables(const Topology& topology, const ScheduleTables& tables,
                                    const SystemConfig& config, SimulationConfig simulation = {}) {
  RunPoint point;
  point.system = config;
  point.collective.emplace();
  point.simulation = simulation;
  return outcome_of([&] { return simulate_collective(topology, point, tables, {}); });
}

inline SimulationOutcome run_collective(const std::string& algorithm, const Topology& topology,
                                        Bytes size, const SystemConfig& config,
                                        SimulationConfig simulation = {},
                                        CollectiveOp op = CollectiveOp::all_reduce) {
  return run_tables(topology, tables_for(algorithm, topology, size, op), config, simulation);
}

inline SimulationOutcome run_traffic(const Topology& topology, const TrafficConfig& traffic,
                                     const SystemConfig& config, SimulationConfig simulation = {}) {
  RunPoint point;
  point.system = config;
  point.traffic = traffic;
  point.simulation = simulation;
  return outcome_of([&] { return simulate_traffic(topology, point, {}); });
}

// Configurations ---------------------------------------------------------------------------------

inline SystemConfig in_mode(FlowControlMode mode) {
  SystemConfig config;
  config.flow_control.mode = mode;
  return config;
}

// MultiTree's Table III as its authors' simulator has it.
inline SystemConfig isca21() {
  SystemConfig config = in_mode(FlowControlMode::packet);
  config.flow_control.pad_last_packet = true;
  config.ni.reduction = {ReductionMode::after_message, 1, 128, 2048};
  return config;
}

inline std::uint64_t flits_of(const SystemConfig& config, Bytes bytes) {
  return Framing(framing_spec(config), bytes).flits();
}

}  // namespace espalier::test
