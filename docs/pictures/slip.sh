#!/usr/bin/env bash
# Makes docs/pictures/slip_off.png: GTKWave with the waveform of docs/explain.md, "Example: find a slip". Needs gtkwave, xvfb and imagemagick.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
# shellcheck source=tests/waves/screen.sh
. tests/waves/screen.sh
root=$PWD
cd "$work"
"$root/build/release/espalier" run "$root/configs/lockstep_mesh_8x8.yaml" --waves slip_off.fst -s collective.size=1MiB -s system.ni.lockstep=off \
  --wave-scope net.ni_0_7 --wave-scope net.ni_1_7 --wave-scope net.r_0_7.in_ni0 --wave-to 9000
picture slip_off.fst.gtkw slip_off.png
convert slip_off.png -trim +repage "$root/docs/pictures/slip_off.png"
