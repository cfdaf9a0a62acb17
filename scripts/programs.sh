#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause-Patent
# programs.sh: what `make bench NAME=host` runs over the core and this system has not, in build/programs. The packages
# are unpacked and not installed: none of them starts a service. What cannot be had is missing in the bench's report.
set -euo pipefail
source "$(dirname "$0")/env.sh"
source "$(dirname "$0")/step.sh"
cd "$DOWNBEAT_ROOT"

declare -A package=([ab]=apache2-utils [curl]=curl [git]=git [haproxy]=haproxy [iperf3]=iperf3 [lighttpd]=lighttpd
  [memccp]=libmemcached-tools [memcached]=memcached [nginx]=nginx [openssl]=openssl [redis-cli]=redis-tools
  [rsync]=rsync [scp]=openssh-client [socat]=socat [sshd]=openssh-server [wget]=wget [wrk]=wrk)
out=$PWD/build/programs

wanted=()
for program in "${!package[@]}"; do
  PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || wanted+=("${package[$program]}")
done

# Files of the packages and of those that they need and are not there.
unpack() {
  mkdir -p "$out/packages"
  # Without lists (a fresh container) nothing is known.
  apt-cache show "$1" >/dev/null 2>&1 || apt-get update -qq || return 1
  local names
  names=$(apt-get install --print-uris -qq --no-install-recommends "$@" | sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p")
  # shellcheck disable=SC2086 # a list of words
  (cd "$out/packages" && apt-get download -qq $names) || return 1
  for file in "$out"/packages/*.deb; do dpkg-deb -x "$file" "$out"; done
}

# A Python with aiohttp, which the bench's own has not.
aiohttp() {
  python -m pip install --disable-pip-version-check --no-compile --upgrade --target "$out/python" 'aiohttp==3.12.*' || return 1
  printf '#!/bin/sh\nPYTHONPATH=%s exec python "$@"\n' "$out/python" >"$out/usr/bin/aiohttp"
  chmod +x "$out/usr/bin/aiohttp"
}

mkdir -p "$out/usr/bin"
step "Program: aiohttp" aiohttp || echo "Not to be had here: aiohttp" >&2
if [ "${#wanted[@]}" -gt 0 ] && command -v apt-get >/dev/null; then
  step "Programs: ${wanted[*]}" unpack "${wanted[@]}" || echo "Not to be had here: ${wanted[*]}" >&2
fi
# The Redis server is the program that redis-tools has, by another name.
if checks=$(PATH=$PATH:$out/usr/bin command -v redis-check-rdb); then ln -sf "$checks" "$out/usr/bin/redis-server"; fi
