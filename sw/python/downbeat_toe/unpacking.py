# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Bytes of a file that may be compressed, known by its magic number: no suffix counts."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

from downbeat_toe.refused import Refused

MOST_MAGIC = 6  # bytes of the longest magic number


def content(path: Path, hint: str = "") -> bytes:
    """A file's bytes, unpacked. `hint` follows the words for a file that is not there."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise Refused(f"{path}: no such file{hint}") from None
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    for magic, unpack in PACKED.items():
        if data.startswith(magic):
            try:
                return unpack(data)
            except FileNotFoundError:
                raise Refused(f"{path}: compressed, and there is no zstd here: install it") from None
            except subprocess.CalledProcessError as error:
                raise Refused(f"{path}: {error.stderr.decode(errors='replace').strip()}") from None
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise Refused(f"{path}: cannot be unpacked: {error}") from None
    return data


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked."""
    try:
        with path.open("rb") as file:
            data = file.read(max(size, MOST_MAGIC))
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    return content(path)[:size] if data.startswith(tuple(PACKED)) else data[:size]


def _zstd(data: bytes) -> bytes:
    """By the program: Python's library has it from 3.14 on only."""
    program = shutil.which("zstd")
    if program is None:
        raise FileNotFoundError
    return subprocess.run([program, "-dcq"], input=data, capture_output=True, check=True).stdout


PACKED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\x28\xb5\x2f\xfd": _zstd,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"BZh": bz2.decompress,
}
