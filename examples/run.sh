#!/usr/bin/env bash
# Trains examples/gpt on the King James text, from nothing but git and root (or sudo) on Debian 12.
# usage: bash examples/run.sh [options of gpt, e.g. --steps 200 --seed 1; --help lists them]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/packages.sh"

install_packages "${build_packages[@]}"
text=$(bible_text)

cd "$root"
cmake --preset release --log-level=WARNING
cmake --build --preset release --target gpt --parallel "$(nproc)"

mkdir -p build/gpt
cd build/gpt
../release/examples/gpt --data "$text" "$@"
for file in metrics.jsonl loss.svg; do
  [[ ! -e $file ]] || echo "$file: $PWD/$file"
done
