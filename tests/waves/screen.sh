# Sourced: GTKWave on a screen of its own, in folder $work, which is made and removed here. Exit code 77 (ctest: skipped)
# where gtkwave or Xvfb is missing.
script=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/show_save_file.tcl
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

# A picture of GTKWave's window with save file $1, in file $2.
picture() {
  HOME=$work gtkwave --rcvar 'splash_disable on' "$1" >/dev/null 2>&1 &
  local viewer=$!
  sleep 3
  import -window root "$2"
  kill $viewer
}
