# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The jobs of programs.py: servers and clients of the system, and how each shows that what came is what was sent."""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

from sim.host import language_jobs, system_jobs
from sim.host.job import NGINX, Job, curl, found, http_server, same

SIZE = 200_000  # bytes of the file
SSHD = """
ListenAddress {address}:{port}
HostKey {work}/host_key
AuthorizedKeysFile {work}/key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
Subsystem sftp internal-sftp
"""
SSH = ("-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")


def prepare(work: Path) -> None:
    """The file that is sent, and keys."""
    (work / "file").write_bytes(random.Random(SIZE).randbytes(SIZE))
    (work / "tmp").mkdir()
    quiet = {"check": True, "capture_output": True, "cwd": work}
    key = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -subj /CN=x"
    if found("openssl"):
        subprocess.run(["openssl", *key.split()], **quiet)  # type: ignore[call-overload]
    if found("ssh-keygen"):
        for name in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name], **quiet)  # type: ignore[call-overload]


def _nginx(work: Path, address: str, port: int) -> list[str]:
    (work / "nginx.conf").write_text(NGINX.format(listens=f"{address}:{port}", serves=f"root {work}"))
    return [found("nginx") or "", "-p", str(work), "-c", str(work / "nginx.conf")]


def _wget(_: Path, address: str, port: int) -> list[str]:
    return ["wget", "-q", "-O", "got", f"http://{address}:{port}/file"]


def _s_server(_: Path, address: str, port: int) -> list[str]:
    return [
        "openssl",
        "s_server",
        "-quiet",
        "-HTTP",
        "-accept",
        f"{address}:{port}",
        "-key",
        "key.pem",
        "-cert",
        "cert.pem",
    ]


def _s_client(_: Path, address: str, port: int) -> list[str]:
    # It writes what came to standard output; HTTP's head ends with an empty line.
    ask = f"printf 'GET /file HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -verify_quiet -connect {address}:{port} >answer"
    return ["sh", "-c", f"({ask}) 2>problems; tail -c {SIZE} answer >got"]


def _ab(_: Path, address: str, port: int) -> list[str]:
    return ["ab", "-n", "12", "-c", "3", f"http://{address}:{port}/file"]


def _ab_equal(_: Path, said: str) -> bool:
    moved = re.search(r"HTML transferred: +(\d+) bytes", said)
    failed = re.search(r"Failed requests: +(\d+)", said)
    return bool(moved and failed) and int(moved[1]) == 12 * SIZE and failed[1] == "0"  # type: ignore[index]


def _wrk(_: Path, address: str, port: int) -> list[str]:
    return ["wrk", "-t1", "-c3", "-d10s", "--timeout", "30s", f"http://{address}:{port}/file"]


def _wrk_equal(_: Path, said: str) -> bool:
    done = re.search(r"(\d+) requests in", said)
    return bool(done) and int(done[1]) > 0 and "Socket errors" not in said and "Non-2xx" not in said  # type: ignore[index]


def _iperf3_server(_: Path, address: str, port: int) -> list[str]:
    return ["iperf3", "-s", "-1", "-B", address, "-p", str(port)]


def _iperf3(_: Path, address: str, port: int) -> list[str]:
    return ["iperf3", "-c", address, "-p", str(port), "-t", "3", "-J"]


def _iperf3_equal(_: Path, said: str) -> bool:
    # It ends while bytes are on their way: those are not counted.
    report = json.loads(said)
    if "error" in report:
        return False
    sent, received = (report["end"][name]["bytes"] for name in ("sum_sent", "sum_received"))
    return bool(0 < received <= sent)


def _redis_server(_: Path, address: str, port: int) -> list[str]:
    return ["redis-server", "--bind", address, "--port", str(port), "--save", "", "--protected-mode", "no"]


def _redis_cli(_: Path, address: str, port: int) -> list[str]:
    cli = f"redis-cli -h {address} -p {port}"
    return [
        "sh",
        "-c",
        f"base64 -w 0 file | {cli} -x set k >stored && {cli} get k >text && base64 -d text >got && cat stored",
    ]


def _redis_benchmark(_: Path, address: str, port: int) -> list[str]:
    return ["redis-benchmark", "-h", address, "-p", str(port), "-n", "200", "-c", "4", "-t", "set,get", "--csv"]


def _redis_benchmark_equal(_: Path, said: str) -> bool:
    return {'"SET"', '"GET"'} <= {line.partition(",")[0] for line in said.splitlines()}


def _sshd(work: Path, address: str, port: int) -> list[str]:
    Path("/run/sshd").mkdir(exist_ok=True)
    (work / "sshd.conf").write_text(SSHD.format(work=work, address=address, port=port))
    users = Path("/etc/passwd").read_text()
    (work / "passwd").write_text(users if "\nsshd:" in users else f"{users}sshd:x:65534:65534::/run/sshd:/bin/false\n")
    serves = f"mount --bind passwd /etc/passwd && exec {found('sshd')} -D -e -f {work}/sshd.conf"
    return ["unshare", "-m", "sh", "-c", serves]


def _ssh(work: Path, address: str, port: int) -> list[str]:
    return ["sh", "-c", f"ssh {' '.join(SSH)} -i key -p {port} root@{address} cat {work}/file >got"]


def _scp(work: Path, address: str, port: int) -> list[str]:
    return ["scp", "-q", *SSH, "-i", "key", "-P", str(port), "file", f"root@{address}:{work}/got"]


_CURL, _OPENSSL, _NGINX = ("curl", "curl"), ("openssl", "openssl"), ("nginx", "nginx-light")
_REDIS, _SSHD = ("redis-server", "redis-server"), ("sshd", "openssh-server")
_REDIS_CLI = ("redis-cli", "redis-tools")
JOBS: tuple[Job, ...] = (
    Job("http.server", "curl", 8000, (_CURL,), http_server, curl, same),
    Job("nginx", "wget", 8001, (_NGINX, ("wget", "wget")), _nginx, _wget, same),
    Job("openssl s_server", "openssl s_client", 8002, (_OPENSSL,), _s_server, _s_client, same),
    Job("nginx", "ab", 8003, (_NGINX, ("ab", "apache2-utils")), _nginx, _ab, _ab_equal),
    Job("nginx", "wrk", 8004, (_NGINX, ("wrk", "wrk")), _nginx, _wrk, _wrk_equal),
    Job("iperf3", "iperf3", 8005, (("iperf3", "iperf3"),), _iperf3_server, _iperf3, _iperf3_equal),
    Job("redis-server", "redis-cli", 8006, (_REDIS, _REDIS_CLI), _redis_server, _redis_cli, same),
    Job(
        "redis-server",
        "redis-benchmark",
        8007,
        (_REDIS, _REDIS_CLI),
        _redis_server,
        _redis_benchmark,
        _redis_benchmark_equal,
    ),
    Job("sshd", "ssh", 8008, (_SSHD, ("ssh", "openssh-client")), _sshd, _ssh, same),
    Job("sshd", "scp", 8009, (_SSHD, ("scp", "openssh-client")), _sshd, _scp, same),
    *language_jobs.JOBS,
    *system_jobs.JOBS,
)
