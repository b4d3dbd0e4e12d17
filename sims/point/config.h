// The contents of a configuration file as plain structs in model units. Only the reader knows YAML.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alg/plans/dimension_stage.h"
#include "alg/plans/plan_layout.h"
#include "alg/plans/stage_arbiter.h"
#include "alg/program/program.h"
#include "alg/rank_order/order_spec.h"
#include "alg/schedule/construction.h"
#include "alg/schedule/schedule.h"
#include "flowctl/virtual_channels.h"
#include "hw/cost/cost_spec.h"
#include "hw/ids.h"
#include "hw/topology/link_timing.h"
#include "hw/topology/topology.h"
#include "ni/modes.h"
#include "router/router_spec.h"
#include "sims/point/coordination_config.h"
#include "sims/point/faults_config.h"
#include "sims/workload/training/compute_model.h"
#include "sims/workload/training/layer.h"
#include "sims/workload/training/workload.h"

namespace espalier {

enum class TopologyKind : std::uint8_t {
  torus,
  mesh,
  fully_connected,
  single_switch,  // "switch"
  dgx2,           // a pair of switches
  fat_tree,
  bigraph,
  dragonfly,
  gpu_cluster,   // servers of GPUs with NICs
  data_center,   // racks of hosts, of which the job has some
  file,          // a graph
  anynet,        // a graph in BookSim's format
  dimensions,    // a multi-dimensional system
  astra_network  // the same, from a file of ASTRA-sim
};
// Whether one NPU of a multi-dimensional system is simulated for all NPUs.
enum class Folding : std::uint8_t { automatic, on, off };
// The protocol of a collective program; automatic: the program's own.
enum class ProtocolChoice : std::uint8_t { automatic, simple, ll, ll128, message };
enum class Fidelity : std::uint8_t { automatic, train, cycle };
// Destination of a node's control messages: any other node, or the next node.
enum class ControlPattern : std::uint8_t { uniform, neighbor };
// VCs of control messages: a set that gradients do not use, or all VCs together with gradients.
enum class ControlVcs : std::uint8_t { own, shared };
// Destinations of traffic, as in Dally and Towles, "Principles and Practices of Interconnection
// Networks", table 3.1, and in BookSim; `neighbor` is the next node by number.
enum class TrafficPattern : std::uint8_t {
  uniform,
  neighbor,
  transpose,
  bit_complement,
  bit_reverse,
  shuffle,
  tornado,
  hotspot,
  file,
  sockets  // messages of a program's TLM initiators
};

// open: sources post messages however full the network is; closed: each message is a request, and a
// source waits for replies.
enum class TrafficLoop : std::uint8_t { open, closed };

// Vertices' names as written. A program that links the library attaches its own SystemC modules in
// place of these routers and of the NIs of these nodes (sims/system/elaboration.h).
struct ExternalConfig {
  std::vector<std::string> routers;
  std::vector<std::string> nis;

  [[nodiscard]] bool any() const { return !routers.empty() || !nis.empty(); }
};

struct TopologyConfig {
  TopologyKind kind = TopologyKind::torus;
  std::vector<std::uint32_t> dims;     // {X, Y, Z}; torus and mesh
  std::uint32_t nodes = 2;             // fully_connected, single_switch, data_center
  std::uint32_t nodes_per_switch = 1;  // of leaf switches; dgx2, fat_tree, bigraph, dragonfly
  std::uint32_t switches = 2;          // fat_tree: leaves; bigraph: of both sides
  std::uint32_t spines = 1;            // fat_tree
  std::uint32_t group_size = 1;        // dragonfly: switches per group
  std::uint32_t groups = 2;            // dragonfly
  // gpu_cluster
  std::uint32_t servers = 1;
  std::uint32_t gpus_per_server = 2;
  std::uint32_t gpus_per_nic_group = 1;
  std::uint32_t nics_per_group = 1;
  std::uint64_t nic_link_latency_ps = 0;        // 0 ("link"): as system.link
  std::uint64_t nic_link_bytes_per_second = 0;  // 0 ("link"): as system.link
  // data_center
  std::uint32_t pods = 1;
  std::uint32_t racks_per_pod = 1;
  std::uint32_t hosts_per_rack = 1;
  std::uint32_t rack_uplinks = 1;
  std::uint32_t aggregations_per_pod = 1;
  std::uint32_t aggregation_uplinks = 1;
  std::uint32_t cores = 1;
  Placement placement = Placement::random;
  std::uint64_t placement_seed = 1;
  std::uint64_t ecmp_seed = 1;
  // 0 ("link"): as system.link
  std::uint64_t aggregation_link_latency_ps = 0;
  std::uint64_t aggregation_link_bytes_per_second = 0;
  std::uint64_t core_link_latency_ps = 0;
  std::uint64_t core_link_bytes_per_second = 0;
  // file, anynet, astra_network: path as written, relative to `folder`
  std::string file;
  std::string folder;                // of the configuration; empty: the current one
  std::vector<std::string> without;  // parts that are taken out: "node 5", "link 3-4", as written
  ExternalConfig external;

