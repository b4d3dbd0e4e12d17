#include "sims/config/cross_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "alg/algorithm.h"
#include "alg/plans/planner.h"
#include "alg/routes/routing.h"
#include "flowctl/framing.h"
#include "sims/config/coordination_checks.h"
#include "sims/config/fault_checks.h"
#include "sims/config/keys.h"
#include "sims/config/link_checks.h"
#include "sims/config/program_checks.h"
#include "sims/config/rank_order_checks.h"
#include "sims/config/tenant_checks.h"
#include "sims/model/build_dimensions.h"
#include "sims/model/build_program.h"
#include "sims/model/build_workload.h"
#include "sims/model/folding.h"
#include "sims/model/packet_sizes.h"
#include "sims/point/fidelity.h"
#include "sims/text/units.h"
#include "sims/workload/training/parallel_groups.h"

namespace espalier {

namespace {

class PointChecker {
 public:
  PointChecker(const RunPoint& point, const Topology* topology, const GivenKeys& given,
               Diagnostics& diagnostics)
      : point_(point),
        system_(point.system),
        topology_(topology),
        given_(given),
        diagnostics_(diagnostics) {}

  // What no list can change.
  void check_system() {
    // Of multi-dimensional systems: sims/config/dimension_checks.h.
    if (!system_.topology.is_dimensional()) {
      check_links(system_, topology_, given_, diagnostics_);
      check_payload();
      check_vc_depth();
    }
    check_dma();
    check_watchdog();
    check_faults(point_, topology_, given_, diagnostics_);
    check_fidelity();
    if (point_.control) check_control_alone();
    if (point_.tenants) check_tenants(point_, topology_, given_, diagnostics_);
  }

  void check_listed_keys() {
    check_skewed_steps(point_, given_, diagnostics_);
    if (!system_.topology.is_dimensional()) check_sub_messages();
    if (point_.collective && !point_.training && !point_.workload) check_collective_size();
    if (point_.workload) check_workload();
    if (point_.collective && point_.training) check_training();
    if (system_.topology.is_dimensional()) {
      refuse_messages();
      check_fold();
      return;
    }
    if (point_.traffic) check_traffic();
    if (point_.control && topology_ != nullptr) check_control();
  }

  // Precondition: the algorithm is known.
  void check_operation() {
    const CollectiveOp op = point_.collective->op;
    const Algorithm& algorithm = *find_algorithm(point_.collective->algorithm);
    if (algorithm.computes(op)) return;
    std::vector<std::string> able;
    for (const Algorithm& other : algorithms()) {
      const bool suited = topology_ == nullptr || other.unsuited(*topology_).empty();
      if (suited && other.computes(op)) able.push_back(other.name);
    }
    std::vector<std::string> ops;
    for (const CollectiveOp known : algorithm.ops) ops.emplace_back(to_string(known));
    diagnostics_.error(given_.is_given("collective.op")
                           ? given_.place_of_value("collective.op", static_cast<std::uint64_t>(op))
                           : given_.place_of("collective.algorithm"),
                       fmt::format("collective.op: {} computes {}, not {}", algorithm.name,
                                   fmt::join(ops, ", "), to_string(op)),
                       able.empty() ? "" : fmt::format("these do: {}", fmt::join(able, ", ")));
  }

  // Apart, because a generator may have to search the graph for its answer.
  void check_algorithm() {
    const Algorithm* algorithm = find_algorithm(point_.collective->algorithm);
    if (algorithm == nullptr || topology_ == nullptr) return;
    const std::string reason = algorithm->unsuited(*topology_);
    if (reason.empty()) return;
    std::vector<std::string> suited;
    for (const Algorithm& other : algorithms()) {
      if (other.unsuited(*topology_).empty()) suited.push_back(other.name);
    }
    const Key& key = *find_key("collective.algorithm");
    diagnostics_.error(given_.place_of_value(key.name, key.get(point_).number),
                       fmt::format("collective.algorithm: {} does not run on this topology: {}",
                                   algorithm->name, reason),
                       suited.empty() ? "" : fmt::format("these do: {}", fmt::join(suited, ", ")));
  }

