#!/usr/bin/env bash
# Runs the indented commands of docs/tutorial.md in a copy of what they read, and looks for every line of its ```text blocks in what
# the commands print: tutorial.sh ESPALIER
set -euo pipefail
program=$(realpath "${1:?usage: tutorial.sh ESPALIER}")
cd "$(dirname "$0")/../.."
page=$PWD/docs/tutorial.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r configs python "$work"
mkdir "$work/bin"
ln -s "$program" "$work/bin/espalier"
cd "$work"
PATH=$work/bin:$PATH
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }

failures=0
commands=0
promises=0
in_text=false
while IFS= read -r line; do
  case $line in
    '```text') in_text=true; continue;;
    '```'*) in_text=false; continue;;
  esac
  if $in_text; then
    promises=$((promises + 1))
    grep -qF -- "$line" printed || { echo "not printed: $line"; failures=$((failures + 1)); }
  elif [[ $line == '    espalier '* || $line == '    PYTHONPATH=python '* ]]; then
    commands=$((commands + 1))
    bash -c "$line" >>printed 2>&1 || { echo "failed: $line"; tail -5 printed; failures=$((failures + 1)); }
  fi
done <"$page"
[ "$commands" -ge 7 ] && [ "$promises" -ge 10 ] || { echo "only $commands commands and $promises lines found"; failures=1; }
grep -q 'Lab, algorithms and buffers' lab.html || { echo "the report has no title"; failures=1; }
echo "$commands commands, $promises lines, $failures failures"
[ "$failures" -eq 0 ]
