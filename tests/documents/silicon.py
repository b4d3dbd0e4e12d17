"""docs/silicon.md: the errors of the machines whose measurements are in the repository."""
import re

from claims import ROOT, Page

TABLES = {"8 x H100": "h100", "10 x 8 H100": "h100"}
for servers in ("1 server", "2 servers"):
    for cloud in ("NDm v4", "ND v5"):
        TABLES[f"{cloud}, {servers}, MSCCL++"] = "mscclpp"


def claims(program):
    page = Page("docs/silicon.md")
    rows = re.findall(r"^\| ([^|]+) \| (\w+) \| (1 MiB and more|below 1 MiB) \|", (ROOT / page.name).read_text(encoding="utf-8"), re.MULTILINE)
    rows = [row for row in rows if row[0] in TABLES]
    for machine, operation, sizes in rows:
        begin = f"| {machine} | {operation} | {sizes} |"
        shape = shape_of(begin, page.name)
        page.claim(f"{begin} {shape} |", lambda m=machine, b=begin: errors(program, m, b))
    if len(rows) < 27:
        raise RuntimeError("docs/silicon.md has lost lines")
    return [page]


def shape_of(begin, name):
    """A line's two errors with {} for their numbers; a group without rows has a dash."""
    line = next(line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line.startswith(begin))
    return " | ".join("-" if cell.strip() == "-" else "{:.1f} % of {:.0f}" for cell in line.removeprefix(begin).strip(" |").split("|"))


def errors(program, machine, begin):
    """Of the fitted rows and of the rest: percent, and the number of rows."""
    printed = program.printed("validate", "silicon", f"configs/silicon/{TABLES[machine]}.csv", "--machine", machine)
    line = next(line for line in printed.splitlines() if line.startswith(begin))
    return tuple(float(number) for number in re.findall(r"[\d.]+", line.removeprefix(begin)))
