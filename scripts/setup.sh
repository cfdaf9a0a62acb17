#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# setup.sh: makes build/venv from requirements.txt and checks the system's own packages; instant when nothing changed.
# setup.sh simulation: the part of it that `make sim` needs.
# setup.sh litex: what `make litex` needs besides, from requirements-litex.txt.
# setup.sh core, gateway or test: the system's packages alone.
# setup.sh tools: starts Yosys and nextpnr once, if they are WebAssembly.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
source "$(dirname "$0")/system_packages.sh"
cd "$DOWNBEAT_ROOT"

start_each() { for tool in "$@"; do "$tool" --help; done; }

part=${1:-whole}
case $part in
  core | gateway | test)
    require_system_packages "${part}_packages"
    exit
    ;;
  tools)
    ours=()
    for tool in yosys nextpnr-ecp5 ecppack; do
      [ "$(command -v $tool)" != "$DOWNBEAT_ROOT/scripts/tools/$tool" ] || [ -e "$YOWASP_CACHE_DIR/$tool.started" ] ||
        ours+=("$tool")
    done
    [ ${#ours[@]} = 0 ] || step "Yosys and nextpnr, started once" start_each "${ours[@]}"
    exit
    ;;
esac
require_system_packages core_packages
wanted=$(sha256sum <requirements.txt)
whole=$DOWNBEAT_VENV/downbeat.stamp
stamp=$whole
[ "$part" = whole ] || stamp=$DOWNBEAT_VENV/simulation.stamp
# Plotly with the plots that reports have (MIT): a quarter of the whole, which serves where there is no npm.
plots=$DOWNBEAT_VENV/share/downbeat/plotly-basic.min.js
plots_version=4.1.1 # as requirements.txt's
plots_sha256=99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba
get_plots() (
  place=$(mktemp -d) && trap 'rm -rf "$place"' EXIT && cd "$place" &&
    npm pack --silent "plotly.js-basic-dist-min@$plots_version" && tar xzf ./*.tgz &&
    sha256sum --check --quiet <<<"$plots_sha256  package/plotly-basic.min.js" &&
    install -D -m 644 package/plotly-basic.min.js "$plots.$$" && mv "$plots.$$" "$plots"
)
is_of_lock() { [ "$(cat "$1" 2>/dev/null)" = "$wanted" ] && "$DOWNBEAT_VENV/bin/python" -c '' 2>/dev/null; }
up_to_date() { is_of_lock "$whole" || is_of_lock "$stamp"; }
# Python compiles each file at its first import: most are never imported.
install_part() {
  "$DOWNBEAT_VENV/bin/python" -m scripts.locked "$1" >"build/requirements-$1.txt" &&
    "$DOWNBEAT_VENV/bin/python" -m pip install --disable-pip-version-check --no-compile --no-deps --require-hashes \
      -r "build/requirements-$1.txt"
}
# Side by side: pip downloads one file at a time.
install_both() {
  install_part simulation &
  local first=$!
  install_part rest || { wait $first && false; }
  wait $first
}

lock() {
  mkdir -p "$(dirname "$DOWNBEAT_VENV")"
  # Work trees may share an environment (DOWNBEAT_VENV): the second to come waits, and finds it filled.
  exec 9>"$DOWNBEAT_VENV.lock"
  flock 9
}

if [ "$part" = litex ]; then
  require_system_packages litex_packages
  stamp=$DOWNBEAT_VENV/litex.stamp
  wanted=$(sha256sum <requirements-litex.txt)
  if ! is_of_lock "$stamp"; then
    lock
    step "LiteX (about 60 MB)" "$DOWNBEAT_VENV/bin/python" -m pip install --disable-pip-version-check --no-compile \
      --no-deps --require-hashes -r requirements-litex.txt
    echo "$wanted" >"$stamp"
  fi
  touch "$stamp"
  exit
fi

up_to_date || lock
if ! up_to_date; then
  echo "Setting up (once; logs in build/logs)"
  is_of_lock "$DOWNBEAT_VENV/simulation.stamp" ||
    step "Python environment" "$(usable_python)" -m venv --clear "$DOWNBEAT_VENV"
  if [ "$part" = simulation ]; then
    step "Python packages of the simulation" install_part simulation
  elif is_of_lock "$DOWNBEAT_VENV/simulation.stamp"; then
    step "Python packages (about 1 GB)" install_part rest
  else
    step "Python packages (about 1 GB)" install_both
  fi
  echo "$wanted" >"$stamp"
fi
if ! [ -e "$plots" ] && command -v npm >/dev/null; then
  step "Plots of reports" get_plots || echo "  HTML reports will have the whole of Plotly, 1.9 MB"
fi
touch "$stamp" # make compares times
mkdir -p build
echo "$DOWNBEAT_VENV" >build/venv.path
