#include "sims/system/stream_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "alg/routes/routing.h"
#include "ni/engines/table_program.h"
#include "sims/point/config.h"
#include "sims/system/program_simulation.h"
#include "sims/system/step_time.h"

namespace espalier {

namespace {
constexpr std::uint64_t kMostOperations = 4'000'000;
}  // namespace

StreamPrograms::StreamPrograms(const Topology& topology, const RunPoint& point,
                               const std::vector<StreamGroup>& groups, const TablesOf& tables_of,
                               SideRoutes& routes)
    : topology_(topology),
      point_(point),
      groups_(groups),
      tables_of_(tables_of),
      routes_(routes),
      timing_(time_links(topology, point.system.clock)),
      cache_(kMostOperations) {}

StreamProgramCache::Program StreamPrograms::of(const HostCollective& what) {
  HostCollective model = what;
  model.group = model_of(what.group);
  const auto load_new = [&](const HostCollective& new_one) { return load(new_one); };
  StreamProgramCache::Program program = cache_.get(model, load_new);
  if (model.group != what.group && !program->keeps_to_packet_routes) {
    program = cache_.get(what, load_new);
  }
  keep_to_packet_routes_ &= program->keeps_to_packet_routes && !program->blocks;
  const StreamGroup& group = groups_[what.group];
  if (program->bound.count(&group) == 0) bind(*program, group);
  return program;
}

StreamProgramCache::Program StreamPrograms::load(const HostCollective& what) {
  const StreamGroup& group = groups_[what.group];
  StreamWork work = tables_of_(what);
  if (work.program) {
    auto program = std::make_shared<StreamProgram>(load_blocks(work, group));
    bind(*program, group);
    return program;
  }
  ScheduleTables& tables = work.tables;
  const bool has_counts =
      what.op == CollectiveOp::all_to_all && tables.op == CollectiveOp::all_to_allv;
  if ((tables.op != what.op && !has_counts) || tables.size != what.bytes ||
      tables.nodes.size() != (tables.symmetry ? 1 : group.size())) {
    throw std::invalid_argument(fmt::format("the tables are not of an {} of {} bytes over {} ranks",
                                            to_string(what.op), what.bytes, group.size()));
  }
  const std::uint32_t ports =
      point_.system.ni.ports != 0 ? point_.system.ni.ports : tables.ni_ports;
  TableEngine::Spec engine = table_engine_spec(point_, tables, {}, timing_, ports);
  auto program = std::make_shared<StreamProgram>(load_stream(std::move(tables), group.size()));
  program->engine = std::move(engine);
  note_turns(*program, group);
  bind(*program, group);
  // It is as large as the network, and all routes are bound or noted.
  program->tables.routes = RouteSet(Topology(""));
  return program;
}

std::uint32_t StreamPrograms::model_of(std::uint32_t group) {
  // Tables of the whole network name its nodes. Relays are no members.
  if (group == 0 || (point_.collective && point_.collective->relay)) return group;
  const auto known = model_of_.find(group);
  if (known != model_of_.end()) return known->second;
  std::vector<Model>& models = models_[groups_[group].size()];
  std::uint32_t& found = model_of_.emplace(group, group).first->second;
  std::vector<std::uint64_t> pattern;
  if (!models.empty()) pattern = pattern_of(group);
  for (Model& model : models) {
    if (pattern.empty()) break;
    if (model.pattern.empty()) model.pattern = pattern_of(model.group);
    if (model.pattern == pattern) return found = model.group;
  }
  models.push_back({group, std::move(pattern)});
  return found;
}

std::vector<std::uint64_t> StreamPrograms::pattern_of(std::uint32_t group) const {
  std::vector<NodeId> nodes;
  for (std::size_t m = 0; m < groups_[group].size(); ++m) {
    nodes.push_back(groups_[group].node(NodeId(m)));
  }
  return route_pattern(topology_, nodes);
}

void StreamPrograms::note_turns(StreamProgram& program, const StreamGroup& group) const {
  if (group.is_whole() || program.tables.symmetry || !topology_.shape().route) return;
  std::map<RouteId, StreamProgram::Way> ways;
  for (std::size_t m = 0; m < group.size(); ++m) {
    for (const Operation& send : program.program(NodeId(m)).sends) {
      const auto [place, is_new] = ways.try_emplace(send.route);
      if (!is_new) continue;
      const RouteSet::Links links = program.tables.routes.links(send.route);
      std::uint32_t turn = 0;
      const auto is_turn = [&] {
        const std::vector<LinkId> route =
            route_packet(topology_, group.node(send.from), group.node(send.to), turn);
        return std::equal(route.begin(), route.end(), links.begin(), links.end());
      };
      while (turn < topology_.shape().split && !is_turn()) ++turn;
      if (turn == topology_.shape().split) return;
      place->second = {send.route, send.from, send.to, turn};
    }
  }
  program.keeps_to_packet_routes = true;
  for (const auto& [route, way] : ways) program.ways.push_back(way);
}

void StreamPrograms::bind(StreamProgram& program, const StreamGroup& group) {
  BoundRoutes bound;
  for (const StreamProgram::Way& way : program.ways) {
    bound.emplace_back(way.route, routes_.bind(route_packet(topology_, group.node(way.from),
                                                            group.node(way.to), way.turn)));
  }
  if (program.blocks) {
    bound = bind_blocks(*program.blocks, group);
  } else if (!program.keeps_to_packet_routes) {
    bound = bind_links(program, group.size());
  }
  routes_.certify(
      "beside other messages of the job (algorithms on the routes of packets, for example ring and "
      "direct, close no circle): ");
  program.bound.emplace(&group, std::move(bound));
}

// Channels take turns on the routes of packets, so groups whose routes look alike share programs.
StreamProgram StreamPrograms::load_blocks(StreamWork& work, const StreamGroup& group) const {
  const Program& program = *work.program;
  const RunPoint& point = *work.point;
  const ProgramRoutes routes = program_routes(topology_, program, group);
  ContextSpec spec = context_spec(point);
  spec.ranks_per_server = work.ranks_per_server;
  const ProtocolSpec protocol = protocol_of(program, point);
  auto blocks = std::make_shared<StreamBlocks>(program, tiling_of(program, point), protocol, spec,
                                               routes.forward);
  blocks->credits = slot_specs(point, timing_, routes, protocol.slots);
  blocks->root = work.root;
  StreamProgram stream = load_stream(std::move(blocks));
  stream.keeps_to_packet_routes = true;
  return stream;
}

BoundRoutes StreamPrograms::bind_blocks(const StreamBlocks& blocks, const StreamGroup& group) {
  const ProgramRoutes routes = program_routes(topology_, blocks.program, group);
  std::map<RouteId, RouteId> bound;
  for (std::size_t c = 0; c < blocks.loaded.num_connections(); ++c) {
    const auto [place, is_new] =
        bound.try_emplace(blocks.loaded.route(ConnectionId(c)).routes.first);
    std::vector<std::vector<LinkId>> bundle;
    for (std::size_t r = 0; is_new && r < routes.forward[c].size(); ++r) {
      const RouteSet::Links links = routes.routes.links(routes.forward[c].route(r));
      bundle.emplace_back(links.begin(), links.end());
    }
    if (is_new) place->second = routes_.bind_bundle(bundle);
  }
  return {bound.begin(), bound.end()};
}

BoundRoutes StreamPrograms::bind_links(const StreamProgram& program, std::size_t members) {
  const RouteSet& routes = program.tables.routes;
  std::map<RouteId, RouteId> bound;
  for (std::size_t m = 0; m < members; ++m) {
    const NodeFrame frame(program.tables, NodeId(m));
    for (const Operation& send : program.program(NodeId(m)).sends) {
      const RouteId route = frame.route_in_network(send.route);
      const auto [place, is_new] = bound.try_emplace(route);
      if (!is_new) continue;
      const RouteSet::Links links = routes.links(route);
      place->second = routes_.bind({links.begin(), links.end()});
    }
  }
  return {bound.begin(), bound.end()};
}

}  // namespace espalier
