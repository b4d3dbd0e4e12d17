"""What mutate.py changes: small files of every kind that the program reads, and the commands that read them.

inputs.py rows|figure FILE reads a file as the Python programs do; exit code 2 and one line if it is refused.
"""
import dataclasses
import importlib.util
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = [sys.executable, "-B", __file__]
PYTHONPATH = f"{ROOT}:{ROOT / 'python'}"



def message(*fields):
    """A message of protobuf behind its length, below 128 bytes; fields: number, and an integer below 128 or bytes."""
    def field(number, value):
        kind, text = (0, bytes([value])) if isinstance(value, int) else (2, bytes([len(value)]) + value)
        return bytes([number << 3 & 127 | 128 | kind, number >> 4]) + text
    text = b"".join(field(*each) for each in fields)
    return bytes([len(text)]) + text


def trace(rank):
    def attribute(name, value):
        return 10, message((1, name), (29 if isinstance(value, bytes) else 9, value))[1:]
    peer = (5, b"send", b"comm_dst") if rank == 0 else (6, b"recv", b"comm_src")
    return (message((1, b"0.0.4")) + message((1, 1), (2, b"a"), (3, 4), (7, 3)) +
            message((1, 2), (2, b"b"), (3, 4), (5, 1), attribute(b"num_ops", 99), attribute(b"tensor_size", 9)) +
            message((1, 3), (2, b"c"), (3, 7), (5, b"\1\2"), attribute(b"comm_type", 0), attribute(b"comm_size", 64), attribute(b"pg_name", b"1")) +
            message((1, 4), (2, peer[1]), (3, peer[0]), (4, 3), attribute(peer[2], 1 - rank), attribute(b"comm_tag", 5), attribute(b"comm_size", 8)))


