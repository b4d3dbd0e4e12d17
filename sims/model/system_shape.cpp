#include "sims/model/system_shape.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "alg/algorithm.h"
#include "hw/cost/logic.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/idle_times.h"
#include "sims/model/plan_forecast.h"
#include "sims/point/config.h"
#include "sims/workload/coordination/tensor_set.h"

namespace espalier {

namespace {

// Numbers different values in the order of their first appearance. Equal values have one number.
template <class Name, class Kind>
class Kinds {
 public:
  explicit Kinds(std::vector<Kind>& kinds) : kinds_(kinds) {}
  template <class Make>
  std::size_t number(const Name& name, Make&& make) {
    const auto [found, is_new] = known_.try_emplace(name, kinds_.size());
    if (is_new) kinds_.push_back(make());
    return found->second;
  }

 private:
  std::vector<Kind>& kinds_;
  std::map<Name, std::size_t> known_;
};

class ShapeBuilder {
 public:
  ShapeBuilder(const SystemConfig& system, const Topology& topology, const RunNeed& need)
      : system_(system), topology_(topology), need_(need) {
    if (topology.dimensions()) depths_ = dimension_vc_depths(system);
    for (std::size_t n = 0; n < topology.num_nodes(); ++n) {
      most_links_ = std::max(most_links_, topology.out_links(NodeId(n)).size());
    }
  }

  SystemShape build() {
    SystemShape shape;
    shape.router_cycles = system_.router.pipeline_cycles;
    shape.arbitration_cycles = system_.ni.dimension_queue.arbitration_cycles;
    shape.reduction_cycles = system_.ni.reduction.latency_cycles;
    // Links in and out, NI ports; for switches of a multi-dimensional system also their dimension.
    using Name = std::tuple<std::size_t, std::size_t, std::size_t, bool, std::size_t>;
    Kinds<Name, std::vector<RouterSlice>> routers(shape.routers);
    Kinds<std::size_t, NiShape> nis(shape.nis);
    for (std::size_t v = 0; v < topology_.num_vertices(); ++v) {
      const NodeId vertex(v);
      const bool is_switch = topology_.is_switch(vertex);
      const std::size_t dimension =
          is_switch && !depths_.empty()
              ? topology_.dimension_of(topology_.out_links(vertex).front())
              : 0;
      const std::size_t ports = ni_ports(vertex);
      const Name name{topology_.in_links(vertex).size(), topology_.out_links(vertex).size(), ports,
                      is_switch, dimension};
      shape.router_of.push_back(routers.number(name, [&] { return slices_of(vertex); }));
      if (is_switch) continue;
      shape.ni_of.push_back(nis.number(ports, [&] { return ni_of(vertex); }));
    }
    return shape;
  }

 private:
  [[nodiscard]] bool adds_at(NodeId vertex) const {
    return topology_.aggregates(vertex) || (need_.program && need_.program->adds_in_switch);
  }
  // The same numbers as in sims/system/fabric.cpp.
  [[nodiscard]] std::size_t ni_ports(NodeId vertex) const {
    const std::size_t links =
        std::max(topology_.in_links(vertex).size(), topology_.out_links(vertex).size());
    if (topology_.is_switch(vertex)) return adds_at(vertex) ? links : 0;
    if (depths_.empty() && takes_any_port(system_.ni.rules)) {
      return system_.ni.ports == 0 ? most_links_ : system_.ni.ports;
    }
    if (!depths_.empty() || system_.ni.ports == 0) return links;
    return std::min<std::size_t>(system_.ni.ports, links);
  }

  [[nodiscard]] RouterSlice slice(std::uint32_t dimension) const {
    RouterSlice slice;
    slice.vcs = system_.router.vcs;
    slice.input_per_vc = system_.router.crossbar_inputs == CrossbarInputs::vc;
    slice.dimension = dimension;
    if (dimension == 0) {
      slice.vc_depth_flits = system_.router.vc_depth_flits;
      slice.flit_bits = 8 * system_.clock.flit_bytes;
    } else {
      slice.vc_depth_flits = depths_[dimension - 1];
      slice.flit_bits = 8 * topology_.dimensions()->dimensions[dimension - 1].link.flit_bytes;
    }
    return slice;
  }

  [[nodiscard]] std::uint32_t dimension_of(LinkId link) const {
    return depths_.empty() ? 0 : static_cast<std::uint32_t>(topology_.dimension_of(link)) + 1;
  }

