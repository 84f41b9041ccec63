#!/usr/bin/env bash
# How one einsum is lowered, and what every other way would cost: the plan, times, share of the roofline.
# usage: bash bench/einsum.sh "batch seq hidden, hidden mlp -> batch seq mlp" batch=8 seq=128 hidden=768 mlp=3072
#        (seq=?128: known at run time only; --help lists the options)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../.ci/packages.sh"

install_packages "${build_packages[@]}" python3
exec python3 "$root/bench/einsum/einsum.py" "$@"