  [[nodiscard]] bool from_file() const {
    return kind == TopologyKind::file || kind == TopologyKind::anynet ||
           kind == TopologyKind::astra_network;
  }
  [[nodiscard]] bool is_dimensional() const {
    return kind == TopologyKind::dimensions || kind == TopologyKind::astra_network;
  }
};

// A multi-dimensional system as written in the file. Lists have an entry for each dimension; 0 and
// an empty list stand for "auto". sims/model/build_dimensions.h computes the real values.
struct DimensionsConfig {
  std::vector<DimensionShape> shape;
  std::vector<std::uint32_t> size;              // NPUs of a group
  std::vector<std::uint32_t> links;             // links that leave an NPU
  std::vector<std::uint64_t> bytes_per_second;  // of one link
  std::vector<std::uint64_t> latency_ps;        // NPU to NPU, of a minimal message
  std::vector<std::uint32_t> flit_bytes;
  std::uint32_t packet_flits = 16;  // payload of a packet or sub-packet, in every dimension
  std::vector<std::uint32_t> vc_depth_flits;
  std::vector<std::optional<DimensionAlgorithm>> algorithm;
  // What a port of a switch with in_network adds in a cycle. 0 ("ni"): as ni.reduction says.
  std::uint64_t switch_bytes_per_cycle = 0;
};

struct RouterConfig {
  std::uint32_t vcs = 4;
  std::uint32_t vc_depth_flits = 318;
  Cycle pipeline_cycles = 2;  // a flit that arrives in cycle a may leave from a + pipeline_cycles
  Switching switching = Switching::vct;
  SwitchHold hold = SwitchHold::packet;
  CrossbarInputs crossbar_inputs = CrossbarInputs::port;
  VcOrder vc_order = VcOrder::lowest;
  // "auto": the reader has computed pipeline_cycles (resolve_implied_cycles,
  // sims/model/system_shape.h).
  bool pipeline_is_implied = false;
};

struct FlowControlConfig {
  FlowControlMode mode = FlowControlMode::message;
  Bytes payload_bytes = 256;       // of a packet; of a sub-packet in message mode
  Bytes sub_message_bytes = 4096;  // message mode
  // Packet mode: the last packet of a message is as long as the others.
  bool pad_last_packet = false;
};

struct ReductionConfig {
  ReductionMode mode = ReductionMode::streaming;
  Cycle latency_cycles = 1;           // pipeline of the reduction unit
  std::uint64_t bytes_per_cycle = 0;  // 0 ("port"): as fast as an ejection port delivers
  Bytes block_bytes = 1;              // work is done in whole blocks of this many bytes
};

// The choice among the chunks that wait for a dimension.
struct DimensionQueueConfig {
  std::optional<QueueOrder> order;  // nullopt ("auto"): as the planner queues, see arbiter_spec()
  ChunkKey key = ChunkKey::larger;
  TieRule ties = TieRule::newest;
  // Chunks that share a dimension's bandwidth. 0 ("auto"): 8, or more if 8 do not cover the fixed
  // delay of their steps.
  std::uint32_t in_flight = 0;
  // From the cycle in which a place and a chunk are available to the start of the chosen chunk.
  Cycle arbitration_cycles = 1;
  // Every NPU starts a dimension's stages in the order of a pre-simulation.
  bool enforce_order = true;
  bool arbitration_is_implied = false;  // as RouterConfig::pipeline_is_implied