  // In a multi-dimensional system, each link has an NI port of its own with the link's flit width.
  [[nodiscard]] std::vector<RouterSlice> slices_of(NodeId vertex) const {
    std::map<std::uint32_t, RouterSlice> slices;
    const auto of = [&](std::uint32_t dimension) -> RouterSlice& {
      return slices.try_emplace(dimension, slice(dimension)).first->second;
    };
    for (const LinkId link : topology_.in_links(vertex)) ++of(dimension_of(link)).inputs;
    for (const LinkId link : topology_.out_links(vertex)) ++of(dimension_of(link)).outputs;
    const auto ports = static_cast<std::uint32_t>(ni_ports(vertex));
    const bool adds = topology_.is_switch(vertex) && adds_at(vertex);
    for (auto& [dimension, part] : slices) {
      part.link_ends = std::max(part.inputs, part.outputs);
      const std::uint32_t more = dimension == 0 || ports == 0 ? ports : part.outputs;
      part.inputs += more;
      part.outputs += more;
      if (adds) part.adders = switch_adders(part.link_ends, part.flit_bits);
    }
    std::vector<RouterSlice> list;
    for (const auto& [dimension, part] : slices) list.push_back(part);
    return list;
  }

  // The adders of all lanes of a reduction unit, or of the one unit. Without a rate, they add as
  // fast as ports deliver.
  [[nodiscard]] Adders adders(std::uint32_t ports, std::uint32_t flit_bits) const {
    const ReductionConfig& reduction = system_.ni.reduction;
    const std::uint64_t rate =
        reduction.bytes_per_cycle != 0 ? reduction.bytes_per_cycle : flit_bits / 8;
    const bool is_one_unit =
        reduction.mode == ReductionMode::after_message && reduction.bytes_per_cycle != 0;
    Adders lane = adders_for(rate, need_.element_bytes);
    lane.count *= is_one_unit ? 1 : ports;
    return lane;
  }

  // A switch adds at each port as data arrive.
  [[nodiscard]] Adders switch_adders(std::uint32_t ports, std::uint32_t flit_bits) const {
    const std::uint64_t rate = system_.dimensions.switch_bytes_per_cycle;
    if (rate == 0) return adders(ports, flit_bits);
    Adders lane = adders_for(rate, need_.element_bytes);
    lane.count *= ports;
    return lane;
  }

  [[nodiscard]] NiPorts ports_of(std::uint32_t dimension, std::uint32_t count,
                                 const RouterSlice& slice) const {
    const NiConfig& config = system_.ni;
    NiPorts ports;
    ports.dimension = dimension;
    ports.count = count;
    ports.buffer_flits = injection_buffer_flits(system_);
    ports.flit_bits = slice.flit_bits;
    ports.send_queue = takes_any_port(config.rules) ? 1 : config.send_queue;
    // Start address and size, 64 bits each, destination and flow.
    ports.descriptor_bits = 2 * 64 + 2 * bits_for(topology_.num_nodes());
    ports.vcs = slice.vcs;
    ports.credits = slice.vc_depth_flits;
    const std::uint32_t flit_bytes = slice.flit_bits / 8;
    ports.payload_bytes = dimension == 0
                              ? static_cast<std::uint32_t>(system_.flow_control.payload_bytes)
                              : system_.dimensions.packet_flits * flit_bytes;
    ports.packet_flits = (ports.payload_bytes + flit_bytes - 1) / flit_bytes + 1;
    ports.ejection_registers =
        static_cast<std::uint32_t>(std::max<Cycle>(1, config.delivery_cycles));
    ports.adders = adders(count, slice.flit_bits);
    return ports;
  }

  // In message mode a VC brings one message at a time; in packet mode the packets of more
  // messages may be mixed; 16 is the size that was synthesized.
  [[nodiscard]] MessageTableShape messages_of(std::uint32_t ports) const {
    constexpr std::uint32_t kPartlyArrived = 16;
    MessageTableShape messages;
    messages.entries = std::max(ports * system_.router.vcs, kPartlyArrived);
    messages.tag_bits = 2 * std::max(1U, bits_for(topology_.num_nodes()));
    return messages;
  }

