"""docs/debugging.md: the slip, the timelines, faults, and the sizes of waveforms and timelines."""
import gzip
import json
import os

from claims import Page

SLIP = ("configs/lockstep_mesh_8x8.yaml", "collective.size=1MiB")
TORUS = ("configs/torus_8x8.yaml", "system.flow_control.mode=message", "collective.size=16MiB")
PROGRAM = ("configs/programs/hierarchical.yaml", "collective.algorithm=gc3_hierarchical", "collective.size=64KiB")
HEALTHY = "faults.slow_links=none"
FAULTS = {
    "none": (HEALTHY,),
    "the link from r_3_3 to r_4_3 at a quarter of its rate": (),
    "the link at its full rate, but with a latency of 1 us: VCs of 318 flits no longer cover the credit loop": (
        "faults.slow_links=[{from: r_3_3, to: r_4_3, latency: 1us}]",),
    "node 27 (r_3_3) late by 2000 cycles: there is slack for it, but none with true lockstep": (
        HEALTHY, "faults.late_nis=[{node: 27, cycles: 2000}]"),
    "node 27's clock slow by 10 cycles a step": (HEALTHY, "faults.clock_skew=[{node: 27, per_step: 10}]"),
    "DMA jitter up to 20 cycles, at all nodes": (HEALTHY, "faults.dma_jitter.max_cycles=20"),
    "DMA jitter up to 100 cycles": (HEALTHY, "faults.dma_jitter.max_cycles=100"),
}


def claims(program):
    page = Page("docs/debugging.md")
    page.quotes("{} late net.ni_1_7 in step {}, waiting for the Reduce of flow {} net.ni_0_7 -> net.ni_1_7, step {} delayed most by ni queue behind "
                "Reduce of flow {} net.ni_0_7 -> net.ni_1_7, step {} on net.r_0_7.in_ni0 at net.ni_0_7: {} cycles",
                lambda: program.printed("explain", *SLIP, "system.ni.lockstep=off"))
    page.claim("`ni_1_7` stands at entry {}, step {}, and `stall` says `children` until {:.1f} us", lambda: waiting(program))
    page.claim("reaches `timestep` {} in its first cycles; `active_sends` says {}.", lambda: tuple(
        value_at(slip(program, "off")[f"net.ni_0_7.{name}"], 100) for name in ("timestep", "active_sends")))
    page.claim("`active_sends` never exceeds {}, and", lambda: max(
        value for ni in ("ni_0_7", "ni_1_7") for _, value in slip(program, "full")[f"net.{ni}.active_sends"]))
    page.claim("link: {} cycles instead of {}.", lambda: tuple(
        program.result("run", *SLIP, f"system.ni.lockstep={mode}")["cycles"] for mode in ("full", "off")))
    page.claim("({} timesteps) take", lambda: program.result("run", *TORUS, "collective.algorithm=multitree")["timesteps"])
    page.claim("KB as FST and {:.1f} MB as VCD", lambda: os.path.getsize(
        written(program, "nis.vcd", "--waves", *TORUS, "collective.algorithm=multitree", "--wave-scope", "net.ni_*")) / 1e6)
    for algorithm in ("ring", "multitree"):
        page.claim(f"| {algorithm.upper()}, message mode | {{}} | {{:.1f}} | {{:.1f}} |", lambda a=algorithm: timeline_sizes(program, a))
    for name, causes in (("s i[3]", ("dependency", "busy", "leaving")), ("rrcs i[2]", ("message", "busy", "leaving")),
                         ("r i[3]", ("message", "busy"))):
        cycles = ", ".join(f"`{cause}` {{}}" for cause in causes)
        page.claim(f"| `{name} tile 0` | {{:.3f}} us | {{:.3f}} us | {cycles} |", lambda n=name, c=causes: slice_of(program, f"{n} tile 0", c))
    for text, settings in FAULTS.items():
        modes = ("estimate", "full") if "clock" in text else ("off", "estimate", "full")
        cells = " | ".join(["{}"] * len(modes))
        page.claim(f"| {text} | {'| ' if 'clock' in text else ''}{cells} |", lambda s=settings, m=modes: tuple(
            program.result("run", "configs/faults/slow_link.yaml", *s, f"system.ni.lockstep={mode}")["cycles"] for mode in m))
    return [page]


def written(program, name, option, *arguments):
    path = f"{program.folder.name}/{name}"
    program.printed("run", *arguments, "-q", option, path)
    return path


def slip(program, lockstep):
    """By signal, the cycles and values of its changes in the first 9000 cycles."""
    path = written(program, f"slip_{lockstep}.vcd", "--waves", *SLIP, f"system.ni.lockstep={lockstep}", "--wave-scope", "net.ni_0_7",
                   "--wave-scope", "net.ni_1_7", "--wave-to", "9000")
    names, scopes, changes, cycle = {}, [], {}, 0
    with open(path, encoding="utf-8") as file:
        for words in map(str.split, file):
            if words[0] == "$scope":
                scopes.append(words[2])
            elif words[0] == "$upscope":
                scopes.pop()
            elif words[0] == "$var":
                names[words[3]] = ".".join([*scopes, words[4]])
            elif words[0][0] == "#":
                cycle = int(words[0][1:])
            elif words[0][0] == "b" and set(words[0][1:]) <= set("01"):
                changes.setdefault(names[words[1]], []).append((cycle, int(words[0][1:], 2)))
    return changes


def value_at(changes, cycle):
    return [value for at, value in changes if at <= cycle][-1]


def waiting(program):
    """Where the NI stands after a thousand cycles, and until when `stall` does not change."""
    changes = {name: slip(program, "off")[f"net.ni_1_7.{name}"] for name in ("entry", "timestep", "stall")}
    return (value_at(changes["entry"], 1000), value_at(changes["timestep"], 1000),
            min(cycle for cycle, _ in changes["stall"] if cycle > 1000) / 1000)


def timeline(program, name, *arguments):
    path = written(program, name, "--timeline", *arguments)
    with open(path, encoding="utf-8") as file:
        return path, json.load(file)["traceEvents"]


def timeline_sizes(program, algorithm):
    path, events = timeline(program, f"{algorithm}.json", *TORUS, f"collective.algorithm={algorithm}")
    with open(path, "rb") as file:
        packed = len(gzip.compress(file.read(), 6))
    return sum(event["ph"] == "s" for event in events), os.path.getsize(path) / 1e6, packed / 1e6


def slice_of(program, name, causes):
    """Of context 2 of ni_n_1."""
    events = timeline(program, "program.json", *PROGRAM)[1]
    process = next(event["pid"] for event in events if event["name"] == "process_name" and event["args"]["name"] == "ni_n_1")
    thread = next(event["tid"] for event in events
                  if event["name"] == "thread_name" and event["pid"] == process and event["args"]["name"] == "ctx2")
    found = next(event for event in events if event["ph"] == "X" and (event["pid"], event["tid"], event["name"]) == (process, thread, name))
    if set(found["args"]["cycles"]) != set(causes):
        raise RuntimeError(f"{name} has the causes {found['args']['cycles']}")
    return (found["ts"], found["dur"], *(found["args"]["cycles"][cause] for cause in causes))
