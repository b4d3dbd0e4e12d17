"""Reads the measured machines: their presets and numbers, and where each number is from (machines/*.yaml). A number without a value has
that of the preset."""
import dataclasses
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "validation/silicon/machines"
PRESETS = yaml.safe_load((ROOT / "sims/config/presets.yaml").read_text())
# Where a number is from. A fit changes only what is fitted.
KINDS = ("taken", "given", "assumed", "set_by_hand", "fitted")
UNITS = {"bandwidth": "GB/s", "latency": "ns"}  # of keys of the configuration, by their last word


class Mistake(Exception):
    """A mistake in a file: its place, what was found, what to write instead."""


@dataclasses.dataclass(frozen=True)
class Number:
    """A name with dots is a key of the configuration. A plan reads the others (plans.py)."""
    name: str
    value: float
    meaning: str
    kind: str
    start: float  # where a fit begins
    # Its value without a fit to rows of this machine: a published one, that of another machine, or the name of another number of this
    # machine. None: it is left out.
    other: object = None
    origin: str = ""  # the machine whose number is taken

    @property
    def is_key(self):
        return "." in self.name

    def text(self, value):
        """As in a configuration: rates of NICs in steps of 0.1 GB/s, other keys in whole cycles, bytes and nanoseconds."""
        unit = UNITS.get(self.name.rpartition(".")[2], "") if self.is_key else ""
        if unit == "GB/s" or (not self.is_key and value < 100):
            return f"{value:.1f}{unit}"
        return f"{int(value + 0.5)}{unit}"


@dataclasses.dataclass(frozen=True)
class System:
    servers: int
    gpus_per_server: int
    gpu: str = ""  # ampere or hopper

    @property
    def ranks(self):
        return self.servers * self.gpus_per_server


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    preset: str = ""
    system: System = None
    nccl: dict = None  # the preset's numbers of NCCL; None: it has none
    numbers: dict = dataclasses.field(default_factory=dict)  # Number by name, the fitted ones last
    # Machines without preset: the settings of a run, a closed form of its time, or why there is none.
    model: dict = None
    closed_form: dict = None
    not_modelled: str = ""
    sources: tuple = ()

    def values(self, most=None):
        """Numbers by name. Only the first `most` fitted ones have their fitted value, by default all."""
        unfitted = self.fitted()[most:] if most is not None else []
        values = {name: number.value for name, number in self.numbers.items() if number not in unfitted}
        values |= {number.name: number.other for number in unfitted if number.other is not None}
        return {name: values[value] if isinstance(value, str) else value for name, value in values.items()}

    def fitted(self):
        return [number for number in self.numbers.values() if number.kind == "fitted"]


class Loader(yaml.SafeLoader):
    """Keeps the line of each mapping as its item `__line__`."""

    def construct_mapping(self, node, deep=False):
        return super().construct_mapping(node, deep=deep) | {"__line__": node.start_mark.line + 1}


Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, lambda loader, node: loader.construct_mapping(node, deep=True))


def fields(path, entry, allowed, needed=(), line=1):
    """The items of a mapping without its line; a Mistake if its keys are not those allowed. `line`: of the mapping around it."""
    line = entry.get("__line__", line) if isinstance(entry, dict) else line
    if not isinstance(entry, dict):
        raise Mistake(f"{path}:{line}: '{entry}' is not a mapping. Write {', '.join(allowed)} with their values")
    for key in entry:
        if key != "__line__" and key not in allowed:
            raise Mistake(f"{path}:{line}: '{key}' is not a field here. Allowed are {', '.join(allowed)}")
    for key in needed:
        if key not in entry:
            raise Mistake(f"{path}:{line}: '{key}' is missing")
    return {key: value for key, value in entry.items() if key != "__line__"}


def preset_numbers(name):
    """The settings of a preset, and its numbers of NCCL."""
    preset = PRESETS[name]
    settings, numbers = preset_numbers(preset["from"]) if "from" in preset else ({}, {})
    return settings | preset.get("settings", {}), numbers | preset.get("nccl", {})


def preset_value(preset, name):
    """None if the preset does not set the number."""
    settings, numbers = preset_numbers(preset) if preset in PRESETS else ({}, {})
    found = settings.get(name, numbers.get(name))
    return float(re.sub("[A-Za-z/]+$", "", found)) if isinstance(found, str) else found