  [[nodiscard]] NiShape ni_of(NodeId vertex) const {
    NiShape ni;
    ni.readiness = need_.readiness;
    ni.messages = messages_of(static_cast<std::uint32_t>(ni_ports(vertex)));
    const NiConfig& config = system_.ni;
    if (!depths_.empty()) {
      const DimensionedShape& shape = *topology_.dimensions();
      for (std::uint32_t d = 0; d < shape.dimensions.size(); ++d) {
        ni.ports.push_back(ports_of(d + 1, shape.dimensions[d].links, slice(d + 1)));
        ni.queues.push_back({d + 1, queue_entries(), 32, need_.queue_order == QueueOrder::scf});
      }
      return ni;
    }
    ni.ports.push_back(ports_of(0, static_cast<std::uint32_t>(ni_ports(vertex)), slice(0)));
    if (need_.program) {
      ni.program = need_.program;
      return ni;
    }
    const std::size_t nodes = topology_.num_nodes();
    ScheduleTableShape table;
    table.contexts = config.contexts != 0 ? config.contexts : need_.contexts;
    const auto paper = static_cast<std::uint32_t>(2 * nodes);
    const bool repeats = config.table_repeat;
    const std::uint32_t needed = repeats && need_.table_entries != 0
                                     ? need_.table_entries
                                     : std::max(paper, need_.table_entries);
    table.entries = config.table_entries != 0 ? config.table_entries : needed;
    table.entry_bits = system_.cost.table_entry_bits != 0
                           ? system_.cost.table_entry_bits
                           : std::max(table_entry_bits(nodes, most_links_), need_.entry_bits) +
                                 receiving_port_bits(ni_ports(vertex));
    if (repeats) {
      table.repeat_bits = need_.field_bits != 0 ? need_.field_bits : kRepeatBits;
      // First pass, count, strides of flow, step and slot, address stride, last size.
      if (system_.cost.table_entry_bits == 0) {
        table.entry_bits += need_.repeat_bits != 0 ? need_.repeat_bits : 5 * kRepeatBits + 2 * 64;
      }
    }
    if (config.slot_counter && topology_.num_switches() != 0) table.slot_bits = need_.slot_bits;
    table.step_bits = bits_for(2 * nodes + 1);
    table.issue_per_cycle = static_cast<std::uint32_t>(ni_ports(vertex));
    table.places = std::max({2U, paper, need_.places});
    table.turnaround = static_cast<std::uint32_t>(std::max<Cycle>(1, config.turnaround_cycles));
    ni.table = table;
    return ni;
  }

  // An entry names the ejection port of its parent or of each child, if ports are not bound to
  // links.
  [[nodiscard]] std::uint32_t receiving_port_bits(std::size_t ports) const {
    if (!takes_any_port(system_.ni.rules)) return 0;
    return static_cast<std::uint32_t>(most_links_) * bits_for(ports);
  }

  [[nodiscard]] std::uint32_t queue_entries() const {
    constexpr std::uint32_t kChunksOfThemis = 64;
    if (system_.cost.queue_entries != 0) return system_.cost.queue_entries;
    return std::max(kChunksOfThemis, need_.queue_entries);
  }

  // Width of a field of a row that repeats, if no schedule is known: 65,536 flows, passes, slots.
  static constexpr std::uint32_t kRepeatBits = 16;

