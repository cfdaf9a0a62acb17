#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# `make gateway`: checks or installs what only the gateway needs, then builds its programs. `gateway.sh tests` builds
# those of the tests too; it ends with status 3 and the line to type where the packages are not there.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
source "$(dirname "$0")/system_packages.sh"
cd "$DOWNBEAT_ROOT"

# In place of the core's own list: make sim needs none of these.
compiles_cxx20() { echo "#include <concepts>" | g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null; }
missing_packages() {
  compiles_cxx20 || echo g++
  has_header sodium.h || echo libsodium-dev
  has_header hiredis/hiredis.h || echo libhiredis-dev
  has_header toml++/toml.h || echo libtomlplusplus-dev
  has_header prometheus/exposer.h || echo prometheus-cpp-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
  command -v ccache >/dev/null || echo ccache
}
require_system_packages || exit 3

build() { make -C sw/gateway -j "$(nproc)" OUT="../../build/$1" "${@:2}"; }
if [ "${1:-}" = tests ]; then
  exec 9>build/gateway.lock
  flock 9 # several tests may want it at once
  build gateway
  build gateway-san SANITIZE=1 ../../build/gateway-san/gateway-fuzz
else
  step "Gateway" build gateway
  echo "build/gateway/downbeat-gateway is built. Next: scripts/tools/downbeat gateway demo"
fi
