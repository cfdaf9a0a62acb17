# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A server and a client of the system, one of which runs over the core."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NGINX = """
user root;
worker_processes 2;
daemon off;
error_log stderr;
pid nginx.pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  server {{ listen {listens}; location / {{ {serves}; }} }}
}}
"""


def found(command: str) -> str | None:
    return shutil.which(command, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def same(work: Path, _: str) -> bool:
    got = work / "got"
    return got.exists() and got.read_bytes() == (work / "file").read_bytes()


def http_server(_: Path, address: str, port: int) -> list[str]:
    return [sys.executable, "-m", "http.server", "--bind", address, str(port)]


def curl(_: Path, address: str, port: int) -> list[str]:
    return ["curl", "-sSf", "-o", "got", f"http://{address}:{port}/file"]


@dataclass(frozen=True)
class Job:
    """`serve` and `ask` make the commands for directory, address and port; `equal` looks at what the client left and
    said."""

    server: str
    client: str
    port: int
    needs: tuple[tuple[str, str], ...]  # command, package
    serve: Callable[[Path, str, int], list[str]]
    ask: Callable[[Path, str, int], list[str]]
    equal: Callable[[Path, str], bool]

    def missing(self) -> str:
        """Commands that this machine has not, with their packages."""
        gone = [f"{command} ({package})" for command, package in self.needs if found(command) is None]
        return ", ".join(gone)
