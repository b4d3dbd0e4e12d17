#!/usr/bin/env python3
"""A sweep's folder with areas, times made up by rule: make_sweep.py RESULTS FOLDER

Enough points for a front with dominated designs, one that failed, one that is missing.
"""
import copy
import itertools
import json
import pathlib
import sys


def block(name, count, um2, high=None, implementation="logic"):
    return {"block": name, "count": count, "um2": um2, "um2_high": high or um2, "implementation": implementation,
            "origin": "formula", "fo4": 20.1, "ps": 312.5}


def area(depth):
    blocks = [block("router.buffers", 5, 900 * depth, 2250 * depth, "sram"), block("router.fifo_control", 5, 1300),
              block("router.crossbar", 1, 24000, implementation="wires"), block("router.allocators", 1, 5200),
              block("ni.buffers", 4, 500 * depth, 1250 * depth, "sram"),
              block("ni.schedule_table", 1, 14058, 35145, "sram"), block("ni.control", 1, 257),
              block("ni.dependency_state", 1, 1827)]
    router = sum(b["um2"] for b in blocks if b["block"].startswith("router"))
    ni = sum(b["um2"] for b in blocks if b["block"].startswith("ni"))
    return {"technology": "nangate45", "node_nm": 45, "router_um2": router, "ni_um2": ni,
            "system_mm2": 64e-6 * (router + ni), "system_mm2_high": 130e-6 * (router + ni), "max_clock_GHz": 1.7,
            "blocks": blocks}


def main(results, folder):
    document = json.loads(pathlib.Path(results).read_text())
    points = pathlib.Path(folder) / "points"
    points.mkdir(parents=True)
    manifest = {"sweep": "buffers", "axes": [], "points": []}
    choices = itertools.product(("multitree", "ring"), (64, 128, 318, 512), (64, 256))
    for index, (algorithm, depth, payload) in enumerate(choices):
        name = f"{index:016x}"
        chosen = {"collective.algorithm": algorithm, "system.router.vc_depth_flits": depth,
                  "system.flow_control.payload_bytes": payload}
        manifest["points"].append({"id": name, "index": index, "set": chosen, "config_hash": name})
        if index == 3:
            failure = {"id": name, "set": chosen, "failure": "killed after 60 s", "kind": "timeout"}
            (points / f"{name}.failed.json").write_text(json.dumps(failure))
        if index in (3, 5):
            continue
        result = copy.deepcopy(next(r for r in document["results"]
                                    if r["algorithm"] == algorithm and r["size_bytes"] == 1 << 20))
        del result["links"]
        result["time_ns"] *= (1 + 30 / depth) * (1 + payload / 4096)
        result["area"] = area(depth)
        result["config_hash"] = name
        config = copy.deepcopy(document["config"])
        config["collective"].update(algorithm=algorithm, size="1MiB")
        config["system"]["router"]["vc_depth_flits"] = depth
        config["system"]["flow_control"].update(mode="message", payload_bytes=payload)
        point = {"id": name, "set": chosen, "config_hash": name,
                 "command": ["espalier", "run", "buffers.yaml", "-s", f"system.router.vc_depth_flits={depth}"],
                 "config": config, "result": result, "host": {}}
        (points / f"{name}.json").write_text(json.dumps(point))
    (pathlib.Path(folder) / "manifest.json").write_text(json.dumps(manifest))


if __name__ == "__main__":
    main(*sys.argv[1:])
