#!/usr/bin/env bash
# Builds and runs every test, from nothing but git and root (or sudo) on Debian 12.
# usage: bash tests/run.sh [preset...]      presets: dev clang asan (all three when none is named)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/packages.sh"

install_packages "${build_packages[@]}" "${test_packages[@]}"
cd "$root"
presets=("$@")
((${#presets[@]})) || presets=(dev clang asan)

failed=0
timings=()
# Runs the command; notes its seconds, and that it failed when it did.
stage() {
  local name=$1 begin=$SECONDS status=0
  shift
  echo "== $name"
  "$@" || status=$?
  timings+=("$(printf '%-18s %5d s' "$name" $((SECONDS - begin)))$( ((status)) && echo "  failed" || true)")
  return "$status"
}

reports=()
for preset in "${presets[@]}"; do
  stage "$preset configure" cmake --preset "$preset" --log-level=WARNING || { failed=$((failed + 1)); continue; }
  # Whatever does build is tested, so that one broken file does not hide the rest.
  stage "$preset build" cmake --build --preset "$preset" --parallel "$(nproc)" -- -k 0 || failed=$((failed + 1))
  report=$root/build/$preset/junit.xml
  rm -f "$report"
  # A failing test is counted from the report.
  stage "$preset test" ctest --preset "$preset" --parallel "$(nproc)" --output-junit "$report" || true
  if [[ -s $report ]]; then reports+=("$preset=$report"); else failed=$((failed + 1)); fi
done

echo "== summary"
printf '%s\n' "${timings[@]}"
python3 tests/summary.py --also-failed "$failed" "${reports[@]}"
