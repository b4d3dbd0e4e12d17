#!/usr/bin/env bash
# Makes docs/pictures/exploration.svg: area against time, of the report of the sweep in docs/sweeps.md. Needs python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/release/espalier sweep run configs/sweeps/subpacket_vc_latency.yaml -o "$work/sweep" 2>/dev/null
build/release/espalier report "$work/sweep" -o "$work/report.html" --facet system.link.latency \
  --color system.router.vc_depth_flits --mark system.flow_control.payload_bytes
python3 - "$work/report.html" docs/pictures/exploration.svg <<'PYTHON'
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
section = page[page.index('<section id="pareto">'):]
section = section[section.index("latency 150ns</h3>"):]
picture = re.search(r"<svg.*?</svg>", section, re.S).group(0)
start = picture.index(">") + 1
with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write(picture[:start].replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
               + "\n<style>" + style + "svg { background: var(--page, white); font-family: sans-serif; }</style>\n" + picture[start:] + "\n")
PYTHON