 private:
  // Each dimension is a network of its own, with flits of its own.
  void refuse_messages() {
    const auto refuse = [&](const char* section) {
      diagnostics_.error(
          given_.place_of_section(section),
          fmt::format("{}: a message does not pass from one dimension to another", section),
          "a multi-dimensional system runs collectives");
    };
    if (point_.traffic) refuse("traffic");
    if (point_.control) refuse("control");
  }

  void check_payload() {
    const FlowControlConfig& flow = system_.flow_control;
    const Bytes flit = system_.clock.flit_bytes;
    if (given_.usable({"system.flow_control.payload_bytes", "system.router.flit_bytes"}) &&
        flow.payload_bytes % flit != 0) {
      diagnostics_.error(
          given_.place_of_first({"system.flow_control.payload_bytes", "system.router.flit_bytes"}),
          fmt::format(
              "system.flow_control.payload_bytes: {} is not a multiple of the {} B of a flit",
              flow.payload_bytes, flit),
          fmt::format("for example {}", (flow.payload_bytes / flit + 1) * flit));
      return;
    }
    if (given_.usable({"system.flow_control.payload_bytes", "system.router.flit_bytes"}) &&
        longest_packet_flits(system_) > kMostPacketFlits) {
      diagnostics_.error(
          given_.place_of_first({"system.flow_control.payload_bytes", "system.router.flit_bytes"}),
          fmt::format(
              "system.flow_control.payload_bytes: a packet has at most {} flits, this one {}",
              kMostPacketFlits, longest_packet_flits(system_)),
          fmt::format("at most {}", (kMostPacketFlits - 1) * flit));
    }
  }

  void check_sub_messages() {
    const FlowControlConfig& flow = system_.flow_control;
    if (flow.mode == FlowControlMode::message &&
        flow.payload_bytes % system_.clock.flit_bytes == 0 &&
        given_.usable({"system.flow_control.mode", "system.flow_control.sub_message_bytes",
                       "system.flow_control.payload_bytes"}) &&
        flow.sub_message_bytes % flow.payload_bytes != 0) {
      diagnostics_.error(
          given_.place_of_first(
              {"system.flow_control.sub_message_bytes", "system.flow_control.payload_bytes"}),
          fmt::format("system.flow_control.sub_message_bytes: {} is not a multiple of the {} B "
                      "payload of a "
                      "sub-packet",
                      flow.sub_message_bytes, flow.payload_bytes),
          fmt::format("for example {}",
                      (flow.sub_message_bytes / flow.payload_bytes + 1) * flow.payload_bytes));
    }
  }

  void check_vc_depth() {
    if (!given_.usable({"system.router.vc_depth_flits", "system.router.flit_bytes",
                        "system.router.switching", "system.flow_control.payload_bytes"})) {
      return;
    }
    const std::uint64_t depth = system_.router.vc_depth_flits;
    const std::uint64_t packet = longest_packet_flits(system_);
    if (system_.router.switching == Switching::vct && depth < packet) {
      diagnostics_.error(
          given_.place_of_first({"system.router.vc_depth_flits",
                                 "system.flow_control.payload_bytes", "system.router.flit_bytes"}),
          fmt::format("system.router.vc_depth_flits: virtual cut-through needs room for a whole "
                      "packet of {} "
                      "flits, a VC holds {}",
                      packet, depth),
          fmt::format("at least {}, or system.router.switching: wormhole", packet));
      return;
    }
    if (topology_ == nullptr || !given_.usable({"system.link.latency", "system.link.bandwidth",
                                                "system.link.credit_latency", "system.router.clock",
                                                "system.router.pipeline_cycles"})) {
      return;
    }
    std::uint64_t enough = 0;
    for (const TopologyLink& link : topology_->links()) {
      enough = std::max(enough, full_rate_depth(system_, link.spec));
    }
    if (depth >= enough) return;
    diagnostics_.warning(
        given_.place_of_first({"system.router.vc_depth_flits", "system.link.latency",
                               "system.link.credit_latency", "system.router.pipeline_cycles",
                               "system.flow_control.payload_bytes", "system.router.clock",
                               "system.router.flit_bytes", "system.link.bandwidth",
                               "system.topology.file"}),
        fmt::format(
            "system.router.vc_depth_flits: {} flits do not cover the credit loop: a lone stream "
            "cannot use a link's full rate",
            depth),
        fmt::format("{} would do", enough));
  }

