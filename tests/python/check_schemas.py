#!/usr/bin/python3
"""Validates files against the JSON Schemas of `espalier schema --json-schema`: every configuration and sweep of configs/, the
results of a few runs, and files with mistakes, which must be refused. Needs python3-jsonschema and python3-yaml; exit code 77
(skipped) without. tests/python/check_schemas.py ESPALIER"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (packages python3-jsonschema, python3-yaml)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ESPALIER = str(pathlib.Path(sys.argv[1]).resolve())


class Yaml12(yaml.SafeLoader):
    """Booleans as in YAML 1.2 and in espalier: off and yes are words."""


Yaml12.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":bool", ":timestamp", ":int"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Yaml12.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), "tf")
Yaml12.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("^[0-9]+$"), "0123456789")


def espalier(*arguments):
    return subprocess.run([ESPALIER, *arguments], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def validator(of):
    schema = json.loads(espalier("schema", "--json-schema", of))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def part_of(whole, definition):
    """A validator of one definition of a schema."""
    schema = dict(whole.schema, **{"$ref": "#/definitions/" + definition})
    return jsonschema.Draft7Validator({"$ref": schema["$ref"], "definitions": schema["definitions"]})


def problem(schema, document):
    """The first mistake; empty if there is none."""
    error = jsonschema.exceptions.best_match(schema.iter_errors(document))
    return "" if error is None else f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"


failures = []


def expect_good(schema, document, name):
    mistake = problem(schema, document)
    if mistake:
        failures.append(f"{name} is refused: {mistake}")


def expect_bad(schema, text):
    if not problem(schema, yaml.load(text, Yaml12)):
        failures.append(f"this mistake is not found: {text}")


config = validator("config")
sweep = validator("sweep")
results = validator("results")

# Folders whose files are of another format: graphs, ASTRA-sim networks.
checked = {"configurations": 0, "sweeps": 0}
for path in sorted((ROOT / "configs").rglob("*.yaml")):
    document = yaml.load(path.read_text(), Yaml12)
    name = path.relative_to(ROOT)
    if "axes" in document or "draw" in document:
        checked["sweeps"] += 1
        expect_good(sweep, document, name)
    elif isinstance(document, dict) and "system" in document:
        checked["configurations"] += 1
        expect_good(config, document, name)
if checked["configurations"] < 30 or checked["sweeps"] < 40:
    failures.append(f"too few files are found: {checked}")

SYSTEM = "system: {topology: {type: mesh, dims: [2, 2]}}\n"
COLLECTIVE = "collective: {algorithm: ring, size: 4KiB}\n"
expect_good(config, yaml.load(SYSTEM + COLLECTIVE, Yaml12), "the file without a mistake")
for text in [
        SYSTEM + COLLECTIVE + "colective: {}\n",
        SYSTEM + "collective: {algorithm: rign, size: 4KiB}\n",
        SYSTEM + "collective: {algorithm: [ring, rign], size: 4KiB}\n",
        SYSTEM + "collective: {algorithm: ring, size: 4096}\n",
        SYSTEM + "collective: {algorithm: ring, size: 4 Kb}\n",
        SYSTEM + "collective: {algorithm: ring, size: -4KiB}\n",
        SYSTEM + "collective: {algorithm: ring, sice: 4KiB}\n",
        SYSTEM + COLLECTIVE + "traffic: {pattern: uniform}\n",
        "system: {topology: {type: mesh, dims: [2, 2, 2, 2]}}\n" + COLLECTIVE,
        "system: {topology: {type: mesh, dims: 4}}\n" + COLLECTIVE,
        "system: {topology: {type: maze}}\n" + COLLECTIVE,
        "system: {router: {vcs: 0}}\n" + COLLECTIVE,
        "system: {router: {vcs: two}}\n" + COLLECTIVE,
        "system: {link: {latency: 150}}\n" + COLLECTIVE,
        "system: {link: {bandwidth: 16 GB}}\n" + COLLECTIVE,
        SYSTEM + COLLECTIVE + "simulation: {monitor: yes}\n",
]:
    expect_bad(config, text)

AXES = "title: t\nconfig: mesh.yaml\naxes: "
expect_good(sweep, yaml.load(AXES + "[{key: system.link.latency, values: [50ns]}]\n", Yaml12), "the sweep without a mistake")
for text in [
        AXES + "[{key: system.link.latencie, values: [50ns]}]\n",
        AXES + "[{key: system.link.latency, values: [50]}]\n",
        AXES + "[{key: system.link.latency, values: []}]\n",
        AXES + "[{key: system.link.latency, from: 50ns, to: 90ns}]\n",
        AXES + "[{key: system.link.latency, from: 50, to: 90ns, step: 1ns}]\n",
        AXES + "[{zip: [{key: system.router.vcs, values: [many]}]}]\n",
        AXES + "[{key: system.router.vcs, values: [1], wen: {}}]\n",
        AXES + "[{name: design, cases: {}}]\n",
        AXES + "[{cases: {a: {}}}]\n",
        AXES + "[{name: design, cases: {a: {sistem: {}}}}]\n",
        AXES + "[{key: system.router.vcs, values: [1], when: {colective.op: all_reduce}}]\n",
        AXES + "[{key: system.router.vcs, values: [1]}]\ntime_limit: 10\n",
        "config: mesh.yaml\nseeds: 3\n",
        "title: t\nconfig: mesh.yaml\n",
        "title: t\nconfig: {sistem: {}}\nseeds: 3\n",
]:
    expect_bad(sweep, text)

with tempfile.TemporaryDirectory() as folder:
    runs = [
        ["configs/mesh_2x2.yaml", "--explain"],
        ["configs/mesh_2x2.yaml", "-s", "simulation.link_utilization=true"],
        ["configs/traffic_uniform.yaml"],
        ["configs/training_file.yaml"],
        ["configs/themis/3d_sw_sw_sw_homo.yaml"],
        ["configs/coordination/coordinator.yaml"],
        ["configs/control_idle.yaml"],
    ]
    for run in runs:
        if not (ROOT / run[0]).exists():
            failures.append(f"{run[0]} does not exist")
            continue
        target = pathlib.Path(folder) / "results.json"
        espalier("run", *run, "--json", str(target))
        document = json.loads(target.read_text())
        expect_good(results, document, f"the result of {' '.join(run)}")
        if problem(results, {**document, "result": []}) == "":
            failures.append("an unknown member of a result's document is not found")
    others = [["compare", "configs/mesh_2x2.yaml", "-s", "collective.algorithm=[ring, multitree]"],
              ["latency", "configs/latency/mesh_8x8.yaml", "--loads", "0.1,0.2", "-s", "traffic.measure_cycles=500"],
              ["explain", "configs/mesh_2x2.yaml"]]
    for words in others:
        espalier(*words, "--json", str(target))
        document = json.loads(target.read_text())
        expect_good(results, document, f"the result of {' '.join(words)}")
    document["results"][0]["cycels"] = 1
    if problem(results, document) == "":
        failures.append("an unknown field of a result is not found")
    file = pathlib.Path(folder) / "sweep.yaml"
    file.write_text("title: t\nconfig:\n  " + SYSTEM + "  " + COLLECTIVE +
                    "axes: [{key: system.link.latency, values: [50ns, 150ns]}]\n")
    for step in ["run", "gather"]:
        espalier("sweep", step, str(file), "-o", folder + "/out")
    rows = [json.loads(line) for line in pathlib.Path(folder, "out", "results.jsonl").read_text().splitlines()]
    for row in rows:
        expect_good(part_of(results, "row"), row, "a line of results.jsonl")
    if [row["set_numbers"] for row in rows] != [{"system.link.latency_ns": 50}, {"system.link.latency_ns": 150}]:
        failures.append(f"the numbers of the axis are {[row['set_numbers'] for row in rows]}")

print("\n".join(failures) or f"valid: {checked['configurations']} configurations, {checked['sweeps']} sweeps, {len(runs)} runs")
sys.exit(1 if failures else 0)
