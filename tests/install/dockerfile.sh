#!/usr/bin/env bash
# Executes the commands of the Dockerfile on this machine, which should be a bare Debian 12, where Docker itself is not available:
# every RUN as it is written, in the folder of the clone for WORKDIR /espalier, and then the entry point. Run it in a clone that may
# be thrown away; it installs packages, and the program to /usr/local.
set -euo pipefail
cd "$(dirname "$0")/../.."
grep '^RUN ' Dockerfile | while IFS= read -r line; do
  echo "+ ${line#RUN }"
  bash -euo pipefail -c "${line#RUN }" </dev/null
done
entry=$(sed -nE 's/^ENTRYPOINT \["(.*)"\]$/\1/p' Dockerfile)
cd /
"$entry" --version
"$entry" compare "$OLDPWD/configs/lab.yaml" -s collective.size=64KiB | head -5
