#!/usr/bin/env bash
# Opens save files in GTKWave on a screen of their own, and looks whether GTKWave knows every signal in them:
# gtkwave.sh SAMPLE_WAVES [FOLDER]. FOLDER: for the waves, and pictures of the window.
# Exit code 77 (ctest: skipped) where gtkwave or Xvfb is missing.
set -euo pipefail
sample_waves=$(realpath "$1")
# shellcheck source=tests/waves/screen.sh
. "$(dirname "$0")/screen.sh"

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
    picture "$save" "$save.png"
  done
fi
echo "gtkwave knows every signal of $(wc -l <"$work/saves") save files"
