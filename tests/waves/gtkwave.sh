#!/usr/bin/env bash
# Opens save files in GTKWave on a screen of their own, and looks whether GTKWave knows every signal in them:
# gtkwave.sh SAMPLE_WAVES [FOLDER]. FOLDER: for the waves, and pictures of the window.
# Exit code 77 (ctest: skipped) where gtkwave or Xvfb is missing.
set -euo pipefail
sample_waves=$(realpath "$1")
script=$(cd "$(dirname "$0")" && pwd)/show_save_file.tcl
for program in gtkwave Xvfb; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'kill "${screen:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

# The server takes a free display and tells which.
mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 1500x900x24 -nolisten tcp 3>"$work/display" 2>"$work/screen.log" &
screen=$!
read -r -t 20 display <"$work/display" || { cat "$work/screen.log" >&2; exit 1; }
export DISPLAY=":$display"

fail() { echo "$1" >&2; [ -z "${2:-}" ] || cat "$2" >&2; exit 1; }

# What GTKWave says about save file $1, in $1.log. From another folder than the file's, with settings of nobody.
open_in_gtkwave() {
  (cd / && HOME=$work timeout 60 gtkwave --rcvar 'splash_disable on' -S "$script" "$1" </dev/null) >"$1.log" 2>&1 ||
    fail "gtkwave failed with $1" "$1.log"
  grep -q '^finished' "$1.log" || fail "gtkwave did not run the script for $1" "$1.log"
}
asked_for() { grep -E '^[a-z][a-z0-9_.]*(\[[0-9]+:0\])?$' "$1" | sort; }
shown() { sed -n 's/^signal //p' "$1.log" | sort; }
all_known() { [ -n "$(asked_for "$1")" ] && [ "$(asked_for "$1")" = "$(shown "$1")" ]; }

mkdir "$work/made"
"$sample_waves" "$work/made" >"$work/saves"
# The files say nowhere in which folder they were made.
mv "$work/made" "$work/moved to"
while read -r path; do
  save="$work/moved to/$(basename "$path")"
  open_in_gtkwave "$save"
  all_known "$save" || fail "gtkwave does not know all signals of $save" "$save.log"
  [ "$(asked_for "$save" | wc -l)" = 84 ] || fail "$save does not name all signals"
  read -r _ from to _ first end < <(grep '^window ' "$save.log")
  [ "$first $end" = "1000 6000" ] || fail "$save lasts from $first to $end"
  # All is seen, and not much beside.
  [ "$from" -le 1000 ] && [ "$to" -ge 6000 ] && [ "$to" -le 7000 ] || fail "$save shows $from to $to"
  # At the marker: texts, and a number in each other form.
  for value in 'operation[1:0] NOP' 'operation[1:0] REDUCE' 'operation[1:0] GATHER out' 'timestep[7:0] 3' 'lockstep[15:0] 499' \
      'table_head[63:0] 00000000D0D3AE5D' 'credits[3:0] 0110' 'stalled 0'; do
    grep -qxF "value $value" "$save.log" || fail "$save does not show $value" "$save.log"
  done
  # A name that is wrong is noticed.
  wrong="${save%.gtkw}.wrong.gtkw"
  sed 's/^net\.ni_3\.dma\.credits/net.ni_3.dma.credit/' "$save" >"$wrong"
  open_in_gtkwave "$wrong"
  if all_known "$wrong"; then fail "a wrong name in $wrong went unnoticed"; fi
  [ "$(shown "$wrong" | wc -l)" = 83 ] || fail "more than the wrong name is missing from $wrong" "$wrong.log"
done <"$work/saves"

if [ $# -gt 1 ]; then
  mkdir -p "$2"
  cp -r "$work/moved to/." "$2"
  for save in "$2"/*.vcd.gtkw "$2"/*.fst.gtkw; do
    [ -f "$save" ] || continue
    HOME=$work gtkwave --rcvar 'splash_disable on' "$save" >/dev/null 2>&1 &
    viewer=$!
    sleep 3
    import -window root "$save.png"
    kill $viewer
  done
fi
echo "gtkwave knows every signal of $(wc -l <"$work/saves") save files"