  [[nodiscard]] FlightSpec flight() const {
    return in_flight == 0 ? FlightSpec{8, true} : FlightSpec{in_flight, false};
  }
};

// The contexts that run collective programs.
struct ProgramNiConfig {
  std::uint32_t contexts = 0;       // 0 ("auto"): as many as the program needs
  std::uint32_t context_steps = 0;  // program RAM of one; 0 ("auto"): as many as the program needs
  std::uint32_t slots = 0;          // of each connection; 0 ("protocol")
  Bytes slot_bytes = 0;             // data that a slot holds; 0 ("protocol")
  Bytes request_bytes = 64 << 10;   // data of one request of a context, which is a message
  std::uint32_t requests = 8;       // of one context, in flight
  std::uint64_t context_bytes_per_cycle = 0;  // for one context; 0 ("unlimited")
  std::uint64_t memory_bytes_per_cycle = 0;   // for all contexts together; 0 ("unlimited")
  Cycle decode_cycles = 1;
  Cycle fence_cycles = 100;  // before the flag of a full slot; protocol Simple
  Cycle doorbell_cycles = 0;
  Cycle load_cycles_per_step = 0;
  Cycle network_slot_cycles = 0;
  Cycle network_receive_cycles = 0;
  // From the release of a slot to its credit at the sender; 0 ("path"): the latency of the route
  // back.
  Cycle credit_cycles = 0;
};

// The VCs that the messages of an NI port may take.
enum class InjectionVcs : std::uint8_t {
  automatic,  // one for tables that list the order of messages, otherwise all
  one,        // a message waits for the one before it: the link serves them first come first served
  all
};

struct NiConfig {
  LockstepMode lockstep = LockstepMode::estimate;
  // Injection and ejection ports; 0 ("auto"): as many as the algorithm can use.
  std::uint32_t ports = 0;
  std::uint32_t buffer_flits = 318;  // in the lockstep estimate (paper, footnote 4)
  std::uint32_t buffer_packets = 0;  // in addition to buffer_flits
  std::uint32_t table_entries = 0;   // 0 ("auto"): as many as the schedule needs
  bool table_repeat = false;         // table rows have a repeat count and strides
  std::uint32_t send_queue = 16;     // descriptors that wait for one injection port
  PortBinding port_binding = PortBinding::link;
  PortRelease release = PortRelease::left;
  IssueOrder issue = IssueOrder::head;  // of the schedule table
  InjectionVcs injection_vcs = InjectionVcs::automatic;
  bool slot_counter = true;      // table entries wait for their slots, if they have any
  Cycle dma_latency_cycles = 2;  // operation issued to first flit on the injection channel
  // 0 ("ports"): never the bottleneck. Otherwise shared by all ports, packet by packet.
  std::uint64_t dma_bytes_per_cycle = 0;
  Cycle injection_cycles = 2;  // NI to router buffer
  Cycle ejection_cycles = 3;   // router to NI
  Cycle delivery_cycles = 1;   // ejected to visible in memory
  // A root's finished chunk is written back before its Gather reads it.
  Cycle turnaround_cycles = 2;
  ReductionConfig reduction;
  DimensionQueueConfig dimension_queue;  // multi-dimensional systems
  ProgramNiConfig program;               // collective programs
};

struct SystemConfig {
  TopologyConfig topology;
  DimensionsConfig dimensions;  // for a multi-dimensional topology; all its links
  // Every link; in file and anynet topologies, the default of a link. Value: Table III.
  LinkSpec link{150'000, 16'000'000'000};
  Cycle credit_latency_cycles = 0;  // 0 ("link"): as long as the link's latency
  ClockSpec clock;
  RouterConfig router;
  FlowControlConfig flow_control;
  NiConfig ni;
  CostSpec cost;
};

// A collective program, built in or from a file.
struct ProgramConfig {
  std::string file;      // algorithm program: path as written, relative to `folder`
  std::string promises;  // promises of a custom collective: path as `file`; empty: none
  std::string folder;    // of the configuration; empty: the current one
  std::uint32_t channels = 1;
  std::uint32_t instances = 1;
  std::uint32_t ranks_per_server = 0;  // 0 ("auto"): as the topology has them
  ProtocolChoice protocol = ProtocolChoice::automatic;
  std::shared_ptr<const Program> given;  // the contents of the file
};

// The node of each rank of a collective.
struct RankOrderConfig {
  static constexpr const char* kIdentity = "identity";
  static constexpr const char* kRandom = "random";

  // "identity", "random", or a mapping file's path as written, relative to `folder`.
  std::string source = kIdentity;
  std::string folder;      // of the configuration; empty: the current one
  std::uint64_t seed = 1;  // of a random order
  // By rank, filled in by the reader; empty: rank r is node r.
  std::vector<NodeId> nodes;

  [[nodiscard]] bool is_identity() const { return source == kIdentity; }
  [[nodiscard]] bool is_random() const { return source == kRandom; }
  [[nodiscard]] bool is_file() const { return !is_identity() && !is_random(); }
};

// How an all_to_allv's bytes are spread over the pairs of ranks.
struct CountsConfig {
  static constexpr const char* kZipf = "zipf";

