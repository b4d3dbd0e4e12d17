#!/usr/bin/env bash
# The ten units that took longest to compile in a build folder (ninja's log), and the ten longest tests of its last run.
#   tests/slowest.sh build/release
set -euo pipefail
build=${1:?usage: slowest.sh BUILD}
echo "slowest units of $build, seconds:"
[ ! -f "$build/.ninja_log" ] || awk -F'\t' '$4 ~ /\.o$/ { printf "%7.1f  %s\n", ($2 - $1) / 1000, $4 }' "$build/.ninja_log" | sort -rn | awk 'NR <= 10'
echo "slowest tests of $build, seconds:"
tests=$build/Testing/Temporary/LastTest.log
[ ! -f "$tests" ] || awk '/^[0-9]+\/[0-9]+ Test: / { sub(/^[^:]*: /, ""); name = $0 }
  /^Test time = / { printf "%7.1f  %s\n", $4, name }' "$tests" | sort -rn | awk 'NR <= 10'
