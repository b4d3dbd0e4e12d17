#!/usr/bin/env bash
# Formatting and static analysis of every source file. `tests/lint.sh --tidy` adds clang-tidy (minutes).
set -euo pipefail
cd "$(dirname "$0")/.."
sims/install-packages.sh clang-format-14
mapfile -t sources < <(git ls-files '*.cpp' '*.h')
clang-format-14 --dry-run --Werror "${sources[@]}"
if [ "${1:-}" = --tidy ]; then
  sims/install-packages.sh clang-tidy-14
  sims/build.sh release
  # clang-tidy looks at one file at a time, so it needs the commands of a build that compiles each file by itself.
  cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DESPALIER_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
  git ls-files 'hw/*.cpp' 'flowctl/*.cpp' 'router/*.cpp' 'ni/*.cpp' 'alg/*.cpp' 'sockets/*.cpp' 'sims/*.cpp' |
    xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet -p build/tidy
fi
