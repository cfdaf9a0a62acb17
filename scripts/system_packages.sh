# SPDX-License-Identifier: BSD-2-Clause-Patent
# shellcheck shell=bash
# Packages of the system (Debian 12, Ubuntu 24.04): checked by use, not by package name, so that
# other ways to install them count too. Root gets them installed; anybody else gets the line to type. None of them starts
# a service: nginx-light is not here, and the Redis server is the program that redis-tools has.

# A Python with venv and a shared library (cocotb loads it into the simulator; Debian packs it apart).
usable_python() {
  local candidate
  for candidate in python3 /usr/bin/python3 python3.12 python3.11; do
    if "$candidate" - <<'PYTHON' >/dev/null 2>&1; then
import ctypes, ensurepip, os, sys, sysconfig, venv
assert (3, 11) <= sys.version_info[:2] <= (3, 12)
name = sysconfig.get_config_var("INSTSONAME")
if not name.endswith(".so.1.0"):
    name = "libpython%d.%d.so.1.0" % sys.version_info[:2]
try:
    ctypes.CDLL(name)
except OSError:
    ctypes.CDLL(os.path.join(sysconfig.get_config_var("LIBDIR"), name))
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
PYTHON
      command -v "$candidate"
      return
    fi
  done
  return 1
}

java_is_recent() {
  local version
  version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
  [ "${version:-0}" -ge 17 ] && command -v javac >/dev/null
}

compiles_cxx23() { echo '#include <expected>' | g++ -std=c++23 -fsyntax-only -x c++ - 2>/dev/null; }
has_header() { echo "#include <$1>" | g++ -fsyntax-only -x c++ - 2>/dev/null; }

# Every target needs these.
core_packages() {
  usable_python >/dev/null || echo python3-venv python3-dev
  java_is_recent || echo openjdk-17-jdk-headless
  command -v mvn >/dev/null || echo maven
  compiles_cxx23 || echo g++
  has_header zlib.h || echo zlib1g-dev # waves: FST is compressed
  has_header lz4.h || echo liblz4-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev # iperf3 talks JSON, and so do placers
  command -v ccache >/dev/null || echo ccache # Verilator's own sources, compiled once and not once a module
  command -v make >/dev/null || echo make
  command -v perl >/dev/null || echo perl
  command -v ip >/dev/null || echo iproute2 # make interop: network namespaces
}

gateway_packages() {
  compiles_cxx23 || echo g++
  has_header sodium.h || echo libsodium-dev
  has_header hiredis/hiredis.h || echo libhiredis-dev
  has_header toml++/toml.h || echo libtomlplusplus-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
  command -v ccache >/dev/null || echo ccache
}

# `make litex`: LiteX's simulator, and the compiler of its processor.
litex_packages() {
  core_packages
  has_header event2/event.h || echo libevent-dev
  has_header json-c/json.h || echo libjson-c-dev
  command -v riscv64-unknown-elf-gcc >/dev/null || echo gcc-riscv64-unknown-elf
}

# `make test` needs these too: peers, judges and linters.
test_packages() {
  core_packages
  gateway_packages
  local program
  for program in curl dash iperf3 nmap openssl pkg-config shellcheck wget zstd clang-tidy tshark; do
    command -v "$program" >/dev/null || echo "$program"
  done
  command -v dumpcap >/dev/null || echo wireshark-common
  command -v tclsh >/dev/null || echo tcl
  command -v systemd-analyze >/dev/null || echo systemd
  command -v redis-check-rdb >/dev/null || echo redis-tools
  echo 'int main() {}' | clang++ -fsanitize=address -x c++ -o /dev/null - 2>/dev/null || echo clang libclang-rt-dev
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  # Without lists (a fresh container) nothing is known; otherwise save the time.
  apt-cache show "$1" >/dev/null 2>&1 || apt-get update -qq
  apt-get install -y -qq --no-install-recommends "$@" || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; }
}

# require_system_packages LIST: one of the functions above.
require_system_packages() {
  local packages
  packages=$("$1" | sort -u | tr '\n' ' ')
  [ -n "$packages" ] || return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2086 # a list of words
    step "System packages: ${packages% }" apt_install $packages
    packages=$("$1" | sort -u | tr '\n' ' ')
    [ -n "$packages" ] || return 0
  fi
  {
    echo "Downbeat needs packages of the system that are not there. Type, then try again:"
    echo
    echo "  sudo apt-get install -y ${packages% }"
    echo
    echo "(Python must be 3.11 or 3.12 with its shared library and headers; Java 17 or later; g++ 12 or later.)"
  } >&2
  return 1
}
