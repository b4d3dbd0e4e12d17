#!/usr/bin/env bash
# Makes docs/pictures/slip_off.png and slip_full.png: GTKWave with the waveforms of docs/debugging.md, "Example: find a slip"; and
# drift_off.png and drift_nop.png, those of docs/ni_ports.md. Needs gtkwave, xvfb and imagemagick.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release espalier
# shellcheck source=tests/waves/screen.sh
. tests/waves/screen.sh
root=$PWD
cd "$work"
# A picture of the waveform of configuration $2, in file $1.png; other arguments go to run.
draw() {
  name=$1
  config=$2
  shift 2
  "$root/build/release/espalier" run "$root/$config" --waves "$name.fst" "$@"
  picture "$name.fst.gtkw" "$name.png"
  convert "$name.png" -trim +repage "$root/docs/pictures/$name.png"
}
for lockstep in off full; do
  draw slip_$lockstep configs/lockstep_mesh_8x8.yaml -s collective.size=1MiB -s system.ni.lockstep=$lockstep \
    --wave-scope net.ni_0_7 --wave-scope net.ni_1_7 --wave-scope net.r_0_7.in_ni0 --wave-to 9000
done
for lockstep in off nop; do
  draw drift_$lockstep configs/isca21_authors.yaml -s system.ni.lockstep=$lockstep --wave-scope net.ni_0_0 --wave-scope net.ni_3_1
done
