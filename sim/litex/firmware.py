# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The firmware of sw/litex/firmware for a computer: its compiler's command, and the header with addresses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sim.lib.cache import ROOT
from sim.linux import namespace

FIRMWARE = ROOT / "sw" / "litex" / "firmware"
BARE = ROOT / "sw" / "bare"
INCLUDE = (ROOT / "sw" / "include", BARE)
SOURCES = (*sorted(BARE.glob("*.c")), *sorted(FIRMWARE.glob("*.c")))
SERVER_PORT, OWN_PORT = 8000, 80
LARGEST_FILE = 1 << 20  # bytes, `capacity` of downbeat_file.c
SECRET = 0x5EC2E7  # a simulation's: a board takes a random one
COMPILER = "riscv64-unknown-elf-gcc"
WARNINGS = ("-std=gnu11", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror")
# libgcc is found by -march, and the start-up code has instructions of Zicsr.
PROCESSOR = ("-march=rv32im", "-mabi=ilp32", "-Wa,-march=rv32im_zicsr", "-nostdlib", "-O2")


def addresses() -> str:
    """A header with the addresses on the wire."""
    lines = [f"#define {name} {value}u" for name, value in (("SERVER_PORT", SERVER_PORT), ("OWN_PORT", OWN_PORT))]
    for name, address in (("OWN_IP", namespace.CORE_IP), ("SERVER_IP", namespace.LINUX_IP)):
        lines.append(f"#define {name} 0x{''.join(f'{int(part):02x}' for part in address.split('.'))}u")
    lines.append(f"#define OWN_MAC {{{', '.join(f'0x{part}' for part in namespace.CORE_MAC.split(':'))}}}")
    lines.append(f"#define SECRET 0x{SECRET:x}u")
    return "\n".join(lines) + "\n"


def compile_command(start: Path, include: Sequence[Path], elf: Path) -> list[str]:
    """`start`: the processor's start-up code. `include` has the headers of LiteX, and regions.ld."""
    places = [word for place in include for word in ("-isystem", str(place))] + [f"-I{place}" for place in INCLUDE]
    script = ["-T", str(FIRMWARE / "linker.ld"), *(f"-L{place}" for place in include)]
    sources = [str(start), *map(str, SOURCES)]
    return [COMPILER, *WARNINGS, *PROCESSOR, *places, *sources, *script, "-lgcc", "-o", str(elf)]
