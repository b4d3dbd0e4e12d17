"""Measured times: tables of comma-separated values, and the cases that they are rows of.

    # source: whose measurement        (required in rows/*.csv, as is the licence)
    # licence: under which its numbers may be copied
    machine,servers,gpus_per_server,collective,size_bytes,time,unit,role
    example-cluster01,1,8,all_gather,33554432,123.4,us,test

Columns are found by name. `unit` is us, or for a published rate "GB/s algbw" (size over time) or "GB/s busbw" (nccl-tests' bus
bandwidth); a rate without size counts for 1 GB. `role` says whether a fit may look at a row: fit or test; limit: a published limit, which
is in no error. Without that column, rows are fitted whose size has a binary logarithm that, rounded, is a multiple of 3 (128 MiB, 8 GiB).
Optional: `setting` (of the network), `nccl` (version), `kernel` (of MSCCL++), `kind` (of the measurement). Columns of nccl-tests'
tables are known by their names there (ALIASES). A row without size, time or servers stands apart: nothing can be simulated for it.
"""
import csv
import dataclasses
import math
import pathlib
import unicodedata

import yaml

from .machines import Mistake
from .plans import COLLECTIVES, Case, bus_factor

FOLDER = pathlib.Path(__file__).parent / "rows"
OWNERS = pathlib.Path(__file__).parent / "owners.yaml"
ALIASES = {"cluster": "machine", "gpu": "machine", "nodes": "servers", "gpus_per_node": "gpus_per_server", "op": "collective",
           "time_us": "time", "env": "setting", "nccl_dir": "nccl"}
COLLECTIVE_NAMES = {name: name for name in COLLECTIVES} | {"allreduce": "all_reduce", "allgather": "all_gather", "alltoall": "all_to_all"}
REQUIRED = ("machine", "collective", "gpus_per_server", "size_bytes", "time")
UNITS = ("us", "GB/s algbw", "GB/s busbw")
ROLES = ("fit", "test", "limit")
NOTHING = "its size, its time or its number of servers is 0"
# Rows of one case run one after the other, in place and out of place, or in several jobs. If two of
# them differ by more than this factor, no single time is within 41 % of both.
MOST_SPREAD = 2
SHORTEST_US, LONGEST_US = 1e-6, 1e12  # a picosecond, eleven days


@dataclasses.dataclass(frozen=True)
class Row:
    place: str  # file:line
    machine: str
    servers: int
    gpus_per_server: int
    collective: str
    size: int
    microseconds: float
    role: str
    setting: str = ""
    nccl: str = ""
    kernel: str = ""
    kind: str = ""


