#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# rtl.sh compile: Scala to classes, by Maven.   rtl.sh elaborate PRESET: classes to build/rtl/ROOM.v.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
cd "$DOWNBEAT_ROOT"

case $1 in
  compile) step "Scala, compiled" mvn --batch-mode --quiet compile ;;
  elaborate)
    # Plain java on the class path that Maven left: a second instead of Maven's five.
    step "Verilog, elaborated" java -cp "build/maven/classes:$(cat build/maven/classpath)" \
      downbeat.Generate --out build/rtl --preset "$2" all
    ;;
esac
