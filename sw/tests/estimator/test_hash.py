# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The estimator's hash is SipHash-1-3 of two words, as Python's of bytes is."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[3] / "sw" / "estimator" / "src"
SEED = int(os.environ.get("SEED") or 1)
CALL = """
#include "hash.h"
extern "C" uint64_t call(const uint64_t *key, uint64_t first, uint64_t second) {
  return downbeat::estimator::siphash({key[0], key[1]}, first, second);
}
"""


def key_of(seed: int) -> bytes:
    """Python's key by PYTHONHASHSEED: a linear congruential generator (CPython, bootstrap_hash.c); 0: zeros."""
    key, state = bytearray(), seed
    for _ in range(16):
        state = (state * 214_013 + 2_531_011) % 2**32
        key.append(state >> 16 & 0xFF)
    return bytes(key) if seed else bytes(16)


@pytest.mark.parametrize("seed", [0, 1, 123_456])
def test_it_is_siphash_1_3(tmp_path: Path, seed: int) -> None:
    assert sys.hash_info.algorithm == "siphash13"
    (tmp_path / "call.cpp").write_text(CALL)
    command = ["g++", "-std=c++20", "-shared", "-fPIC", f"-I{SOURCES}"]
    subprocess.run([*command, tmp_path / "call.cpp", "-o", tmp_path / "call.so"], check=True, timeout=300)
    call = ctypes.CDLL(str(tmp_path / "call.so")).call
    call.restype, call.argtypes = ctypes.c_int64, [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    draw = random.Random(SEED)
    messages = [draw.randbytes(16) for _ in range(100)]
    program = "import sys; print(*(hash(bytes.fromhex(each)) for each in sys.argv[1:]))"
    hashed = subprocess.run(
        [sys.executable, "-c", program, *(message.hex() for message in messages)],
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    key = key_of(seed)
    for message, expected in zip(messages, map(int, hashed.stdout.split()), strict=True):
        words = [int.from_bytes(message[at : at + 8], "little") for at in (0, 8)]
        assert call(key, *words) == expected
