#!/usr/bin/env bash
# Replaces the Verilog of one block by a changed copy, as docs/plug_in.md tells, and sees the copy decide: own_verilog.sh BUILD
# BUILD has ESPALIER_RTL; it is configured and built with the copy, and at the end as it was.
set -euo pipefail
build=$(realpath "${1:?usage: own_verilog.sh BUILD}")
cd "$(dirname "$0")/../.."
grep -q '^ESPALIER_RTL:BOOL=ON$' "$build/CMakeCache.txt" || { echo "the build has no Verilog (ESPALIER_RTL)"; exit 77; }
work=$(mktemp -d)
fail() { echo "FAILED: $1" >&2; exit 1; }
build_with() {
  { cmake "$build" "-DESPALIER_OWN_VERILOG=$1" && cmake --build "$build" --target espalier; } >"$work/log" 2>&1
}
trap 'build_with "" || cat "$work/log"; rm -rf "$work"' EXIT
cat >"$work/mesh.yaml" <<'YAML'
system: {topology: {type: mesh, dims: [4, 4]}, ni: {lockstep: estimate}}
collective: {op: all_reduce, algorithm: multitree, size: 64KiB}
YAML
# The cycles of a run, or why it failed.
answer() {
  if "$build/espalier" run "$work/mesh.yaml" -q "$@" --json "$work/r.json" >/dev/null 2>"$work/err"; then
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["results"][0]["cycles"], "cycles")' "$work/r.json"
  else
    head -1 "$work/err"
  fi
}

# A file that replaces nothing, and one that is not there.
cp hw/rtl/ni_control.v "$work/my.v"
if build_with "$work/my.v"; then fail "my.v replaces no module and is taken"; fi
tr -s ' \n' ' ' <"$work/log" | grep -q 'no my.v decides in the simulation' || fail "$(cat "$work/log")"
if build_with "$work/ni_control.v"; then fail "a missing file is taken"; fi

# A copy decides what the program's Verilog and the model decide; with the mutant every step is held for a cycle more.
model=$(answer)
sed '1i // A copy.' hw/rtl/ni_control.v >"$work/ni_control.v"
build_with "$work/ni_control.v" || fail "$(tail -20 "$work/log")"
copy=$(answer -s 'simulation.rtl=[ni_control]')
[ "$copy" = "$model" ] || fail "the model takes $model, and a copy of ni_control.v $copy"
sed 's/held = |counter\[L-1:1\]/held = |counter/' hw/rtl/ni_control.v >"$work/ni_control.v"
! cmp -s hw/rtl/ni_control.v "$work/ni_control.v" || fail "ni_control.v has changed; choose another mutant"
build_with "$work/ni_control.v" || fail "$(tail -20 "$work/log")"
mutant=$(answer -s 'simulation.rtl=[ni_control]')
[ "$(answer)" = "$model" ] || fail "without simulation.rtl the model does not decide"
[ -n "$mutant" ] && [ "$mutant" != "$model" ] || fail "the mutant's run has the model's answer: $mutant"
"$build/espalier" --version | grep -q 'with own ni_control.v$' || fail "--version does not name the file"
echo "model: $model; own ni_control.v: $mutant"
