"""One run of espalier on a network of a report: its configuration, the run, its result."""
import json
import subprocess
from pathlib import Path

FLITS_PER_PACKET = 8


class RunFailed(Exception):
    """The program's own words."""


def one_run(espalier, folder, network, flit, op, algorithm, size, *, clock="1GHz", vc_depth=1400, router=()):
    """Simulates a collective on a graph file's text or path, certified and with real data. `flit`: bytes, at least what the fastest link carries in a cycle of
    `clock`; `vc_depth`: flits, at least a credit's way there and back on the longest link. `router`: further keys of the router."""
    folder = Path(folder)
    if not isinstance(network, Path):
        (folder / "net.yaml").write_text(network)
        network = folder / "net.yaml"
    packet = flit * FLITS_PER_PACKET
    keys = ", ".join((f"clock: {clock}", f"flit_bytes: {flit}", f"vc_depth_flits: {vc_depth}", *router))
    (folder / "run.yaml").write_text(
        f"system: {{topology: {{type: file, file: {network.resolve()}}}, router: {{{keys}}},\n"
        f"  flow_control: {{payload_bytes: {packet}, sub_message_bytes: {8 * packet}}}}}\n"
        f"collective: {{op: {op}, algorithm: {algorithm}, size: {size}}}\nsimulation: {{fidelity: train}}\n")
    out = folder / "out.json"
    done = subprocess.run([espalier, "run", str(folder / "run.yaml"), "--json", str(out)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RunFailed("\n".join((done.stderr or done.stdout).strip().splitlines()[:2]))
    result = json.loads(out.read_text())["results"][0]
    if not (result["verified"] and result["certified"]):
        raise RunFailed("not verified and certified")
    return result
