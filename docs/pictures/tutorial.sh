#!/usr/bin/env bash
# Makes docs/pictures/tutorial.png: the section on area against time of the report in docs/tutorial.md. Needs chromium and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
espalier=build/release/espalier
$espalier sweep run configs/sweeps/lab.yaml -o "$work/lab" >/dev/null 2>&1
$espalier sweep gather configs/sweeps/lab.yaml -o "$work/lab" >/dev/null
$espalier report "$work/lab" -o "$work/page.html" --facet size --color algorithm --mark system.router.vc_depth_flits
tests/report/browser_check.py chromium "$work/page.html=2" --screenshots "$work" --section pareto --height 588 --widths 1024
cp "$work/page-1024-light.png" docs/pictures/tutorial.png
