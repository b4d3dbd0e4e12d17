#!/usr/bin/env bash
# Themis's systems of 1024 NPUs as a report: whole processes at 1 GB, one NPU for all against all of them, and every
# point of Fig. 8 with one command.
# tests/perf/themis.sh [full]: `full` also simulates all NPUs of one system at 100 MB, some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/install-packages.sh python3
sims/build.sh release espalier
exec python3 tests/perf/themis.py build/release "$@"
