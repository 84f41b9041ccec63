#!/usr/bin/env bash
# Builds and runs every benchmark, prints a table for each suite, writes build/bench/results.json and pictures.
# usage: bash bench/run.sh [--quick] [--cases FOLDER] [--only SUITE...]      (--help lists all)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/packages.sh"

install_packages "${build_packages[@]}" python3
for word in "$@"; do
  [[ $word != -h && $word != --help ]] || exec python3 "$root/bench/report/suite.py" --help
done
cd "$root"
cmake --preset release --log-level=WARNING
# One broken benchmark does not hide the rest.
cmake --build --preset release --parallel "$(nproc)" -- -k 0 || echo "SKIP what does not build" >&2
exec python3 bench/report/suite.py "$@"
