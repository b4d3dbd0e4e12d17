"""Draws sweeps: a figure is a sweep file with a `draw:` block (docs/python.md).

    python3 -m espalier.figures configs/figures/fig9a.yaml -o figures
"""
import argparse
import csv
import difflib
import importlib.util
import itertools
import json
import math
import pathlib
import sys

import yaml

from . import frames, library

PANEL_KEYS = {"kind", "series", "x", "y", "normalize"}
KEYS = {"": PANEL_KEYS | {"panels", "programs"},
        "panels": PANEL_KEYS | {"title"},
        "series": {"label", "field"},
        "x": {"field", "step", "label", "scale", "factor"},
        "y": {"field", "parts", "label", "scale", "factor", "combine"},
        "parts": {"field", "label"},
        "normalize": {"series", "x", "inverse"}}
WORDS = {"kind": ["lines", "bars", "points"], "scale": ["linear", "log2", "log10"], "combine": ["mean", "min"],
         "inverse": ["true", "false"]}


class Mistake(Exception):
    """In a figure's file, with its place."""


class Places:
    """The lines of a file's values, for messages."""

    def __init__(self, path, text):
        self.path = path
        self.root = yaml.compose(text, yaml.SafeLoader)

    def fail(self, steps, message, hint=""):
        """Raises a Mistake at the value that the steps (keys and indices) lead to."""
        node = self.root
        for step in steps:
            children = node.value if isinstance(step, int) and isinstance(node, yaml.SequenceNode) else [
                value for key, value in getattr(node, "value", []) if isinstance(node, yaml.MappingNode) and key.value == step]
            if not children:
                break
            node = children[step if isinstance(step, int) else 0]
        mark = node.start_mark
        raise Mistake(f"{self.path}:{mark.line + 1}:{mark.column + 1}: error: {message}" + (f"\nhint: {hint}" if hint else ""))


def check(draw, places):
    """Raises a Mistake for unknown keys and words."""
    def visit(node, kind, steps):
        if not isinstance(node, dict):
            places.fail(steps, f"{kind or 'draw'}: expected a mapping")
        for key, value in node.items():
            here = [*steps, key]
            if key not in KEYS[kind]:
                near = difflib.get_close_matches(key, KEYS[kind], 1)
                places.fail(here, f"{kind or 'draw'}: unknown key '{key}'",
                            f"did you mean '{near[0]}'?" if near else f"keys: {', '.join(sorted(KEYS[kind]))}")
            if key in WORDS and value not in WORDS[key]:
                places.fail(here, f"{key}: found '{value}'", f"words: {', '.join(WORDS[key])}")
            if key == "factor":
                try:
                    float(value)
                except (TypeError, ValueError):
                    places.fail(here, f"factor: expected a number, found '{value}'")
            if key in ("panels", "series", "parts") and isinstance(value, list):
                for i, item in enumerate(value):
                    visit(item, key, [*here, i])
            elif key in ("x", "y") and kind != "normalize" or key == "normalize" and value != "none":
                visit(value, key, here)
    visit(draw, "", ["draw"])


def read_draw(path):
    """The places of a figure's file, and its checked `draw:` with every scalar as text."""
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Mistake(f"{path}: error: {error.strerror}") from None

    def fail(before, problem):
        """The mistake stands behind these bytes."""
        column = len(before[before.rfind(b"\n") + 1:].decode("utf-8", "replace")) + 1
        raise Mistake(f"{path}:{before.count(10) + 1}:{column}: error: {problem}") from None

    try:
        text = data.decode("utf-8")
        places = Places(path, text)
        document = yaml.load(text, yaml.BaseLoader)
    except UnicodeDecodeError as error:
        fail(data[:error.start], "not UTF-8")
    except yaml.reader.ReaderError as error:
        fail(text[:error.position].encode(), "not valid YAML: a control character")
    except yaml.MarkedYAMLError as error:
        fail(text[:error.problem_mark.index].encode(), f"not valid YAML: {error.problem}")
    except RecursionError:
        fail(b"", "nested too deeply")
    if not isinstance(document, dict) or "draw" not in document:
        fail(b"", "found no 'draw:'; a figure is a sweep file that says how it is drawn")
    check(document["draw"], places)
    return places, document["draw"]


