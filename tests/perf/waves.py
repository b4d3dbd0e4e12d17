"""What NI waveforms cost a run. Called by waves.sh: waves.py BUILD RUNS."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

build, runs = sys.argv[1], int(sys.argv[2])
RUN = [os.path.join(build, "espalier"), "run", "configs/torus_8x8.yaml", "-s", "collective.algorithm=multitree",
       "-s", "system.flow_control.mode=message"]
TIME_TARGET, SIZE_TARGET = 1.3, 8


def cpu_seconds(words):
    """Of one process, user and system: other processes disturb these less than its wall time."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime


def measure(fidelity, size, repetitions, folder):
    """Interleaved runs: whatever slows the machine down slows all of them."""
    waves = {kind: os.path.join(folder, f"run.{kind}") for kind in ("fst", "vcd")}
    seconds = {kind: [] for kind in ("none", *waves)}
    for _ in range(repetitions):
        for kind, taken in seconds.items():
            words = RUN + ["-s", f"collective.size={size}", "-s", f"simulation.fidelity={fidelity}"]
            if kind in waves:
                words += ["--waves", waves[kind], "--wave-scope", "net.ni_*"]
            taken.append(cpu_seconds(words))
    sizes = {kind: os.path.getsize(path) for kind, path in waves.items()}
    return seconds, sizes


print(f"\nNI signals of 8x8 MULTITREE, all 34 timesteps; targets: FST {TIME_TARGET} times the run's time at most, "
      f"{SIZE_TARGET} times\nsmaller than VCD at least. CPU time of the process: the least, in brackets the median.\n")
print(f"{'fidelity':<9}{'size':<7}{'run, ms':>17}{'FST':>15}{'VCD':>15}{'FST, KB':>10}{'VCD/FST':>9}")
with tempfile.TemporaryDirectory() as folder:
    for fidelity, size, repetitions in (("train", "1MiB", runs), ("train", "16MiB", runs), ("train", "64MiB", runs),
                                        ("cycle", "1MiB", max(1, runs // 10))):
        seconds, sizes = measure(fidelity, size, repetitions, folder)
        least = {kind: min(taken) for kind, taken in seconds.items()}
        median = {kind: statistics.median(taken) for kind, taken in seconds.items()}
        line = f"{fidelity:<9}{size:<7}{1e3 * least['none']:>9.1f} ({1e3 * median['none']:.0f})".ljust(33)
        for kind in ("fst", "vcd"):
            line += f"{least[kind] / least['none']:>8.2f} ({median[kind] / median['none']:.2f})"
        print(f"{line}{sizes['fst'] / 1e3:>10.0f}{sizes['vcd'] / sizes['fst']:>9.0f}"
              f"{'' if least['fst'] <= TIME_TARGET * least['none'] else '  time: missed'}"
              f"{'' if SIZE_TARGET * sizes['fst'] <= sizes['vcd'] else '  size: missed'}", flush=True)
