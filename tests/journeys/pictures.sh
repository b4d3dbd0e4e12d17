#!/usr/bin/env bash
# Draws the pictures of planned schedules again and compares them with those in docs/pictures: pictures.sh ESPALIER
set -euo pipefail
program=$(realpath "${1:?usage: pictures.sh ESPALIER}")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
docs/pictures/schedules.sh "$program" "$work"
for picture in "$work"/*.svg; do
  cmp "$picture" "docs/pictures/$(basename "$picture")" || { echo "draw it again with docs/pictures/schedules.sh"; exit 1; }
done
