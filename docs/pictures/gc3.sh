#!/usr/bin/env bash
# Makes docs/pictures/gc3_fig7a.svg to gc3_fig7h.svg. Needs gnuplot.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/figures.sh configs/figures/gc3_fig7?.yaml -o figures
cp figures/gc3_fig7?.svg docs/pictures/
