#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# `make gateway`: checks or installs what only the gateway needs, then builds its programs. `gateway.sh tests` builds
# those of the tests too; it ends with status 3 and the line to type where the packages are not there.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
source "$(dirname "$0")/system_packages.sh"
cd "$DOWNBEAT_ROOT"

require_system_packages gateway_packages || exit 3

build() { make -C sw/gateway -j "$(nproc)" OUT="../../build/$1" "${@:2}"; }
if [ "${1:-}" = tests ]; then
  [ -z "${DOWNBEAT_BUILT:-}" ] || exit 0 # with a mutant in it (scripts/mutants/host)
  exec 9>build/gateway.lock
  flock 9 # several tests may want it at once
  build gateway
  build gateway-san SANITIZE=1 ../../build/gateway-san/gateway-fuzz
else
  step "Gateway" build gateway
  echo "build/gateway/downbeat-gateway is built. Next: scripts/tools/downbeat gateway demo"
fi
