"""Calls the program `espalier` and returns its results as pandas data frames, a row for each point."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Error(Exception):
    """The program failed. `str()` is its own message, `code` its exit code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def program_path():
    """The program's path: $ESPALIER, else of PATH, else the release build of the clone that holds this package."""
    built = ROOT / "build/release/espalier"
    found = os.environ.get("ESPALIER") or shutil.which("espalier") or (str(built) if built.exists() else None)
    if found is None:
        raise Error(f"found no program espalier in PATH and none at {built}. Set ESPALIER to its path, or run sims/build.sh", 2)
    return found


def call(*words, accept=(0,), quiet=False):
    """Runs the program and returns what it wrote to stdout; its warnings go to stderr, or nowhere. A code that is not in
    `accept` is an Error."""
    done = subprocess.run([program_path(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in accept:
        raise Error(done.stderr.strip() or f"espalier {words[0]} ended with exit code {done.returncode}", done.returncode)
    sys.stderr.write("" if quiet else done.stderr)
    return done.stdout


def run_points(file, folder, words):
    """Simulates the unfinished points of a planned sweep; progress and failed points go to stderr. False if points failed."""
    code = subprocess.run([program_path(), "sweep", "run", str(file), "-o", str(folder), "--no-warnings", *words],
                          stdout=subprocess.DEVNULL).returncode
    if code not in (0, 1):
        raise Error(f"espalier sweep run ended with exit code {code}", code)
    return code == 0


def plain(value):
    """Of a value that JSON does not know: numbers and lists of numpy and pandas as Python's, a path as text, a range as a list."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return os.fspath(value) if isinstance(value, os.PathLike) else list(value)


def value_text(value):
    """A value as -s expects it: text as it is, everything else as JSON, which is YAML, too."""
    return value if isinstance(value, str) else json.dumps(value, default=plain)


def option_words(sets, options):
    """-s for each of `sets`; options as on the command line: jobs=2 is --jobs 2, resume=True is --resume."""
    if not isinstance(sets, (dict, type(None))):
        raise TypeError(f'sets: expected a dict such as {{"collective.size": "1MiB"}}, found {sets!r}')
    words = []
    for key, value in (sets or {}).items():
        words += ["-s", f"{key}={value_text(value)}"]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
    return words


@contextlib.contextmanager
def as_file(config):
    """The path of a configuration. A dict becomes a file in the current folder, where its relative paths start, too."""
    if not isinstance(config, dict):
        yield str(config)
        return
    with tempfile.NamedTemporaryFile("w", dir=".", prefix=".espalier-", suffix=".yaml") as file:
        json.dump(config, file, indent=1, default=plain)  # a line for each value, so that a message shows the wrong one
        file.flush()
        yield os.path.relpath(file.name)


def flat(values, prefix=""):
    """Nested mappings as one, by dotted names."""
    all_values = {}
    for key, value in values.items():
        if isinstance(value, dict):
            all_values.update(flat(value, f"{prefix}{key}."))
        else:
            all_values[prefix + key] = value
    return all_values


# A column for numbers of each kind of unit: its ending, and how much a unit is in it.
UNITS = [("_ns", {"ps": 1e-3, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}),
         ("_bytes", {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}),
         ("_GBps", {"MB/s": 1e-3, "GB/s": 1, "TB/s": 1e3, "Mb/s": 1e-3 / 8, "Gb/s": 1 / 8, "Tb/s": 1e3 / 8}),
         ("_GHz", {"MHz": 1e-3, "GHz": 1}), ("_nm", {"nm": 1, "um": 1e3, "mm": 1e6})]


def numbers_of(settings):
    """Of settings with a unit, their numbers: {"system.link.latency": "50ns"} has {"system.link.latency_ns": 50}."""
    numbers = {}
    for key, value in settings.items():
        match = re.fullmatch(r"([0-9.]+) ?([A-Za-z/]+)", value) if isinstance(value, str) else None
        for ending, factors in UNITS:
            if match and match[2] in factors:
                number = float(match[1]) * factors[match[2]]
                numbers[key + ending] = int(number) if number == int(number) else number
    return numbers


def with_settings(settings, result, numbers=None):
    """The row of a point: its settings, each followed by its number, then the result's fields."""
    numbers = numbers_of(settings) if numbers is None else numbers
    row = {}
    for key, value in settings.items():
        row[key] = value
        row.update({name: number for name, number in numbers.items() if name.rpartition("_")[0] == key})
    return row | {name: value for name, value in flat(result).items() if name not in row}


def results(path):
    """The data frame of a file that `--json` wrote, or of a gathered sweep: its folder or its results.jsonl. The document of
    `--json` without its results is `frame.attrs["document"]`."""
    import pandas  # here, because writing a program does not need it

    path = pathlib.Path(path)
    path = path / "results.jsonl" if path.is_dir() else path
    try:
        text = path.read_text()
        if path.suffix == ".jsonl":
            points = [json.loads(line) for line in text.splitlines()]
            return pandas.DataFrame([{"id": point["id"]} | with_settings(point["set"], point["result"], point["set_numbers"])
                                     for point in points])
        document = json.loads(text)
        if not isinstance(document, dict) or not {"points", "results"} <= document.keys():
            raise ValueError("found no points and results")
    except (ValueError, OSError) as error:
        raise Error(f"{path}: error: {getattr(error, 'strerror', None) or error}. Expected a file of `espalier run --json`, or the "
                    "results.jsonl that `espalier sweep gather` writes", 2) from None
    rows = []
    for point, result in zip(document["points"], document["results"], strict=True):
        more = {name: point[name] for name in ("config", "schedule") if name in point}
        rows.append(with_settings(more | point["set"], result))
    frame = pandas.DataFrame(rows)
    frame.attrs["document"] = {name: value for name, value in document.items() if name != "results"}
    return frame


def to_frame(command, config, sets, options, files=()):
    with as_file(config) as path, tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "results.json")
        call(command, path, *files, *option_words(sets, options), "--json", target)
        return results(target)


def run(config, sets=None, **options):
    """Simulates a configuration: a path, or a dict, whose relative paths start in the current folder. `sets` has values or
    lists of values by dotted key; lists make a row for each combination. Columns are the keys that differ between the rows,
    then the fields of the result (docs/results.md). `options` are those of `espalier run`."""
    return to_frame("run", config, sets, options)


def compare(config, sets=None, files=(), **options):
    """Every algorithm that suits the network, as `espalier compare`; `files` are programs and schedules that compete, too.
    `frame.attrs["document"]` has the rankings and what was skipped."""
    return to_frame("compare", config, sets, options, [files] if isinstance(files, (str, os.PathLike)) else files)


def sweep(file, sets=None, folder=None, workers=None, partial=False):
    """Runs the unfinished points of a sweep file and returns the frame of all points. `folder` keeps the points (default:
    sweeps/ and the file's name), `workers` is the number of simulations at a time. Failed points are an Error, or with
    `partial` left out."""
    folder = pathlib.Path(folder or pathlib.Path("sweeps", pathlib.Path(file).stem))
    call("sweep", "plan", file, "-o", folder, *option_words(sets, {}))
    run_points(file, folder, option_words(sets, {"jobs": workers}))
    call("sweep", "gather", file, "-o", folder, *(["--partial"] if partial else []), accept=(0, 1) if partial else (0,))
    return results(folder / "results.jsonl")
