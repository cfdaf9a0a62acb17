#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# The driver's suite over builds with sanitizers: address with undefined behaviour, then thread; or those that are
# named. Over the loopback model, and over the Verilated core where its Verilog is there.
# `make -C sw/driver sanitize`.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
# shellcheck source=/dev/null
source "$root/scripts/env.sh"
cd "$root"
[ $# != 0 ] || set -- address thread
suite=sw/tests/driver
# At the end of curl and wget libp11-kit waits for ever for a lock of the C library, where a sanitizer's runtime is
# preloaded, also without us.
left_out=()
for test in test_curl_and_a_web_server test_wget_and_openssl; do
  left_out+=(--deselect "$suite/test_driver_run.py::$test")
done
# Random programs fork beside threads, where these runtimes hang or end, and close what their other threads read.
left_out+=(--ignore "$suite/test_driver_run_fuzz.py")

for sanitizer; do
  out=build/driver-$sanitizer
  make -s -j"$(nproc)" -C sw/driver OUT="$root/$out" SANITIZE="$sanitizer"
  case $sanitizer in
    address) runtime=libasan.so ;;
    thread) runtime=libtsan.so ;;
    *) echo "sanitize.sh: address or thread, not $sanitizer" >&2 && exit 2 ;;
  esac
  # Python is not built with it: the runtime comes first, then the C++ library, without which it knows of no exceptions.
  # Python itself leaves memory at its end.
  export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 UBSAN_OPTIONS=print_stacktrace=1
  export TSAN_OPTIONS=halt_on_error=1:suppressions=$here/tsan.supp
  # A sanitizer's dlopen does not look where libdownbeat's own would.
  DOWNBEAT_DRIVER=$root/$out DOWNBEAT_SITE=$root/build/gateway/libdownbeat_site.so LD_PRELOAD="$(g++ -print-file-name="$runtime") $(g++ -print-file-name=libstdc++.so.6)" \
    python -m pytest -q --capture=sys -p no:cacheprovider "${left_out[@]}" "$suite" sim/host/test_driver_on_core.py \
    --ignore "$suite/test_driver_install.py" # it links a program that has no sanitizer
done