def plan(rank):
    """A GPU of an MSCCL++ plan of two: each lets the switch add a half, piece by piece, and reads the other's signal."""
    half = [{"switch_channel_id": 0, "index": rank, "size": 1}]
    memory = {"channel_type": "memory", "channel_ids": [0]}
    ops = [{"name": "rlxsignal", **memory}, {"name": "rlxwait", **memory}, {"name": "sem_acquire", "semaphore_ids": [0]},
           {"name": "pipeline", "iter_context": {"unit_size": 512, "num_chunks": 1},
            "ops": [{"name": "glres", "src_buff": half, "dst_buff": half, "channel_type": "switch"}, {"name": "nop"}]},
           {"name": "signal", **memory}, {"name": "wait", **memory}, {"name": "nop"},
           {"name": "put", "src_buff": [{"type": "i", "index": 0, "size": 2}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 2}], **memory}]
    return {"id": rank, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 2, "semaphores": [{"init_value": 1}],
            "channels": [{"channel_type": "memory", "connected_to": [1 - rank]},
                         {"channel_type": "switch", "buffer_type": "i", "rank_groups": [{"size": 2, "ranks": [0, 1]}]}],
            "remote_buffers": [{"rank": 1 - rank, "type": "s", "access_channel_types": ["memory"]}],
            "threadblocks": [{"id": 0, "channels": [memory, {"channel_type": "switch", "channel_ids": [0]}],
                              "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}], "ops": ops}]}


MESH = "system:\n  topology: {type: mesh, dims: [2, 2]}\n  flow_control: {mode: message}\n"
RING = "collective: {op: all_reduce, algorithm: ring, size: 1KiB}\n"
GRAPH = "system:\n  topology: {type: file, file: net.yaml}\n  router: {flit_bytes: 64}\n"
CLUSTER = """system:
  topology: {type: gpu_cluster, servers: 2, gpus_per_server: 2, nic_link: {bandwidth: 8GB/s, latency: 200ns}}
  flow_control: {mode: packet, payload_bytes: 256}
"""
JOB = "collective: {op: all_reduce, algorithm: ring}\n"
FILES = {
    "mesh.yaml": """# a comment
system:
  topology: {type: mesh, dims: [2, 2], without: [link 0-1]}
  link: {latency: 50ns, bandwidth: 16GB/s, credit_latency: link}
  router: {clock: 1GHz, vcs: 2, vc_depth_flits: 200, pipeline_cycles: auto}
  ni:
    lockstep: [off, estimate]
    dma: {bandwidth: 64GB/s}
    reduction: {mode: 'streaming'}
collective:
  op: all_reduce
  algorithm: [multitree, ring, forest]
  size: 1KiB
simulation: {check: true, stall_probability: 0.125, seed: 7, link_utilization: true}
""",
    "bare.yaml": MESH + RING,
    "net.yaml": "name: net\nnodes: [a, b, c]\nswitches: [s]\nlinks:\n  - {between: [a, s], latency: 150ns, bandwidth: 16GB/s}\n"
                "  - {between: [b, s], bandwidth: 8GB/s, count: 2}\n  - {between: [c, s]}\n  - {from: a, to: b}\n  - {from: b, to: a}\n",
    "graph.yaml": GRAPH + "collective: {op: all_gather, algorithm: [forest, multitree], size: 3000B}\n",
    "tri.anynet": "# latencies\nrouter 0 node 0 router 1 router 2 7\nrouter 1 node 1 router 2 160\nrouter 2 node 2 node 3\n",
    "nccl.xml": '<system version="1"><cpu numaid="0" vendor="GenuineIntel" modelid="143"><pci busid="1:0" class="0x030200" link_speed="16.0 GT/s PCIe" '
                'link_width="16"><gpu dev="0" sm="80"><nvlink target="9:0" count="2" tclass="0x068000"/></gpu></pci><pci busid="2:0" class="0x030200" '
                'link_speed="" link_width="0"><gpu dev="1" sm="80"><nvlink target="9:0" count="2" tclass="0x068000"/></gpu></pci></cpu></system>\n',
    "infra.yml": "name: two\ndevices:\n- name: host\n  components: [{name: xpu, count: 4, choice: xpu}, {name: nvsw, count: 2, choice: switch}]\n"
                 "  links: [{name: nv, description: nvlink_3}]\n  edges: [{ep1: {component: 'xpu[0:4:1]'}, ep2: {component: nvsw}, scheme: many2many, link: nv}]\n"
                 "links: [{name: c, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 200}, latency: {choice: ns, ns: 600}}}]\n"
                 "instances: [{name: host, device: host, count: 2}]\n"
                 "edges: [{ep1: {instance: 'host[0]', component: 'nvsw[0]'}, ep2: {instance: 'host[1]', component: 'nvsw[1]'}, scheme: one2one, link: c}]\n",
    "ns3.topo": "5 2 4\n3 4\n0 3 200Gbps 0.0005ms 0\n1 3 200Gbps 0.0005ms 0\n2 4 100Gbps 500ns 0\n3 4 400Gbps 0.0005ms 0\n",
    "htsim.topo": "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\n"
                  "Radix_Down 2\nRadix_Up 4\nDownlink_Latency_ns 1000\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nBundle 2\n",
    "topology.conf": "SwitchName=leaf0 Nodes=gpu[00-01,3] LinkSpeed=100\nSwitchName=leaf1 Nodes=gpu[04-05]\nSwitchName=top Switches=leaf[0-1]\n",
    "mesh.textproto": 'mesh_descriptors {\n name: "M0"\n arch: BLACKHOLE\n device_topology { dims: [ 2, 3 ] dim_types: [ LINE, RING ] }\n'
                      ' channels { count: 2 policy: STRICT }\n}\ntop_level_instance { mesh { mesh_descriptor: "M0" mesh_id: 0 } }\n',
    "graph.edges": "0 1 {'weight': 25}\n1 2 {'weight': 12.5}\n2 0 {}\n",
    "link.graph": '{"directed": false, "graph": {}, "nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": [{"weight": 25, "source": 0, "target": 1}, {"source": 1, "target": 2}]}\n',
    "graph.graphml": '<graphml><key id="d0" for="edge" attr.name="weight" attr.type="long"/><graph edgedefault="undirected"><node id="0"/><node id="1"/>'
                     '<edge source="0" target="1"><data key="d0">25</data></edge></graph></graphml>\n',
    "anynet.yaml": "system: {topology: {type: anynet, file: tri.anynet}}\n" + RING,
    "astra.yml": "topology: [ Ring, Switch ]\nnpus_count: [ 2, 2 ]\nbandwidth: [ 200.0, 50.0 ]  # GB/s\nlatency: [ 50.0, 500.0 ]\n",
    "astra.yaml": "system: {topology: {type: astra_network, file: astra.yml}}\ncollective: {op: all_reduce, algorithm: [baseline, themis], size: 4KiB}\n",
    "dimensions.yaml": """system:
  topology: {type: dimensions}
  dimensions: {shape: [ring, switch], size: [2, 2], links: [auto, 1], bandwidth: [200Gb/s, 100Gb/s], latency: [700ns, 300ns], algorithm: [auto, in_network]}
  ni: {dimension_queue: {order: [fifo, scf], in_flight: 4}}
collective: {algorithm: [baseline, themis], size: 4KiB, chunks: 4}
""",
    "layers.csv": "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n# digits\n"
                  "conv1, 8, 8, 5, 5, 1, 4, 1,\nconv2, 4, 4, 3, 3, 4, 5, 1,\nfc1, 1, 1, 1, 1, 20, 10, 1,\n",
    "training.yaml": MESH + "training: {file: layers.csv, overlap: [none, layerwise], mini_batch: 4, compute: {pes: 4}}\n" + JOB,
    "weights.csv": "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides, Weights,\n"
                   "first, 10, 10, 3, 3, 3, 4, 1,\nlast, 1, 1, 1, 1, 20, 10, 1, 210\n",
    "coordination.yaml": CLUSTER + "training: {file: weights.csv, mini_batch: 4, overlap: layerwise}\n" + JOB +
                         "coordination:\n  mode: [coordinator, in_ni]\n  compute_time: 20us\n  tensors: weights\n  jitter: 0.02\n  iterations: 2\n",
    "workload.yaml": "system:\n  topology: {type: dimensions}\n  dimensions: {shape: [ring, switch], size: [2, 2], bandwidth: [200Gb/s, 100Gb/s], latency: [1us, 1us]}\n"
                     "collective: {algorithm: baseline, chunks: 2}\nworkload: {name: gnmt, iterations: 1, exchange: bulk}\n",
    "traffic.yaml": MESH + "traffic: {pattern: uniform, injection_rate: 0.1, message: 64B, warmup_cycles: 100, measure_cycles: 500, drain_cycles: 3000, seed: 3}\n",
    "messages.csv": "ready,from,to,bytes  # header\n0, r_0_0, r_1_1, 4096\n17,0,1,1\n\n100 ,3, r_1_0 ,77  # late\n",
    "listed.yaml": MESH + "traffic: {pattern: file, file: messages.csv}\n",
    "tenants.yaml": """system:
  topology: {type: data_center, nodes: 4, racks_per_pod: 2, hosts_per_rack: 4, rack_uplinks: 2, aggregation_link: {latency: 300ns}}
  flow_control: {mode: packet}
collective: {algorithm: ring, size: 4KiB}
tenants: {flows: 2, message: 4KiB, rate: 4GB/s, on_time: 5us, off_time: 5us}
""",
    "control.yaml": MESH + RING + "control: {pattern: uniform, injection_rate: 0.01, message: 16B, vcs: [own, shared]}\n",
    "nccl.yaml": "system: {preset: server.yml}\ncollective: {algorithm: nccl, size: 64KiB}\n",
    "server.yml": """from: h100_10x8
settings: {system.topology.servers: 2, system.ni.program.fence_cycles: 1000}
nccl: {gpu: ampere, version: "2.21", hosts: amd, channels: 2, found: 2, ring_rate: 24, network_rate: 23.8, nvls_channels: 0, has_ll128: false,
  ll_post: 1384, peer_launch: 4745, tuning: {ll: {ampere: [87.7, 22.5, 19]}, step: 524288}}
""",
    "cost.yaml": MESH + "  cost:\n    node: 22nm\n    macros:\n      link: {area_um2: 100000, leakage_mW: 20, pj_per_bit: 5}\n"
                        "      router: {buffers: {area_um2: 60000, access: 240ps, read_pj: 5.5, write_pj: 6}}\n" + RING,
    "faults.yaml": MESH + "  ni: {lockstep: off}\n" + RING + "faults:\n  slow_links: [{from: r_0_0, to: r_0_1, bandwidth: 4GB/s}]\n"
                   "  late_nis: [{node: 2, cycles: 300}]\n  clock_skew: [{node: r_1_1, cycles: 40, per_step: 25}]\n  dma_jitter: {max_cycles: 5, nodes: [1]}\n",
    "orders.order": "rank_order: [2, 1, 3, 0]\nmetadata: {\"topology\":\"mesh 2x2\",\"model\":\"ring\",\"cost\":5600.0}\n",
    "orders.yaml": MESH + "collective:\n  algorithm: ring\n  size: 1KiB\n  rank_order: [identity, orders.order]\nreorder: {evaluations: 1000, probes: 1}\n",
    "latency.csv": "# ns\n0,350,350,1400\n350,0,350,1400\n350,350,0,1400\n1400,1400,1400,0\n",
    "group.yaml": MESH + "collective: {op: all_reduce, ranks: [0, 3, r_0_1], relay: true, algorithm: [forest, ring], size: 1KiB}\n",
    "root.yaml": MESH + "collective: {op: broadcast, root: 2, algorithm: [forest, binomial], size: 1KiB}\n",
    "weights_of_pairs.csv": "0,3,1,1\n2,0,1,1\n1,1,0,0.5\n7,1,1,0\n",
    "counts.yaml": MESH + "collective: {op: all_to_allv, counts: weights_of_pairs.csv, algorithm: [direct, a2a_paths], size: 4KiB}\n",
    "weights_of_ranks.csv": "# one line\n3, 0, 1, 7\n",
    "parts.yaml": MESH + "collective: {op: [all_gatherv, reduce_scatterv], counts: weights_of_ranks.csv, algorithm: [forest, ring], size: 4KiB}\n",
    "grids.yaml": "system:\n  topology: {type: grid, dims: [3, 2, 2], wrap: [true, false, true], bandwidth: [16GB/s, 15GB/s, 8GB/s], latency: [150ns, 500ns, 50ns], links: [1, 2, 1]}\n"
                  "  routing: split\n  routing_seed: 3\n  router: {vcs: 4}\n"
                  "collective: {op: all_to_all, algorithm: [direct, a2a_paths], size: 2KiB}\n",
    "twisted.yaml": "system: {topology: {type: grid, dims: [4, 8], wrap: [true, true], twist: [4]}}\n" + RING,
    "routes.csv": "from,to,path  # listed\na,b,s/0 b/1@1\na,c,s@0 c@0\nb,c,s/1 c\nb,c,s c\n",
    "routed.yaml": "system:\n  topology: {type: file, file: net.yaml}\n  routing: file\n  routing_file: routes.csv\n  router: {flit_bytes: 64, vcs: 4}\n"
                   "traffic: {pattern: uniform, injection_rate: 0.05, message: 64B, warmup_cycles: 100, measure_cycles: 500, drain_cycles: 3000}\n",
    "choices.csv": "at,to,next\na,c,b@1 b@0!\nb,c,c@1 c@0!\nc,a,b@1 b@0!\nb,a,a@1 a@0!\na,b,b@0!\nc,b,b@0!\n",
    "groups.yaml": "system: {topology: {type: torus, dims: [2, 4]}}\ncollective: {op: all_gather, relay: true, size: 2KiB, algorithm: [forest, ring],\n"
                   "  groups: [[0, 1, 2], {ranks: [3, r_0_1, 6], size: 4KiB}, [0, 7]]}\n",
    "program.yaml": "system:\n  topology: {type: switch, nodes: 2}\n  ni: {program: {doorbell_cycles: 10}}\n"
                    "collective: {op: all_reduce, algorithm: program, size: 4KiB, program: {file: two.trace}}\n",
    "promised.yaml": "system: {topology: {type: switch, nodes: 3}}\n"
                     "collective: {op: custom, algorithm: program, size: 4KiB, program: {file: custom.xml, promises: custom.promises}}\n",
    "gpus.json": json.dumps({"name": "two", "collective": "allreduce", "protocol": "Simple", "inplace": True, "gpus": [plan(0), plan(1)]}, indent=1),
    "times.csv": "# theirs\nnetwork,op,size,tool,time,source\nnet,all_gather,1000B,TE-CCL,4.006us,a paper\nnet,all_gather,2000B,TACOS,4.012us,x; y\n",
    "sweep.yaml": """title: Small
config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {op: all_reduce, algorithm: ring, size: 1KiB}}
axes:
  - {key: collective.algorithm, values: [ring, multitree]}
  - {key: system.link.latency, from: 50ns, to: 150ns, step: 50ns}
  - zip: [{key: system.router.vcs, values: [2, 4]}, {key: system.router.vc_depth_flits, values: [636, 318]}]
  - {name: design, cases: {one: {system: {flow_control: {mode: message}}}, two: {system: {flow_control: {mode: packet}}}}}
  - {key: system.ni.lockstep, values: ["off", estimate], when: {collective.algorithm: multitree}}
except: {collective.algorithm: ring, system.link.latency: ">= 100ns"}
only: [{system.router.vcs: "< system.router.vc_depth_flits"}]
time_limit: 10min
memory_limit: 2GiB
draw:
  series: collective.algorithm
  x: {field: system.link.latency, label: latency}
  y: {field: bandwidth_GBps, label: GB/s}
""",
    "named.yaml": "title: Named\nconfig: bare.yaml\naxes: [{key: collective.size, values: [1KiB, 2KiB], kind: workload}]\nseeds: {key: simulation.seed, first: 1, count: 2}\n",
    "stopped.yaml": "system: {topology: {type: mesh, dims: [2, 2]}}\ncollective: {op: all_reduce, algorithm: ring, size: [1KiB, 2KiB, 3KiB, 1GiB]}\n"
                    "simulation: {fidelity: cycle}\n",
    "cells.lib": """/* areas only */
library (tiny) {
  leakage_power_unit : "1uW";
  cell (ND) { area : 2; cell_leakage_power : 3;
    pin (A) { direction : input; } pin (B) { direction : input; } pin (Y) { direction : output; function : "(A B)'"; } }
  cell (IV) { area : 1; leakage_power () { when : "A"; value : 1.5; } leakage_power () { value : "1e0"; } // a state
    pin (A) { direction : input; } pin (Y) { direction : output; function : "!A"; } }
  cell (BF) { area : 1.5; pin (A) { direction : input; } pin (Y) { direction : output; function : "A"; } }
}
""",
    "tr.0.et": trace(0),
    "tr.1.et": trace(1),
    "tr.json": '{"1": [1, 0], "2": [0]}\n',
    "trace.yaml": "system: {topology: {type: switch, nodes: 2}}\ncollective: {algorithm: ring}\n"
                  "workload: {file: tr, element: 2B, issue: lowest_id, compute: {tflops: 3, memory: 1GB/s}}\n",
    "point.json": json.dumps({"config": MESH + RING, "folder": ".", "files": ["point"], "task": {
        "plan": False, "explain": True, "schedule": "", "choices": "", "rank_order": [1, 0, 2, 3], "messages": "", "number": 1}}),
    "rows.csv": "# source: mine\n# licence: MIT\nmachine,servers,gpus_per_server,collective,size_bytes,time,unit,role\n8 x H100,1,8,all_gather,33554432,123.4,us,test\n"
                "8 x H100,1,8,all_reduce,1048576,100,GB/s busbw,fit\n",
}
COPIES = {"two.trace": "configs/programs/allreduce_two_ranks.trace", "pairs.xml": "configs/programs/allpairs.xml", "broken.yaml": "configs/graphs/broken_torus.yaml",
          "custom.xml": "tests/program/xml/valid/custom_to_next.xml", "custom.promises": "tests/program/xml/valid/custom_to_next.promises",
          "custom.trace": "tests/program/trace/custom_to_next.trace", "both.xml": "tests/program/xml/valid/both_places.xml"}
# Made by the program: file or folder, and the command.
MADE = {
    "tree.json": "schedule bare.yaml -s collective.algorithm=multitree -f json -o tree.json",
    "repeat.json": "schedule bare.yaml -s collective.algorithm=multitree_translated -s system.topology.type=torus -s system.topology.dims=[3,3] "
                   "-s collective.size=16KiB -s system.ni.table_repeat=true -s collective.segments=4 -f json -o repeat.json",
    "slots.json": "schedule graph.yaml -s collective.algorithm=forest -f json -o slots.json",
    "group.json": "schedule group.yaml -s collective.algorithm=forest -f json -o group.json",
    "root.json": "schedule root.yaml -s collective.algorithm=binomial -f json -o root.json",
    "plan.json": "schedule dimensions.yaml -s collective.algorithm=themis -s system.ni.dimension_queue.order=scf -f json -o plan.json",
    "results.json": "explain mesh.yaml --json results.json",
    "compared.json": "compare net.yaml -s collective.size=1KiB -s collective.algorithm=[ring,forest] --json compared.json",
    "curves.json": "latency traffic.yaml --loads 0.1,0.2 --json curves.json",
    "staged.json": "run dimensions.yaml --json staged.json",
    "sw": "sweep run named.yaml -o sw",
    "sw/results.jsonl": "sweep gather named.yaml -o sw",
    "choices": "run bare.yaml -s collective.algorithm=auto --choices choices",
}
STOPPED = {"kept.json": "run stopped.yaml -j1 --json kept.json", 
           "curve.json": "latency traffic.yaml -j1 --loads 0.01,0.02,0.9 -s traffic.measure_cycles=30000000 --json curve.json"}
# Files that are changed; others that must be there; commands, of which one is drawn. {word}, {set}: mutate.py.
ARGUMENTS = ("run bare.yaml --wave-scope {word} --waves out.vcd", "run bare.yaml --waves out.vcd --wave-from {word} --wave-to {word}",
             "run bare.yaml --json {word}/x.json", "run bare.yaml --choices {word}", "run {word}", "run bare.yaml {word}", "{word} bare.yaml", "compare bare.yaml {word}",
             "compare bare.yaml --time-limit {word}", "latency traffic.yaml --loads {word}", "latency traffic.yaml -s system.router.vcs=[{word}] --loads 0.1",
             "latency traffic.yaml --loads 0.1 --title {word} -o out.html", "area bare.yaml --node {word}",
             "area bare.yaml --technology {word}", "area bare.yaml --synthesize --node 45nm --liberty {word}", "sweep run named.yaml -o out --shard {word}",
             "sweep run named.yaml -o out --point {word}", "sweep run named.yaml -o out --time-limit {word} --memory-limit {word}", "sweep plan named.yaml -o out -s {word}",
             "sweep gather named.yaml -o {word}", "report results.json -o out.html --facet {word} --color {word} --mark {word}",
             "report results.json -o out.html --tolerance {word} --title {word}", "report {word} -o out.html", "reorder orders.yaml --spread {word} --no-simulate --json out.json",
             "run bare.yaml -j {word}", "list {word}", "schema --json-schema {word}", "completion {word}", "schedule bare.yaml -f {word}", "run bare.yaml -s {word}",
             "run bare.yaml -s system.topology.without=[{word}]", "run faults.yaml -s faults.late_nis=[{node:{word},cycles:3}]", "sweep {word} named.yaml", "help {word}",
             "run bare.yaml -s collective.ranks=[0,{word}]", "complete espalier run {word}", "compare net.yaml -s collective.size={word} -s collective.algorithm=ring")
READERS = ("run {0} --json out.json", "check {0}", "area {0} --csv -", "schedule {0} -f dot", "explain {0} --all", "run - <{0}", "run {0} -q --messages out.csv")


@dataclasses.dataclass
class Target:
    command: str
    changed: list
    beside: list
    places: str = "columns"  # of refusals: columns, lines or none

    @property
    def python(self):
        return self.command.startswith(("rows ", "figure "))

    def copy(self, source, target):
        target.mkdir()
        for name in [*self.changed, *self.beside]:
            if (source / name).is_dir():
                shutil.copytree(source / name, target / name)
            elif (source / name).exists():
                shutil.copyfile(source / name, target / name)

    def mutable(self, folder):
        found = [folder / name for name in self.changed]
        return sorted(path for name in found for path in (name.rglob("*") if name.is_dir() else [name]) if path.is_file())


def targets():
    made = []

    def add(changed, beside, *commands, copies=1, places="columns"):
        made.extend(Target(command, changed.split(), beside.split(), places) for command in commands for _ in range(copies))

    for name, beside in (("mesh", ""), ("graph", "net.yaml"), ("anynet", "tri.anynet"), ("astra", "astra.yml"), ("dimensions", ""), ("training", "layers.csv"),
                         ("coordination", "weights.csv"), ("workload", ""), ("traffic", ""), ("listed", "messages.csv"), ("tenants", ""), ("control", ""), ("cost", ""),
                         ("faults", ""), ("orders", "orders.order"), ("group", ""), ("root", ""), ("counts", "weights_of_pairs.csv"), ("program", "two.trace"),
                         ("promised", "custom.xml custom.promises"), ("nccl", "server.yml"), ("grids", ""), ("twisted", ""), ("groups", ""), ("routed", "routes.csv net.yaml")):
        add(f"{name}.yaml", beside, *(reader.format(f"{name}.yaml") for reader in READERS))
        if beside:
            add(beside, f"{name}.yaml", f"run {name}.yaml", f"run {name}.yaml --json out.json", f"check {name}.yaml", copies=3)
        add("", f"{name}.yaml {beside}", f"run {name}.yaml {{set}}", f"check {name}.yaml {{set}}", f"area {name}.yaml {{set}}", copies=2)
    add("net.yaml", "", "compare net.yaml -s collective.size=2KiB -s collective.algorithm=[ring,forest]", copies=4)
    add("broken.yaml", "", "compare broken.yaml -s collective.size=1KiB -s collective.algorithm=ring")
    add("tri.anynet", "", "compare tri.anynet -s collective.size=1KiB -s collective.algorithm=ring", copies=2)
    for name in ("nccl.xml", "infra.yml", "ns3.topo", "htsim.topo", "topology.conf", "mesh.textproto", "graph.edges", "link.graph", "graph.graphml"):
        add(name, "", f"compare {name} -s collective.size=1KiB -s collective.algorithm=ring", f"run {name} -s collective.size=1KiB -s collective.algorithm=direct", copies=2)
    add("astra.yml", "", "compare astra.yml -s collective.size=1KiB -s collective.algorithm=baseline", copies=2)
    add("times.csv", "net.yaml", "compare net.yaml times.csv -s collective.op=all_gather -s collective.size=1000B -s collective.algorithm=ring --json out.json", copies=6)
    add("latency.csv", "orders.yaml orders.order", "reorder orders.yaml -s collective.rank_order=identity --latency latency.csv --no-simulate -o out.order", copies=6)
    add("orders.yaml", "orders.order", "reorder orders.yaml --json out.json", copies=2)
    add("traffic.yaml", "", "latency traffic.yaml --loads 0.1,0.3 --json out.json", "latency traffic.yaml --loads 0.1 {set}", copies=3)
    add("routes.csv", "routed.yaml net.yaml", "certify routes routed.yaml", "certify routes routes.csv -o out.txt", copies=4)
    add("choices.csv", "", "certify routes choices.csv -o out.txt", copies=6)
    add("grids.yaml", "", "certify routes grids.yaml", "certify routes grids.yaml {set}", "compare grids.yaml -s collective.algorithm=direct -s system.routing=auto")
    for name in ("two.trace", "custom.trace", "pairs.xml", "both.xml", "custom.xml", "gpus.json"):
        add(name, "", f"check {name}", f"run {name} -s collective.size=4KiB", f"schedule {name} -f msccl-xml", f"area {name}", copies=2)
    add("two.trace", "bare.yaml", "compare bare.yaml two.trace -s collective.size=1KiB -s system.topology.dims=[2,1]")
    for name in ("tree", "repeat", "slots", "group", "root", "plan"):
        beside = "net.yaml" if name == "slots" else ""
        add(f"{name}.json", beside, f"check {name}.json", f"run {name}.json", f"schedule {name}.json -f dot", copies=3)
        add(f"{name}.json", beside, f"schedule {name}.json -f flits", f"schedule {name}.json -f tree-svg", f"schedule {name}.json -f slots-svg", f"explain {name}.json")
    add("tree.json", "bare.yaml", "compare bare.yaml tree.json -s collective.size=1KiB -s collective.algorithm=ring", copies=2)
    for name, beside in (("sweep", ""), ("named", "bare.yaml")):
        add(f"{name}.yaml", beside, f"sweep plan {name}.yaml -o out", f"sweep run {name}.yaml -o out", f"sweep plan {name}.yaml -o out {{set}}", copies=5)
    add("sw", "named.yaml bare.yaml", "sweep run named.yaml -o sw", "sweep gather named.yaml -o sw", "sweep gather named.yaml -o sw --partial", "report sw -o out.html", "report sw/results.jsonl -o out.html",
        "sweep plan named.yaml -o sw", copies=5)
    add("kept.json.partial", "stopped.yaml", "run stopped.yaml -s collective.size=[1KiB,2KiB] --resume --json kept.json", copies=8)
    add("curve.json.partial", "traffic.yaml", "latency traffic.yaml --loads 0.01 -s traffic.measure_cycles=30000000 --resume --json curve.json", copies=4)
    add("choices", "bare.yaml", "run bare.yaml -s collective.algorithm=auto --choices choices", copies=8)
    for name in ("results", "compared", "curves", "staged"):
        add(f"{name}.json", "", f"report {name}.json -o out.html", copies=4)
    add("cells.lib", "bare.yaml", "area bare.yaml --synthesize --node 45nm --liberty cells.lib", copies=4)
    add("", "bare.yaml traffic.yaml named.yaml results.json orders.yaml orders.order faults.yaml net.yaml", *ARGUMENTS, copies=2)
    if all(importlib.util.find_spec(name) for name in ("numpy", "pandas", "yaml")):  # which these programs import
        add("rows.csv", "", "rows rows.csv", copies=3, places="lines")
        add("sweep.yaml", "", "figure sweep.yaml", copies=3)
    add("tr.0.et tr.1.et", "trace.yaml tr.json", "check trace.yaml", "run trace.yaml", copies=6, places="none")
    add("tr.json", "trace.yaml tr.0.et tr.1.et", "check trace.yaml", "run trace.yaml", copies=2)
    add("trace.yaml", "tr.json tr.0.et tr.1.et", "check trace.yaml", "run trace.yaml", "check --resolved trace.yaml", copies=2)
    add("point.json", "", "worker <point.json", copies=3, places="none")
    return made


class Nursery:
    def __init__(self, program, folder):
        self.folder = folder
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        for name, source in COPIES.items():
            shutil.copyfile(ROOT / source, folder / name)
        for name, command in MADE.items():
            outcome = subprocess.run([program, *command.split()], cwd=folder, capture_output=True, text=True)
            if outcome.returncode or not (folder / name).exists():
                raise SystemExit(f"{command}: {outcome.stdout}{outcome.stderr}")
        for name, command in STOPPED.items():
            for seconds in (1, 2, 4, 8, 16, 32):  # how long it takes until points are kept depends on the machine
                process = subprocess.Popen([program, *command.split()], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(seconds)
                process.send_signal(signal.SIGINT)
                if process.wait() == 130 and any((folder / f"{name}.partial").glob("points/*.json")):
                    break
                (folder / name).unlink(missing_ok=True)
            else:
                raise SystemExit(f"{command}: not stopped with points that it keeps")
        self.targets = targets()


def main(kind, name):
    if kind == "rows":
        from validation.silicon import machines, rows
        mistake, read = machines.Mistake, rows.read_rows
    else:
        from espalier import figures
        mistake, read = figures.Mistake, figures.read_draw
    try:
        read(name)
    except mistake as error:
        print(f"error: {error}" if kind == "rows" else error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