  // "zipf", or the path of a table of weights as written, relative to `folder`.
  std::string source = kZipf;
  std::string folder;  // of the configuration; empty: the current one
  // [from * ranks + to], filled in by the reader. The rank whose row has the largest sum sends
  // `size` bytes, the others in proportion.
  std::vector<std::uint64_t> weights;

  [[nodiscard]] bool is_file() const { return source != kZipf; }
};

struct CollectiveConfig {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::string algorithm = kAutoAlgorithm;
  Bytes size = 0;  // with training: of all gradients
  Bytes element_bytes = 4;
  bool remaining_height_first = false;       // MULTITREE's tree order
  StepEnd step_end = StepEnd::paper;         // MULTITREE
  LineOrder line_order = LineOrder::folded;  // 2D-RING on a mesh
  PhaseStart phases = PhaseStart::chained;   // 2D-RING
  std::uint32_t segments = 0;                // 0: the algorithm's own choice
  std::uint32_t base = 4;                    // bcube: peers of a group
  std::uint32_t root = 0;                    // broadcast, reduce: rank
  CountsConfig counts;                       // all_to_allv
  std::vector<std::uint32_t> ranks;          // the node of each rank of a group; empty: all nodes
  bool relay = false;                        // nodes outside of the group store and send on
  bool bitwise_identical = false;            // ranks must get the same bits of a sum
  RankOrderConfig rank_order;
  // Chunks is for planners, the next two members only for themis. See PlanRequest.
  std::uint32_t chunks = 64;
  std::uint32_t threshold_divisor = 16;
  bool loads_start_at_fixed_delay = false;
  PartSizes parts = PartSizes::automatic;  // of different NPUs
  ProgramConfig program;                   // collective programs
};

// One line of a file of messages.
struct TrafficMessage {
  Cycle ready = 0;
  NodeId from;
  NodeId to;
  Bytes bytes = 0;
};

// Point-to-point messages in place of a collective: drawn at random, as network simulators are
// commonly driven, or listed in a file.
struct TrafficConfig {
  TrafficPattern pattern = TrafficPattern::uniform;
  std::string file;    // file: path as written, relative to `folder`
  std::string folder;  // of the configuration; empty: the current one
  // file: the messages in it; for each source node ascending in time, equal times in the file's
  // order.
  std::vector<TrafficMessage> messages;
  // All other patterns:
  double injection_rate = 0.1;  // flits per node and cycle, head flits included
  Bytes message_bytes = 256;
  // hotspot: this share of the messages goes to one of `hotspots`, and the others go anywhere.
  std::vector<std::uint32_t> hotspots;
  double hotspot_share = 0.5;
  // Mean number of messages that a node generates at one flit per cycle before it pauses; 0: a node
  // draws in every cycle whether a message becomes ready (Bernoulli).
  std::uint32_t burst_messages = 0;
  TrafficLoop loop = TrafficLoop::open;
  // Closed loop: a node generates no request while `outstanding` of its requests have no reply.
  Bytes reply_bytes = 64;
  std::uint32_t outstanding = 4;
  // Messages generated in the measurement window are measured. Afterwards the sources go on for at
  // most drain_cycles, until all measured messages have arrived.
  Cycle warmup_cycles = 5000;
  Cycle measure_cycles = 10000;
  Cycle drain_cycles = 50000;
  std::uint64_t seed = 1;

