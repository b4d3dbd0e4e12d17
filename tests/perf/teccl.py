#!/usr/bin/env python3
"""`auto` against TE-CCL's solved all_gathers.

teccl.py BUILD [NAME ...] simulates each of them, certified and with real data, and prints TE-CCL's time and that of its solver, ours, our share of the bound
and seconds: until there is a schedule, of simulating the candidates, and of the whole run. It fails if TE-CCL is faster on one by more than the grain of its time: 1 %. Networks and times: microsoft/TE-CCL,
teccl/topologies and teccl/examples, commit c128bf2 (MIT); the best of its settings for a size. There a chunk takes whole epochs and links have no flits; in
epochs longer than a link's latency, that latency is 0.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from planned import FLITS_PER_PACKET

# GB/s between the GPUs of an NDv2 server.
NDV2 = ((0, 1, 50), (0, 2, 25), (0, 3, 25), (0, 4, 50), (1, 2, 25), (1, 3, 50), (1, 5, 25), (2, 3, 50), (2, 6, 50), (3, 7, 25), (4, 5, 50), (4, 6, 25),
        (4, 7, 25), (5, 6, 25), (5, 7, 50), (6, 7, 50))
# Name, servers, bytes gathered, TE-CCL's time in us, its solver's seconds.
CASES = (
    ("DGX2", 2, 1000, 4.006, 18422),
    ("DGX2", 2, 2000, 4.012, 1388),
    ("DGX2", 2, 4000, 4.03, 1073),
    ("DGX2", 2, 8000, 4.056, 328),
    ("DGX2", 2, 16000, 4.084, 2923),
    ("DGX2", 2, 32000, 4.264, 346),
    ("DGX2", 2, 64000, 4.32, 634),
    ("DGX2", 2, 128000, 4.64, 102),
    ("DGX2", 2, 256000, 5.376, 170),
    ("DGX2", 2, 1000000, 22.5, 19),
    ("DGX2", 2, 2000000, 19.5, 577),
    ("DGX2", 2, 4000000, 33, 1137),
    ("DGX2", 2, 16000000, 160, 12),
    ("DGX2", 2, 32000000, 344, 1703),
    ("DGX2", 2, 64000000, 640, 12),
    ("DGX2", 2, 128000000, 1376, 6421),
    ("DGX2", 2, 256000000, 1984, 2694),
    ("DGX2", 2, 512000000, 5504, 6410),
    ("DGX2", 2, 1000000000, 7750, 2700),
    ("NDv2", 2, 1000, 4.135, 624),
    ("NDv2", 2, 4000, 4.185, 773),
    ("NDv2", 2, 16000, 4.52, 96),
    ("NDv2", 2, 64000, 6.72, 26),
    ("NDv2", 2, 256000, 14.72, 40),
    ("NDv2", 2, 1000000, 48.75, 47),
    ("NDv2", 2, 4000000, 190, 41),
    ("NDv2", 2, 16000000, 700, 45),
    ("NDv2", 2, 64000000, 2800, 43),
    ("NDv2", 2, 256000000, 12800, 5),
    ("NDv2", 2, 1000000000, 43750, 43),
    ("NDv2", 4, 1000, 5.4495, 7562),
    ("NDv2", 4, 4000, 5.516, 9039),
    ("NDv2", 4, 16000, 5.82, 1438),
    ("NDv2", 4, 64000, 8.32, 571),
    ("NDv2", 4, 256000, 20.96, 17243),
    ("NDv2", 4, 1000000, 69.375, 9510),
    ("NDv2", 4, 4000000, 317.5, 17071),
    ("NDv2", 4, 16000000, 1040, 237),
    ("NDv2", 4, 64000000, 4160, 216),
    ("NDv2", 4, 256000000, 16640, 221),
    ("NDv2", 4, 1000000000, 66250, 30855),
)
TOLERANCE = 1.01
MOST_PLANNING_S = 1.0


def link(ends, gigabytes, latency):
    return f"  - {{{ends}, bandwidth: {gigabytes}GB/s, latency: {latency}ns}}"


def one_way(source, to, latency):
    return link(f"from: {source}, to: {to}", 12.5, latency)


def ndv2(servers):
    links = [link(f"between: [s{s}g{a}, s{s}g{b}]", rate, 700) for s in range(servers) for a, b, rate in NDV2]
    if servers == 2:
        links += [one_way("s0g0", "s1g1", 1300), one_way("s1g0", "s0g1", 1300)]
        return graph(servers, 8, [], links)
    for s in range(servers):
        links += [one_way(f"s{s}g0", "w", 1300), one_way("w", f"s{s}g1", 1300)]
    return graph(servers, 8, ["w"], links)


def dgx2(servers):
    links = [link(f"between: [s{s}g{g}, w{s}]", 125, 350) for s in range(servers) for g in range(16)]
    for s in range(servers):
        links += [one_way(f"s{s}g{g + 1}", f"s{1 - s}g{g}", 2600) for g in range(0, 16, 2)]
    return graph(servers, 16, [f"w{s}" for s in range(servers)], links)


def graph(servers, gpus, switches, links):
    nodes = ", ".join(f"s{s}g{g}" for s in range(servers) for g in range(gpus))
    lines = [f"nodes: [{nodes}]"] + ([f"switches: [{', '.join(switches)}]"] if switches else [])
    return "\n".join([*lines, "links:", *links]) + "\n"


def run(espalier, folder, name, servers, size):
    text, flit = (ndv2(servers), 50) if name == "NDv2" else (dgx2(servers), 125)
    (folder / "net.yaml").write_text(text)
    # A flit per cycle on the fastest link; a VC holds a credit's way there and back on the longest.
    (folder / "run.yaml").write_text(
        "system: {topology: {type: file, file: net.yaml}, router: {clock: 1GHz, flit_bytes: %d, vc_depth_flits: 5400},\n"
        "  flow_control: {payload_bytes: %d, sub_message_bytes: %d}}\n"
        "collective: {op: all_gather, algorithm: auto, size: %dB}\nsimulation: {fidelity: train}\n" % (flit, flit * FLITS_PER_PACKET, flit * FLITS_PER_PACKET * 8, size))
    out = folder / "out.json"
    subprocess.run([espalier, "run", str(folder / "run.yaml"), "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())["results"][0]


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    missed = []
    slow = []
    print("| case | bytes | TE-CCL, us | its solver, s | ours, us | of the bound, % | planning, s | choosing, s | run, s |\n|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, servers, size, theirs, solver in CASES:
            case = f"{name} x {servers}"
            if sys.argv[2:] and case not in sys.argv[2:]:
                continue
            start = time.monotonic()
            result = run(espalier, Path(folder), name, servers, size)
            seconds = time.monotonic() - start
            if not (result["certified"] and result["verified"]):
                sys.exit(f"{case} is not certified and verified")
            ours = result["time_ns"] / 1e3
            host = result["host"]
            print(f"| {case} | {size} | {theirs:.2f} | {solver} | {ours:.2f} | {100 * result['bound_ratio']:.2f} | {host['planning_cpu_s']:.2f} | {host['choosing_s']:.2f} | {seconds:.1f} |", flush=True)
            if host["planning_cpu_s"] > MOST_PLANNING_S:
                slow.append(f"{case} of {size} B")
            if ours > TOLERANCE * theirs:
                missed.append(f"{case} of {size} B")
    if slow:
        print(f"planned in over {MOST_PLANNING_S} s: {', '.join(slow)}")
    if missed:
        sys.exit(f"TE-CCL is faster: {', '.join(missed)}")


if __name__ == "__main__":
    main()
