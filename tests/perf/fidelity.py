"""Times both fidelities. Called by fidelity.sh."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

build, runs = sys.argv[1], int(sys.argv[2])
ESPALIER = os.path.join(build, "espalier")


class Run:
    """One process: its result, its engine's CPU seconds, and its own wall seconds and memory."""

    def __init__(self, config, fidelity):
        with tempfile.TemporaryDirectory() as folder:
            path, result = os.path.join(folder, "case.yaml"), os.path.join(folder, "result.json")
            with open(path, "w") as file:
                file.write(config)
            begin = time.monotonic()
            subprocess.run([ESPALIER, "run", path, "-s", f"simulation.fidelity={fidelity}",
                            "--json", result], check=True, stdout=subprocess.DEVNULL)
            self.wall = time.monotonic() - begin
            with open(result) as file:
                self.result = json.load(file)["results"][0]
        self.engine = self.result["host"]["engine_cpu_s"]
        self.memory = self.result["host"]["peak_rss_MiB"]
        self.answer = [self.result[key] for key in
                       ("cycles", "flit_hops", "messages", "message_latency_mean_cycles",
                        "message_latency_max_cycles", "verified")]


def median_of(config, fidelity, count, figure):
    all_runs = [Run(config, fidelity) for _ in range(count)]
    return statistics.median(figure(run) for run in all_runs), all_runs[0]


def collective(dims, algorithm, mode, size):
    return f"""
system: {{topology: {{type: torus, dims: [{dims}, {dims}]}}, flow_control: {{mode: {mode}}}}}
collective: {{op: all_reduce, algorithm: {algorithm}, size: {size}}}
"""


def traffic(message):
    return f"""
system: {{topology: {{type: torus, dims: [8, 8]}}, flow_control: {{mode: packet}}}}
traffic: {{pattern: uniform, injection_rate: 0.5, message: {message}, warmup_cycles: 0, measure_cycles: 20000, drain_cycles: 0}}
"""


missed = 0


def report(case, value, unit, target, good):
    global missed
    missed += not good
    print(f"{case:<66} {value:>10.4g} {unit:<4} {target:>10}  {'' if good else 'missed'}", flush=True)


def compare(case, config, count, target):
    """Engine time of cycle over train; the answers must be equal."""
    train, first = median_of(config, "train", max(runs, 5), lambda run: run.engine)
    cycle, reference = median_of(config, "cycle", count, lambda run: run.engine)
    if first.answer != reference.answer:
        sys.exit(f"{case}: train says {first.answer}, cycle {reference.answer}")
    report(f"{case}: engine, cycle over train", cycle / train, "x", f">= {target}",
           cycle / train >= target)
    return reference


print(f"{'case':<66} {'measured':>10} {'':<4} {'target':>10}")
case = "8x8 MULTITREE, messages, 64 MiB"
config = collective(8, "multitree", "message", "64MiB")
reference = compare(case, config, 1, 5000)
wall, _ = median_of(config, "train", max(runs, 5), lambda run: run.wall)
report(f"{case}: whole process, cycle over train", reference.wall / wall, "x", ">= 500",
       reference.wall / wall >= 500)
report(f"{case}: whole process, train", wall, "s", "< 0.1", wall < 0.1)
compare("8x8 RING, 256 B packets, 64 MiB", collective(8, "ring", "packet", "64MiB"), 1, 1000)
compare("8x8 uniform random packets of 256 B at half load", traffic("256B"), runs, 5)
compare("8x8 uniform random messages of 4 KiB at half load", traffic("4KiB"), runs, 5)
wall, _ = median_of(collective(16, "multitree", "message", "1GiB"), "train", runs,
                    lambda run: run.wall)
report("16x16 MULTITREE, messages, 1 GiB: whole process", wall, "s", "< 2", wall < 2)
wall, first = median_of(collective(32, "multitree", "message", "1GiB"), "train", 1,
                        lambda run: run.wall)
report("32x32 MULTITREE, messages, 1 GiB: whole process", wall, "s", "< 10", wall < 10)
report("32x32 MULTITREE, messages, 1 GiB: memory", first.memory, "MiB", "< 4096",
       first.memory < 4096)
wall, first = median_of("""
system: {topology: {type: torus, dims: [64, 64]}, flow_control: {mode: packet}}
traffic: {pattern: neighbor, injection_rate: 0.5, message: 4KiB, warmup_cycles: 0, measure_cycles: 1000, drain_cycles: 0}
""", "train", 1, lambda run: run.wall)
report("64x64 torus, neighbour traffic: memory", first.memory, "MiB", "< 2048",
       first.memory < 2048)
large, _ = median_of(collective(8, "multitree", "message", "1GiB"), "train", max(runs, 5),
                     lambda run: run.wall)
small, _ = median_of(collective(8, "multitree", "message", "1MiB"), "train", max(runs, 5),
                     lambda run: run.wall)
report("8x8 MULTITREE, messages: whole process, 1 GiB over 1 MiB", large / small, "x", "< 1.2",
       large / small < 1.2)
for dims, most in ((32, 5), (64, 60)):
    begin = time.monotonic()
    subprocess.run([os.path.join(build, "tests", "generator_speed"), "multitree", str(dims)],
                   check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    report(f"MULTITREE generated for a {dims}x{dims} torus", seconds, "s", f"< {most}",
           seconds < most)
print(f"{missed} targets missed" if missed else "all targets met")
