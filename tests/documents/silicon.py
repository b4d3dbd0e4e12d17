"""docs/silicon.md: the errors of the H100 machines, whose measurements are in the repository."""
import re

from claims import ROOT, Page


def claims(program):
    page = Page("docs/silicon.md")
    rows = re.findall(r"^\| (8 x H100|10 x 8 H100) \| (\w+) \| 1 MiB and more \|", (ROOT / page.name).read_text(encoding="utf-8"), re.MULTILINE)
    for machine, operation in rows:
        begin = f"| {machine} | {operation} | 1 MiB and more |"
        page.claim(f"{begin} {{:.1f}} % of {{:.0f}} | {{:.1f}} % of {{:.0f}} |", lambda m=machine, b=begin: errors(program, m, b))
    if len(rows) < 10:
        raise RuntimeError("docs/silicon.md has lost its lines of H100")
    return [page]


def errors(program, machine, begin):
    """Of the fitted third and of the rest: percent, and the number of rows."""
    printed = program.printed("validate", "silicon", "configs/silicon/h100.csv", "--machine", machine)
    line = next(line for line in printed.splitlines() if line.startswith(begin))
    return tuple(float(number) for number in re.findall(r"[\d.]+", line.removeprefix(begin)))
