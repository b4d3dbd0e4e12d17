#!/usr/bin/env bash
# All figures of configs/figures, or those given: installs what is missing, builds, simulates and draws into figures/.
# What was finished before is not simulated again. sims/figures.sh configs/figures/fig9a.yaml
set -euo pipefail
cd "$(dirname "$0")/.."
/usr/bin/python3 -c 'import pandas, matplotlib, yaml' 2>/dev/null ||
  sims/install-packages.sh python3-pandas python3-matplotlib python3-yaml
sims/build.sh release espalier
[ $# -ne 0 ] || set -- configs/figures/*.yaml
ESPALIER=build/release/espalier PYTHONPATH=python exec /usr/bin/python3 -m espalier.figures "$@"
