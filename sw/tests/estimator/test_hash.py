# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The estimator's hash is SipHash-1-3 of two words."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
from pathlib import Path

from sim.golden.flow.siphash import siphash

ROOT = Path(__file__).resolve().parents[3]
SEED = int(os.environ.get("SEED") or 1)
CALL = """
#include "hash.h"
extern "C" uint64_t call(const uint64_t *key, uint64_t first, uint64_t second) {
  return downbeat::estimator::siphash({key[0], key[1]}, first, second);
}
"""


def test_it_is_siphash_1_3(tmp_path: Path) -> None:
    (tmp_path / "call.cpp").write_text(CALL)
    command = ["g++", "-std=c++20", "-shared", "-fPIC", f"-I{ROOT / 'sw' / 'estimator' / 'src'}"]
    subprocess.run([*command, tmp_path / "call.cpp", "-o", tmp_path / "call.so"], check=True, timeout=300)
    call = ctypes.CDLL(str(tmp_path / "call.so")).call
    call.restype, call.argtypes = ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    draw = random.Random(SEED)
    for _ in range(100):
        key, message = draw.getrandbits(128), draw.randbytes(16)
        words = [int.from_bytes(message[at : at + 8], "little") for at in (0, 8)]
        halves = (ctypes.c_uint64 * 2)(key & (2**64 - 1), key >> 64)
        assert call(halves, *words) == siphash(key, message, (1, 3))