def write_programs(draw, path, places):
    """Writes the traces that the figure's points name."""
    for name, call in draw.get("programs", {}).items():
        steps = ["draw", "programs", name]
        words = dict(call) if isinstance(call, dict) else {}
        if words.get("name") not in library.PROGRAMS:
            places.fail(steps, "programs: expected a name and its parameters", f"names: {', '.join(library.PROGRAMS)}")
        write = library.PROGRAMS[words.pop("name")]
        target = pathlib.Path(path).parent / name
        try:
            text = write(**{key: int(value) for key, value in words.items()}).text()
        except (TypeError, ValueError) as error:
            places.fail(steps, f"programs: {error}")
        # A file that stays as it is can be read by simulations that run now.
        if not target.exists() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def find(row, name):
    """A column of a point: a value of the axes, or a field of the result by its dotted name."""
    if name in row["columns"]:
        return row["columns"][name]
    at = row["result"]
    for part in name.split("."):
        if not isinstance(at, dict) or part not in at:
            return None
        at = at[part]
    return at


class Panel:
    """One plot of a figure, its table computed from the points."""

    def __init__(self, figure, title, draw, rows, complete, steps):
        self.figure, self.title, self.complete, self.steps = figure, title, complete, steps
        self.kind = draw.get("kind", "lines")
        self.x = self.need(draw, "x", "x: {field: size_bytes, label: data size, scale: log2}")
        self.y = self.need(draw, "y", "y: {field: bandwidth_GBps, label: GB/s}")
        self.parts = self.y.get("parts") or [{"field": self.y.get("field")}]
        self.normalize = draw.get("normalize") if draw.get("normalize") != "none" else None
        if "step" not in self.x and "field" not in self.x:
            self.fail("x: 'field' is missing", "x: {field: size_bytes}")
        if len(self.parts) > 1 and self.kind != "bars":
            self.fail("y.parts: only bars can be stacked", "kind: bars")
        if len(self.parts) > 1 and self.normalize and self.normalize.get("inverse") == "true":
            self.fail("normalize.inverse: cannot be used with y.parts, because inverses of parts do not add up")
        series = draw.get("series")
        if isinstance(series, list):
            self.series = [(entry["label"], entry.get("field"), rows) for entry in series]
        elif series is None:
            self.series = [("", None, rows)]
        else:
            self.series = [(str(label), None, [row for row in rows if row["columns"].get(series) == label])
                           for label in figure.values_of(series, [*steps, "series"])]
        labels = [label for label, _, _ in self.series]
        if self.normalize and self.normalize.get("series") not in labels:
            self.fail(f"normalize.series: there is no series '{self.normalize.get('series')}'", f"series: {', '.join(labels)}")
        self.table = self.drawn(self.combined(self.points()))

    def need(self, draw, key, example):
        if key not in draw:
            self.fail(f"draw: '{key}' is missing", example)
        return draw[key]

    def fail(self, message, hint=""):
        self.figure.places.fail(self.steps, (f"panel '{self.title}': " if self.title else "") + message, hint)

    def number(self, row, name, is_list=False):
        value = find(row, name)
        good = isinstance(value, list) if is_list else isinstance(value, (int, float)) and not isinstance(value, bool)
        if not good:
            near = difflib.get_close_matches(name or "", [*row["columns"], *frames.flat(row["result"])], 1)
            self.fail(f"'{name}' is {'no field of the results' if value is None else 'not a number' if not is_list else 'not a list'}",
                      f"did you mean '{near[0]}'?" if near else "")
        return value

    def points(self):
        """(series, x, values of the parts, result) of each point; with x.step of each entry of a list."""
        found = []
        for index, (_, own_field, rows) in enumerate(self.series):
            fields = [own_field or part["field"] for part in self.parts]
            for row in rows:
                if "step" in self.x:
                    step = self.number(row, self.x["step"]) * float(self.x.get("factor", 1))
                    found += [(index, (i + 0.5) * step, [value], {})
                              for i, value in enumerate(self.number(row, fields[0], is_list=True))]
                    continue
                x = find(row, self.x["field"])
                if self.kind != "bars" or not isinstance(x, str):
                    x = self.number(row, self.x["field"])
                found.append((index, x, [self.number(row, field) for field in fields], row["result"]))
        if self.kind != "bars":
            found.sort(key=lambda point: point[:2])
        return found

    def combined(self, points):
        """One point for each series and x. A mean of fewer points than the others have would pass for the mean of all."""
        groups = {}
        for point in points:
            groups.setdefault(point[:2], []).append(point)
        how = self.y.get("combine")
        if how == "min":
            return [min(group, key=lambda point: sum(point[2])) for group in groups.values()]
        if how == "mean":
            most = max(map(len, groups.values()), default=0)
            return [(*key, [sum(parts) / len(group) for parts in zip(*(point[2] for point in group))], {})
                    for key, group in groups.items() if self.complete or len(group) == most]
        for (index, x), group in groups.items():
            if len(group) > 1 and self.kind != "points":
                self.fail(f"series '{self.series[index][0]}': two points at {x}", "split them into series, or combine: mean, min")
        return points

    def reference(self, points, x):
        """The value that others are relative to; None if its point is missing."""
        wanted = self.normalize.get("x")
        for index, other, parts, _ in points:
            if self.series[index][0] == self.normalize["series"] and (
                    other == x if wanted is None else str(other) == wanted or other == number(wanted)):
                return sum(parts)
        if self.complete:
            self.fail(f"normalize: series '{self.normalize['series']}' has no point at {x if wanted is None else wanted}")
        return None

    def drawn(self, points):
        """(series, part, x, y, where y begins, result): rows of the table."""
        rows = []
        factor = float(self.y.get("factor", 1))
        for index, x, parts, result in points:
            reference = self.reference(points, x) if self.normalize else 1
            if reference is None:
                continue
            start = 0.0
            for part, value in enumerate(parts):
                over, under = (reference, value) if self.normalize and self.normalize.get("inverse") == "true" else (value, reference)
                y = over / under * factor if under else math.nan
                rows.append((index, part, x, y, start, result))
                start += 0 if math.isnan(y) else y
        return rows


