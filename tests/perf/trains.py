"""Cost of train fidelity over link rates, buffers and contention. Called by trains.sh."""
import json
import subprocess
import sys
import tempfile

ESPALIER, RUNS = sys.argv[1], int(sys.argv[2])
TORUS = ["system.topology.type=torus", "system.topology.dims=[8, 8]", "system.flow_control.mode=message",
         "system.router.vc_depth_flits=1000", "collective.op=all_reduce"]
CONFIG = "configs/torus_8x8.yaml"


def engine(algorithm, size, *settings):
    """The shortest engine CPU time of RUNS runs, in seconds."""
    keys = [*TORUS, f"collective.algorithm={algorithm}", f"collective.size={size}", *settings]
    command = [ESPALIER, "run", CONFIG, "-q", "--json", "-"]
    for key in keys:
        command += ["-s", key]
    times = []
    for _ in range(RUNS):
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        times.append(json.loads(out)["results"][0]["host"]["engine_cpu_s"])
        if times[-1] > 1:
            break
    return min(times)


def table(title, base_name, base, cases):
    print(f"\n{title}\n{base_name:<46} {base:9.4f} s", flush=True)
    for name, seconds in cases:
        print(f"{name:<46} {seconds:9.4f} s {seconds / base:8.1f} x", flush=True)


def rates(algorithm):
    full = engine(algorithm, "16MiB")
    cases = ((f"{share} of a flit a cycle", engine(algorithm, "16MiB", f"system.link.bandwidth={rate}"))
             for share, rate in (("15/16", "15GB/s"), ("25/32", "12.5GB/s"), ("3/4", "12GB/s"), ("1/2", "8GB/s")))
    table(f"Link rates: {algorithm}, 16 MiB, buffers that cover the round trip", "a flit a cycle", full, cases)


def buffers(algorithm, link, bandwidth):
    rate = f"system.link.bandwidth={bandwidth}"
    covered = engine(algorithm, "16MiB", rate)
    cases = ((f"{share} of the round trip", engine(algorithm, "16MiB", rate, f"system.router.vc_depth_flits={int(318 * share)}"))
             for share in (0.95, 0.75, 0.5, 0.25))
    table(f"Buffers: {algorithm}, 16 MiB, {link} a cycle", "covered", covered, cases)


def shared():
    ring = engine("ring", "4MiB")
    cases = ((f"{name}, {mode} mode", engine(name, "4MiB", f"system.flow_control.mode={mode}"))
             for name in ("direct", "dbtree") for mode in ("message", "packet"))
    table("Shared links: 4 MiB", "ring, message mode", ring, cases)
    small = engine("direct", "4MiB")
    large = engine("direct", "4MiB", "system.flow_control.payload_bytes=4096")
    table("Shared links: direct, 4 MiB", "packets of 256 B", small, [("packets of 4096 B", large)])


def groups():
    """Pairs of GPUs gather. One plan serves all pairs, so that pairs cost the same in a large system."""
    def pair(servers):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/step.txt", "w") as text:
                text.write(f"HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: {8 * servers}\n2\n"
                           + 2 * "x -1 1000 ALLGATHER 1048576 1 NONE 0 1 NONE 0 100\n")
            with open(f"{folder}/step.yaml", "w") as config:
                config.write(f"system: {{topology: {{type: gpu_cluster, servers: {servers}, gpus_per_server: 8}}}}\n"
                             "workload: {file: step.txt}\ncollective: {algorithm: ring}\n")
            out = subprocess.run([ESPALIER, "run", f"{folder}/step.yaml", "-q", "--json", "-"], check=True,
                                 capture_output=True, text=True).stdout
        return json.loads(out)["results"][0]["host"]["engine_cpu_s"] * 1000 / (4 * servers)
    table("Groups: CPU time of the all-gathers of 1000 pairs", "16 servers", pair(16), [("256 servers", pair(256))])


for name in ("ring", "multitree"):
    rates(name)
for name in ("ring", "multitree"):
    buffers(name, "a flit", "16GB/s")
    buffers(name, "15/16 of a flit", "15GB/s")
shared()
groups()