  const SystemConfig& system_;
  const Topology& topology_;
  RunNeed need_;
  std::vector<std::uint32_t> depths_;  // by dimension; empty for a system without dimensions
  std::size_t most_links_ = 1;         // of a node
};

}  // namespace

std::uint32_t table_entry_bits(std::size_t nodes, std::size_t links) {
  constexpr std::uint32_t kOp = 2;
  constexpr std::uint32_t kStartAddr = 64;
  constexpr std::uint32_t kSize = 64;
  constexpr std::uint32_t kState = 21;
  const std::uint32_t node = bits_for(nodes + 1);  // a node, or nil
  const std::uint32_t step = bits_for(2 * nodes + 1);
  return kOp + bits_for(nodes) + node * (1 + static_cast<std::uint32_t>(links)) + step +
         kStartAddr + kSize + kState;
}

namespace {

// Returns nothing if the NIs do not coordinate, or if the layers have not been read yet.
std::optional<ReadinessShape> readiness_of(const RunPoint& point) {
  if (!point.coordination || point.coordination->mode != CoordinationMode::in_ni) {
    return std::nullopt;
  }
  const TrainingConfig& training = *point.training;
  TensorSpec spec;
  spec.tensors = point.coordination->tensors;
  const TensorSet set =
      make_tensor_set(training.layers,
                      plan_iteration(training.layers, training.mini_batch, training.compute), spec);
  const std::size_t units = make_units(set, point.coordination->num_groups).size();
  if (units == 0) return std::nullopt;
  return ReadinessShape{static_cast<std::uint32_t>(units), point.coordination->arity};
}

}  // namespace

RunNeed configured_need(const RunPoint& point) {
  RunNeed need;
  if (point.collective) need.queue_entries = point.collective->chunks;
  need.queue_order = arbiter_spec(point).order;
  constexpr std::uint32_t kFp16Bytes = 2;  // of the built-in workloads
  if (point.collective) {
    need.element_bytes =
        point.workload ? kFp16Bytes : static_cast<std::uint32_t>(point.collective->element_bytes);
  }
  need.readiness = readiness_of(point);
  constexpr std::uint32_t kSlotBits = 32;  // 4 s, in ns
  const Algorithm* algorithm =
      point.collective ? find_algorithm(point.collective->algorithm) : nullptr;
  const bool plans_slots =
      algorithm != nullptr && algorithm->generator != nullptr && algorithm->generator->plans_times;
  if (plans_slots) need.slot_bits = kSlotBits;
  return need;
}

ProgramContextsShape contexts_for(const Program& program, const ProgramNiConfig& config,
                                  std::uint32_t slots) {
  ProgramContextsShape shape;
  std::uint32_t places = 1;
  std::uint32_t most_chunks = 1;  // of a step
  const ProgramStorage storage(program);
  for (std::uint32_t r = 0; r < program.num_ranks(); ++r) {
    const RankProgram& rank = program.ranks[r];
    // All blocks of a call are resident at once.
    std::map<std::uint32_t, std::uint32_t> blocks_of_call;
    for (const ThreadBlock& block : rank.blocks) {
      shape.contexts = std::max(shape.contexts, ++blocks_of_call[block.call]);
    }
    places = std::max(places, storage.num_places(r));
    for (const ThreadBlock& block : rank.blocks) {
      shape.steps = std::max(shape.steps, static_cast<std::uint32_t>(block.steps.size()));
      for (const ProgramStep& step : block.steps) most_chunks = std::max(most_chunks, step.count);
    }
  }
  if (config.contexts != 0) shape.contexts = config.contexts;
  if (config.context_steps != 0) shape.steps = config.context_steps;
  shape.contexts = std::max(1U, shape.contexts);
  shape.steps = std::max(1U, shape.steps);
  constexpr std::uint32_t kOp = 4;
  constexpr std::uint32_t kBuffer = 2;  // input, output, scratch
  // Two places, a count, the step of another context to wait for, and whether others wait.
  shape.instruction_bits = kOp + 2 * (kBuffer + bits_for(places + 1ULL)) +
                           bits_for(most_chunks + 1ULL) + bits_for(shape.contexts + 1ULL) +
                           bits_for(shape.steps) + 1;
  shape.slots = slots;
  shape.requests = config.requests;
  shape.adds_in_switch = program.switches != 0;
  return shape;
}

SystemShape system_shape(const SystemConfig& system, const Topology& topology,
                         const RunNeed& need) {
  return ShapeBuilder(system, topology, need).build();
}

void resolve_implied(SystemConfig& system, const Topology& topology, const RunNeed& need) {
  constexpr int kMostRounds = 4;
  constexpr std::uint64_t kTableThree = 318, kDeepest = 1 << 20;  // the most that the key takes
  RouterConfig& router = system.router;
  ImpliedCycles implied;
  for (int round = 0; round < kMostRounds; ++round) {
    implied = implied_cycles(system_shape(system, topology, need), system.cost, system.clock.hertz);
    const auto before = std::make_pair(router.pipeline_cycles, router.vc_depth_flits);
    if (router.pipeline_is_implied) router.pipeline_cycles = implied.router;
    if (router.depth_is_implied && !topology.dimensions()) {
      router.vc_depth_flits = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(full_rate_depth(system, topology), kTableThree, kDeepest));
    }
    if (before == std::make_pair(router.pipeline_cycles, router.vc_depth_flits)) break;
  }
  if (system.ni.reduction.latency_is_implied)
    system.ni.reduction.latency_cycles = implied.reduction;
  DimensionQueueConfig& queue = system.ni.dimension_queue;
  if (queue.arbitration_is_implied) queue.arbitration_cycles = implied.arbitration;
}

}  // namespace espalier
