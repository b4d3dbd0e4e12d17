#!/usr/bin/env bash
# The Debian package of a build: deb.sh BUILD_FOLDER [--install]. Makes it, unpacks it, and runs an installed example with the
# packaged program, which takes the cycles of the build's. --install, by hand and as root, has apt install it on this machine.
set -euo pipefail
build=$(cd "${1:?usage: deb.sh BUILD_FOLDER [--install]}" && pwd)
cd "$(dirname "$0")/../.."
command -v dpkg-shlibdeps >/dev/null || { echo "skipped: no dpkg-shlibdeps (Debian: dpkg-dev)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }

cpack --config "$build/CPackConfig.cmake" -B "$work" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
package=$(ls "$work"/espalier_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for library in libsystemc libyaml-cpp0.7 libfmt9 libpugixml1v5 libc6; do
  [[ " $depends" == *" $library"* ]] || fail "the package does not depend on $library: $depends"
done
[[ "$depends" != *-dev* ]] || fail "the package depends on what only a build needs: $depends"
if [ "${2:-}" = --install ]; then
  apt-get install -y --no-install-recommends "$package"
  installed=/usr
else
  dpkg-deb -x "$package" "$work/root"
  installed=$work/root/usr
fi
for file in share/man/man1/espalier.1 share/bash-completion/completions/espalier share/zsh/site-functions/_espalier share/doc/espalier/copyright; do
  [ -s "$installed/$file" ] || fail "the package has no $file"
done
[ ! -e "$installed/include/espalier" ] || fail "the package has the headers of the library"
cycles() {
  "$1/espalier" run -q "$2/mesh_8x8.yaml" --csv - 2>"$work/log" | python3 -c '
import csv, sys
print(*[row["cycles"] for row in csv.DictReader(sys.stdin)])'
}
packaged=$(cycles "$installed/bin" "$installed/share/espalier/configs") || fail "the packaged program: $(cat "$work/log")"
built=$(cycles "$build" configs) || fail "the program of the build: $(cat "$work/log")"
[ "$packaged" = "$built" ] || fail "the packaged program takes $packaged cycles, that of the build $built"
[ "$(wc -w <<<"$packaged")" -ge 2 ] || fail "the example has no results: $packaged"
echo "$(basename "$package"), $(stat -c %s "$package") bytes: $packaged cycles"
