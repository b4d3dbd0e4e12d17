#!/usr/bin/env bash
# Makes docs/pictures/report.png: a report's page as headless Chromium shows it. Needs chromium and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/release/espalier run configs/mesh_8x8.yaml -s 'collective.algorithm=[ring, multitree]' \
  -s system.flow_control.mode=message -s 'collective.size=[64KiB, 1MiB, 16MiB]' -s simulation.link_utilization=true --json "$work/results.json" >/dev/null
(cd "$work" && "$OLDPWD/build/release/espalier" report results.json -o report.html --title 'All-reduce on an 8x8 mesh')
tests/report/browser_check.py chromium "$work/report.html=7" --screenshots "$work" --height 1680 --widths 1024
cp "$work/report-1024-light.png" docs/pictures/report.png