  void check_dma() {
    const GivenKey* dma = given_.find("system.ni.dma.bandwidth");
    if (dma == nullptr || !given_.usable({"system.ni.dma.bandwidth", "system.router.clock"}))
      return;
    const std::uint64_t rate = dma->values.front().value.number;
    const std::uint64_t hertz = system_.clock.hertz;
    if (rate % hertz == 0) return;
    diagnostics_.error(
        dma->place,
        fmt::format("system.ni.dma.bandwidth: {} is not a whole number of bytes per cycle at {}",
                    format_quantity(Quantity::rate, rate),
                    format_quantity(Quantity::frequency, hertz)),
        fmt::format("for example {}", format_quantity(Quantity::rate, (rate / hertz + 1) * hertz)));
  }

  // While a flit is on a link nothing moves.
  void check_watchdog() {
    if (topology_ == nullptr || !given_.usable({"simulation.watchdog_cycles", "system.link.latency",
                                                "system.router.clock"})) {
      return;
    }
    Cycle longest = 0;
    for (const TopologyLink& link : topology_->links()) {
      longest = std::max(longest, cycles_covering(link.spec.latency_ps, system_.clock));
    }
    if (point_.simulation.watchdog_cycles > longest) return;
    diagnostics_.error(
        given_.place_of_first({"simulation.watchdog_cycles", "system.link.latency"}),
        fmt::format("simulation.watchdog_cycles: after {} cycles the watchdog would end a run "
                    "whose flit is on a link of {} cycles",
                    point_.simulation.watchdog_cycles, longest),
        fmt::format("more than {}", longest));
  }

  void check_fidelity() {
    if (point_.simulation.fidelity != Fidelity::train ||
        !given_.usable({"simulation.fidelity", "system.router.switching", "system.router.hold",
                        "simulation.monitors", "simulation.stall_probability"})) {
      return;
    }
    const std::string obstacle = train_obstacle(point_);
    if (obstacle.empty()) return;
    diagnostics_.error(
        given_.place_of("simulation.fidelity"),
        fmt::format("simulation.fidelity: train is not exact with {}", obstacle),
        "simulation.fidelity: cycle, or auto, which picks the faster one that is exact");
  }

  // Last, because it takes a plan of what is otherwise right.
  void check_fold() {
    if (point_.simulation.fold != Folding::on || !point_.collective || point_.workload ||
        topology_ == nullptr || diagnostics_.num_errors() != 0) {
      return;
    }
    if (find_planner(point_.collective->algorithm) == nullptr) return;
    const std::string obstacle = folding_obstacle(point_, *topology_->dimensions());
    if (obstacle.empty()) return;
    diagnostics_.error(
        given_.place_of("simulation.fold"),
        fmt::format("simulation.fold: one NPU does not stand for all with {}", obstacle),
        "simulation.fold: off, or auto, which folds where that is exact");
  }

