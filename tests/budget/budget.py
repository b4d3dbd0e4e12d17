#!/usr/bin/env python3
"""What the project weighs against tests/budget/limits.csv: budget.py SOURCE ESPALIER [BUILD].

Counts the lines of production C++, configuration keys, result fields, pages and bytes of docs/*.md, and, where BUILD is a
build folder, the translation units of the program. Files are found without git, so an unpacked archive is counted alike.
Prints every count beside its limit, and fails where one is exceeded. `budget.py --self-test SOURCE ESPALIER [BUILD]` fails
unless each limit, set one below its count, fails alone.
"""
import json
import subprocess
import sys
from pathlib import Path

PRODUCTION = ("hw", "ni", "router", "flowctl", "alg", "sims", "sockets")
LIMITS = "tests/budget/limits.csv"
UNITS = "translation units of the program"  # counted where a build folder is given


def lines_of(source):
    files = [f for folder in PRODUCTION for f in (source / folder).rglob("*") if f.suffix in (".h", ".cpp")]
    return sum(f.read_bytes().count(b"\n") for f in files)


def listed(espalier, *options):
    return len(json.loads(subprocess.run([espalier, "schema", *options, "--json"], check=True, stdout=subprocess.PIPE).stdout))


def units_of(build):
    """Of the program: not the tests, and not the Verilog models, which the default build does not have."""
    commands = json.loads((build / "compile_commands.json").read_text())
    outputs = {c["command"].split(" -o ")[1].split()[0] for c in commands}
    return sum(not o.startswith("tests/") and "espalier_rtl_models.dir" not in o for o in outputs)


def counts(source, espalier, build):
    pages = list((source / "docs").glob("*.md"))
    found = {
        "lines of production C++": lines_of(source),
        "configuration keys": listed(espalier),
        "result fields": listed(espalier, "--results"),
        "pages of docs": len(pages),
        "bytes of docs": sum(p.stat().st_size for p in pages),
    }
    if build:
        found[UNITS] = units_of(build)
    return found


def limits_of(source):
    rows = [line for line in (source / LIMITS).read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(limit) for name, limit in (row.split(",") for row in rows[1:])}


def complaints(found, limits):
    """A sentence for each count without a limit, or beyond it."""
    for name, count in found.items():
        if name not in limits:
            yield f"{LIMITS} has no row for {name} (now {count})"
        elif count > limits[name]:
            yield (f"{count} {name}, and {LIMITS} allows {limits[name]}: take something away, or raise the limit there "
                   f"and say in a comment line what was removed instead, or why nothing could be")
    for name in limits:
        if name not in found and name != UNITS:
            yield f"{LIMITS} limits {name}, which nothing counts: take the row away, or correct its name"


def main():
    words = sys.argv[1:]
    self_test = words[:1] == ["--self-test"]
    source, espalier, *build = words[self_test:]
    source = Path(source)
    found = counts(source, espalier, Path(build[0]) if build else None)
    limits = limits_of(source)
    if self_test:
        for name, count in found.items():
            told = list(complaints(found, {**found, name: count - 1}))
            if len(told) != 1 or f"{count} {name}" not in told[0] or f"allows {count - 1}" not in told[0]:
                sys.exit(f"a limit of {count - 1} for {name} gives: {told}")
            missing = list(complaints(found, {n: c for n, c in found.items() if n != name}))
            if len(missing) != 1 or name not in missing[0]:
                sys.exit(f"no limit for {name} gives: {missing}")
        unknown = list(complaints(found, {**found, "no such thing": 1}))
        if len(unknown) != 1 or "no such thing" not in unknown[0]:
            sys.exit(f"a limit of what nothing counts gives: {unknown}")
        if any(count == 0 for count in found.values()):
            sys.exit(f"nothing is counted: {found}")
        print(f"{len(found)} limits fail alone, one below the count")
        return
    for name, count in found.items():
        print(f"{name:<34} {count:>8} of {limits.get(name, 'no limit'):>8}")
    told = list(complaints(found, limits))
    if told:
        sys.exit("\n".join(told))


if __name__ == "__main__":
    main()
