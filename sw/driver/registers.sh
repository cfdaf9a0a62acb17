#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# register_names.h on standard output: the core's counters by name and the trace record's registers by the members of
# downbeat_event, from the generated headers. Argument: the directory of the headers.
set -euo pipefail
registers=$1/downbeat_registers.h events=$1/downbeat_event.h

echo '// Made by registers.sh from the generated headers; do not edit.'
echo '#pragma once'
printf "%s\n" "#define DOWNBEAT_COUNTER_REGISTERS(each) \\"
sed -nE 's/^#define (DOWNBEAT_REG_COUNTER_([A-Z0-9_]+)) 0x.*/\1 \2/p' "$registers" | while read -r macro name; do
  echo "  each(\"${name,,}\", $macro) \\"
done
echo
printf "%s\n" "#define DOWNBEAT_RECORD_REGISTERS(each) \\"
sed -nE 's/^ +each\(([a-z_]+), ([A-Za-z0-9_]+)\).*/\1 \2/p' "$events" | while read -r member field; do
  macro=DOWNBEAT_REG_RECORD_$(sed -E 's/([a-z0-9])([A-Z])/\1_\2/g' <<<"$field" | tr '[:lower:]' '[:upper:]')
  grep -q "^#define $macro " "$registers" || continue
  high=0
  grep -q "^#define ${macro}_HIGH " "$registers" && high=${macro}_HIGH
  echo "  each($member, $macro, $high) \\"
done
echo