  [[nodiscard]] Cycle window_end() const { return warmup_cycles + measure_cycles; }
  // No message becomes ready in this cycle or later.
  [[nodiscard]] Cycle end() const { return window_end() + drain_cycles; }
  [[nodiscard]] bool is_closed_loop() const { return loop == TrafficLoop::closed; }
  // The messages are drawn at random. Otherwise a file lists them, or sockets send them.
  [[nodiscard]] bool is_drawn() const {
    return pattern != TrafficPattern::file && pattern != TrafficPattern::sockets;
  }
};

// One training iteration. The collective all-reduces its gradients.
struct TrainingConfig {
  std::string file;     // layer table: path as written, relative to `folder`; empty: `network`
  std::string folder;   // of the configuration; empty: the current one
  std::string network;  // a built-in one
  std::uint32_t mini_batch = 16;  // samples per accelerator
  Overlap overlap = Overlap::none;
  ComputeSpec compute;
  std::vector<Layer> layers;  // contents of the table, in forward order
};

enum class WorkloadKind : std::uint8_t { resnet152, gnmt, dlrm, transformer_1t };

// Training iterations on a multi-dimensional system: computing by a roofline model, and several
// collectives, which the collective's algorithm plans.
struct WorkloadConfig {
  WorkloadKind kind = WorkloadKind::resnet152;
  std::uint32_t iterations = 3;  // Themis, Fig. 12
  std::uint32_t mini_batch = 0;  // 0 ("auto"): as published
  GradientExchange exchange = GradientExchange::bulk;
  std::uint32_t model_npus = 128;  // transformer_1t
  std::uint32_t tflops = 312;
  std::uint64_t memory_bytes_per_second = 0;  // 0 ("unlimited")
};

// Short control and synchronization messages. They are normal packets with wormhole switching,
// beside the gradients of a collective or alone on an idle network.
struct ControlConfig {
  ControlPattern pattern = ControlPattern::uniform;
  double injection_rate = 0.01;  // flits per node and cycle, head flits included
  Bytes message_bytes = 16;
  // Messages are posted during this time; 0 ("collective"): until the end of the collective.
  Cycle duration_cycles = 0;
  std::uint64_t seed = 1;
  ControlVcs vcs = ControlVcs::own;
  std::uint32_t vc_depth_flits = 0;  // of own VCs; 0 ("router"): as deep as other VCs
};

// Other tenants of a data centre: flows between racks that alternate between sending and pausing
// while the job runs.
struct TenantsConfig {
  std::uint32_t flows = 16;
  Bytes message_bytes = 65536;
  std::uint64_t bytes_per_second = 1'000'000'000;  // of a flow while it sends
  // Means of geometric distributions.
  std::uint64_t on_time_ps = 1'000'000'000;
  std::uint64_t off_time_ps = 1'000'000'000;
  std::uint64_t seed = 1;
};

// Decisions that Verilog of hw/rtl takes in place of the model.
enum class RtlBlock : std::uint8_t { ni_control, dependency_state, dimension_queue, output_hold };

struct SimulationConfig {
  // automatic: train if it is exact, see sims/point/fidelity.h.
  Fidelity fidelity = Fidelity::automatic;
  // automatic: on if it is exact, see sims/model/folding.h.
  Folding fold = Folding::automatic;
  bool check = true;  // certify before simulating
  bool always_clocked = false;
  bool link_utilization = false;   // results contain the utilization of each link
  bool monitors = false;           // credit and VC order monitors, every cycle
  double stall_probability = 0.0;  // every link refuses a flit with this probability in each cycle
  std::uint64_t seed = 1;          // of the stalls
  // Deadlock is reported if no flit moved and nothing was delivered for this long.
  Cycle watchdog_cycles = 100000;
  std::vector<RtlBlock> rtl;

  [[nodiscard]] bool has_rtl(RtlBlock block) const {
    return std::find(rtl.begin(), rtl.end(), block) != rtl.end();
  }
};

// Settings of `espalier reorder`: how pairs are measured, and the search. A run does not depend on
// them.
struct ReorderConfig {
  // "auto" (nullopt): the model of the collective's algorithm.
  std::optional<OrderModel> model;
  OrderForm form = OrderForm::generated;
  OrderSearchSpec search;
  std::uint32_t random_orders = 500;  // to compare with (Cloud Collectives, section V)
  // Networks of at most this many nodes are searched exhaustively.
  std::uint32_t exact_nodes = 12;
  Bytes window = 64 << 10;        // bytes that a pair moves per round trip
  std::uint32_t probes = 1;       // for each ordered pair
  Bytes payload = 4;              // of a probe
  std::uint32_t percentile = 10;  // of a pair's round trips
};

// One point of the cross product of the file's lists.
struct RunPoint {
  SystemConfig system;
  // Exactly one of the two is set, or only control messages are.
  std::optional<CollectiveConfig> collective;
  std::optional<TrafficConfig> traffic;
  std::optional<TrainingConfig> training;  // only with a collective
  // Only with a collective, and not with training.
  std::optional<WorkloadConfig> workload;
  std::optional<CoordinationConfig> coordination;  // only with training
  std::optional<ControlConfig> control;            // never with traffic
  // Only on a data_center, and never with traffic or control.
  std::optional<TenantsConfig> tenants;
  FaultsConfig faults;
  SimulationConfig simulation;
  ReorderConfig reorder;
  // FNV-1a of the text of each file that the point was read from, by the path that was opened.
  std::map<std::string, std::uint64_t> file_hashes;
};

}  // namespace espalier
