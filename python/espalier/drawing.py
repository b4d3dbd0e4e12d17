"""Panels of a figure with matplotlib."""
import math

import matplotlib
import matplotlib.colors
import matplotlib.lines
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch

matplotlib.rcParams["svg.hashsalt"] = "espalier"  # the same picture has the same bytes

COLOURS = ["#d55e00", "#0072b2", "#009e73", "#7b3294", "#56b4e9", "#cc79a7", "#e69f00", "#666666", "#8c6d31"]
MARKS = "o^sDvpP*<"
# An algorithm has the same colour and mark in all figures, and in reports (`look` of alg/generators).
ALGORITHMS = ["multitree", "ring", "2d_ring", "multitree_translated", "bidirectional_ring", "dbtree", "hdrm", "direct",
              "halving_doubling"]


def looks(figure):
    """Colour, mark and whether the mark is full by series. Marks are full for messages and open for packets."""
    found = {}
    for panel in figure.panels:
        for index, (label, _, rows) in enumerate(panel.series):
            found.setdefault(label, {(row["result"].get("algorithm"), row["result"].get("flow_control")) for row in rows})
    algorithms = [next(iter(kinds))[0] if len(kinds) == 1 else None for kinds in found.values()]
    by_algorithm = all(algorithms) and len(set(algorithms)) > 1
    numbers = {name: ALGORITHMS.index(name) for name in algorithms if name in ALGORITHMS}
    for name in algorithms:
        numbers.setdefault(name, next(i for i in range(len(found) + len(ALGORITHMS)) if i not in numbers.values()))
    result, taken = {}, set()
    for i, (label, kinds) in enumerate(found.items()):
        number = numbers[algorithms[i]] if by_algorithm else i
        full = not by_algorithm or next(iter(kinds))[1] != "packet"
        # Further series of an algorithm keep its colour, darker and with other marks.
        mark = number
        while (number, mark % len(MARKS), full) in taken and mark < number + len(MARKS):
            mark += 1
        taken.add((number, mark % len(MARKS), full))
        darker = 0.65 ** (sum(number == other for other, _, _ in taken) - 1)
        colour = [part * darker for part in matplotlib.colors.to_rgb(COLOURS[number % len(COLOURS)])]
        result[label] = (colour, MARKS[mark % len(MARKS)], full)
    return result


def size_text(value):
    """Bytes with the largest binary or decimal unit that divides them."""
    for unit, factor in [("GiB", 2**30), ("GB", 10**9), ("MiB", 2**20), ("MB", 10**6), ("KiB", 2**10)]:
        if value >= factor and value % factor == 0:
            return f"{value // factor:.0f} {unit}"
    return f"{value:g}"


def draw_lines(axes, panel, style):
    xs = sorted({row[2] for row in panel.table})
    for index, (label, _, _) in enumerate(panel.series):
        points = [(x, y) for series, _, x, y, _, _ in panel.table if series == index]
        colour, mark, full = style[label]
        # A line through many entries of a list needs no marks.
        axes.plot(*zip(*points) if points else ([], []), color=colour, marker=mark if len(points) < 60 else None, markersize=5,
                  markerfacecolor=colour if full else "white", linestyle="none" if panel.kind == "points" else "-",
                  linewidth=1.8 if full else 1.2)
    x_scale = panel.x.get("scale", "linear")
    if x_scale != "linear":
        axes.set_xscale("log", base=2 if x_scale == "log2" else 10)
    elif 1 < len(xs) <= 7 and panel.kind == "lines":
        axes.set_xticks(xs)
    if x_scale == "log2" and xs:
        shown = xs[::math.ceil(len(xs) / 8)]
        is_size = panel.x.get("field", "").endswith("_bytes")
        axes.set_xticks(shown, [size_text(x) if is_size else f"{x:g}" for x in shown], rotation=30 if is_size else 0)
        axes.minorticks_off()


def draw_bars(axes, panel, style):
    xs = list(dict.fromkeys(row[2] for row in panel.table))
    width = 0.8 / max(1, len(panel.series))
    for index, part, x, y, start, _ in panel.table:
        if math.isnan(y):
            continue
        shade = 1 - 0.6 * part / max(1, len(panel.parts) - 1) if len(panel.parts) > 1 else 1
        place = xs.index(x) + (index - (len(panel.series) - 1) / 2) * width
        colour = [1 - shade * (1 - part) for part in matplotlib.colors.to_rgb(style[panel.series[index][0]][0])]
        axes.bar(place, y, width * 0.95, bottom=start, color=colour)
    long = max((len(str(x)) for x in xs), default=0) * len(xs) > 40
    axes.set_xticks(range(len(xs)), [str(x).replace("_", " ") for x in xs], rotation=30 if long else 0, ha="right" if long else "center")


def draw_figure(figure):
    """The picture: at most three panels in a row, one legend below them."""
    style = looks(figure)
    columns = min(3, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    width = max(4.6, *(0.16 * len(panel.series) * len({row[2] for row in panel.table}) if panel.kind == "bars" else 0
                       for panel in figure.panels)) if figure.panels else 4.6
    picture = Picture(figsize=(min(width, 8) * columns + (1.2 if columns == 1 else 0), 3.3 * rows + 0.9), dpi=110, layout="constrained")
    grid = picture.subplots(rows, columns, squeeze=False).flatten()
    for axes, panel in zip(grid, figure.panels):
        (draw_bars if panel.kind == "bars" else draw_lines)(axes, panel, style)
        axes.set_title(panel.title, fontsize=10)
        axes.set_xlabel(panel.x.get("label", panel.x.get("field", "")))
        axes.set_ylabel(panel.y.get("label", panel.parts[0]["field"]))
        y_scale = panel.y.get("scale", "linear")
        if y_scale == "linear":
            axes.set_ylim(bottom=min([0, *(row[3] for row in panel.table if row[3] < 0)]))
        else:
            axes.set_yscale("log", base=2 if y_scale == "log2" else 10)
        axes.grid(axis="y" if panel.kind == "bars" else "both", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[len(figure.panels):]:
        axes.set_visible(False)
    bars = all(panel.kind == "bars" for panel in figure.panels)
    handles = []
    for label, (colour, mark, full) in style.items():
        handles.append(Patch(color=colour, label=label) if bars else matplotlib.lines.Line2D(
            [], [], color=colour, marker=mark, markerfacecolor=colour if full else "white", label=label,
            linestyle="none" if figure.panels[0].kind == "points" else "-"))
    for panel in figure.panels:
        for part, each in enumerate(panel.parts if len(panel.parts) > 1 else []):
            label = each.get("label", each["field"])
            if label not in [handle.get_label() for handle in handles]:
                handles.append(Patch(color=str(0.27 + 0.44 * part / (len(panel.parts) - 1)), label=label))
    picture.suptitle(figure.title, fontsize=12)
    if len(handles) > 1:
        picture.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=min(len(handles), 4 if columns > 1 else 3), frameon=False)
    return picture
