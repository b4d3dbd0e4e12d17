"""Called by sweep.sh: sweep.py ESPALIER [ROUNDS [POINTS]]."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
points = int(sys.argv[3]) if len(sys.argv) > 3 else 1000

SWEEP = """title: Small points
config: {{system: {{topology: {{type: torus, dims: [8, 8]}}}}, traffic: {{pattern: uniform, warmup_cycles: 0, measure_cycles: 500, drain_cycles: 0}}}}
axes: [{{key: traffic.injection_rate, values: [0.1]}}]
seeds: {}
"""


def own_cpu_seconds(pid):
    """Of the process alone: its children do not count."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed_sweep(file, folder, jobs):
    shutil.rmtree(folder, ignore_errors=True)
    begin = time.monotonic()
    run = subprocess.Popen([program, "sweep", "run", file, "-o", folder, "-j", str(jobs)], stdout=subprocess.DEVNULL)
    cpu = 0.0
    while run.poll() is None:
        cpu = max(cpu, own_cpu_seconds(run.pid))
        time.sleep(0.01)
    if run.returncode != 0:
        sys.exit(f"the sweep ended with exit code {run.returncode}")
    return time.monotonic() - begin, cpu


def timed_loop(folder):
    names = sorted(os.listdir(folder + "/points"))
    configs = [json.dumps(json.load(open(f"{folder}/points/{name}"))["config"]) for name in names]
    task = {"plan": False, "explain": False, "schedule": "", "choices": "", "rank_order": [], "messages": "", "number": 1}
    inputs = [json.dumps({"config": c, "folder": "", "files": [], "task": task}).encode() for c in configs]
    begin = time.monotonic()
    for text in inputs:
        subprocess.run([program, "worker"], input=text, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


with tempfile.TemporaryDirectory() as temporary:
    file = temporary + "/sweep.yaml"
    with open(file, "w") as out:
        out.write(SWEEP.format(points))
    scaling, overhead, cpu_share = [], [], []
    for i in range(rounds):
        one, cpu = timed_sweep(file, temporary + "/one", 1)
        loop = timed_loop(temporary + "/one")
        two, _ = timed_sweep(file, temporary + "/two", 2)
        scaling.append(one / two)
        overhead.append((one - loop) / points * 1e3)
        cpu_share.append(cpu / points * 1e3)
        print(f"{points} points: one worker {one:.2f} s, two {two:.2f} s, bare loop {loop:.2f} s ({loop / points * 1e3:.1f} ms each)")
    print(f"two workers against one: {max(scaling):.2f}x")
    print(f"overhead per point: {min(overhead):.2f} ms on the clock, {min(cpu_share):.2f} ms of the parent's processor time")
