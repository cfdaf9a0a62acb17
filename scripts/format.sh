#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# `make format`: every file as scalafmt, clang-format and ruff write it; `format.sh check` says what differs and fails.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
cd "$DOWNBEAT_ROOT"

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.c' '*.cpp' '*.h' | grep -vE '/downbeat_(event|host|parameters|policies|registers|(\w+_)?types)\.h$')
if [ "${1:-}" = check ]; then
  clang-format --dry-run -Werror "${sources[@]}"
  mvn --batch-mode --quiet org.antipathy:mvn-scalafmt_2.13:format -Dformat.validateOnly=true
else
  step "C++, by clang-format" clang-format -i "${sources[@]}"
  step "Python, by ruff" ruff format --cache-dir build/ruff .
  step "Scala, by scalafmt" mvn --batch-mode --quiet org.antipathy:mvn-scalafmt_2.13:format
fi
