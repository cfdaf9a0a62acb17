#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# Makes build/venv from requirements.txt and checks the system's own packages; instant when nothing changed.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
source "$(dirname "$0")/system_packages.sh"
cd "$DOWNBEAT_ROOT"

require_system_packages
python=$(usable_python)
wanted="$(sha256sum <requirements.txt | cut -d' ' -f1) $("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
stamp=$DOWNBEAT_VENV/downbeat.stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi

echo "Setting up (once; logs in build/logs)"
# Two work trees that share an environment must not both fill it.
mkdir -p "$(dirname "$DOWNBEAT_VENV")"
exec 9>"$DOWNBEAT_VENV.lock"
flock 9
rm -f "$stamp"
step "Python environment" "$python" -m venv --clear "$DOWNBEAT_VENV"
step "Python packages (about 1 GB)" \
  "$DOWNBEAT_VENV/bin/python" -m pip install --disable-pip-version-check --require-hashes -r requirements.txt
echo "$wanted" >"$stamp"
