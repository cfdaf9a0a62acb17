# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Further jobs of programs.py: a server and a client by the standard library of each language, which calls on sockets
in its own way."""

from __future__ import annotations

from pathlib import Path

from sim.host.job import Job, same

# Java's sockets are IPv6 sockets with IPv4 addresses.
JAVA_SERVER = """
import java.net.*; import java.nio.file.*;
class Server { public static void main(String[] words) throws Exception {
  var listener = new ServerSocket(Integer.parseInt(words[1]), 5, InetAddress.getByName(words[0]));
  try (var end = listener.accept()) { Files.copy(Path.of("file"), end.getOutputStream()); } } }
"""
JAVA_CLIENT = """
import java.net.*; import java.nio.file.*;
class Client { public static void main(String[] words) throws Exception {
  try (var end = new Socket(words[0], Integer.parseInt(words[1]))) { Files.copy(end.getInputStream(), Path.of("got")); } } }
"""
# A static program; without cgo Go has its own resolver and calls the kernel by itself.
GO = """
package main
import ("io"; "net"; "os")
func main() {
  if os.Args[1] == "serve" {
    listener, _ := net.Listen("tcp", os.Args[2])
    end, _ := listener.Accept()
    file, _ := os.Open("file")
    io.Copy(end, file)
    end.Close()
    return
  }
  end, problem := net.Dial("tcp", os.Args[2])
  if problem != nil { panic(problem) }
  file, _ := os.Create("got")
  io.Copy(file, end)
}
"""
# The C library is in it.
RUST = """
use std::{env, fs::File, io, net::*};
fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().collect();
    if words[1] == "serve" {
        let (mut end, _) = TcpListener::bind(&words[2])?.accept()?;
        io::copy(&mut File::open("file")?, &mut end)?;
    } else {
        io::copy(&mut TcpStream::connect(&words[2])?, &mut File::create("got")?)?;
    }
    Ok(())
}
"""
# The file's server calls sendfile.
AIOHTTP_SERVER = """
import sys
from aiohttp import web
application = web.Application()
application.router.add_get("/file", lambda request: web.FileResponse("file"))
web.run_app(application, host=sys.argv[1], port=int(sys.argv[2]))
"""
AIOHTTP_CLIENT = """
import asyncio, sys
from pathlib import Path
import aiohttp
async def main():
    async with aiohttp.ClientSession() as session, session.get("http://%s:%s/file" % tuple(sys.argv[1:])) as response:
        Path("got").write_bytes(await response.read())
asyncio.run(main())
"""
NODE_SERVER = (
    "require('http').createServer((_, to) => require('fs').createReadStream('file').pipe(to)).listen(%d, '%s')"
)
NODE_CLIENT = "require('http').get('http://%s:%d/', from => from.pipe(require('fs').createWriteStream('got')))"


def _java(source: str, name: str, work: Path, address: str, port: int) -> list[str]:
    (work / f"{name}.java").write_text(source)
    return ["java", f"{name}.java", address, str(port)]


def _java_server(work: Path, address: str, port: int) -> list[str]:
    return _java(JAVA_SERVER, "Server", work, address, port)


def _java_client(work: Path, address: str, port: int) -> list[str]:
    return _java(JAVA_CLIENT, "Client", work, address, port)


def _go(role: str, work: Path, address: str, port: int) -> list[str]:
    (work / "both.go").write_text(GO)
    return ["sh", "-c", f"CGO_ENABLED=0 go build -o {role} both.go && exec ./{role} {role} {address}:{port}"]


def _go_server(work: Path, address: str, port: int) -> list[str]:
    return _go("serve", work, address, port)


def _go_client(work: Path, address: str, port: int) -> list[str]:
    return _go("fetch", work, address, port)


def _rust(role: str, work: Path, address: str, port: int) -> list[str]:
    (work / "both.rs").write_text(RUST)
    build = f"rustc --edition 2021 -C target-feature=+crt-static -o {role} both.rs"
    return ["sh", "-c", f"{build} && exec ./{role} {role} {address}:{port}"]


def _rust_server(work: Path, address: str, port: int) -> list[str]:
    return _rust("serve", work, address, port)


def _rust_client(work: Path, address: str, port: int) -> list[str]:
    return _rust("fetch", work, address, port)


def _aiohttp_server(_: Path, address: str, port: int) -> list[str]:
    return ["aiohttp", "-c", AIOHTTP_SERVER, address, str(port)]


def _aiohttp_client(_: Path, address: str, port: int) -> list[str]:
    return ["aiohttp", "-c", AIOHTTP_CLIENT, address, str(port)]


def _node_server(_: Path, address: str, port: int) -> list[str]:
    return ["node", "-e", NODE_SERVER % (port, address)]


def _node_client(_: Path, address: str, port: int) -> list[str]:
    return ["node", "-e", NODE_CLIENT % (address, port)]


JOBS: tuple[Job, ...] = (
    Job("java server", "java", 8010, (("java", "default-jre"),), _java_server, _java_client, same),
    Job("go server", "go", 8012, (("go", "golang-go"),), _go_server, _go_client, same),
    Job("node server", "node", 8011, (("node", "nodejs"),), _node_server, _node_client, same),
    Job("rust server", "rust", 8013, (("rustc", "rustc"),), _rust_server, _rust_client, same),
    Job("aiohttp server", "aiohttp", 8014, (("aiohttp", "aiohttp"),), _aiohttp_server, _aiohttp_client, same),
)
