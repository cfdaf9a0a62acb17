#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# rtl.sh compile: Scala to classes, by Maven.
# rtl.sh elaborate PRESET [DIRECTORY ROOM...]: classes to DIRECTORY/ROOM.v; all rooms into build/rtl if none is named.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
cd "$DOWNBEAT_ROOT"

case $1 in
  compile) step "Scala, compiled" mvn --batch-mode --quiet compile ;;
  elaborate)
    rooms=("${@:4}")
    # Plain java on the class path that Maven left: a second instead of Maven's five.
    step "Verilog, elaborated" java -cp "build/maven/classes:$(cat build/maven/classpath)" \
      downbeat.Generate --out "${3:-build/rtl}" --preset "$2" "${rooms[@]:-all}"
    ;;
esac
