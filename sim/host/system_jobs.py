# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Further jobs of programs.py: proxies between two connections, file and version servers, a cache, a database."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sim.host.job import NGINX, Job, curl, found, http_server, same

NOBODY = "setpriv --reuid=65534 --clear-groups"
HAPROXY = """
global
  maxconn 100
defaults
  mode http
  timeout connect 30s
  timeout client 60s
  timeout server 60s
frontend front
  bind {front}
  default_backend back
backend back
  server one {back}
"""
LIGHTTPD = """
server.bind = "{address}"
server.port = {port}
server.document-root = "{work}"
server.upload-dirs = ( "{work}/tmp" )
server.network-backend = "sendfile"
"""
RSYNCD = """
use chroot = no
uid = root
gid = root
[work]
path = {work}
"""


def _proxy(name: str, work: Path, front: str, back: str) -> str:
    """The command of a proxy from `front` to `back`."""
    nginx = NGINX.format(listens=front, serves=f"proxy_pass http://{back}")
    (work / "proxy.conf").write_text(nginx if name == "nginx" else HAPROXY.format(front=front, back=back))
    program = found(name) or ""
    return f"{program} -p {work} -c {work}/proxy.conf" if name == "nginx" else f"{program} -db -f {work}/proxy.conf"


def _before(name: str, work: Path, address: str, port: int) -> list[str]:
    """A proxy that is the server; the file's server is behind it, on this machine's own loopback network."""
    own = f"127.0.0.1:{port + 500}"
    files = f"{sys.executable} -m http.server --bind 127.0.0.1 {port + 500} >behind 2>&1 & files=$!; "
    files += f"until curl -s -o /dev/null {own}; do sleep 0.1; done"
    proxy = f'{_proxy(name, work, f"{address}:{port}", own)} & trap "kill $files $!" TERM'
    return ["sh", "-c", f"{files}; {proxy}; wait"]


def _behind(name: str, work: Path, address: str, port: int) -> list[str]:
    """A proxy that is the client; who asks it is curl beside it."""
    own = f"127.0.0.1:{port + 500}"
    request = f"curl -sSf --retry 40 --retry-connrefused --retry-delay 1 -o got http://{own}/file"
    return [
        "sh",
        "-c",
        f"{_proxy(name, work, own, f'{address}:{port}')} & {request}; code=$?; kill $!; wait; exit $code",
    ]


def _lighttpd(work: Path, address: str, port: int) -> list[str]:
    (work / "lighttpd.conf").write_text(LIGHTTPD.format(work=work, address=address, port=port))
    program = Path(found("lighttpd") or "")
    return [str(program), "-D", "-f", "lighttpd.conf", "-m", str(program.parents[1] / "lib" / "lighttpd")]


def _rsyncd(work: Path, address: str, port: int) -> list[str]:
    (work / "rsyncd.conf").write_text(RSYNCD.format(work=work))
    return ["rsync", "--daemon", "--no-detach", f"--address={address}", f"--port={port}", "--config=rsyncd.conf"]


def _rsync(_: Path, address: str, port: int) -> list[str]:
    return ["rsync", f"rsync://{address}:{port}/work/file", "got"]


def _git_daemon(work: Path, address: str, port: int) -> list[str]:
    made = "git init -q repository && cd repository && cp ../file . && git add file && "
    made += "git -c user.name=x -c user.email=x@localhost commit -qm file && "
    serves = f"exec $(git --exec-path)/git-daemon --listen={address} --port={port} --base-path={work} --export-all"
    return ["sh", "-c", made + serves]


def _git(_: Path, address: str, port: int) -> list[str]:
    return ["sh", "-c", f"git clone -q git://{address}:{port}/repository copy && cp copy/file got"]


def _socat_server(_: Path, address: str, port: int) -> list[str]:
    return ["socat", "-u", "FILE:file", f"TCP-LISTEN:{port},bind={address},reuseaddr"]


def _socat(_: Path, address: str, port: int) -> list[str]:
    return ["socat", "-u", f"TCP:{address}:{port}", "CREATE:got"]


def _memcached(_: Path, address: str, port: int) -> list[str]:
    return ["memcached", "-u", "root", "-l", address, "-p", str(port)]


def _memc(_: Path, address: str, port: int) -> list[str]:
    at = f"--servers={address}:{port}"
    return ["sh", "-c", f"memccp {at} file && memccat {at} --file=got file"]


def _postgres(work: Path, address: str, port: int) -> list[str]:
    """It does not run as root."""
    work.parent.chmod(0o711)
    data = work / "data"
    data.mkdir()
    for each in (work, data):
        shutil.chown(each, "nobody")
    made = f"{NOBODY} {found('initdb')} -D {data} -A trust -U nobody --no-sync --no-locale >made"
    made += f" && echo host all all all trust >>{data}/pg_hba.conf"
    serves = f"exec {NOBODY} {found('postgres')} -D {data} -h {address} -p {port} -k '' -c fsync=off"
    return ["sh", "-c", f"{made} && {serves}"]


def _psql(_: Path, address: str, port: int) -> list[str]:
    write = '(echo "create table t (v text); insert into t values (\'"; base64 -w 0 file; echo "\');")'
    sql = f"psql -v ON_ERROR_STOP=1 -qAt -h {address} -p {port} -U nobody postgres"
    return ["sh", "-c", f"{write} | {sql} && {sql} -c 'select v from t' | base64 -di >got"]


_CURL, _NGINX, _HAPROXY = ("curl", "curl"), ("nginx", "nginx"), ("haproxy", "haproxy")
_RSYNC, _GIT, _SOCAT = ("rsync", "rsync"), ("git", "git"), ("socat", "socat")


def _proxies(name: str, port: int, needs: tuple[tuple[str, str], ...]) -> tuple[Job, Job]:
    return (
        Job(
            f"{name} proxy",
            "curl",
            port,
            needs,
            lambda work, address, number: _before(name, work, address, number),
            curl,
            same,
        ),
        Job(
            "http.server",
            f"{name} proxy",
            port + 1,
            needs,
            http_server,
            lambda work, address, number: _behind(name, work, address, number),
            same,
        ),
    )


JOBS: tuple[Job, ...] = (
    *_proxies("nginx", 8020, (_NGINX, _CURL)),
    *_proxies("haproxy", 8022, (_HAPROXY, _CURL)),
    Job("lighttpd", "curl", 8024, (("lighttpd", "lighttpd"), _CURL), _lighttpd, curl, same),
    Job("rsync daemon", "rsync", 8025, (_RSYNC,), _rsyncd, _rsync, same),
    Job("git daemon", "git", 8026, (_GIT,), _git_daemon, _git, same),
    Job("socat", "socat", 8027, (_SOCAT,), _socat_server, _socat, same),
    Job(
        "memcached",
        "memccp",
        8028,
        (("memcached", "memcached"), ("memccp", "libmemcached-tools")),
        _memcached,
        _memc,
        same,
    ),
    Job("postgres", "psql", 8029, (("postgres", "postgresql"), ("psql", "postgresql-client")), _postgres, _psql, same),
)
