#include "sims/system/simulation.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "hw/topology/link_timing.h"
#include "ni/engines/authors_table_engine.h"
#include "ni/engines/schedule_table_engine.h"
#include "sims/model/faults.h"
#include "sims/point/config.h"
#include "sims/system/simulated_system.h"
#include "sims/system/step_time.h"

namespace espalier {

namespace {

// The program of a node.
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

// An external NI sends the messages of its node's table. When it sends them is its own affair.
void load_socket(NiSocket& socket, const TableProgram& program, const NodeFrame& frame,
                 DataMemory& memory) {
  if (!program.holds.empty()) {
    throw std::invalid_argument(
        "system.topology.external.nis: this schedule needs NIs that hold early Reduces beside "
        "memory, which an external NI does not; run ring or multitree, or name routers only");
  }
  std::vector<Operation> sends;
  for (const Operation& send : program.sends) sends.push_back(frame.in_network(send));
  socket.load(sends, memory);
}

// The hosts' second post (AuthorsRules::posted_step): when the last message of the steps before it
// is in memory, every NI may start the step from the next cycle on.
class LatePost {
 public:
  void count(const TableProgram& program, Timestep posted_step) {
    for (const ProgramEntry& entry : program.entries) {
      if (entry.step < posted_step) left_ += entry.num_sends;
    }
  }
  void add(NetworkInterface& ni, AuthorsTableEngine& engine) { nis_.emplace_back(&ni, &engine); }
  [[nodiscard]] bool is_awaited() const { return left_ != 0; }
  void delivered(Cycle now) {
    if (left_ == 0 || --left_ != 0) return;
    for (const auto& [ni, engine] : nis_) {
      engine->post(now + 1);
      ni->wake_engine(now + 1);
    }
  }

 private:
  std::uint64_t left_ = 0;
  std::vector<std::pair<NetworkInterface*, AuthorsTableEngine*>> nis_;
};

// The post whose collective has the message. Posts ascend in first_chunk, which is 0 for the first.
std::size_t post_of(const Operation& operation, const std::vector<PostedCollective>& posts) {
  const auto after = std::upper_bound(
      posts.begin(), posts.end(), operation.first_chunk,
      [](ChunkId chunk, const PostedCollective& post) { return chunk < post.first_chunk; });
  return static_cast<std::size_t>(after - posts.begin()) - 1;
}

}  // namespace

SimulationOutcome simulate_collective(const Topology& topology, const RunPoint& point,
                                      const ScheduleTables& tables, const SimulationHooks& hooks) {
  return simulate_collectives(topology, point, tables, {}, hooks);
}

SimulationOutcome simulate_collectives(const Topology& topology, const RunPoint& given,
                                       const ScheduleTables& tables,
                                       const std::vector<PostedCollective>& posts,
                                       const SimulationHooks& hooks) {
  RunPoint point = given;
  if (point.system.ni.injection_vcs == InjectionVcs::automatic && tables.listed_order) {
    point.system.ni.injection_vcs = InjectionVcs::one;
  }
  std::vector<TableProgram> programs = load_tables(tables);
  const std::optional<AuthorsRules> authors = authors_rules(point, tables);
  if (authors && authors->takes_any_port) number_arrivals(topology, tables, programs);
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  LatePost late_post;
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const TableProgram& program = program_of(programs, n);
    messages += program.sends.size();
    if (authors) late_post.count(program, authors->posted_step);
    for (const Operation& send : program.sends) bytes += send.bytes;
  }
  std::vector<CollectiveSpan> spans(posts.size());
  SimulationHooks watched = hooks;
  if (!posts.empty() || late_post.is_awaited()) {
    watched.delivered = [&](const Operation& operation, Cycle now) {
      if (hooks.delivered) hooks.delivered(operation, now);
      if (operation.is_background()) return;
      late_post.delivered(now);
      if (posts.empty()) return;
      CollectiveSpan& span = spans[post_of(operation, posts)];
      span.first_issue = std::min(span.first_issue, operation.ready);
      span.last_visible = now;
    };
  }
  const std::uint32_t ports = point.system.ni.ports != 0 ? point.system.ni.ports : tables.ni_ports;
  SimulatedSystem run(topology, point, tables.routes,
                      routes_in(tables, programs, topology.num_nodes()), ports, messages, watched);