  // Whether packets on their fixed routes can block each other in a circle.
  void check_traffic_vcs() {
    const std::uint32_t least = least_vc_classes(*topology_);
    if (least == 1) return;
    const bool torus = topology_->grid().has_value();
    if (system_.router.vcs < least) {
      diagnostics_.error(
          given_.place_of_first({"system.router.vcs", "system.topology.type"}),
          fmt::format("system.router.vcs: packets {} need {} VCs, one for {}, or they can block "
                      "each other in a circle",
                      torus ? "around a torus" : "across a dragonfly", least,
                      torus ? "each side of the dateline"
                            : "local links before the global one and one for those behind it"),
          fmt::format("at least {}", least));
    }
    if (system_.router.switching == Switching::wormhole &&
        system_.router.hold == SwitchHold::packet) {
      diagnostics_.error(
          given_.place_of_first({"system.router.hold", "system.router.switching"}),
          fmt::format("system.router.hold: a blocked wormhole packet that holds the switch also "
                      "blocks the VCs that should get past it, and packets {} can deadlock",
                      torus ? "around a torus" : "across a dragonfly"),
          "hold: flit, or switching: vct");
    }
  }

  void check_traffic() {
    if (topology_ == nullptr) return;
    check_traffic_vcs();
    const auto& grid = topology_->grid();
    const bool square = grid && grid->dims.size() == 2 && grid->dims[0] == grid->dims[1];
    const std::size_t nodes = topology_->num_nodes();
    const auto refuse = [&](const char* pattern, const char* need) {
      diagnostics_.error(given_.place_of_first({"traffic.pattern"}),
                         fmt::format("traffic.pattern: {} needs {}", pattern, need),
                         "uniform and neighbor run on every network");
    };
    if (point_.traffic->pattern == TrafficPattern::transpose && !square) {
      refuse("transpose", "a square torus or mesh of two dimensions");
    }
    if (point_.traffic->pattern == TrafficPattern::bit_complement && (nodes & (nodes - 1)) != 0) {
      refuse("bit_complement", "a power of two of nodes");
    }
  }

  void check_control_alone() {
    if (point_.collective || given_.has_section("collective") ||
        !given_.usable({"control.duration_cycles"}) || point_.control->duration_cycles != 0) {
      return;
    }
    diagnostics_.error(given_.place_of("control.duration_cycles"),
                       "control.duration_cycles: control messages alone end with no collective",
                       "for example 100000");
  }

  // By point: control.vcs may be a list.
  void check_control() {
    if (!given_.usable({"control.vcs", "system.router.vcs"})) return;
    const bool own = point_.control->vcs == ControlVcs::own;
    const std::uint32_t needed = least_vc_classes(*topology_) * (own ? 2 : 1);
    if (system_.router.vcs < needed) {
      const char* const why =
          own ? "one of each VC class for control messages, and one for gradients"
              : "one of each VC class";
      diagnostics_.error(
          given_.place_of_first({"system.router.vcs", "control.vcs", "control.pattern"}),
          fmt::format("system.router.vcs: control messages with {} VCs need {} here, {}",
                      own ? "their own" : "shared", needed, why),
          fmt::format("at least {}", needed));
    }
    if (topology_->num_nodes() < 2) {
      diagnostics_.error(given_.place_of_section("control"),
                         "control: a single node has nobody to send control messages to",
                         "at least two nodes");
    }
    const bool stands_in_the_way = system_.router.switching == Switching::wormhole &&
                                   system_.router.hold == SwitchHold::packet;
    if (stands_in_the_way && given_.usable({"system.router.hold", "system.router.switching"})) {
      diagnostics_.error(
          given_.place_of_first({"system.router.hold", "system.router.switching"}),
          "system.router.hold: a blocked wormhole packet of a gradient that holds the switch would "
          "starve the control messages that should get past it",
          "hold: flit, or switching: vct; control messages go by wormhole in any case");
    }
  }

  void check_collective_size() {
    const CollectiveConfig& collective = *point_.collective;
    if (!given_.usable({"collective.size", "collective.element"}) || collective.size == 0 ||
        collective.size % collective.element_bytes == 0) {
      return;
    }
    const Bytes above = (collective.size / collective.element_bytes + 1) * collective.element_bytes;
    diagnostics_.error(given_.place_of_value("collective.size", collective.size),
                       fmt::format("collective.size: {} is not a multiple of the element of {}",
                                   format_quantity(Quantity::size, collective.size),
                                   format_quantity(Quantity::size, collective.element_bytes)),
                       fmt::format("for example {}", format_quantity(Quantity::size, above)));
  }

