#include "sims/model/build_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "alg/generators/process_group.h"
#include "alg/program/compiler.h"
#include "alg/routes/routing.h"
#include "sims/formats/program/chunk_trace_file.h"
#include "sims/formats/program/msccl_xml.h"
#include "sims/formats/program/mscclpp.h"
#include "sims/formats/program/promises_file.h"
#include "sims/point/config.h"
#include "sims/text/read_file.h"

namespace espalier {

namespace {

constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000;

Protocol chosen_protocol(ProtocolChoice choice, Protocol own) {
  switch (choice) {
    case ProtocolChoice::automatic:
      return own;
    case ProtocolChoice::simple:
      return Protocol::simple;
    case ProtocolChoice::ll:
      return Protocol::ll;
    case ProtocolChoice::ll128:
      return Protocol::ll128;
    case ProtocolChoice::message:
      return Protocol::message;
  }
  return own;
}

// The compiler orders instructions for the slots of the protocol that runs.
std::optional<Program> compiled_trace(const std::string& path, const std::string& text,
                                      ProtocolChoice protocol, const Place& place,
                                      Diagnostics& diagnostics) {
  auto trace = read_trace(path, text, diagnostics);
  if (!trace) return std::nullopt;
  trace->signature.protocol = chosen_protocol(protocol, trace->signature.protocol);
  try {
    return compile(*trace);
  } catch (const ChunkError& error) {
    diagnostics.error(place, fmt::format("{}:{}: {}", path, error.place().line, error.what()));
    return std::nullopt;
  }
}

// By rank, the place of its node in the list of all nodes that take part.
std::vector<NodeId> numbered(const std::vector<std::uint32_t>& ranks,
                             const std::vector<NodeId>& nodes) {
  std::vector<NodeId> members;
  for (const std::uint32_t rank : ranks) {
    const auto found = std::lower_bound(nodes.begin(), nodes.end(), NodeId(rank));
    members.emplace_back(static_cast<std::size_t>(found - nodes.begin()));
  }
  return members;
}

// The bytes that the weights mean: whole elements, rounded such that every rank's sum is, or that
// of all parts.
std::vector<Bytes> counts_of(const CollectiveConfig& collective) {
  const std::vector<std::uint64_t>& weights = collective.counts.weights;
  if (!has_counts(collective.op)) return {};
  std::size_t ranks = 0;  // a line has a weight for each
  while (num_counts(collective.op, ranks) < weights.size()) ++ranks;
  const std::size_t lines = ranks == 0 ? 0 : weights.size() / ranks;
  std::uint64_t most = 0;  // the largest sum of a rank
  for (std::size_t from = 0; from < lines; ++from) {
    const auto row = weights.begin() + static_cast<std::ptrdiff_t>(from * ranks);
    most = std::max(
        most, std::accumulate(row, row + static_cast<std::ptrdiff_t>(ranks), std::uint64_t{0}));
  }
  if (most == 0) return std::vector<Bytes>(weights.size(), 0);
  const Bytes elements = collective.size / collective.element_bytes;
  std::vector<Bytes> counts;
  for (std::size_t from = 0; from < lines; ++from) {
    std::uint64_t weight = 0;
    Bytes before = 0;
    for (std::size_t to = 0; to < ranks; ++to) {
      weight += weights[from * ranks + to];
      // elements * weight / most, which may not fit into 64 bits.
      const Bytes until = elements / most * weight + elements % most * weight / most;
      counts.push_back((until - before) * collective.element_bytes);
      before = until;
    }
  }
  return counts;
}

}  // namespace

MessageTiming message_timing(const SystemConfig& system) {
  const NiConfig& ni = system.ni;
  const auto ps = [&](Cycle cycles) { return cycles * kPicosecondsPerSecond / system.clock.hertz; };
  MessageTiming timing;
  timing.flit_bytes = system.clock.flit_bytes;
  timing.payload_bytes = system.flow_control.payload_bytes;
  timing.head_per_packet = system.flow_control.mode != FlowControlMode::message;
  timing.injection_ps = ps(ni.dma_latency_cycles + ni.injection_cycles);
  timing.router_ps = ps(system.router.pipeline_cycles);
  timing.delivery_ps = ps(ni.ejection_cycles + ni.delivery_cycles);
  timing.reduction_ps = ps(ni.reduction.latency_cycles);
  timing.turnaround_ps = ps(ni.turnaround_cycles);
  timing.send_queue = ni.send_queue;
  timing.slot_counter = ni.slot_counter;
  // Consecutive messages need different VCs that do not wait for each other in the switch.
  const RouterConfig& router = system.router;
  const bool pass_each_other =
      router.hold == SwitchHold::flit || router.crossbar_inputs == CrossbarInputs::vc;
  if (!timing.head_per_packet && pass_each_other && router.vc_order == VcOrder::rotating &&
      router.vcs > 1) {
    timing.stored_bytes = Bytes{router.vc_depth_flits - 1} * timing.flit_bytes;
  }
  return timing;
}

ContextTiming context_timing(const SystemConfig& system) {
  const NiConfig& ni = system.ni;
  const auto ps = [&](Cycle cycles) { return cycles * kPicosecondsPerSecond / system.clock.hertz; };
  ContextTiming timing;
  timing.message = message_timing(system);
  timing.decode_ps = ps(ni.program.decode_cycles);
  timing.memory_ps = ps(ni.dma_latency_cycles);
  timing.request_bytes = ni.program.request_bytes;
  return timing;
}

CollectiveRequest collective_request(const SystemConfig& system,
                                     const CollectiveConfig& collective) {
  CollectiveRequest request;
  request.timing = message_timing(system);
  request.table_repeat = system.ni.table_repeat;
  request.op = collective.op;
  request.size = collective.size;
  if (!collective.groups.empty()) request.size = 0;
  for (const GroupConfig& given : collective.groups) {
    RankGroup& group = request.groups.emplace_back();
    group.size = given.size != 0 ? given.size : collective.size;
    request.size += group.size;
    group.members = numbered(given.ranks, group_nodes(collective));
  }
  request.element_bytes = collective.element_bytes;
  request.segments = collective.segments;
  request.base = collective.base;
  request.root = collective.root;
  request.counts = counts_of(collective);
  request.rank_order = collective.rank_order.nodes;
  request.tree_order = collective.remaining_height_first
                           ? CollectiveRequest::TreeOrder::remaining_height
                           : CollectiveRequest::TreeOrder::root;
  request.step_end = collective.step_end;
  request.line_order = collective.line_order;
  return request;
}

std::vector<NodeId> group_nodes(const CollectiveConfig& collective) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t node : collective.ranks) nodes.emplace_back(node);
  if (collective.groups.empty()) return nodes;
  for (const GroupConfig& group : collective.groups) {
    for (const std::uint32_t node : group.ranks) nodes.emplace_back(node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

Topology ranks_network(const Topology& topology, const CollectiveConfig& collective) {
  const std::vector<NodeId> nodes = group_nodes(collective);
  return ProcessGroup(topology, nodes).network();
}

std::string unsuited_for_groups(const Topology& topology, const SystemConfig& system,
                                const CollectiveConfig& collective, const Generator& generator) {
  return unsuited_for(generator, ranks_network(topology, collective),
                      collective_request(system, collective));
}

bool posts_halves(const std::string& algorithm) {
  const Generator* generator = find_generator(algorithm);
  return generator != nullptr && generator->posts_halves;
}

bool has_program(const RunPoint& point) {
  if (!point.collective) return false;
  const Algorithm* algorithm = find_algorithm(point.collective->algorithm);
  return algorithm != nullptr && algorithm->is_program();
}

ServerShape server_of(const TopologyConfig& topology) {
  const auto server = topology.family().server;
  return server == nullptr || !topology.without.empty() ? ServerShape{} : server(topology);
}

BuiltinRequest builtin_request(const Topology& topology, const RunPoint& point) {
  const ProgramConfig& config = point.collective->program;
  BuiltinRequest request;
  request.ranks = static_cast<std::uint32_t>(topology.num_nodes());
  const ServerShape server = server_of(point.system.topology);
  request.ranks_per_server = config.ranks_per_server != 0 ? config.ranks_per_server : server.nodes;
  request.nics_per_server = request.ranks_per_server == server.nodes ? server.nics : 0;
  request.channels = config.channels;
  request.instances = config.instances;
  const BuiltinProgram* program = find_builtin_program(point.collective->algorithm);
  request.protocol =
      chosen_protocol(config.protocol, program != nullptr ? program->protocol : Protocol::simple);
  request.grid = topology.grid();
  request.segments = point.collective->segments;
  request.size = point.collective->size;
  request.element_bytes = point.collective->element_bytes;
  request.timing = message_timing(point.system);
  if (request.grid) {
    request.link = topology.link(LinkId(0)).spec;
    for (const TopologyLink& link : topology.links()) {
      request.link.latency_ps = std::max(request.link.latency_ps, link.spec.latency_ps);
      request.link.bytes_per_second =
          std::min(request.link.bytes_per_second, link.spec.bytes_per_second);
    }
  }
  return request;
}

Program build_program(const Topology& topology, const RunPoint& point) {
  const ProgramConfig& config = point.collective->program;
  if (config.given) {
    Program program = *config.given;
    program.protocol = chosen_protocol(config.protocol, program.protocol);
    return program;
  }
  return find_algorithm(point.collective->algorithm)
      ->program->build(builtin_request(topology, point));
}

std::string missing_route(const Topology& topology, const RunPoint& point) {
  if (!may_lack_routes(topology)) return {};
  for (const Connection& connection : connections_of(build_program(topology, point))) {
    const NodeId from(connection.from);
    const NodeId to(connection.to);
    std::string problem = problem_of_route(topology, from, to);
    if (problem.empty()) problem = problem_of_route(topology, to, from);
    if (!problem.empty()) return "lacks a route: " + problem;
  }
  return {};
}

std::string program_label(const ProgramConfig& config) {
  const std::filesystem::path file(config.file);
  const std::string& name = config.given->name;
  return name == file.stem() ? file.filename().string()
                             : fmt::format("{} ({})", name, file.filename().string());
}

std::shared_ptr<const Program> load_program(const ProgramConfig& config, Bytes size,
                                            const Place& place, Diagnostics& diagnostics) {
  const std::string path = path_from(config.folder, config.file);
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension != ".xml" && extension != ".trace" && extension != ".json") {
    diagnostics.error(
        place, fmt::format("'{}' is not the file of a program", path),
        extension == ".et"
            ? "messages of a Chakra trace do not say which data they carry; run the "
              "trace with workload.file, or the MSCCL XML that it was made from"
            : "the name of MSCCL XML ends in .xml, of a trace in .trace, of a plan of "
              "MSCCL++ in .json");
    return nullptr;
  }
  const auto text = read_named_file(path, place, diagnostics);
  if (!text) return nullptr;
  auto program = extension == ".xml" ? read_msccl_xml(path, *text, diagnostics)
                 : extension == ".json"
                     ? read_mscclpp(path, *text, size, diagnostics)
                     : compiled_trace(path, *text, config.protocol, place, diagnostics);
  if (!program) return nullptr;
  if (program->name.empty()) program->name = std::filesystem::path(path).stem().string();
  if (!config.promises.empty()) {
    // Plans of tests name a collective of which they do a part.
    if (program->one_sided) program->collective = CollectiveOp::custom;
    const std::string promises = path_from(config.folder, config.promises);
    const auto promises_text = read_named_file(promises, place, diagnostics);
    if (!promises_text) return nullptr;
    auto promised = read_promises(promises, *promises_text, *program, diagnostics);
    if (!promised) return nullptr;
    program->promises = std::move(*promised);
  }
  return std::make_shared<const Program>(std::move(*program));
}

}  // namespace espalier
