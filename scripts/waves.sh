#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# Shows build/waves/sim.fst (or $FST) in GTKWave or Surfer, signals in the order of a packet's path.
set -euo pipefail
cd "$(dirname "$0")/.."

fst=${FST:-build/waves/sim.fst}
if [ ! -s "$fst" ]; then
  echo "There is no $fst yet. Write it: make sim WAVES=1 SIZE=100kB" >&2
  exit 1
fi
if command -v gtkwave >/dev/null; then
  exec gtkwave "$fst" sim/lib/waves/downbeat.gtkw
elif command -v surfer >/dev/null; then
  exec surfer --command-file sim/lib/waves/downbeat.sucl "$fst"
fi
cat >&2 <<TEXT
Neither GTKWave nor Surfer is installed. Either will do:

  sudo apt-get install -y gtkwave
  cargo install --git https://gitlab.com/surfer-project/surfer surfer

The waves are in $fst, the view in sim/lib/waves/downbeat.gtkw.
TEXT
exit 1
