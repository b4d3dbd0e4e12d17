#!/usr/bin/env bash
# Makes docs/pictures/slip_off.png and slip_full.png: GTKWave with the waveforms of docs/debugging.md, "Example: find a slip". Needs gtkwave,
# xvfb and imagemagick.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
# shellcheck source=tests/waves/screen.sh
. tests/waves/screen.sh
root=$PWD
cd "$work"
for lockstep in off full; do
  "$root/build/release/espalier" run "$root/configs/lockstep_mesh_8x8.yaml" -s collective.size=1MiB -s system.ni.lockstep=$lockstep \
    --waves slip_$lockstep.fst --wave-scope net.ni_0_7 --wave-scope net.ni_1_7 --wave-scope net.r_0_7.in_ni0 --wave-to 9000
  picture slip_$lockstep.fst.gtkw slip_$lockstep.png
  convert slip_$lockstep.png -trim +repage "$root/docs/pictures/slip_$lockstep.png"
done
