"""docs/exploration.md: the table, from the sweep that the page runs, and its picture."""
import csv

from claims import ROOT, Page, number, only


def claims(program):
    page = Page("docs/exploration.md")

    def rows():
        folder = f"{program.folder.name}/sweep"
        for verb in ("run", "gather"):
            program.call([program.path, "sweep", verb, "configs/sweeps/subpacket_vc_latency.yaml", "-o", folder])
        with open(f"{folder}/results.csv", encoding="utf-8") as file:
            return [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def point(depth, latency, payload=64):
        return only(rows(), system__flow_control__payload_bytes=payload, system__router__vc_depth_flits=depth, system__link__latency_ns=latency)

    def row(depth):
        links = [point(depth, latency) for latency in (50, 150, 250)]
        return (links[1]["area.system_mm2"], links[1]["area.system_mm2_high"], links[1]["energy.priced_uJ"], *(p["time_ns"] / 1000 for p in links))

    for text, depth in (("80 flits", 80), ("160", 160), ("318", 318), ("640", 640)):
        page.claim(f"| {text} | {{:.0f}} to {{:.0f}} | {{:.0f}} | {{:.1f}} us | {{:.1f}} us | {{:.1f}} us |", lambda d=depth: row(d))
    page.claim("a depth that covers the credit loop gives the same times, and a smaller depth up to {:.0f} % longer ones", lambda: max(
        100 * (point(depth, latency, 256)["time_ns"] / point(depth, latency)["time_ns"] - 1)
        for depth in (80, 160, 318) for latency in (50, 150, 250)))
    page.claim("DMA engines of the NI are {:.1f} %, its adders {:.1f} %.", lambda: tuple(
        100 * point(318, 150)[f"area.ni_{part}_um2"] / (point(318, 150)["area.router_um2"] + point(318, 150)["area.ni_um2"])
        for part in ("extension", "adders")))
    page.claim("318 flits are too few at 150 ns ({:.1f} us)", lambda: point(318, 150, 1024)["time_ns"] / 1000)
    page.claim("![Area against time for links of 150 ns](pictures/exploration.svg)", lambda: picture_is_current(program, rows()))
    return [page]


def picture_is_current(program, rows):
    """The page of the sweep has the picture's points."""
    report = f"{program.folder.name}/report.html"
    program.call([program.path, "report", f"{program.folder.name}/sweep", "-o", report, "--facet", "system.link.latency",
                  "--color", "system.router.vc_depth_flits", "--mark", "system.flow_control.payload_bytes"])
    with open(report, encoding="utf-8") as file:
        page = file.read()
    picture = (ROOT / "docs/pictures/exploration.svg").read_text(encoding="utf-8")
    marks = [line for line in picture.splitlines() if 'class="mark' in line and "<title>" in line]
    return len(marks) == len(rows) / 3 and all(mark in page for mark in marks)
