# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The web both ways: curl, alone and by nginx, gets a page from the core; the core gets one from Python's server and
nginx."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

from sim.linux import namespace, tools
from sim.linux.program import ended, started
from sim.linux.visit import Setting, Visit, core_failures

PORT = 80
PROXY_PORT = 8080
PAGE = "/page.bin"
CONNECTIONS = 4  # at once, where there are several
REQUESTS = 2  # on each, one after the other, where they are kept alive
# As root, whose page it may read; two workers, as a server has several.
NGINX = """
user root;
worker_processes 2;
daemon off;
error_log stderr;
pid {work}/nginx.pid;
events {{}}
http {{
  access_log off;
  client_body_temp_path {work}/nginx;
  proxy_temp_path {work}/nginx;
  fastcgi_temp_path {work}/nginx;
  uwsgi_temp_path {work}/nginx;
  scgi_temp_path {work}/nginx;
  server {{
    listen {ip}:{port};
    location / {{ {does} }}
  }}
}}
"""


def curl_from_core(setting: Setting) -> Visit:
    tools.require("curl", "curl")
    with namespace.interface() as name, started(_serves(setting, name, 1)) as process:
        received, failures = _curl(setting, f"{namespace.CORE_IP}:{PORT}", 1)
        core = ended(process, setting.time_limit)
    return _visit("curl", "core", 1, received, setting.contents, failures, core)


def nginx_from_core(setting: Setting) -> Visit:
    """nginx as a proxy: it asks the core for each page that curl asks it for."""
    tools.require("curl", "curl")
    tools.require("nginx", "nginx-light")
    command = _nginx(setting, PROXY_PORT, f"proxy_pass http://{namespace.CORE_IP}:{PORT};")
    with (
        namespace.interface() as name,
        started(_serves(setting, name, CONNECTIONS)) as process,
        tools.serving(command, setting.work / "nginx.log"),
    ):
        received, failures = _curl(setting, f"{namespace.LINUX_IP}:{PROXY_PORT}", CONNECTIONS)
        core = ended(process, setting.time_limit)
    return _visit("nginx", "core", CONNECTIONS, received, setting.contents * CONNECTIONS, failures, core)


def core_from_python(setting: Setting) -> Visit:
    bind = ["--bind", namespace.LINUX_IP, "--directory", str(_site(setting))]
    return _core_from("python http.server", [sys.executable, "-m", "http.server", str(PORT), *bind], setting, 1, 1)


def core_from_nginx(setting: Setting) -> Visit:
    """Several connections at once, each with several requests."""
    tools.require("nginx", "nginx-light")
    command = _nginx(setting, PORT, f"root {_site(setting)};")
    return _core_from("nginx", command, setting, CONNECTIONS, REQUESTS)


VISITS = (curl_from_core, core_from_python, core_from_nginx, nginx_from_core)


def _core_from(server: str, command: list[str], setting: Setting, connections: int, requests: int) -> Visit:
    received = setting.work / "fetched.bin"
    received.write_bytes(b"")
    core: dict[str, Any] = {}
    failures = []
    job = [f"--fetch={PAGE}", f"--receive={received}", f"--peer-ip={namespace.LINUX_IP}"]
    job += [f"--connections={connections}", f"--requests={requests}"]
    with namespace.interface() as name:
        try:
            with (
                tools.serving(command, setting.work / "server.log"),
                started(setting.core(name, PORT, *job)) as process,
            ):
                core = ended(process, setting.time_limit)
        except tools.NotStarted as error:
            failures.append(str(error))
    pages = connections * requests
    return _visit("core", server, pages, received.read_bytes(), setting.contents * pages, failures, core)


def _serves(setting: Setting, interface: str, requests: int) -> list[str]:
    served = setting.work / "served.bin"
    served.write_bytes(setting.contents)
    return setting.core(interface, PORT, f"--serve={served}", f"--requests={requests}")


def _site(setting: Setting) -> Path:
    site = setting.work / "site"
    site.mkdir(exist_ok=True)
    (site / PAGE.removeprefix("/")).write_bytes(setting.contents)
    return site


def _nginx(setting: Setting, port: int, does: str) -> list[str]:
    configuration = setting.work / "nginx.conf"
    configuration.write_text(NGINX.format(work=setting.work, ip=namespace.LINUX_IP, port=port, does=does))
    return ["nginx", "-p", str(setting.work), "-c", str(configuration)]


def _curl(setting: Setting, host: str, times: int) -> tuple[bytes, list[str]]:
    """The page so many times, at once; what came, one behind the other, and what went wrong."""
    files = [setting.work / f"curl-{number}.bin" for number in range(times)]
    command = ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-immediate"]
    for file in files:
        file.write_bytes(b"")
        command += ["--output", str(file), f"http://{host}{PAGE}"]
    done = tools.run(command, setting.wall_limit)
    failures = [f"curl: {done.stderr.decode().strip()}"] if done.returncode else []
    return b"".join(file.read_bytes() for file in files), failures


def _visit(
    client: str, server: str, pages: int, received: bytes, sent: bytes, failures: list[str], core: dict[str, Any]
) -> Visit:
    hashes = [hashlib.sha256(contents).hexdigest() for contents in (sent, received)]
    equal = hashes[0] == hashes[1]
    figures = {
        "client": client,
        "server": server,
        "pages": pages,
        "bytes": len(received),
        "sha256": hashes[0],
        "equal": equal,
    }
    failures = failures + core_failures(core)
    if not equal:
        failures.append(f"what came differs: {len(received)} bytes of {len(sent)}")
    summary = f"{len(received)} bytes by HTTP" + (f" in {pages} pages" if pages > 1 else "")
    return Visit(f"{client} from {server}", figures, failures, core, summary)