  void check_training() {
    const CollectiveConfig& collective = *point_.collective;
    if (given_.usable({"collective.op"}) && collective.op != CollectiveOp::all_reduce) {
      diagnostics_.error(
          given_.place_of_value("collective.op", static_cast<std::uint64_t>(collective.op)),
          "collective.op: gradients are all-reduced", "all_reduce, the default");
    }
    if (system_.topology.is_dimensional()) {
      diagnostics_.error(given_.place_of_section("training"),
                         "training: a multi-dimensional system trains a 'workload'",
                         "workload: {name: resnet152}");
      return;
    }
    if (has_program(point_)) {
      const Key& key = *find_key("collective.algorithm");
      diagnostics_.error(given_.place_of_value(key.name, key.get(point_).number),
                         "collective.algorithm: training posts schedules, no collective programs",
                         "ring and multitree among others run there");
      return;
    }
    const TrainingConfig& training = *point_.training;
    if (training.layers.empty() ||
        !given_.usable({"training.mini_batch", "training.compute.pes", "training.compute.rows",
                        "training.compute.columns", "training.compute.sharing"})) {
      return;
    }
    const Place place = given_.place_of_first({"training.file", "training.network"});
    const std::uint64_t parameters = count_parameters(training.layers);
    if (parameters > kLargestCollective / collective.element_bytes) {
      diagnostics_.error(
          place, fmt::format("training: the gradients of {} parameters are larger than {}",
                             parameters, format_quantity(Quantity::size, kLargestCollective)));
    }
    const IterationPlan plan =
        plan_iteration(training.layers, training.mini_batch, training.compute);
    if (plan.compute() > kLongestRunCycles) {
      diagnostics_.error(
          place, fmt::format("training: computing takes more than {} cycles", kLongestRunCycles));
    }
  }

  void check_workload() {
    const WorkloadConfig& workload = *point_.workload;
    const Place place = given_.place_of("workload.name");
    if (!system_.topology.is_dimensional()) {
      diagnostics_.error(place, "workload: its collectives are planned for dimensions",
                         "system.topology.type: dimensions or astra_network");
      return;
    }
    if (topology_ == nullptr || !given_.usable({"workload.name", "workload.model_npus"})) return;
    const std::uint64_t npus = model_npus_of(workload);
    if (TransformerShape{}.hidden % npus != 0) {
      diagnostics_.error(
          given_.place_of("workload.model_npus"),
          fmt::format("workload.model_npus: {} is not a divisor of the hidden size, {}", npus,
                      TransformerShape{}.hidden));
      return;
    }
    try {
      static_cast<void>(split_groups(topology_->dimensions()->dimensions, npus));
    } catch (const std::invalid_argument& refused) {
      diagnostics_.error(given_.place_of("workload.model_npus"),
                         fmt::format("workload.model_npus: {}", refused.what()));
    }
  }

  const RunPoint& point_;
  const SystemConfig& system_;
  const Topology* topology_;
  const GivenKeys& given_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_points(const std::vector<RunPoint>& points, const Topology* topology,
                  const GivenKeys& given, Diagnostics& diagnostics) {
  PointChecker(points.front(), topology, given, diagnostics).check_system();
  std::set<std::string> algorithms;
  std::set<std::pair<std::string, CollectiveOp>> operations;
  for (const RunPoint& point : points) {
    PointChecker checker(point, topology, given, diagnostics);
    checker.check_listed_keys();
    if (point.collective && find_algorithm(point.collective->algorithm) != nullptr &&
        operations.emplace(point.collective->algorithm, point.collective->op).second) {
      checker.check_operation();
    }
    check_program(point, topology, given, diagnostics);
    check_coordination(point, topology, given, diagnostics);
    check_rank_order(point, topology, given, diagnostics);
    if (point.collective && algorithms.insert(point.collective->algorithm).second) {
      checker.check_algorithm();
    }
  }
}

}  // namespace espalier
