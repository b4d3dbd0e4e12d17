#!/usr/bin/env bash
# Makes the pictures of GC3's Fig. 7 in docs/reproduction.md. Needs matplotlib.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/figures.sh configs/figures/gc3_fig7[aceg].yaml -o figures
cp figures/gc3_fig7[aceg].svg docs/pictures/
