#!/usr/bin/env bash
# Installs a build to a temporary place, and builds and runs examples/own_router, examples/tlm_initiator and examples/verilog_ni
# with find_package(Espalier) only: plug_in.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "${1:?usage: plug_in.sh BUILD_FOLDER}" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }

cmake --install "$build" --prefix "$work/installed" >"$work/log" || { cat "$work/log" >&2; exit 1; }
# make_example NAME: builds the copy in $work, so that no header of the sources is found by chance.
make_example() {
  { cmake -S "$work/$1" -B "$work/build_$1" -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$work/build_$1"; } >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

cp -r examples/own_router "$work"
make_example own_router
lines=$(wc -l <examples/own_router/own_router.h)
[ "$lines" -le 150 ] || fail "the example's router has $lines lines"
"$work/build_own_router/own_router" >"$work/out" 2>"$work/err" || fail "own_router: $(cat "$work/err")"
cat >"$work/mesh.yaml" <<'YAML'
system: {topology: {type: mesh, dims: [4, 4]}}
traffic: {injection_rate: 0.2, warmup_cycles: 0, measure_cycles: 2000}
YAML
messages=$("$work/installed/bin/espalier" run -q "$work/mesh.yaml" --json - 2>/dev/null | python3 -c '
import json, sys
print(json.load(sys.stdin)["results"][0]["measured_messages"])')
grep -q "^$messages messages delivered" "$work/out" ||
  fail "espalier run delivers $messages messages, the example says: $(cat "$work/out")"
grep -q " [1-9][0-9]* flits through own_router" "$work/out" || fail "no flit passed own_router: $(cat "$work/out")"
echo "own_router: $messages messages delivered"
"$work/build_own_router/own_router" "$work/w.vcd" | cmp - "$work/out" || fail "waveforms change the result of own_router"
for signal in in_ni0.vc0 socket.in0.valid socket.out0.vc socket.in0.credits socket.own.flits_passed; do
  [ "$(python3 -c '
import sys
scopes, names = [], set()
for words in map(str.split, open(sys.argv[1])):
    if words[:1] == ["$scope"]: scopes.append(words[2])
    if words[:1] == ["$upscope"]: scopes.pop()
    if words[:1] == ["$var"]: names.add(".".join(scopes + [words[4]]))
print(any(name.startswith("net.r_1_1." + sys.argv[2]) for name in names))' "$work/w.vcd" "$signal")" = True ] ||
    fail "the waveform has no net.r_1_1.$signal"
done

cp -r examples/tlm_initiator "$work"
make_example tlm_initiator
lines=$(wc -l <examples/tlm_initiator/initiator.h)
[ "$lines" -lt 50 ] || fail "the example's initiator has $lines lines"
"$work/build_tlm_initiator/tlm_initiator" examples/tlm_initiator/sockets.yaml >"$work/out" 2>"$work/err" || fail "tlm_initiator: $(cat "$work/err")"
# The same messages as a file: a request at time T is posted at the first clock edge after T.
{ echo ready,from,to,bytes; for n in $(seq 1 63); do echo "$((300 * (n - 1) + 1)),0,$n,4096"; done; } >"$work/messages.csv"
cat >"$work/torus.yaml" <<'YAML'
system: {topology: {type: torus, dims: [8, 8]}}
traffic: {pattern: file, file: messages.csv}
YAML
"$work/installed/bin/espalier" run -q "$work/torus.yaml" --messages "$work/log.csv" >/dev/null 2>&1
python3 - "$work/log.csv" "$work/out" <<'PYTHON' || fail "an initiator's message is not delivered in the cycle of the file's"
import csv, re, sys
names = {f"r_{n // 8}_{n % 8}": n for n in range(64)}
file = {names[row["to"]]: int(row["delivered"]) for row in csv.DictReader(open(sys.argv[1]))}
sockets = {int(a): int(b) for a, b in re.findall(r"^(\d+) (\d+)$", open(sys.argv[2]).read(), re.M)}
sys.exit(not (len(file) == 63 and file == sockets))
PYTHON
echo "tlm_initiator: 63 messages in the cycles of the file's"
# The same program beside a collective, and with a wrong configuration.
"$work/build_tlm_initiator/tlm_initiator" configs/torus_8x8.yaml >"$work/out" 2>"$work/err" || fail "beside a collective: $(cat "$work/err")"
grep -q '^verified: true$' "$work/out" && grep -qE '^63 [0-9]+$' "$work/out" || fail "beside a collective: $(tail -2 "$work/out")"
if "$work/build_tlm_initiator/tlm_initiator" nothing.yaml 2>"$work/err"; then fail "nothing.yaml is read"; fi
grep -q '^nothing.yaml: error: ' "$work/err" || fail "nothing.yaml: $(cat "$work/err")"

if ! command -v verilator >/dev/null; then
  echo "skipped: verilog_ni needs verilator (Debian: verilator)"
  exit 0
fi
cp -r examples/verilog_ni "$work"
make_example verilog_ni
"$work/build_verilog_ni/verilog_ni" >"$work/out" 2>"$work/err" || fail "verilog_ni: $(cat "$work/err")"
grep -q '^[0-9]* cycles, verified: true$' "$work/out" || fail "verilog_ni says: $(cat "$work/out")"
echo "verilog_ni: $(cat "$work/out")"
# An NI that does not wait for data sends wrong data.
sed -i 's/wire is_here = .*/wire is_here = 1;/' "$work/verilog_ni/ring_ni.v"
sed -i 's/-Wall/-Wno-fatal/' "$work/verilog_ni/CMakeLists.txt"
make_example verilog_ni
if "$work/build_verilog_ni/verilog_ni" >"$work/out" 2>"$work/err"; then fail "an NI that does not wait is verified"; fi
grep -q 'wrong data at rank' "$work/err" || fail "an NI that does not wait: $(cat "$work/err")"
echo "verilog_ni without waiting: $(tail -1 "$work/err")"
