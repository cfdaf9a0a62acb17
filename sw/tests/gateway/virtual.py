# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gateway in virtual time (sw/gateway/tools/replay.cpp), for tests: datagrams and instants in, datagrams out."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType

from downbeat_toe.gateway import wire
from downbeat_toe.gateway.process import program

SITE_KEY = bytes(range(32))
SECOND = 10**9


class Virtual:
    """One gateway process; the time is what `at` says."""

    def __init__(self, home: Path, settings: str = "", key_lines: str = "") -> None:
        keys = home / "keys"
        keys.write_text(f"key 1 {SITE_KEY.hex()}\n{key_lines}")
        keys.chmod(0o600)
        config = home / "gateway.toml"
        config.write_text(f'[keys]\nfile = "{keys}"\n{settings}')
        command = [str(program("gateway-replay")), str(config)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.now = 0
        self.at(1000)

    def __enter__(self) -> Virtual:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(10) == 0

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _ask(self, line: str) -> str:
        self._tell(line)
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def at(self, seconds: float) -> None:
        """The gateway's clock from now on."""
        self.now = round(seconds * SECOND)
        self._tell(f"at {self.now}")

    def give(self, datagram: bytes, source: str = "") -> bytes:
        """What the gateway sends back; nothing: b''."""
        return bytes.fromhex(self._ask(f"in {datagram.hex()} {source}").partition(" ")[2])

    def counters(self) -> dict[str, int]:
        pairs = (pair.split("=") for pair in self._ask("counters").split()[1:])
        return {name: int(value) for name, value in pairs}

    def size(self) -> tuple[int, int]:
        """Prefixes and bytes of the store."""
        _, prefixes, used = self._ask("size").split()
        return int(prefixes), int(used)

    def relay(self, message: bytes) -> None:
        """Another gateway's, as Redis brings it."""
        self._tell(f"relay {message.hex()}")

    def restart(self) -> None:
        """The gateway forgets everything."""
        self._tell("restart")

    def sweep(self) -> None:
        self._tell("sweep")

    def save(self, file: Path, date: float, boot: str = "a") -> str:
        return self._ask(f"save {file} {boot} {round(date * SECOND)}")

    def restore(self, file: Path, date: float, boot: str = "a") -> str:
        """All that the process knew is gone, as after kill -9; then the snapshot is read."""
        return self._ask(f"restore {file} {boot} {round(date * SECOND)}")

    def lag(self, seconds: float) -> None:
        """The client's clock stands so far behind: its host was paused."""
        self._tell(f"lag {round(seconds * SECOND)}")

    def client(self, line: str) -> str:
        """A command for the client library: client, report, ask, pass, lose, restart (sw/gateway/tools/replay.cpp)."""
        if line == "restart":
            self._tell(line)
            return ""
        return self._ask(line)

    def host(self, reporter: int, site: bytes = SITE_KEY, key_id: int = 1) -> wire.Host:
        """A reporter with a session."""
        host = wire.Host(site, reporter, key_id)
        self.hello(host)
        return host

    def hello(self, host: wire.Host) -> None:
        host.stamp = self.now // 10**6
        host.welcomed(self.give(host.challenged(self.give(host.hello()))))

    def report(self, host: wire.Host, *items: bytes) -> None:
        host.stamp = self.now // 10**6
        assert self.give(host.report(*items)) == b""

    def request(self, host: wire.Host, *prefixes: str) -> list[wire.Response]:
        host.stamp = self.now // 10**6
        kind, body = host.opened(self.give(host.query(*prefixes)))
        assert kind == wire.RESPONSE
        return wire.responses(body)
