#!/usr/bin/env bash
# Waves of runs, with their save files, in GTKWave: runs.sh ESPALIER. Every name in a save file must be one of the waves'.
# Exit code 77 (ctest: skipped) where gtkwave or Xvfb is missing.
set -euo pipefail
espalier=$(realpath "$1")
configs=$(cd "$(dirname "$0")/../../configs" && pwd)
# shellcheck source=tests/waves/screen.sh
. "$(dirname "$0")/screen.sh"

checked=0
check() {
  local name=$1
  shift
  for format in vcd fst; do
    "$espalier" run "$@" --waves "$work/$name.$format" >"$work/run.log" 2>&1 ||
      { grep -q 'verilator' "$work/run.log" && [ $format = fst ] && continue; fail "$name" "$work/run.log"; }
    local save=$work/$name.$format.gtkw
    open_in_gtkwave "$save"
    all_known "$save" || fail "gtkwave does not know all signals of $save" "$save.log"
    checked=$((checked + 1))
  done
}
check tables "$configs/mesh_2x2.yaml"
check lockstep "$configs/lockstep_mesh_8x8.yaml" -s system.ni.lockstep=full -s collective.size=32KiB --wave-scope 'net.ni_*'
check window "$configs/mesh_2x2.yaml" -s system.flow_control.mode=message -s simulation.fidelity=train --wave-from 500 --wave-to 900
check traffic "$configs/traffic_uniform.yaml" -s traffic.warmup_cycles=0 -s traffic.measure_cycles=200 --wave-scope 'net.r_0_*'
check themis "$configs/themis/2d_sw_sw.yaml" -s collective.algorithm=themis -s collective.size=1MiB --wave-scope 'net*.ni_*'
[ $checked -ge 5 ] || fail "only $checked save files were looked at"
echo "gtkwave knows every signal of $checked save files"
