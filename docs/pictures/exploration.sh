#!/usr/bin/env bash
# Makes docs/pictures/exploration.png: area against time, of the report of the sweep in docs/sweeps.md. Needs chromium and python3.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/release/espalier sweep run configs/sweeps/subpacket_vc_latency.yaml -o "$work/sweep" 2>/dev/null
build/release/espalier report "$work/sweep" -o "$work/report.html" --facet system.link.latency \
  --color system.router.vc_depth_flits --mark system.flow_control.payload_bytes
# As the button PNG of the picture saves it.
tests/report/browser_check.py chromium "$work/report.html=7" --widths 1280 \
  --picture 'all_reduce, 1 MiB, 64 nodes, latency 150ns' docs/pictures/exploration.png
