#!/usr/bin/env bash
# Installs a build to a temporary place, builds examples/library with find_package(Espalier) only, and compares its cycles with
# those of `espalier run`: library.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "${1:?usage: library.sh BUILD_FOLDER}" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }

cmake --install "$build" --prefix "$work/installed" >"$work/log" || { cat "$work/log" >&2; exit 1; }
for file in bin/espalier share/man/man1/espalier.1 share/bash-completion/completions/espalier share/zsh/site-functions/_espalier; do
  [ -s "$work/installed/$file" ] || fail "$file is not installed"
done
# A copy, so that no header of the sources is found by chance.
cp -r examples/library "$work/example"
{ cmake -S "$work/example" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/installed" -DCMAKE_BUILD_TYPE=Release &&
  cmake --build "$work/build"; } >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
lines=$(wc -l <examples/library/all_reduce.cpp)
[ "$lines" -lt 60 ] || fail "the example has $lines lines"
"$work/build/all_reduce" >"$work/out" 2>/dev/null || fail "the example does not run"
cat >"$work/mesh.yaml" <<'YAML'
system: {topology: {type: mesh, dims: [4, 4]}}
collective: {op: all_reduce, algorithm: multitree, size: 1MiB}
YAML
cycles=$("$work/installed/bin/espalier" run -q "$work/mesh.yaml" --csv - 2>/dev/null | python3 -c '
import csv, sys
print(next(csv.DictReader(sys.stdin))["cycles"])')
grep -q "^$cycles cycles" "$work/out" || fail "espalier run takes $cycles cycles, the example says: $(cat "$work/out")"
echo "installed, built and run: $cycles cycles"
