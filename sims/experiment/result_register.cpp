#include "sims/experiment/result_register.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "hw/counters.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<char, const char*> kKinds[] = {
    {'c', "collective"}, {'p', "plan"}, {'g', "program"}, {'t', "training"},
    {'w', "workload"},   {'j', "job"},  {'f', "traffic"}, {'n', "control"}};
constexpr const char* kAll = "cpgtwjfn";

// The fields without counters, in the order in which results list them.
std::vector<ResultField> fields_without_counters() {
  constexpr auto number = ResultType::number;
  constexpr auto text = ResultType::text;
  constexpr auto truth = ResultType::truth;
  constexpr auto object = ResultType::object;
  constexpr auto list = ResultType::list;
  constexpr auto any = ResultType::any;
  constexpr auto given = ResultSource::given;
  constexpr auto generator = ResultSource::generator;
  constexpr auto certifier = ResultSource::certifier;
  constexpr auto simulation = ResultSource::simulation;
  constexpr auto bound = ResultSource::bound;
  constexpr auto cost_model = ResultSource::cost_model;
  constexpr auto host = ResultSource::host;
  constexpr auto never = VoidWhen::never;
  constexpr auto not_ended = VoidWhen::not_ended;
  constexpr auto not_checked = VoidWhen::not_checked;
  return {
      {"workload", "w", text, "", given, never, "name of the training workload"},
      {"network", "tj", text, "", given, never, "network that is trained: its name, or its file"},
      {"layers", "t", number, "", given, never, "layers of the network"},
      {"parameters", "t", number, "", given, never, "parameters of the network"},
      {"mini_batch", "tj", number, "samples", given, never,
       "samples that one node computes in an iteration"},
      {"overlap", "tj", text, "", given, never, "how communication overlaps computation"},
      {"traffic", "f", text, "", given, never, "pattern of the traffic"},
      {"algorithm", "cpgtwjn", text, "", given, never,
       "algorithm or planner; null if control messages run alone"},
      {"choice", "cpgtwj", text, "", generator, never,
       "what `algorithm: auto` took, and the times that decided; of several collectives, what it "
       "took for each; otherwise absent"},
      {"program", "g", text, "", given, never,
       "name of the collective program; beside algorithm `auto`, the program that it took"},
      {"op", "cpgt", text, "", given, never, "collective operation"},
      {"topology", kAll, text, "", given, never, "name of the topology"},
      {"nodes", kAll, number, "", given, never, "nodes that compute; switches are not counted"},
      {"ranks", "c", number, "", given, never,
       "nodes that take part in the collective, where these are not all"},
      {"model_npus", "w", number, "", given, never, "NPUs of a model-parallel group"},
      {"data_npus", "w", number, "", given, never, "NPUs of a data-parallel group"},
      {"iterations", "w", number, "", given, never, "simulated iterations"},
      {"exchange", "w", text, "", given, never, "how the workload exchanges embeddings"},
      {"size_bytes", "cpgtj", number, "bytes", given, never, "size of the collective at one node"},
      {"message_bytes", "f", number, "bytes", given, never, "size of a drawn message"},
      {"chunks", "p", number, "", generator, never, "chunks of the plan"},
      {"queue_order", "pw", text, "", given, never,
       "order in which a dimension queue picks stages"},
      {"in_flight", "p", any, "", given, never,
       "stages of a dimension in flight at once, or `auto`"},
      {"flow_control", "cpgtjf", text, "", given, never, "`packet` or `message`"},
      {"lockstep", "ct", text, "", given, never, "how steps are kept apart"},
      {"fidelity", "cpgtjfn", text, "", given, never, "engine that simulated: `train` or `cycle`"},
      {"rank_order", "ctj", text, "", given, never,
       "which node each rank is; generated schedules only (rank_order.md)"},
      {"rank_order_seed", "ctj", number, "", given, never, "seed of a random rank order"},
      {"timesteps", "ct", number, "steps", generator, never,
       "timesteps of the schedule; an all-reduce of T steps a phase has 2T"},
      {"forecast_cycles", "p", number, "cycles", generator, never,
       "time that the planner's pre-simulation expects"},
      {"protocol", "g", text, "", given, never, "protocol of the program"},
      {"instructions", "g", number, "", generator, never, "instructions of all nodes"},
      {"channels", "g", number, "", generator, never, "channels of the program"},
      {"instances", "g", number, "", given, never, "instances of a built-in program"},
      {"calls", "g", number, "", generator, never, "calls that the size is split into"},
      {"chunk_bytes", "g", number, "bytes", generator, never, "size of a chunk"},
      {"tiles", "g", number, "", generator, never, "tiles of a chunk"},
      {"slots", "g", number, "", generator, never, "slots of a connection"},
      {"bitwise_identical", "g", truth, "", generator, never,
       "false: ranks of a built-in all_reduce add in different orders, so floating-point sums "
       "differ in their last bits"},
      {"offered_flits_per_node_cycle", "f", number, "flits", given, never,
       "drawn traffic: flits that a node offers in a cycle"},
      {"generated_flits_per_node_cycle", "f", number, "flits", simulation, not_ended,
       "drawn traffic: flits that a node generated in a cycle of the measurement window, replies "
       "included"},
      {"accepted_flits_per_node_cycle", "f", number, "flits", simulation, not_ended,
       "flits that became visible at a node in a cycle of the measurement window; of a file: that "
       "a node injected in a cycle, mean over `cycles`"},
      {"config_hash", kAll, text, "", given, never,
       "FNV-1a hash of the resolved configuration of this point"},
      {"certified", "cpgtn", truth, "", certifier, not_checked,
       "verdict of the certifier; plans without `enforce_order` have none, because they may "
       "deadlock"},
      {"contention_free", "ct", truth, "", certifier, not_checked,
       "proven: no link is used twice in a step"},
      {"table_entries_max", "ct", number, "entries", certifier, not_checked,
       "largest schedule table of a node, without NOPs"},
      {"table_entry_bits", "ct", number, "bits", cost_model, not_checked,
       "width of a table entry, from its fields"},
      {"table_bytes_max", "ct", number, "bytes", cost_model, not_checked,
       "size of the largest schedule table"},
      {"least_slots", "g", number, "", certifier, not_checked,
       "slots that the program needs at least"},
      {"contexts_max", "g", number, "", certifier, not_checked, "contexts of the NI that has most"},
      {"context_steps_max", "g", number, "", certifier, not_checked,
       "steps of the longest context"},
      {"connections", "g", number, "", certifier, not_checked, "connections between two nodes"},
      {"promises_known", "g", truth, "", certifier, not_checked,
       "false: the promises of a custom collective are not given, and only delivery is verified"},
      {"training", "tj", object, "", simulation, not_ended,
       "where the time of an iteration goes; a coordinated job: means over the iterations after "
       "the first, or of the only one"},
      {"training.forward_cycles", "t", number, "cycles", given, not_ended, "forward propagation"},
      {"training.forward_ns", "t", number, "ns", given, not_ended, "forward propagation"},
      {"training.backward_cycles", "t", number, "cycles", given, not_ended, "back-propagation"},
      {"training.backward_ns", "t", number, "ns", given, not_ended, "back-propagation"},
      {"training.compute_cycles", "t", number, "cycles", given, not_ended,
       "computation, without jitter"},
      {"training.compute_ns", "tj", number, "ns", given, not_ended, "computation, without jitter"},
      {"training.compute_alone_cycles", "t", number, "cycles", simulation, not_ended,
       "computation while no all-reduce is in flight"},
      {"training.compute_alone_ns", "t", number, "ns", simulation, not_ended,
       "computation while no all-reduce is in flight"},
      {"training.all_reduce_cycles", "t", number, "cycles", simulation, not_ended,
       "time in which an all-reduce is in flight"},
      {"training.all_reduce_ns", "tj", number, "ns", simulation, not_ended,
       "time in which an all-reduce is in flight"},
      {"training.overlapped_cycles", "t", number, "cycles", simulation, not_ended,
       "time in which an all-reduce and computation overlap"},
      {"training.overlapped_ns", "t", number, "ns", simulation, not_ended,
       "time in which an all-reduce and computation overlap"},
      {"training.exposed_cycles", "t", number, "cycles", simulation, not_ended,
       "iteration less computation"},
      {"training.exposed_ns", "tj", number, "ns", simulation, not_ended,
       "iteration less computation"},
      {"training.iteration_cycles", "t", number, "cycles", simulation, not_ended,
       "from the start of forward propagation to the end of computation and communication"},
      {"training.iteration_ns", "tj", number, "ns", simulation, not_ended,
       "from the start of forward propagation to the end of computation and communication"},
      {"training.exposed_share", "tj", number, "", simulation, not_ended,
       "exposed time / iteration"},
      {"training.efficiency", "j", number, "", simulation, not_ended, "computation / iteration"},
      {"training.samples_per_s", "j", number, "1/s", simulation, not_ended,
       "samples that all ranks compute in a second"},
      {"training.coordination_ns", "j", number, "ns", simulation, not_ended,
       "time that the coordination thread of rank 0 works in an iteration"},
      {"training.coordination_cycles", "j", number, "", simulation, not_ended,
       "coordination cycles of rank 0 in an iteration"},
      {"training.all_reduces", "j", number, "", simulation, not_ended,
       "all-reduces of an iteration"},
      {"training.waiting_ns", "j", number, "ns", simulation, not_ended,
       "wait from the first to the last tensor of an all-reduce on rank 0, summed over "
       "all-reduces; a part of a cut group waits for the whole group"},
      {"training.wait_for_tensors_ns", "j", number, "ns", simulation, not_ended,
       "the same wait, of one all-reduce"},
      {"training.negotiation_ns", "j", number, "ns", simulation, not_ended,
       "from the last tensor on rank 0 to the post of the last rank, of one all-reduce"},
      {"training.queued_ns", "j", number, "ns", simulation, not_ended,
       "from the post of the last rank to the start, of one all-reduce"},
      {"collectives", "t", list, "", simulation, not_ended, "every all-reduce of the iteration"},
      {"collectives[].layer", "t", text, "", given, not_ended,
       "layer of the all-reduce, with layerwise overlap"},
      {"collectives[].size_bytes", "t", number, "bytes", given, not_ended,
       "size of the all-reduce"},
      {"collectives[].posted_cycle", "t", number, "cycles", simulation, not_ended,
       "cycle in which the hosts post it, from the end of back-propagation without overlap, from "
       "its start with overlap"},
      {"collectives[].first_issue_cycle", "t", number, "cycles", simulation, not_ended,
       "cycle of the first issue"},
      {"collectives[].last_visible_cycle", "t", number, "cycles", simulation, not_ended,
       "cycle in which the last data is visible"},
      {"cycles", "cpgtjf", number, "cycles", simulation, not_ended,
       "first issue to last data visible, reduction included; a program: call of the hosts to the "
       "end of the last context"},
      {"time_ns", "cpgtwjf", number, "ns", simulation, not_ended,
       "the same in nanoseconds; a workload: time of all iterations"},
      {"link_utilization_mean", "cpgtf", number, "", simulation, not_ended,
       "part of `cycles` in which a link carries a flit, mean over all links"},
      {"head_flit_overhead", "cpgtf", number, "", simulation, never, "head flits / payload flits"},
      {"flit_hops", "cpgtjfn", number, "flits", simulation, never,
       "flits through routers, summed over routers; control messages included"},
      {"ni_ports", "cpgtf", number, "", simulation, never,
       "injection and ejection ports that an NI uses"},
      {"accepted_min_flits_per_node_cycle", "f", number, "flits", simulation, not_ended,
       "drawn traffic: the same for the messages of one source and their replies, the smallest "
       "over "
       "the sources"},
      {"saturated", "f", truth, "", simulation, not_ended,
       "drawn traffic: the network left part of the window's flits in the queues (latency.md), or "
       "the "
       "drain time ended before all measured messages had arrived; null without warm-up"},
      {"measured_messages", "f", number, "", simulation, never,
       "messages generated in the measurement window; of a file: all"},
      {"message_latency_mean_cycles", "cpgtf", number, "cycles", simulation, never,
       "issued to visible, mean; without control messages. Traffic: generated to visible (closed "
       "loop: until the reply is visible), of the measured messages"},
      {"message_latency_half_width_cycles", "f", number, "cycles", simulation, never,
       "half of the 95 % confidence interval of the mean, by 20 batch means; null if a batch has "
       "no "
       "message, and for a file"},
      {"message_latency_p50_cycles", "f", number, "cycles", simulation, never,
       "latency that half of the measured messages do not exceed"},
      {"message_latency_p95_cycles", "f", number, "cycles", simulation, never,
       "latency that 95 % of the measured messages do not exceed"},
      {"message_latency_p99_cycles", "f", number, "cycles", simulation, never,
       "latency that 99 % of the measured messages do not exceed"},
      {"message_latency_max_cycles", "cpgtf", number, "cycles", simulation, never,
       "the same, maximum"},
      {"messages", "cpgtjf", number, "", simulation, never,
       "messages delivered; without control messages"},
      {"control", "cn", object, "", simulation, never, "control messages"},
      {"control.pattern", "cn", text, "", given, never, "pattern of the control messages"},
      {"control.injection_rate", "cn", number, "", given, never,
       "rate at which a node injects control messages"},
      {"control.message_bytes", "cn", number, "bytes", given, never, "size of a control message"},
      {"control.vcs", "cn", text, "", given, never,
       "VCs of control messages: `shared` or their own"},
      {"control.messages", "cn", number, "", simulation, never,
       "control messages posted and delivered"},
      {"control.latency_mean_cycles", "cn", number, "cycles", simulation, never,
       "posted to visible, mean"},
      {"control.latency_p99_cycles", "cn", number, "cycles", simulation, never,
       "posted to visible, 99th percentile (nearest rank)"},
      {"control.latency_max_cycles", "cn", number, "cycles", simulation, never,
       "posted to visible, maximum"},
      {"oversubscription", "cgt", object, "", given, never, "oversubscription of a `data_center`"},
      {"oversubscription.rack", "cgt", number, "", given, never,
       "nodes' bandwidth / rack's uplinks"},
      {"oversubscription.aggregation", "cgt", number, "", given, never,
       "rack's uplinks / uplinks of the aggregation layer"},
      {"tenants", "cg", object, "", simulation, never,
       "what other tenants posted and got (topologies.md)"},
      {"tenants.flows", "cg", number, "", given, never, "flows of other tenants"},
      {"tenants.message_bytes", "cg", number, "bytes", given, never, "size of a tenant's message"},
      {"tenants.messages", "cg", number, "", simulation, never, "messages delivered to tenants"},
      {"tenants.bytes", "cg", number, "bytes", simulation, never, "payload delivered to tenants"},
      {"tenants.offered_GBps", "cg", number, "GB/s", simulation, never,
       "bandwidth that tenants offered"},
      {"tenants.accepted_GBps", "cg", number, "GB/s", simulation, never,
       "bandwidth that tenants got"},
      {"tenants.offered_load", "cg", number, "", simulation, never,
       "offered bandwidth / bandwidth of all rack uplinks"},
      {"tenants.accepted_load", "cg", number, "", simulation, never,
       "accepted bandwidth / bandwidth of all rack uplinks"},
      {"tenants.latency_mean_cycles", "cg", number, "cycles", simulation, never,
       "posted to visible, mean"},
      {"verified", kAll, truth, "", simulation, never,
       "everything is delivered, the data of every rank is compared and right, no flow-control "
       "rule is broken"},
      {"failure", kAll, text, "", simulation, never, "why `verified` is false"},
      {"links", "cgtf", list, "", simulation, never,
       "every link in the order of the topology, with `simulation.link_utilization: true`"},
      {"links[].from", "cgtf", text, "", given, never, "vertex at the start of the link"},
      {"links[].to", "cgtf", text, "", given, never, "vertex at the end of the link"},
      {"links[].utilization", "cgtf", number, "", simulation, not_ended,
       "part of `cycles` in which the link carries a flit"},
      {"folded", "p", truth, "", given, never, "true: one NPU was simulated for all"},
      {"parts", "p", text, "", given, never, "whether the parts of a chunk are `equal` or `exact`"},
      {"utilization", "pw", number, "", simulation, not_ended,
       "bytes sent / what the bandwidth of all dimensions carries in that time"},
      {"dimensions", "p", object, "", generator, never, "every dimension (themis.md)"},
      {"dimensions.dim*", "p", object, "", generator, never, "dimension 1, 2, ..."},
      {"dimensions.dim*.shape", "p", text, "", given, never, "shape of the dimension"},
      {"dimensions.dim*.size", "p", number, "", given, never, "NPUs along the dimension"},
      {"dimensions.dim*.algorithm", "p", text, "", generator, never, "algorithm on the dimension"},
      {"dimensions.dim*.bandwidth_GBps", "p", number, "GB/s", given, never,
       "bandwidth of an NPU on the dimension"},
      {"dimensions.dim*.flit_bytes", "p", number, "bytes", given, never, "flit size"},
      {"dimensions.dim*.bytes_per_node", "p", number, "bytes", simulation, never,
       "payload that an NPU sent"},
      {"dimensions.dim*.planned_bytes_per_node", "p", number, "bytes", generator, never,
       "payload that the plan foresees"},
      {"dimensions.dim*.utilization", "p", number, "", simulation, not_ended,
       "payload sent / what the dimension carries in that time"},
      {"activity", "p", object, "", simulation, never,
       "how much of a period a dimension of the first NPU has a chunk to work on"},
      {"activity.period_ns", "p", number, "ns", simulation, never, "length of a period"},
      {"activity.dim*", "p", list, "", simulation, never, "share of each period"},
      {"bandwidth_GBps", "cpgt", number, "GB/s", simulation, not_ended,
       "size / time, 1 GB = 1e9 bytes"},
      {"bound_ns", "cpgt", number, "ns", bound, never,
       "proven lower bound of the time; null for a program that broadcasts, reduces or is custom"},
      {"bound_ratio", "cpgt", number, "", bound, not_ended, "bound / time"},
      {"bound_binding", "cpgt", text, "", bound, never, "what binds the bound"},
      {"bound_proof", "cpgt", object, "", bound, never,
       "certificate of bound_ns, checked (bounds.md); absent where the bound is 0"},
      {"bound_proof.schedules", "cpgt", text, "", bound, never,
       "for which schedules it is proven: `any`, or `in_network_switches`"},
      {"bound_proof.kind", "cpgt", text, "", bound, never,
       "`crossing`, `partition`, `prices` or `dimensions`"},
      {"bound_proof.into", "cpgt", list, "", bound, never,
       "crossing: the vertices of the set that data enter"},
      {"bound_proof.into_all_but", "cpgt", list, "", bound, never,
       "crossing: the vertices outside of that set, if they are fewer"},
      {"bound_proof.senders", "cpgt", list, "", bound, never,
       "crossing: nodes whose data enter; absent: all nodes outside of the set"},
      {"bound_proof.receivers", "cpgt", list, "", bound, never,
       "crossing: nodes that wait for the data; absent: all nodes in the set"},
      {"bound_proof.counted", "cgt", text, "", bound, never,
       "partition: links `out` of the parts, or `in`"},
      {"bound_proof.parts", "cgt", list, "", bound, never,
       "partition: the vertices of each part; absent: every node is a part"},
      {"bound_proof.prices", "cg", list, "", bound, never,
       "prices: each link's ends and its price per byte; absent: all prices are equal"},
      {"bound_proof.dimensions", "p", list, "", bound, never,
       "dimensions whose links are cut, counted from 1"},
      {"two_phase_bound_ns", "ct", number, "ns", bound, never,
       "all_reduce: the least time of a reduce_scatter that ends before its all_gather begins"},
      {"published", "cpgt", list, "", given, never,
       "compare: other tools' times for the same network, operation and size"},
      {"published[].tool", "cpgt", text, "", given, never, "the other tool"},
      {"published[].time_ns", "cpgt", number, "ns", given, never, "its time"},
      {"published[].speed", "cpgt", number, "", simulation, not_ended, "its time / time_ns"},
      {"published[].source", "cpgt", text, "", given, never, "where the time stands"},
      {"ideal_ns", "p", number, "ns", bound, never,
       "size / bandwidth of all dimensions, the Ideal of the Themis paper"},
      {"iteration", "w", object, "", simulation, not_ended, "where the time of the workload goes"},
      {"iteration.forward_ns", "w", number, "ns", given, not_ended, "forward propagation"},
      {"iteration.backward_ns", "w", number, "ns", given, not_ended, "back-propagation"},
      {"iteration.compute_ns", "w", number, "ns", given, not_ended, "computation"},
      {"iteration.exposed_data_ns", "w", number, "ns", simulation, not_ended,
       "exposed communication of data parallelism"},
      {"iteration.exposed_model_ns", "w", number, "ns", simulation, not_ended,
       "exposed communication of model parallelism"},
      {"iteration.exposed_ns", "w", number, "ns", simulation, not_ended, "exposed communication"},
      {"iteration.communication_ns", "w", number, "ns", simulation, not_ended,
       "time in which communication is in flight"},
      {"iteration.ideal_exposed_ns", "w", number, "ns", bound, not_ended,
       "exposed communication at full utilization"},
      {"iteration.ideal_total_ns", "w", number, "ns", bound, not_ended,
       "time of all iterations at full utilization"},
      {"coordination", "j", object, "", simulation, never, "coordinated job (coordination.md)"},
      {"coordination.mode", "j", text, "", given, never, "how ranks agree"},
      {"coordination.control_plane", "j", text, "", given, never, "`network` or `closed_form`"},
      {"coordination.data_plane", "j", text, "", given, never, "`network` or `closed_form`"},
      {"coordination.tensors", "j", number, "", given, never, "tensors of an iteration"},
      {"coordination.groups", "j", number, "", given, never, "groups of tensors"},
      {"coordination.iterations", "j", number, "", given, never, "iterations of the job"},
      {"coordination.seed", "j", number, "", given, never, "seed of the jitter"},
      {"coordination.control_messages", "j", number, "", simulation, never,
       "coordination messages of the job"},
      {"coordination.control_bytes", "j", number, "bytes", simulation, never,
       "bytes of the coordination messages"},
      {"coordination.by_iteration", "j", list, "", simulation, not_ended, "each iteration"},
      {"coordination.by_iteration[].iteration_ns", "j", number, "ns", simulation, not_ended,
       "time of the iteration"},
      {"coordination.by_iteration[].control_ns", "j", number, "ns", simulation, not_ended,
       "time that the coordination thread of rank 0 works"},
      {"coordination.by_iteration[].control_cycles", "j", number, "", simulation, not_ended,
       "coordination cycles of rank 0"},
      {"coordination.log2_step", "j", number, "", given, not_ended,
       "step of the exponent in `counts_by_log2`"},
      {"coordination.counts_by_log2", "j", list, "", simulation, not_ended,
       "all-reduces of 1 B, of 2 and 3 B, of 4 to 7 B, ... after the first iteration"},
      {"area", kAll, object, "", cost_model, never,
       "what routers and NIs cost; `_high` is the upper end where there is SRAM (cost.md)"},
      {"area.technology", kAll, text, "", given, never, "cell library"},
      {"area.node_nm", kAll, number, "nm", given, never, "technology node"},
      {"area.utilization", kAll, number, "", given, never, "placement utilization"},
      {"area.router_um2", kAll, number, "um2", cost_model, never, "largest router at an NPU"},
      {"area.router_um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.ni_um2", kAll, number, "um2", cost_model, never, "NI of that NPU"},
      {"area.ni_um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.ni_extension_um2", kAll, number, "um2", cost_model, never,
       "part of the NI that schedules need"},
      {"area.ni_extension_um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.ni_extension_share", kAll, number, "", cost_model, never,
       "extension / (NI and router)"},
      {"area.ni_adders_um2", kAll, number, "um2", cost_model, never,
       "adders of that NI, which are no part of the extension"},
      {"area.ni_extension_and_adders_share", kAll, number, "", cost_model, never,
       "(extension and adders) / (NI and router)"},
      {"area.system_mm2", kAll, number, "mm2", cost_model, never,
       "all routers and NIs, and link PHYs where system.cost.macros.link gives them"},
      {"area.system_mm2_high", kAll, number, "mm2", cost_model, never, "upper end"},
      {"area.system_placed_mm2", kAll, number, "mm2", cost_model, never,
       "all routers and NIs / placement utilization"},
      {"area.system_placed_mm2_high", kAll, number, "mm2", cost_model, never, "upper end"},
      {"area.system_leakage_mW", kAll, number, "mW", cost_model, never,
       "leakage of all routers and NIs; null outside of 11 to 45 nm"},
      {"area.left_out", kAll, list, "", cost_model, never,
       "parts that have no area in any total: link PHYs unless system.cost.macros.link gives them"},
      {"area.max_clock_GHz", kAll, number, "GHz", cost_model, never, "highest clock"},
      {"area.clock_met", kAll, truth, "", cost_model, never,
       "the system can run at its configured clock"},
      {"area.clock_limited_by", kAll, text, "", cost_model, never, "block that limits the clock"},
      {"area.clock_origin", kAll, text, "", cost_model, never, "where its delay comes from"},
      {"area.max_clock_without_adders_GHz", kAll, number, "GHz", cost_model, never,
       "highest clock if the reduction units have latency enough"},
      {"area.pipeline_cycles", kAll, number, "cycles", cost_model, never,
       "router pipeline as simulated"},
      {"area.reduction_cycles", kAll, number, "cycles", cost_model, never,
       "latency of reduction units as simulated"},
      {"area.arbitration_cycles", "pw", number, "cycles", cost_model, never,
       "arbitration of an NI as simulated; multi-dimensional systems only"},
      {"area.routers", kAll, list, "", cost_model, never, "every kind of router"},
      {"area.nis", kAll, list, "", cost_model, never, "every kind of NI"},
      {"area.blocks", kAll, list, "", cost_model, never,
       "blocks of the largest router and of its NI"},
      {"area.routers[].of", kAll, text, "", cost_model, never, "`switch` or `npu`"},
      {"area.routers[].ports", kAll, number, "", cost_model, never, "ports"},
      {"area.routers[].count", kAll, number, "", cost_model, never, "instances"},
      {"area.routers[].um2", kAll, number, "um2", cost_model, never, "area of one"},
      {"area.routers[].um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.nis[].ports", kAll, number, "", cost_model, never, "ports"},
      {"area.nis[].count", kAll, number, "", cost_model, never, "instances"},
      {"area.nis[].um2", kAll, number, "um2", cost_model, never, "area of one"},
      {"area.nis[].um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.nis[].extension_um2", kAll, number, "um2", cost_model, never,
       "part that schedules need"},
      {"area.nis[].extension_um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.blocks[].block", kAll, text, "", cost_model, never, "name of the block"},
      {"area.blocks[].count", kAll, number, "", cost_model, never, "instances"},
      {"area.blocks[].um2", kAll, number, "um2", cost_model, never, "area of all instances"},
      {"area.blocks[].um2_high", kAll, number, "um2", cost_model, never, "upper end"},
      {"area.blocks[].words", kAll, number, "", cost_model, never,
       "words of a memory; null for logic"},
      {"area.blocks[].bits", kAll, number, "bits", cost_model, never,
       "width of a memory; null for logic"},
      {"area.blocks[].implementation", kAll, text, "", cost_model, never, "how it is built"},
      {"area.blocks[].origin", kAll, text, "", cost_model, never, "where the area comes from"},
      {"area.blocks[].fo4", kAll, number, "FO4", cost_model, never, "delay"},
      {"area.blocks[].ps", kAll, number, "ps", cost_model, never, "delay"},
      {"area.blocks[].delay_origin", kAll, text, "", cost_model, never,
       "where the delay comes from"},
      {"area.blocks[].pj_read_or_use", kAll, number, "pJ", cost_model, never,
       "energy of a read, or of a use of logic"},
      {"area.blocks[].pj_write", kAll, number, "pJ", cost_model, never,
       "energy of a write; null for logic"},
      {"area.blocks[].pj_origin", kAll, text, "", cost_model, never, "where the energy comes from"},
      {"area.blocks[].leakage_mW", kAll, number, "mW", cost_model, never,
       "leakage of all instances; null without data for the node"},
      {"area.blocks[].leakage_origin", kAll, text, "", cost_model, never,
       "where the leakage comes from"},
      {"energy", "cpgtfn", object, "", simulation, not_ended,
       "energy of routers, NIs and links (cost.md); memory behind the DMA engine is no part of it"},
      {"energy.priced_uJ", "cpgtfn", number, "uJ", cost_model, not_ended,
       "sum of the priced parts; less than the total while left_out names parts"},
      {"energy.priced_pJ_per_byte", "cpgtfn", number, "pJ/B", cost_model, not_ended,
       "priced_uJ / payload delivered"},
      {"energy.total_uJ", "cpgtfn", number, "uJ", cost_model, not_ended,
       "energy of routers, NIs and links; null while left_out names a part"},
      {"energy.covers", "cpgtfn", list, "", cost_model, not_ended, "parts in priced_uJ"},
      {"energy.left_out", "cpgtfn", list, "", cost_model, not_ended,
       "parts of routers, NIs and links that have no price: links without "
       "system.cost.macros.link, leakage outside of 11 to 45 nm"},
      {"energy.events", "cpgtfn", object, "", simulation, not_ended, "counted events"},
      {"energy.events.buffer_writes", "cpgtfn", number, "", simulation, not_ended,
       "flits written to router buffers"},
      {"energy.events.buffer_reads", "cpgtfn", number, "", simulation, not_ended,
       "flits read from router buffers"},
      {"energy.events.crossbar_traversals", "cpgtfn", number, "", simulation, not_ended,
       "flits through crossbars"},
      {"energy.events.arbitrations", "cpgtfn", number, "", simulation, not_ended,
       "packets that won an output"},
      {"energy.events.ni_buffer_flits", "cpgtfn", number, "", simulation, not_ended,
       "flits through NI buffers"},
      {"energy.events.dma_reads", "cpgtfn", number, "", simulation, not_ended,
       "packets or sub-packets that DMA engines read"},
      {"energy.events.ejected_flits", "cpgtfn", number, "", simulation, not_ended,
       "flits that arrived at NIs of nodes"},
      {"energy.events.additions", "cpgtfn", number, "", simulation, not_ended,
       "pairs of elements that reduction units added"},
      {"energy.events.instruction_fetches", "g", number, "", simulation, not_ended,
       "instructions of collective programs fetched"},
      {"energy.events.table_reads", "ctfn", number, "", simulation, not_ended,
       "schedule table entries read"},
      {"energy.events.queue_picks", "p", number, "", simulation, not_ended,
       "stages picked from dimension queues"},
      {"energy.events.link_flits", "cpgtfn", number, "", simulation, not_ended, "flits over links"},
      {"energy.uJ", "cpgtfn", object, "", cost_model, not_ended, "energy by part"},
      {"energy.origin", "cpgtfn", object, "", cost_model, not_ended,
       "where the energy of a part comes from"},
      {"energy.uJ.buffers", "cpgtfn", number, "uJ", cost_model, not_ended, "router buffers"},
      {"energy.origin.buffers", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.crossbars", "cpgtfn", number, "uJ", cost_model, not_ended, "crossbars"},
      {"energy.origin.crossbars", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.allocators", "cpgtfn", number, "uJ", cost_model, not_ended, "allocators"},
      {"energy.origin.allocators", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.ni_buffers", "cpgtfn", number, "uJ", cost_model, not_ended, "NI buffers"},
      {"energy.origin.ni_buffers", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.tables", "ctfn", number, "uJ", cost_model, not_ended, "schedule tables"},
      {"energy.origin.tables", "ctfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.queues", "p", number, "uJ", cost_model, not_ended, "dimension queues"},
      {"energy.origin.queues", "p", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.control", "cpgtfn", number, "uJ", cost_model, not_ended,
       "FIFO control, NI control and dependency state, or sequencers of program contexts"},
      {"energy.origin.control", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.ni_datapath", "cpgtfn", number, "uJ", cost_model, not_ended,
       "send queues, DMA engines, packetizers, ejection registers, message tables"},
      {"energy.origin.ni_datapath", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.instructions", "g", number, "uJ", cost_model, not_ended, "instruction memories"},
      {"energy.origin.instructions", "g", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.adders", "cpgtfn", number, "uJ", cost_model, not_ended,
       "adders of reduction units"},
      {"energy.origin.adders", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.clock_tree", "cpgtfn", number, "uJ", cost_model, not_ended,
       "clock tree; null without a run time"},
      {"energy.origin.clock_tree", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.leakage", "cpgtfn", number, "uJ", cost_model, not_ended,
       "leakage times run time; null outside of 11 to 45 nm"},
      {"energy.origin.leakage", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"energy.uJ.links", "cpgtfn", number, "uJ", cost_model, not_ended,
       "links; null if the energy of a bit is not configured"},
      {"energy.origin.links", "cpgtfn", text, "", cost_model, not_ended,
       "where the energy of this part comes from"},
      {"explanation", "cpgt", object, "", simulation, not_ended,
       "where the time went, with `--explain` (explain.md)"},
      {"explanation.verdict", "cpgt", text, "", simulation, not_ended,
       "what decides the time, in one or two sentences"},
      {"explanation.limit.kind", "cpgt", text, "", simulation, not_ended,
       "`channel`, or the largest kind of time (explain.md)"},
      {"explanation.limit.share", "cpgt", number, "", simulation, not_ended,
       "part of the time that the limit decides"},
      {"explanation.limit.channel", "cpgt", text, "", simulation, not_ended,
       "the channel, for kind `channel`"},
      {"explanation.limit.rate_GBps", "cpgt", number, "GB/s", given, not_ended,
       "rate of the channel, if it is a link"},
      {"explanation.limit.usual_rate_GBps", "cpgt", number, "GB/s", given, not_ended,
       "rate of most links"},
      {"explanation.*", "cpgt", any, "", simulation, not_ended,
       "described under \"Where the time went\""},
      {"host", kAll, object, "", host, never, "what depends on the machine, and nothing else"},
      {"host.wall_s", kAll, number, "s", host, never, "wall time of the point"},
      {"host.planning_cpu_s", kAll, number, "s", host, never,
       "CPU time until there is a schedule, a plan or a program; of a job and a workload, without "
       "those that are made later"},
      {"host.choosing_s", kAll, number, "s", host, never,
       "part of wall_s in which `algorithm: auto` waits for simulations of its candidates"},
      {"host.engine_cpu_s", kAll, number, "s", host, never, "CPU time of the simulation"},
      {"host.flit_hops_per_cpu_s", kAll, number, "1/s", host, never,
       "flit hops that were simulated in a second of CPU time"},
      {"host.module_evaluations", kAll, number, "", host, never, "evaluations of modules"},
      {"host.peak_rss_MiB", kAll, number, "MiB", host, never, "peak memory of the process"},
  };
}

// The fields with the counters (hw/counters.h) behind `flit_hops`.
std::vector<ResultField> with_counters() {
  std::vector<ResultField> fields = fields_without_counters();
  auto at = std::find_if(fields.begin(), fields.end(), [](const ResultField& field) {
    return std::string_view(field.name) == "flit_hops";
  });
  for (const CounterRow& row : counter_rows()) {
    const VoidWhen when = row.counts_meetings ? VoidWhen::foldable : VoidWhen::never;
    at = fields.insert(at + 1, {row.name, "cpgtf", ResultType::number, row.unit,
                                ResultSource::simulation, when, row.meaning});
  }
  return fields;
}

const std::vector<ResultField> kRegister = with_counters();

// `pattern` may have one '*', which stands for any text.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view end = pattern.substr(star + 1);
  return name.size() >= star + end.size() && name.substr(0, star) == pattern.substr(0, star) &&
         name.substr(name.size() - end.size()) == end;
}

// Sets every member of that name to null: "links[].utilization", "dimensions.dim*.utilization".
void clear_member(Json& value, std::string_view name) {
  const std::size_t dot = name.find('.');
  std::string_view first = name.substr(0, dot);
  const bool in_list = first.size() > 2 && first.substr(first.size() - 2) == "[]";
  if (in_list) first.remove_suffix(2);
  for (auto& [key, member] : value.items()) {
    if (!matches(first, key)) continue;
    if (dot == std::string_view::npos) {
      member = nullptr;
    } else if (in_list && member.is_array()) {
      for (Json& entry : member) clear_member(entry, name.substr(dot + 1));
    } else if (member.is_object()) {
      clear_member(member, name.substr(dot + 1));
    }
  }
}

void add_names(const Json& value, const std::string& prefix, std::vector<std::string>& names) {
  if (value.is_array()) {
    for (const Json& entry : value) add_names(entry, prefix + "[]", names);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    const std::string name = prefix.empty() ? key : fmt::format("{}.{}", prefix, key);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    add_names(member, name, names);
  }
}

}  // namespace

const std::vector<ResultField>& result_register() { return kRegister; }

const ResultField* find_result_field(const std::string& name) {
  const auto found =
      std::find_if(kRegister.begin(), kRegister.end(),
                   [&](const ResultField& field) { return matches(field.name, name); });
  return found == kRegister.end() ? nullptr : &*found;
}

std::string kinds_text(const ResultField& field) {
  const std::string_view kinds = field.kinds;
  if (kinds == kAll) return "all";
  std::string text;
  for (const auto& [letter, kind] : kKinds) {
    if (kinds.find(letter) == std::string_view::npos) continue;
    text += (text.empty() ? "" : ", ") + std::string(kind);
  }
  return text;
}

const char* void_text(VoidWhen when) {
  switch (when) {
    case VoidWhen::never:
      break;
    case VoidWhen::not_ended:
      return "the run did not end";
    case VoidWhen::not_checked:
      return "the run is not checked";
    case VoidWhen::foldable:
      return "one NPU may stand for all";
  }
  return "";
}

const char* source_text(ResultSource source) {
  switch (source) {
    case ResultSource::given:
      return "given";
    case ResultSource::generator:
      return "generator";
    case ResultSource::certifier:
      return "certifier";
    case ResultSource::simulation:
      return "simulation";
    case ResultSource::bound:
      return "bound";
    case ResultSource::cost_model:
      return "cost model";
    case ResultSource::host:
      return "host";
  }
  return "";
}

std::string result_register_text() {
  std::string text;
  for (const ResultField& field : kRegister) {
    const std::string unit = *field.unit == '\0' ? "" : fmt::format(" [{}]", field.unit);
    text += fmt::format("{}{}\n  {}\n  from: {}\n  runs: {}\n", field.name, unit, field.meaning,
                        source_text(field.source), kinds_text(field));
    if (field.void_when != VoidWhen::never) {
      text += fmt::format("  void if: {}\n", void_text(field.void_when));
    }
  }
  return text;
}

std::string result_register_markdown() {
  std::string text =
      "| field | unit | meaning | from | runs | void if |\n|---|---|---|---|---|---|\n";
  for (const ResultField& field : kRegister) {
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", field.name, field.unit, field.meaning,
                    source_text(field.source), kinds_text(field), void_text(field.void_when));
  }
  return text;
}

std::string result_register_json() {
  Json list = Json::array();
  for (const ResultField& field : kRegister) {
    list.push_back({{"name", field.name},
                    {"unit", field.unit},
                    {"meaning", field.meaning},
                    {"from", source_text(field.source)},
                    {"runs", kinds_text(field)},
                    {"void_if", void_text(field.void_when)}});
  }
  return list.dump(2) + "\n";
}

std::vector<std::string> field_names(const Json& result) {
  std::vector<std::string> names;
  add_names(result, "", names);
  return names;
}

void clear_void_fields(Json& result, VoidWhen when) {
  for (const ResultField& field : kRegister) {
    if (field.void_when == when) clear_member(result, field.name);
  }
}

}  // namespace espalier