def word(value):
    """A value of an axis; true and false as in YAML, because they are no numbers."""
    return str(value).lower() if isinstance(value, bool) else value


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


class Figure:
    """A sweep that was run, and its panels."""

    def __init__(self, path, folder, sets=None, workers=None):
        self.name = pathlib.Path(path).stem
        self.path = path
        self.sweep = pathlib.Path(folder, "points", self.name)
        self.places, draw = read_draw(path)
        write_programs(draw, path, self.places)
        frames.call("sweep", "plan", path, "-o", self.sweep, *frames.option_words(sets, {}))
        self.manifest = json.loads((self.sweep / "manifest.json").read_text())
        self.title = self.manifest["title"]
        # Mistakes are found before anything is simulated.
        list(self.read_panels(draw, self.read_rows({})))
        # The program names a failed point, and the others are drawn.
        self.complete = frames.run_points(path, self.sweep, frames.option_words(sets, {"jobs": workers}))
        frames.call("sweep", "gather", path, "-o", self.sweep, "--partial", accept=(0, 1), quiet=True)
        lines = map(json.loads, (self.sweep / "results.jsonl").read_text().splitlines())
        results = {point["id"]: point["result"] for point in lines}
        self.panels = list(self.read_panels(draw, self.read_rows(results)))

    def read_rows(self, found):
        """Points in the order of the axes; one that several combinations of their values give stands for each."""
        rows = []
        for point in self.manifest["points"]:
            for settings in [point["set"], *point.get("alike", [])]:
                columns = {key: word(value) for key, value in settings.items()}
                rows.append({"columns": columns | frames.numbers_of(settings), "result": found.get(point["id"])})
        return rows

    def values_of(self, axis, steps):
        for each in self.manifest["axes"]:
            if each["key"] == axis:
                return [word(value) for value in each["values"]]
        return self.places.fail(steps, f"the sweep has no axis '{axis}'",
                                f"axes: {', '.join(each['key'] for each in self.manifest['axes'])}")

    def read_panels(self, draw, rows):
        panels = draw.get("panels")
        shared = {key: value for key, value in draw.items() if key != "panels"}
        if isinstance(panels, list):
            chosen = [(own.get("title", ""), shared | own, rows, ["draw", "panels", i]) for i, own in enumerate(panels)]
        elif panels is None:
            chosen = [("", shared, rows, ["draw"])]
        else:
            chosen = [(title, shared, [row for row in rows if row["columns"].get(panels) == title], ["draw"])
                      for title in self.values_of(panels, ["draw", "panels"])]
        for title, own, all_rows, steps in chosen:
            there = [row for row in all_rows if row["result"] is not None]
            yield Panel(self, str(title), own, there, len(there) == len(all_rows), steps)

    def table(self):
        """Header and rows: panel, series, x and y as drawn, then the fields of the result."""
        stacked = any(len(panel.parts) > 1 for panel in self.panels)
        all_rows = [(panel, *row) for panel in self.panels for row in panel.table]
        flats = [{name: value for name, value in frames.flat({k: v for k, v in row[-1].items() if k != "host"}).items()
                  if not isinstance(value, list)} for row in all_rows]
        fields = list(dict.fromkeys(itertools.chain.from_iterable(flats)))
        yield ["panel", "series", *(["part"] if stacked else []), "x", "y", *(["y_from"] if stacked else []), *fields]
        for (panel, series, part, x, y, start, _), fields_here in zip(all_rows, flats):
            part_label = [panel.parts[part].get("label", "" if len(panel.parts) == 1 else panel.parts[part]["field"])] if stacked else []
            yield [panel.title, panel.series[series][0], *part_label, cell(x), cell(y), *([cell(start)] if stacked else []),
                   *(cell(fields_here.get(name)) for name in fields)]

    def write(self, folder, formats=("png", "svg")):
        """Writes the table and the pictures; returns their paths."""
        paths = [pathlib.Path(folder, f"{self.name}.csv")]
        with open(paths[0], "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(self.table())
        from .drawing import draw_figure
        picture = draw_figure(self)
        for ending in formats:
            paths.append(pathlib.Path(folder, f"{self.name}.{ending}"))
            # Without a date the same picture has the same bytes.
            dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
            picture.savefig(paths[-1], bbox_inches="tight", metadata=dates.get(ending))
        return paths


def cell(value):
    if value is None or isinstance(value, float) and not math.isfinite(value):
        return ""
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m espalier.figures", description="Runs sweep files with a draw: block and draws them.")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", default="figures", help="folder of pictures, tables and points (default: figures)")
    parser.add_argument("-s", "--set", action="append", default=[], metavar="KEY=VALUE", help="set a configuration key everywhere")
    parser.add_argument("-j", "--jobs", type=int, help="number of simulations at a time")
    parser.add_argument("--format", default="png,svg", help="of pictures: png, svg, pdf, separated by commas")
    options = parser.parse_args(arguments)
    for assignment in options.set:
        if "=" not in assignment:
            parser.error(f"-s {assignment}: expected KEY=VALUE, for example -s system.router.vcs=2")
    sets = dict(assignment.split("=", 1) for assignment in options.set)
    names = [pathlib.Path(file).stem for file in options.files]
    for name in names:
        if names.count(name) > 1:
            parser.error(f"two files are named {name}: the second would overwrite the first's pictures. Use another folder (-o) for it")
    if importlib.util.find_spec("matplotlib") is None:
        parser.error("pictures need matplotlib (Debian: python3-matplotlib)")
    code = 0
    for file in options.files:
        try:
            figure = Figure(file, options.output, sets, options.jobs)
            print(*figure.write(options.output, options.format.split(",")))
        except (Mistake, frames.Error) as error:
            print(error, file=sys.stderr)
            return getattr(error, "code", 2)
        except KeyboardInterrupt:
            print(f"{file}: interrupted. Finished points are kept; the same command continues", file=sys.stderr)
            return 130
        code = code if figure.complete else 1
    return code


if __name__ == "__main__":
    sys.exit(main())