def read_numbers(path, entry, known):
    preset = entry.get("preset")
    numbers = {}
    for origin, names in fields(path, entry.get("taken", {}), known).items():
        for name in names:
            if name not in known[origin].numbers:
                raise Mistake(f"{path}:{entry['__line__']}: '{origin}' has no number '{name}'. It has {', '.join(known[origin].numbers)}")
            numbers[name] = dataclasses.replace(known[origin].numbers[name], kind="taken", origin=origin)
    for kind in KINDS[1:]:
        section = entry.get(kind, {})
        if not isinstance(section, dict):
            raise Mistake(f"{path}:{entry['__line__']}: {kind}: '{section}' is not a mapping. Write names of numbers, each with what it is")
        for name, number in section.items():
            if name == "__line__":
                continue
            needed = ("is", "else") if kind == "fitted" and "." in name else ("is",)
            at = fields(path, number, ("value", "is", "start", "else"), needed, entry[kind]["__line__"])
            if name in numbers:
                raise Mistake(f"{path}:{number['__line__']}: '{name}' stands twice. Name it once")
            own = preset_value(preset, name)
            if ("value" in at) == (own is not None):
                raise Mistake(f"{path}:{number['__line__']}: '{name}' " + (f"has the value {own} of preset {preset}. Leave out value" if "value" in at
                                                                        else f"has no value, and preset {preset} has none. Write value"))
            value = at.get("value", own)
            for field, given in (("value", value), ("start", at.get("start", 1))):
                if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0:
                    raise Mistake(f"{path}:{number['__line__']}: {field} '{given}' is not a number above 0. Write for example 19.5")
            numbers[name] = Number(name, value, at["is"], kind, at.get("start", value), at.get("else"))
    for name, number in numbers.items():
        if isinstance(number.other, str) and number.other not in numbers:
            raise Mistake(f"{path}:{entry['__line__']}: else of '{name}': there is no number '{number.other}'")
    return numbers


def read_system(path, entry):
    """The servers and GPUs of a machine with a preset, which `system` may change; None for others."""
    if "preset" not in entry:
        return None
    if entry["preset"] not in PRESETS:
        raise Mistake(f"{path}:{entry['__line__']}: there is no preset '{entry['preset']}'. See espalier list presets")
    settings, numbers = preset_numbers(entry["preset"])
    system = {field: settings.get(f"system.topology.{field}") for field in ("servers", "gpus_per_server")} | {"gpu": numbers.get("gpu", "")}
    system |= fields(path, entry.get("system", {}), system, (), entry["__line__"])
    for field in ("servers", "gpus_per_server"):
        if isinstance(system[field], bool) or not isinstance(system[field], int) or system[field] < 1:
            raise Mistake(f"{path}:{entry['__line__']}: {field} '{system[field]}' is not a whole number above 0. Write for example 8")
    return System(**system)


def read_machines(folder=FOLDER):
    """All machines by name, in the order of the files and their lines."""
    machines = {}
    for path in sorted(pathlib.Path(folder).glob("*.yaml")):
        try:
            document = yaml.load(path.read_text(), Loader)
        except yaml.MarkedYAMLError as error:
            raise Mistake(f"{path}:{error.problem_mark.line + 1}: {error.problem}. Write YAML") from error
        document = fields(path, document, ("sources", "machines"), ("sources", "machines"))
        for entry in document["machines"]:
            allowed = ("name", "preset", "system", "model", "closed_form", "not_modelled", *KINDS)
            fields(path, entry, allowed, ("name",))
            if entry["name"] in machines:
                raise Mistake(f"{path}:{entry['__line__']}: '{entry['name']}' stands twice. Name it once")
            strip = {key: {k: v for k, v in entry[key].items() if k != "__line__"} for key in ("closed_form", "model") if key in entry}
            machines[entry["name"]] = Machine(entry["name"], entry.get("preset", ""), read_system(path, entry),
                                              preset_numbers(entry["preset"])[1] or None if "preset" in entry else None,
                                              read_numbers(path, entry, machines), strip.get("model"), strip.get("closed_form"),
                                              entry.get("not_modelled", ""), tuple(document["sources"]))
    return machines
