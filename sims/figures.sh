#!/usr/bin/env bash
# All figures of configs/figures, or those given: installs what is missing, builds, simulates and draws into figures/.
# What was finished before is not simulated again. sims/figures.sh configs/figures/fig9a.yaml
set -euo pipefail
cd "$(dirname "$0")/.."
command -v gnuplot >/dev/null || sims/install-packages.sh gnuplot-nox
sims/build.sh release espalier
[ $# -ne 0 ] || set -- configs/figures/*.yaml
exec build/release/espalier figure "$@"
