# SPDX-License-Identifier: BSD-2-Clause-Patent
# shellcheck shell=bash
# step NAME COMMAND...: runs a command quietly with one line for people. When it fails, the line has its reason if it
# gave one (a line "Generate: reason"); otherwise the end of its output is shown. USUAL, if it is set: about how
# many seconds that takes.

step() {
  local name=$1 started=$SECONDS status=0 counts='' reason
  shift
  mkdir -p "$DOWNBEAT_ROOT/build/logs"
  local log=$DOWNBEAT_ROOT/build/logs/${name//[^A-Za-z0-9]/-}.log
  # On a terminal the seconds count up, so that a long download does not look like a hang. Steps side by side
  # cannot share that line: each says that it begins.
  if [ -n "${SIDE_BY_SIDE:-}" ]; then
    printf '  %s ...\n' "$name"
  elif [ -t 1 ]; then
    counts=1
  fi
  "$@" >"$log" 2>&1 &
  local job=$!
  while [ $counts ] && kill -0 $job 2>/dev/null; do
    printf '\r  %s (%d s%s)' "$name" $((SECONDS - started)) "${USUAL:+ of about $USUAL}"
    sleep 1
  done
  wait $job || status=$?
  [ $counts ] && printf '\r\e[K'
  printf '  %s' "$name"
  if [ $status -eq 0 ]; then
    printf ' (%d s)\n' $((SECONDS - started))
  elif reason=$(grep -m 1 '^Generate: ' "$log"); then
    printf ': failed: %s\n' "${reason#Generate: }"
  else
    printf ': failed. The end of %s:\n' "${log#"$DOWNBEAT_ROOT"/}"
    tail -n 25 "$log"
  fi
  return $status
}
