# Sourced by examples/run.sh and tests/run.sh: the Debian packages, and what both scripts set up alike.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What the library, its examples and its benchmarks are built from.
build_packages=(g++ cmake ninja-build ccache libboost1.81-dev libthrust-dev libdnnl-dev libfmt-dev
  nlohmann-json3-dev libcli11-dev libbenchmark-dev bible-kjv bible-kjv-text)
# What the tests need beside that.
test_packages=(clang-19 libomp-19-dev doctest-dev python3)

# A fresh clone in another folder finds the objects that an earlier one compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# Installs those of the named packages that are missing; asks nothing and nobody when none is.
install_packages() {
  local installed missing=() package as_root=()
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
  for package in "$@"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null || {
      echo "These Debian packages are missing, and there is neither root nor sudo to install them: ${missing[*]}" >&2
      return 1
    }
    as_root=(sudo)
  fi
  echo "Installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# The King James text that every run trains on. Written under another name first, so that an
# interrupted run leaves no half of it behind.
bible_text() {
  local text=$root/build/bible.txt size
  if [[ ! -s $text ]]; then
    mkdir -p "$root/build"
    bible -f gen1:1-rev22:21 >"$text.part" </dev/null
    size=$(stat -c %s "$text.part")
    ((size > 4300000 && size < 4600000)) || {
      echo "bible -f gen1:1-rev22:21 printed $size bytes where about 4.4 million are expected" >&2
      return 1
    }
    mv "$text.part" "$text"
  fi
  echo "$text"
}
