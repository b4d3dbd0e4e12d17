#!/usr/bin/env bash
# Time and size of waveforms, as a report.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/build.sh release wave_speed
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build/release/tests/wave_speed "$folder" 2>/dev/null
