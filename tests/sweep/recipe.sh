#!/usr/bin/env bash
# A recipe of docs/sweeps.md as it stands there, on a small sweep: its table is that of a plain run. Exit code 77 (skipped) where
# the program is missing. tests/sweep/recipe.sh ESPALIER make|parallel
set -euo pipefail
espalier=$(realpath "$1")
program=$2
docs=$(realpath "$(dirname "$0")/../../docs/sweeps.md")
command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
if [ "$program" = parallel ] && ! parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
  echo "skipped: this parallel is not GNU parallel"
  exit 77
fi

work=$(mktemp -d /tmp/espalier-recipe-XXXXXX)
trap 'rm -rf "$work"' EXIT
fail() { echo "failed: $1" >&2; exit 1; }
cd "$work"
mkdir bin
ln -s "$espalier" bin/espalier
export PATH=$work/bin:$PATH
cat >small.yaml <<SWEEP
title: Twelve points
config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {algorithm: ring, size: 4KiB}}
axes: [{key: system.link.latency, from: 10ns, to: 120ns, step: 10ns}]
SWEEP

# The indented lines behind the paragraph that begins with the given words.
recipe() {
  awk -v begin="$1" 'index($0, begin) == 1 { found = 1; next }
    found && /^    / { print substr($0, 5); shown = 1; next }
    found && shown { exit }' "$docs" | sed -e 's/FILE/small.yaml/g' -e 's/NAME/small/g'
}
case $program in
  make)
    recipe '**make**' >Makefile
    grep -q espalier Makefile || fail "docs/sweeps.md has no recipe for make"
    make -j 2 >log 2>&1 || { cat log >&2; fail "make"; }
    ;;
  parallel)
    recipe '**GNU parallel**' >recipe.sh
    grep -q parallel recipe.sh || fail "docs/sweeps.md has no recipe for parallel"
    # This machine, without ssh.
    echo : >MACHINES
    bash -e recipe.sh >log 2>&1 || { cat log >&2; fail "parallel"; }
    ;;
esac

[ "$(find sweeps/small/points -name '*.json' | wc -l)" -eq 12 ] || fail "not all points are there"
espalier sweep run small.yaml -o plain >/dev/null
espalier sweep gather small.yaml -o plain >/dev/null
cmp sweeps/small/results.csv plain/results.csv || fail "the tables differ"
echo "twelve points by $program: equal to a plain run"
