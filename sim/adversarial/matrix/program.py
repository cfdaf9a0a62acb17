# SPDX-License-Identifier: BSD-2-Clause-Patent
"""downbeat_matrix as a child that is asked for one transfer after another, and started again when it dies of one."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

GRACE_SECONDS = 30  # the program ends a transfer itself at the wall limit; this much later it is ended


class Program:
    """One child process and a place for its files."""

    def __init__(self, path: Path, work: Path) -> None:
        self._path, self._work = path, work
        self._words: IO[str] = tempfile.TemporaryFile("w+", dir=work)  # noqa: SIM115  closed with the process
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [str(self._path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, text=True
        )
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        self.settings: dict[str, Any] = json.loads(first) if first else {}

    def transfer(self, contents: bytes, words: dict[str, object], wall_limit: int) -> tuple[dict[str, Any], bytes]:
        """The program's result for a transfer, and the bytes that arrived."""
        sent, received = self._work / "sent.bin", self._work / "received.bin"
        sent.write_bytes(contents)
        received.write_bytes(b"")
        words = words | {"sent": sent, "received": received, "wall-limit": wall_limit}
        assert self._process.stdin is not None and self._process.stdout is not None
        timer = threading.Timer(wall_limit + GRACE_SECONDS, self._process.kill)
        timer.start()
        try:
            self._process.stdin.write(" ".join(f"{name}={value}" for name, value in words.items()) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        result = json.loads(line) if line else self._autopsy()
        return result, received.read_bytes()

    def _autopsy(self) -> dict[str, Any]:
        status = self._process.wait()
        self._words.seek(0)
        last = self._words.read().strip().splitlines()[-3:]
        self._words.truncate(0)
        self._start()
        return {"failure": f"the program ended with status {status}: {' '.join(last)}"}

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._words.close()