  for (std::size_t n = 0; n < topology.num_nodes() && hooks.at_least; ++n) {
    const NodeFrame frame(tables, NodeId(n));
    for (const Operation& send : program_of(programs, n).sends) {
      run.expect_on_links(frame.route_in_network(send.route), send.bytes);
    }
  }

  // Computed for the healthy system, because the tables are filled without knowledge of faults.
  const TableEngine::Spec engine =
      table_engine_spec(point, tables, posts, time_links(topology, point.system.clock), ports);
  std::vector<NodeMemory> memories;
  memories.reserve(topology.num_nodes());
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    memories.emplace_back(NodeId(n), tables.op, tables.chunks, ChunkId(0), tables.scope);
  }
  for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
    const NodeId node(n);
    if (NiSocket* const socket = run.fabric().ni_socket(node)) {
      if (authors) throw std::invalid_argument("an external NI has rules of its own");
      load_socket(*socket, program_of(programs, n), NodeFrame(tables, node), memories[n]);
      continue;
    }
    const TableProgram& program = program_of(programs, n);
    const NodeFrame frame(tables, node);
    const TableEngine::Spec spec = faulty_engine(engine, point.faults, node);
    std::unique_ptr<IssueEngine> loaded;
    if (authors) {
      auto theirs = std::make_unique<AuthorsTableEngine>(program, frame, spec, *authors);
      late_post.add(run.fabric().ni(node), *theirs);
      loaded = std::move(theirs);
    } else {
      loaded = std::make_unique<ScheduleTableEngine>(program, frame, spec);
    }
    run.fabric().ni(node).load(std::move(loaded), memories[n], host_delay(point.faults, node));
  }
  SimulationOutcome outcome = run.run(bytes);
  outcome.collectives = std::move(spans);
  if (outcome.complete && outcome.failure.empty())
    outcome.failure = check_data(memories, tables.op, tables.chunks, ChunkId(0), tables.scope);
  outcome.verified = outcome.complete && outcome.failure.empty();
  return outcome;
}

SimulationOutcome simulate_control(const Topology& topology, const RunPoint& point,
                                   const SimulationHooks& hooks) {
  if (point.control->duration_cycles == 0) {
    throw std::invalid_argument("control messages alone need a duration");
  }
  SimulatedSystem run(topology, point, RouteSet(topology), {},
                      ni_ports_for_all_links(topology, point.system), 0, hooks);
  SimulationOutcome outcome = run.run(0);
  outcome.verified = outcome.complete && outcome.failure.empty();
  return outcome;
}

SimulationOutcome simulate_traffic(const Topology& topology, const RunPoint& point,
                                   const SimulationHooks& hooks) {
  const bool has_sockets = point.traffic->pattern == TrafficPattern::sockets;
  if (has_sockets && !hooks.elaborate) {
    throw std::invalid_argument(
        "traffic.pattern: sockets: the messages come from a program that links the library and "
        "attaches TLM initiators (docs/plug_in.md); run that program, or choose another pattern");
  }
  SimulatedSystem run(topology, point, RouteSet(topology), {},
                      ni_ports_for_all_links(topology, point.system), kNever, hooks);
  Bytes bytes = 0;
  for (const TrafficMessage& message : point.traffic->messages) bytes += message.bytes;
  SimulationOutcome outcome = run.run(bytes);
  if (outcome.complete && outcome.failure.empty() && outcome.traffic->messages == 0) {
    outcome.failure = has_sockets ? "no initiator has sent a message"
                                  : "no message is generated in the measurement window";
  }
  outcome.verified = outcome.complete && outcome.failure.empty();
  return outcome;
}

}  // namespace espalier
