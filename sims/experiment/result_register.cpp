#include "sims/experiment/result_register.h"

#include <fmt/format.h>

#include <algorithm>
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

const std::vector<ResultField> kFields{
    {"workload", "w", ResultType::text, "", VoidWhen::never, "name of the training workload"},
    {"network", "tj", ResultType::text, "", VoidWhen::never,
     "network that is trained: its name, or its file"},
    {"layers", "t", ResultType::number, "", VoidWhen::never, "layers of the network"},
    {"parameters", "t", ResultType::number, "", VoidWhen::never, "parameters of the network"},
    {"mini_batch", "tj", ResultType::number, "samples", VoidWhen::never,
     "samples that one node computes in an iteration"},
    {"overlap", "tj", ResultType::text, "", VoidWhen::never,
     "how communication overlaps computation"},
    {"traffic", "f", ResultType::text, "", VoidWhen::never, "pattern of the traffic"},
    {"algorithm", "cpgtwjn", ResultType::text, "", VoidWhen::never,
     "algorithm or planner; null if control messages run alone"},
    {"program", "g", ResultType::text, "", VoidWhen::never, "name of the collective program"},
    {"op", "cpgt", ResultType::text, "", VoidWhen::never, "collective operation"},
    {"topology", kAll, ResultType::text, "", VoidWhen::never, "name of the topology"},
    {"nodes", kAll, ResultType::number, "", VoidWhen::never,
     "nodes that compute; switches are not counted"},
    {"model_npus", "w", ResultType::number, "", VoidWhen::never, "NPUs of a model-parallel group"},
    {"data_npus", "w", ResultType::number, "", VoidWhen::never, "NPUs of a data-parallel group"},
    {"iterations", "w", ResultType::number, "", VoidWhen::never, "simulated iterations"},
    {"exchange", "w", ResultType::text, "", VoidWhen::never,
     "how the workload exchanges embeddings"},
    {"size_bytes", "cpgtj", ResultType::number, "bytes", VoidWhen::never,
     "size of the collective at one node"},
    {"message_bytes", "f", ResultType::number, "bytes", VoidWhen::never, "size of a drawn message"},
    {"chunks", "p", ResultType::number, "", VoidWhen::never, "chunks of the plan"},
    {"queue_order", "pw", ResultType::text, "", VoidWhen::never,
     "order in which a dimension queue picks stages"},
    {"in_flight", "p", ResultType::any, "", VoidWhen::never,
     "stages of a dimension in flight at once, or `auto`"},
    {"flow_control", "cpgtjf", ResultType::text, "", VoidWhen::never, "`packet` or `message`"},
    {"lockstep", "ct", ResultType::text, "", VoidWhen::never, "how steps are kept apart"},
    {"fidelity", "cpgtjfn", ResultType::text, "", VoidWhen::never,
     "engine that simulated: `train` or `cycle`"},
    {"rank_order", "ctj", ResultType::text, "", VoidWhen::never,
     "which node each rank is; generated schedules only (rank_order.md)"},
    {"rank_order_seed", "ctj", ResultType::number, "", VoidWhen::never,
     "seed of a random rank order"},
    {"timesteps", "ct", ResultType::number, "steps", VoidWhen::never,
     "timesteps of the schedule; an all-reduce of T steps a phase has 2T"},
    {"forecast_cycles", "p", ResultType::number, "cycles", VoidWhen::never,
     "time that the planner's pre-simulation expects"},
    {"protocol", "g", ResultType::text, "", VoidWhen::never, "protocol of the program"},
    {"instructions", "g", ResultType::number, "", VoidWhen::never, "instructions of all nodes"},
    {"channels", "g", ResultType::number, "", VoidWhen::never, "channels of the program"},
    {"instances", "g", ResultType::number, "", VoidWhen::never, "instances of a built-in program"},
    {"calls", "g", ResultType::number, "", VoidWhen::never, "calls that the size is split into"},
    {"chunk_bytes", "g", ResultType::number, "bytes", VoidWhen::never, "size of a chunk"},
    {"tiles", "g", ResultType::number, "", VoidWhen::never, "tiles of a chunk"},
    {"slots", "g", ResultType::number, "", VoidWhen::never, "slots of a connection"},
    {"offered_flits_per_node_cycle", "f", ResultType::number, "flits", VoidWhen::never,
     "drawn traffic: flits that a node offers in a cycle"},
    {"accepted_flits_per_node_cycle", "f", ResultType::number, "flits", VoidWhen::not_ended,
     "flits that a node injected in a cycle, mean over `cycles`"},
    {"config_hash", kAll, ResultType::text, "", VoidWhen::never,
     "FNV-1a hash of the resolved configuration of this point"},
    {"certified", "cpgtn", ResultType::truth, "", VoidWhen::not_checked,
     "verdict of the certifier; plans without `enforce_order` have none, because they may "
     "deadlock"},
    {"contention_free", "ct", ResultType::truth, "", VoidWhen::not_checked,
     "proven: no link is used twice in a step"},
    {"table_entries_max", "ct", ResultType::number, "entries", VoidWhen::not_checked,
     "largest schedule table of a node, without NOPs"},
    {"table_entry_bits", "ct", ResultType::number, "bits", VoidWhen::not_checked,
     "width of a table entry, from its fields"},
    {"table_bytes_max", "ct", ResultType::number, "bytes", VoidWhen::not_checked,
     "size of the largest schedule table"},
    {"least_slots", "g", ResultType::number, "", VoidWhen::not_checked,
     "slots that the program needs at least"},
    {"contexts_max", "g", ResultType::number, "", VoidWhen::not_checked,
     "contexts of the NI that has most"},
    {"context_steps_max", "g", ResultType::number, "", VoidWhen::not_checked,
     "steps of the longest context"},
    {"connections", "g", ResultType::number, "", VoidWhen::not_checked,
     "connections between two nodes"},
    {"promises_known", "g", ResultType::truth, "", VoidWhen::not_checked,
     "false: the promises of a custom collective are not given, and only delivery is verified"},
    {"training", "tj", ResultType::object, "", VoidWhen::not_ended,
     "where the time of an iteration goes; a coordinated job: means over the iterations after the "
     "first, or of the only one"},
    {"training.forward_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "forward propagation"},
    {"training.forward_ns", "t", ResultType::number, "ns", VoidWhen::not_ended,
     "forward propagation"},
    {"training.backward_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "back-propagation"},
    {"training.backward_ns", "t", ResultType::number, "ns", VoidWhen::not_ended,
     "back-propagation"},
    {"training.compute_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "computation, without jitter"},
    {"training.compute_ns", "tj", ResultType::number, "ns", VoidWhen::not_ended,
     "computation, without jitter"},
    {"training.compute_alone_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "computation while no all-reduce is in flight"},
    {"training.compute_alone_ns", "t", ResultType::number, "ns", VoidWhen::not_ended,
     "computation while no all-reduce is in flight"},
    {"training.all_reduce_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "time in which an all-reduce is in flight"},
    {"training.all_reduce_ns", "tj", ResultType::number, "ns", VoidWhen::not_ended,
     "time in which an all-reduce is in flight"},
    {"training.overlapped_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "time in which an all-reduce and computation overlap"},
    {"training.overlapped_ns", "t", ResultType::number, "ns", VoidWhen::not_ended,
     "time in which an all-reduce and computation overlap"},
    {"training.exposed_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "iteration less computation"},
    {"training.exposed_ns", "tj", ResultType::number, "ns", VoidWhen::not_ended,
     "iteration less computation"},
    {"training.iteration_cycles", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "from the start of forward propagation to the end of computation and communication"},
    {"training.iteration_ns", "tj", ResultType::number, "ns", VoidWhen::not_ended,
     "from the start of forward propagation to the end of computation and communication"},
    {"training.exposed_share", "tj", ResultType::number, "", VoidWhen::not_ended,
     "exposed time / iteration"},
    {"training.efficiency", "j", ResultType::number, "", VoidWhen::not_ended,
     "computation / iteration"},
    {"training.samples_per_s", "j", ResultType::number, "1/s", VoidWhen::not_ended,
     "samples that all ranks compute in a second"},
    {"training.coordination_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "time that the coordination thread of rank 0 works in an iteration"},
    {"training.coordination_cycles", "j", ResultType::number, "", VoidWhen::not_ended,
     "coordination cycles of rank 0 in an iteration"},
    {"training.all_reduces", "j", ResultType::number, "", VoidWhen::not_ended,
     "all-reduces of an iteration"},
    {"training.waiting_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "wait from the first to the last tensor of an all-reduce on rank 0, summed over all-reduces; "
     "a part of a cut group waits for the whole group"},
    {"training.wait_for_tensors_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "the same wait, of one all-reduce"},
    {"training.negotiation_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "from the last tensor on rank 0 to the post of the last rank, of one all-reduce"},
    {"training.queued_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "from the post of the last rank to the start, of one all-reduce"},
    {"collectives", "t", ResultType::list, "", VoidWhen::not_ended,
     "every all-reduce of the iteration"},
    {"collectives[].layer", "t", ResultType::text, "", VoidWhen::not_ended,
     "layer of the all-reduce, with layerwise overlap"},
    {"collectives[].size_bytes", "t", ResultType::number, "bytes", VoidWhen::not_ended,
     "size of the all-reduce"},
    {"collectives[].posted_cycle", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "cycle in which the hosts post it, from the end of back-propagation without overlap, from its "
     "start with overlap"},
    {"collectives[].first_issue_cycle", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "cycle of the first issue"},
    {"collectives[].last_visible_cycle", "t", ResultType::number, "cycles", VoidWhen::not_ended,
     "cycle in which the last data is visible"},
    {"cycles", "cpgtjf", ResultType::number, "cycles", VoidWhen::not_ended,
     "first issue to last data visible, reduction included; a program: call of the hosts to the "
     "end of the last context"},
    {"time_ns", "cpgtwjf", ResultType::number, "ns", VoidWhen::not_ended,
     "the same in nanoseconds; a workload: time of all iterations"},
    {"link_utilization_mean", "cpgtf", ResultType::number, "", VoidWhen::not_ended,
     "part of `cycles` in which a link carries a flit, mean over all links"},
    {"head_flit_overhead", "cpgtf", ResultType::number, "", VoidWhen::never,
     "head flits / payload flits"},
    {"flit_hops", "cpgtjfn", ResultType::number, "flits", VoidWhen::never,
     "flits through routers, summed over routers; control messages included"},
    {"ni_ports", "cpgtf", ResultType::number, "", VoidWhen::never,
     "injection and ejection ports that an NI uses"},
    {"message_latency_mean_cycles", "cpgtf", ResultType::number, "cycles", VoidWhen::never,
     "issued (traffic: ready) to visible, mean; without control messages"},
    {"message_latency_max_cycles", "cpgtf", ResultType::number, "cycles", VoidWhen::never,
     "issued (traffic: ready) to visible, maximum; without control messages"},
    {"messages", "cpgtjf", ResultType::number, "", VoidWhen::never,
     "messages delivered; without control messages"},
    {"control", "cn", ResultType::object, "", VoidWhen::never, "control messages"},
    {"control.pattern", "cn", ResultType::text, "", VoidWhen::never,
     "pattern of the control messages"},
    {"control.injection_rate", "cn", ResultType::number, "", VoidWhen::never,
     "rate at which a node injects control messages"},
    {"control.message_bytes", "cn", ResultType::number, "bytes", VoidWhen::never,
     "size of a control message"},
    {"control.vcs", "cn", ResultType::text, "", VoidWhen::never,
     "VCs of control messages: `shared` or their own"},
    {"control.messages", "cn", ResultType::number, "", VoidWhen::never,
     "control messages posted and delivered"},
    {"control.latency_mean_cycles", "cn", ResultType::number, "cycles", VoidWhen::never,
     "posted to visible, mean"},
    {"control.latency_p99_cycles", "cn", ResultType::number, "cycles", VoidWhen::never,
     "posted to visible, 99th percentile (nearest rank)"},
    {"control.latency_max_cycles", "cn", ResultType::number, "cycles", VoidWhen::never,
     "posted to visible, maximum"},
    {"oversubscription", "cgt", ResultType::object, "", VoidWhen::never,
     "oversubscription of a `data_center`"},
    {"oversubscription.rack", "cgt", ResultType::number, "", VoidWhen::never,
     "nodes' bandwidth / rack's uplinks"},
    {"oversubscription.aggregation", "cgt", ResultType::number, "", VoidWhen::never,
     "rack's uplinks / uplinks of the aggregation layer"},
    {"tenants", "cg", ResultType::object, "", VoidWhen::never,
     "what other tenants posted and got (data_center.md)"},
    {"tenants.flows", "cg", ResultType::number, "", VoidWhen::never, "flows of other tenants"},
    {"tenants.message_bytes", "cg", ResultType::number, "bytes", VoidWhen::never,
     "size of a tenant's message"},
    {"tenants.messages", "cg", ResultType::number, "", VoidWhen::never,
     "messages delivered to tenants"},
    {"tenants.bytes", "cg", ResultType::number, "bytes", VoidWhen::never,
     "payload delivered to tenants"},
    {"tenants.offered_GBps", "cg", ResultType::number, "GB/s", VoidWhen::never,
     "bandwidth that tenants offered"},
    {"tenants.accepted_GBps", "cg", ResultType::number, "GB/s", VoidWhen::never,
     "bandwidth that tenants got"},
    {"tenants.offered_load", "cg", ResultType::number, "", VoidWhen::never,
     "offered bandwidth / bandwidth of all rack uplinks"},
    {"tenants.accepted_load", "cg", ResultType::number, "", VoidWhen::never,
     "accepted bandwidth / bandwidth of all rack uplinks"},
    {"tenants.latency_mean_cycles", "cg", ResultType::number, "cycles", VoidWhen::never,
     "posted to visible, mean"},
    {"verified", kAll, ResultType::truth, "", VoidWhen::never,
     "everything is delivered, the data of every rank is compared and right, no flow-control rule "
     "is broken"},
    {"failure", kAll, ResultType::text, "", VoidWhen::never, "why `verified` is false"},
    {"links", "cgtf", ResultType::list, "", VoidWhen::never,
     "every link in the order of the topology, with `simulation.link_utilization: true`"},
    {"links[].from", "cgtf", ResultType::text, "", VoidWhen::never,
     "vertex at the start of the link"},
    {"links[].to", "cgtf", ResultType::text, "", VoidWhen::never, "vertex at the end of the link"},
    {"links[].utilization", "cgtf", ResultType::number, "", VoidWhen::not_ended,
     "part of `cycles` in which the link carries a flit"},
    {"folded", "p", ResultType::truth, "", VoidWhen::never, "true: one NPU was simulated for all"},
    {"parts", "p", ResultType::text, "", VoidWhen::never,
     "whether the parts of a chunk are `equal` or `exact`"},
    {"utilization", "pw", ResultType::number, "", VoidWhen::not_ended,
     "bytes sent / what the bandwidth of all dimensions carries in that time"},
    {"dimensions", "p", ResultType::object, "", VoidWhen::never, "every dimension (themis.md)"},
    {"dimensions.dim*", "p", ResultType::object, "", VoidWhen::never, "dimension 1, 2, ..."},
    {"dimensions.dim*.shape", "p", ResultType::text, "", VoidWhen::never, "shape of the dimension"},
    {"dimensions.dim*.size", "p", ResultType::number, "", VoidWhen::never,
     "NPUs along the dimension"},
    {"dimensions.dim*.algorithm", "p", ResultType::text, "", VoidWhen::never,
     "algorithm on the dimension"},
    {"dimensions.dim*.bandwidth_GBps", "p", ResultType::number, "GB/s", VoidWhen::never,
     "bandwidth of an NPU on the dimension"},
    {"dimensions.dim*.flit_bytes", "p", ResultType::number, "bytes", VoidWhen::never, "flit size"},
    {"dimensions.dim*.bytes_per_node", "p", ResultType::number, "bytes", VoidWhen::never,
     "payload that an NPU sent"},
    {"dimensions.dim*.planned_bytes_per_node", "p", ResultType::number, "bytes", VoidWhen::never,
     "payload that the plan foresees"},
    {"dimensions.dim*.utilization", "p", ResultType::number, "", VoidWhen::not_ended,
     "payload sent / what the dimension carries in that time"},
    {"activity", "p", ResultType::object, "", VoidWhen::never,
     "how much of a period a dimension of the first NPU has a chunk to work on"},
    {"activity.period_ns", "p", ResultType::number, "ns", VoidWhen::never, "length of a period"},
    {"activity.dim*", "p", ResultType::list, "", VoidWhen::never, "share of each period"},
    {"bandwidth_GBps", "cpgt", ResultType::number, "GB/s", VoidWhen::not_ended,
     "size / time, 1 GB = 1e9 bytes"},
    {"bound_ns", "cpgt", ResultType::number, "ns", VoidWhen::never,
     "proven lower bound of the time; null for a broadcast, reduce or custom program"},
    {"bound_ratio", "cpgt", ResultType::number, "", VoidWhen::not_ended, "bound / time"},
    {"bound_binding", "cpgt", ResultType::text, "", VoidWhen::never, "what binds the bound"},
    {"ideal_ns", "p", ResultType::number, "ns", VoidWhen::never,
     "size / bandwidth of all dimensions, the Ideal of the Themis paper"},
    {"iteration", "w", ResultType::object, "", VoidWhen::not_ended,
     "where the time of the workload goes"},
    {"iteration.forward_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "forward propagation"},
    {"iteration.backward_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "back-propagation"},
    {"iteration.compute_ns", "w", ResultType::number, "ns", VoidWhen::not_ended, "computation"},
    {"iteration.exposed_data_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "exposed communication of data parallelism"},
    {"iteration.exposed_model_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "exposed communication of model parallelism"},
    {"iteration.exposed_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "exposed communication"},
    {"iteration.communication_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "time in which communication is in flight"},
    {"iteration.ideal_exposed_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "exposed communication at full utilization"},
    {"iteration.ideal_total_ns", "w", ResultType::number, "ns", VoidWhen::not_ended,
     "time of all iterations at full utilization"},
    {"coordination", "j", ResultType::object, "", VoidWhen::never,
     "coordinated job (coordination.md)"},
    {"coordination.mode", "j", ResultType::text, "", VoidWhen::never, "how ranks agree"},
    {"coordination.control_plane", "j", ResultType::text, "", VoidWhen::never,
     "`network` or `closed_form`"},
    {"coordination.data_plane", "j", ResultType::text, "", VoidWhen::never,
     "`network` or `closed_form`"},
    {"coordination.tensors", "j", ResultType::number, "", VoidWhen::never,
     "tensors of an iteration"},
    {"coordination.groups", "j", ResultType::number, "", VoidWhen::never, "groups of tensors"},
    {"coordination.iterations", "j", ResultType::number, "", VoidWhen::never,
     "iterations of the job"},
    {"coordination.seed", "j", ResultType::number, "", VoidWhen::never, "seed of the jitter"},
    {"coordination.control_messages", "j", ResultType::number, "", VoidWhen::never,
     "coordination messages of the job"},
    {"coordination.control_bytes", "j", ResultType::number, "bytes", VoidWhen::never,
     "bytes of the coordination messages"},
    {"coordination.by_iteration", "j", ResultType::list, "", VoidWhen::not_ended, "each iteration"},
    {"coordination.by_iteration[].iteration_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "time of the iteration"},
    {"coordination.by_iteration[].control_ns", "j", ResultType::number, "ns", VoidWhen::not_ended,
     "time that the coordination thread of rank 0 works"},
    {"coordination.by_iteration[].control_cycles", "j", ResultType::number, "", VoidWhen::not_ended,
     "coordination cycles of rank 0"},
    {"coordination.log2_step", "j", ResultType::number, "", VoidWhen::not_ended,
     "step of the exponent in `counts_by_log2`"},
    {"coordination.counts_by_log2", "j", ResultType::list, "", VoidWhen::not_ended,
     "all-reduces of 1 B, of 2 and 3 B, of 4 to 7 B, ... after the first iteration"},
    {"area", kAll, ResultType::object, "", VoidWhen::never,
     "what routers and NIs cost; `_high` is the upper end where there is SRAM (cost.md)"},
    {"area.technology", kAll, ResultType::text, "", VoidWhen::never, "cell library"},
    {"area.node_nm", kAll, ResultType::number, "nm", VoidWhen::never, "technology node"},
    {"area.utilization", kAll, ResultType::number, "", VoidWhen::never, "placement utilization"},
    {"area.router_um2", kAll, ResultType::number, "um2", VoidWhen::never,
     "largest router at an NPU"},
    {"area.router_um2_high", kAll, ResultType::number, "um2", VoidWhen::never, "upper end"},
    {"area.ni_um2", kAll, ResultType::number, "um2", VoidWhen::never, "NI of that NPU"},
    {"area.ni_um2_high", kAll, ResultType::number, "um2", VoidWhen::never, "upper end"},
    {"area.ni_extension_um2", kAll, ResultType::number, "um2", VoidWhen::never,
     "part of the NI that schedules need"},
    {"area.ni_extension_um2_high", kAll, ResultType::number, "um2", VoidWhen::never, "upper end"},
    {"area.ni_extension_share", kAll, ResultType::number, "", VoidWhen::never,
     "extension / (NI and router)"},
    {"area.system_mm2", kAll, ResultType::number, "mm2", VoidWhen::never, "all routers and NIs"},
    {"area.system_mm2_high", kAll, ResultType::number, "mm2", VoidWhen::never, "upper end"},
    {"area.system_placed_mm2", kAll, ResultType::number, "mm2", VoidWhen::never,
     "all routers and NIs / placement utilization"},
    {"area.system_placed_mm2_high", kAll, ResultType::number, "mm2", VoidWhen::never, "upper end"},
    {"area.max_clock_GHz", kAll, ResultType::number, "GHz", VoidWhen::never, "highest clock"},
    {"area.clock_limited_by", kAll, ResultType::text, "", VoidWhen::never,
     "block that limits the clock"},
    {"area.clock_origin", kAll, ResultType::text, "", VoidWhen::never,
     "where its delay comes from"},
    {"area.pipeline_cycles", kAll, ResultType::number, "cycles", VoidWhen::never,
     "router pipeline as simulated"},
    {"area.arbitration_cycles", "pw", ResultType::number, "cycles", VoidWhen::never,
     "arbitration of an NI as simulated; multi-dimensional systems only"},
    {"area.routers", kAll, ResultType::list, "", VoidWhen::never, "every kind of router"},
    {"area.nis", kAll, ResultType::list, "", VoidWhen::never, "every kind of NI"},
    {"area.blocks", kAll, ResultType::list, "", VoidWhen::never,
     "blocks of the largest router and of its NI"},
    {"area.routers[].of", kAll, ResultType::text, "", VoidWhen::never, "`switch` or `npu`"},
    {"area.routers[].ports", kAll, ResultType::number, "", VoidWhen::never, "ports"},
    {"area.routers[].count", kAll, ResultType::number, "", VoidWhen::never, "instances"},
    {"area.routers[].um2", kAll, ResultType::number, "um2", VoidWhen::never, "area of one"},
    {"area.routers[].um2_high", kAll, ResultType::number, "um2", VoidWhen::never, "upper end"},
    {"area.nis[].ports", kAll, ResultType::number, "", VoidWhen::never, "ports"},
    {"area.nis[].count", kAll, ResultType::number, "", VoidWhen::never, "instances"},
    {"area.nis[].um2", kAll, ResultType::number, "um2", VoidWhen::never, "area of one"},
    {"area.nis[].um2_high", kAll, ResultType::number, "um2", VoidWhen::never, "upper end"},
    {"area.nis[].extension_um2", kAll, ResultType::number, "um2", VoidWhen::never,
     "part that schedules need"},
    {"area.nis[].extension_um2_high", kAll, ResultType::number, "um2", VoidWhen::never,
     "upper end"},
    {"area.blocks[].block", kAll, ResultType::text, "", VoidWhen::never, "name of the block"},
    {"area.blocks[].count", kAll, ResultType::number, "", VoidWhen::never, "instances"},
    {"area.blocks[].um2", kAll, ResultType::number, "um2", VoidWhen::never,
     "area of all instances"},
    {"area.blocks[].um2_high", kAll, ResultType::number, "um2", VoidWhen::never, "upper end"},
    {"area.blocks[].words", kAll, ResultType::number, "", VoidWhen::never,
     "words of a memory; null for logic"},
    {"area.blocks[].bits", kAll, ResultType::number, "bits", VoidWhen::never,
     "width of a memory; null for logic"},
    {"area.blocks[].implementation", kAll, ResultType::text, "", VoidWhen::never,
     "how it is built"},
    {"area.blocks[].origin", kAll, ResultType::text, "", VoidWhen::never,
     "where the area comes from"},
    {"area.blocks[].fo4", kAll, ResultType::number, "FO4", VoidWhen::never, "delay"},
    {"area.blocks[].ps", kAll, ResultType::number, "ps", VoidWhen::never, "delay"},
    {"area.blocks[].delay_origin", kAll, ResultType::text, "", VoidWhen::never,
     "where the delay comes from"},
    {"area.blocks[].pj_read_or_use", kAll, ResultType::number, "pJ", VoidWhen::never,
     "energy of a read, or of a use of logic"},
    {"area.blocks[].pj_write", kAll, ResultType::number, "pJ", VoidWhen::never,
     "energy of a write; null for logic"},
    {"area.blocks[].pj_origin", kAll, ResultType::text, "", VoidWhen::never,
     "where the energy comes from"},
    {"energy", "cpgtfn", ResultType::object, "", VoidWhen::not_ended,
     "dynamic energy of what happened (cost.md)"},
    {"energy.total_uJ", "cpgtfn", ResultType::number, "uJ", VoidWhen::not_ended,
     "sum of the parts"},
    {"energy.pJ_per_byte", "cpgtfn", ResultType::number, "pJ/B", VoidWhen::not_ended,
     "total / payload delivered"},
    {"energy.events", "cpgtfn", ResultType::object, "", VoidWhen::not_ended, "counted events"},
    {"energy.events.buffer_writes", "cpgtfn", ResultType::number, "", VoidWhen::not_ended,
     "flits written to router buffers"},
    {"energy.events.buffer_reads", "cpgtfn", ResultType::number, "", VoidWhen::not_ended,
     "flits read from router buffers"},
    {"energy.events.crossbar_traversals", "cpgtfn", ResultType::number, "", VoidWhen::not_ended,
     "flits through crossbars"},
    {"energy.events.arbitrations", "cpgtfn", ResultType::number, "", VoidWhen::not_ended,
     "packets that won an output"},
    {"energy.events.ni_buffer_flits", "cpgtfn", ResultType::number, "", VoidWhen::not_ended,
     "flits through NI buffers"},
    {"energy.events.table_reads", "cgtfn", ResultType::number, "", VoidWhen::not_ended,
     "schedule table entries read"},
    {"energy.events.queue_picks", "p", ResultType::number, "", VoidWhen::not_ended,
     "stages picked from dimension queues"},
    {"energy.events.link_flits", "cpgtfn", ResultType::number, "", VoidWhen::not_ended,
     "flits over links"},
    {"energy.uJ", "cpgtfn", ResultType::object, "", VoidWhen::not_ended, "energy by part"},
    {"energy.origin", "cpgtfn", ResultType::object, "", VoidWhen::not_ended,
     "where the energy of a part comes from"},
    {"energy.uJ.buffers", "cpgtfn", ResultType::number, "uJ", VoidWhen::not_ended,
     "router buffers"},
    {"energy.origin.buffers", "cpgtfn", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"energy.uJ.crossbars", "cpgtfn", ResultType::number, "uJ", VoidWhen::not_ended, "crossbars"},
    {"energy.origin.crossbars", "cpgtfn", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"energy.uJ.allocators", "cpgtfn", ResultType::number, "uJ", VoidWhen::not_ended, "allocators"},
    {"energy.origin.allocators", "cpgtfn", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"energy.uJ.ni_buffers", "cpgtfn", ResultType::number, "uJ", VoidWhen::not_ended, "NI buffers"},
    {"energy.origin.ni_buffers", "cpgtfn", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"energy.uJ.tables", "cgtfn", ResultType::number, "uJ", VoidWhen::not_ended, "schedule tables"},
    {"energy.origin.tables", "cgtfn", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"energy.uJ.queues", "p", ResultType::number, "uJ", VoidWhen::not_ended, "dimension queues"},
    {"energy.origin.queues", "p", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"energy.uJ.links", "cpgtfn", ResultType::number, "uJ", VoidWhen::not_ended,
     "links; null if the energy of a bit is not configured"},
    {"energy.origin.links", "cpgtfn", ResultType::text, "", VoidWhen::not_ended,
     "where the energy of this part comes from"},
    {"explanation", "cpgt", ResultType::object, "", VoidWhen::not_ended,
     "where the time went, with `--explain` (explain.md)"},
    {"explanation.*", "cpgt", ResultType::any, "", VoidWhen::not_ended,
     "described under \"Where the time went\""},
    {"host", kAll, ResultType::object, "", VoidWhen::never,
     "what depends on the machine, and nothing else"},
    {"host.wall_s", kAll, ResultType::number, "s", VoidWhen::never, "wall time of the point"},
    {"host.engine_cpu_s", kAll, ResultType::number, "s", VoidWhen::never,
     "CPU time of the simulation"},
    {"host.flit_hops_per_cpu_s", kAll, ResultType::number, "1/s", VoidWhen::never,
     "flit hops that were simulated in a second of CPU time"},
    {"host.module_evaluations", kAll, ResultType::number, "", VoidWhen::never,
     "evaluations of modules"},
    {"host.peak_rss_MiB", kAll, ResultType::number, "MiB", VoidWhen::never,
     "peak memory of the process"},
};

// The fields with the counters (hw/counters.h) behind `flit_hops`.
std::vector<ResultField> with_counters() {
  std::vector<ResultField> fields = kFields;
  auto at = std::find_if(fields.begin(), fields.end(), [](const ResultField& field) {
    return std::string_view(field.name) == "flit_hops";
  });
  for (const CounterRow& row : counter_rows()) {
    const VoidWhen when = row.counts_meetings ? VoidWhen::foldable : VoidWhen::never;
    at =
        fields.insert(at + 1, {row.name, "cpgtf", ResultType::number, row.unit, when, row.meaning});
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
    const std::string name = prefix.empty() ? key : prefix + "." + key;
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

std::string result_register_text() {
  std::string text;
  for (const ResultField& field : kRegister) {
    const std::string unit = *field.unit == '\0' ? "" : fmt::format(" [{}]", field.unit);
    text +=
        fmt::format("{}{}\n  {}\n  runs: {}\n", field.name, unit, field.meaning, kinds_text(field));
    if (field.void_when != VoidWhen::never) {
      text += fmt::format("  void if: {}\n", void_text(field.void_when));
    }
  }
  return text;
}

std::string result_register_markdown() {
  std::string text = "| field | unit | meaning | runs | void if |\n|---|---|---|---|---|\n";
  for (const ResultField& field : kRegister) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, field.unit, field.meaning,
                        kinds_text(field), void_text(field.void_when));
  }
  return text;
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