@dataclasses.dataclass
class MeasuredCase:
    machine: object  # machines.Machine
    case: Case
    role: str
    microseconds: list  # ascending
    how: str = ""
    ours: float = 0  # microseconds
    failure: str = ""  # why it has no time of ours

    @property
    def median(self):
        return self.microseconds[len(self.microseconds) // 2]


def is_fit_size(size):
    return size > 0 and math.floor(math.log2(size) + 0.5) % 3 == 0


def read_rows(path, needs_source=False):
    """The rows of a table, in the order of its lines."""
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise Mistake(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Mistake(f"{path}:{error.object.count(10, 0, error.start) + 1}: byte {error.start} is not UTF-8. Save the file as UTF-8") from error
    for number, line in enumerate(lines, 1):
        column = next((column for column, one in enumerate(line.rstrip("\r"), 1) if unicodedata.category(one) == "Cc" and one != "\t"), 0)
        if column:
            raise Mistake(f"{path}:{number}:{column}: a control character, which a terminal would obey. Remove it")
        if len(line) > csv.field_size_limit():
            raise Mistake(f"{path}:{number}: a line of {len(line)} characters. A row has some hundred at most")
    comments = [line for line in lines if line.startswith("#")]
    for field in ("source", "licence"):
        if needs_source and not any(line.startswith(f"# {field}: ") for line in comments):
            raise Mistake(f"{path}:1: no {field}. Write a line '# {field}: ...' above the header")
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not numbered:
        raise Mistake(f"{path}:1: the file is empty. Write the columns {','.join(REQUIRED)}, then one line for each measured time")
    header_line, header = numbered[0][0], [name.strip() for name in numbered[0][1].split(",")]
    columns = {}
    for index, name in enumerate(header):
        columns.setdefault(ALIASES.get(name, name), index)
    for name in REQUIRED + (() if "gpus" in columns else ("servers",)):
        if name not in columns:
            raise Mistake(f"{path}:{header_line}: no column '{name}'. The first line names the columns, for example {','.join(REQUIRED)}")
    rows = []
    for (number, _), cells in zip(numbered[1:], csv.reader(line for _, line in numbered[1:])):
        rows.append(read_row(f"{path}:{number}", {name: cells[index].strip() for name, index in columns.items() if index < len(cells)}))
    if not rows:
        raise Mistake(f"{path}:{header_line}: the file has no measured times after the header. Write one line for each")
    return rows


def read_row(place, cells):
    def number(name, what, kind=int):
        try:
            value = kind(cells.get(name, ""))
            if value < 0 or not math.isfinite(value):
                raise ValueError
            return value
        except ValueError:
            raise Mistake(f"{place}: {name}: '{cells.get(name, '')}' is not {what}. Write for example {'8' if kind is int else '123.4'}") from None

    def word(name, otherwise, allowed):
        found = cells.get(name) or otherwise
        if found not in allowed:
            raise Mistake(f"{place}: {name}: '{found}' is unknown. Write {', '.join(allowed)}")
        return found

    collective = COLLECTIVE_NAMES[word("collective", "", tuple(COLLECTIVE_NAMES))]
    per_server = max(number("gpus_per_server", "a whole number"), 1)
    servers = number("servers", "a whole number") if "servers" in cells else number("gpus", "a whole number") // per_server
    unit = word("unit", "us", UNITS)
    size = 10**9 if unit != "us" and not cells.get("size_bytes") else number("size_bytes", "a whole number of bytes")
    time = number("time", "a time or a rate", float)
    if unit != "us" and time > 0 and servers > 0:
        time = size / time / 1000 * (bus_factor(collective, servers * per_server) if unit == "GB/s busbw" else 1)
    if time and not SHORTEST_US <= time <= LONGEST_US:
        raise Mistake(f"{place}: time: {cells['time']} {unit} is no time between a picosecond and {LONGEST_US / 1e6:g} s. Check its unit")
    role = word("role", "fit" if is_fit_size(size) else "test", ROLES)
    return Row(place, cells["machine"], servers, per_server, collective, size, time, role, cells.get("setting", ""), cells.get("nccl", ""),
               cells.get("kernel", ""), cells.get("kind", ""))


def stored_rows():
    """The rows of all tables in the repository."""
    return [row for path in sorted(FOLDER.glob("*.csv")) for row in read_rows(path, needs_source=True)]


def agrees(owner, row):
    for field, wanted in owner.items():
        if field == "below":
            if row.size >= wanted:
                return False
        elif field not in ("is", "apart", "cases") and getattr(row, field) not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def cases_of(rows, machines):
    """The cases by machine, collective, setting and size; and how many rows stand apart, by machine and reason."""
    owners = yaml.safe_load(OWNERS.read_text())
    order = {name: index for index, name in enumerate(machines)}
    members = {}
    apart = {}
    for row in rows:
        if not (row.size and row.microseconds and row.servers):
            apart[row.machine, NOTHING] = apart.get((row.machine, NOTHING), 0) + 1
            continue
        owner = {"is": row.machine} if row.machine in machines else next(owner for owner in owners if agrees(owner, row))
        if "apart" in owner:
            apart[row.machine, owner["apart"]] = apart.get((row.machine, owner["apart"]), 0) + 1
            continue
        system = machines[owner["is"]].system
        if system and (row.servers, row.gpus_per_server) != (system.servers, system.gpus_per_server):
            raise Mistake(f"{row.place}: {row.servers} servers of {row.gpus_per_server} GPUs are not '{owner['is']}', which has "
                          f"{system.servers} of {system.gpus_per_server}. Name another machine, or add it to machines/")
        apart_by = {"site": row.machine, "nccl": row.nccl, "setting": row.setting}
        more = {field: apart_by[field] for field in owner.get("cases", ())}
        members.setdefault((owner["is"], Case(row.collective, row.size, row.kernel, **more)), []).append(row)
    cases = []
    for (name, case), own in sorted(members.items(), key=lambda item: (order[item[0][0]], item[0][1].order())):
        times = sorted(row.microseconds for row in own)
        if times[-1] > MOST_SPREAD * times[0]:
            why = f"rows of one case differ by more than {MOST_SPREAD}x"
            apart[name, why] = apart.get((name, why), 0) + len(own)
            continue
        other = next((row for row in own if row.role != own[0].role), None)
        if other:
            raise Mistake(f"{other.place}: role {other.role}, but {own[0].place} of the same case has {own[0].role}. Give both one role")
        cases.append(MeasuredCase(machines[name], case, own[0].role, times))
    return cases, apart
