# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The core and the kernel's TCP: files arrive whole, a failure is reported, and nothing is left behind. Needs root."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scapy.utils import PcapNgReader

from sim.lib import build
from sim.linux.conftest import INTEROP, LIMIT_SECONDS, SEED, SIZE, run

pytestmark = pytest.mark.heavy


def test_files_arrive_byte_exact_also_when_frames_are_lost(tmp_path: Path) -> None:
    done = run(tmp_path, "--app=transfers", f"--size={SIZE}", "--drop=3%")
    assert done.returncode == 0, done.stdout
    transfers = json.loads((tmp_path / "interop.json").read_text())["transfers"]
    assert [transfer["direction"] for transfer in transfers] == ["linux to core", "core to linux"] * 2
    assert all(transfer["bytes"] == SIZE and transfer["sha256_equal"] for transfer in transfers)
    assert all(transfer["options"] == ["timestamps", "SACK", "window scale"] for transfer in transfers)
    whole, lossy = transfers[:2], transfers[2:]
    assert sum(transfer["dropped_frames"] for transfer in whole) == 0
    assert sum(transfer["dropped_frames"] for transfer in lossy) > 0
    assert sum(transfer["retransmissions"] for transfer in lossy) > 0


def test_a_capture_holds_the_core_s_wire_both_ways(tmp_path: Path) -> None:
    done = run(tmp_path, "--app=transfers", f"--size={SIZE}", "--drop=0", f"--pcap={tmp_path / 'x.pcapng'}")
    assert done.returncode == 0, done.stdout
    transfers = json.loads((tmp_path / "interop.json").read_text())["transfers"]
    for number, transfer in enumerate(transfers):
        packets = list(PcapNgReader(str(tmp_path / f"x-{number}.pcapng")))
        frames = transfer["core"]["frames"]
        assert {packet.sniffed_on for packet in packets} == {"core"}
        inbound, outbound = (sum(packet.direction == direction for packet in packets) for direction in (1, 2))
        assert (inbound, outbound) == (frames["to_core"], frames["from_core"])
        times = [packet.time for packet in packets]
        assert times == sorted(times)


# The core listens; Linux finds it by ARP and pings it, a second apart at the most. Prints the sizes that came back
# equal.
PING = """
import random, select, socket, struct, subprocess, sys, tempfile
from sim.linux import namespace
from scapy.utils import checksum

random.seed(int(sys.argv[2]))
with namespace.interface() as name, tempfile.NamedTemporaryFile() as kept:
    arguments = [f"--tap={name}", f"--core-ip={namespace.CORE_IP}", f"--core-mac={namespace.CORE_MAC}", f"--receive={kept.name}"]
    with subprocess.Popen([sys.argv[1], *arguments], stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        for number, size in enumerate((0, 8, 56, 1000, 1472)):
            data = random.randbytes(size)
            head = struct.pack("!HHH", 0x0800, 0, 77) + number.to_bytes(2, "big")
            message = head[:2] + checksum(head + data).to_bytes(2, "big") + head[4:] + data
            with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as icmp:
                icmp.sendto(message, (namespace.CORE_IP, 0))
                while select.select([icmp], [], [], 10)[0]:
                    answer = icmp.recv(2000)[20:]
                    if answer[0] == 0:
                        if answer[4:] == message[4:] and checksum(answer) == 0:
                            print(size)
                        break
        print(subprocess.run(["ip", "neighbour"], capture_output=True, text=True).stdout)
        program.kill()
"""


def test_linux_finds_the_core_by_arp_and_pings_it() -> None:
    program = build.linux() / "downbeat_tap"
    command = [sys.executable, "-c", PING, str(program), SEED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    *sizes, neighbours = done.stdout.strip().splitlines()
    assert sizes == ["0", "8", "56", "1000", "1472"], done.stdout + done.stderr
    assert neighbours.startswith("10.0.0.1") and "02:00:00:00:00:01" in neighbours


def test_a_transfer_without_an_end_is_given_up_and_reported(tmp_path: Path) -> None:
    done = run(tmp_path, "--app=transfers", "--size=50MB", "--wall-limit=1")
    assert done.returncode == 1
    for text in ("not done within 1 s", "state established", "last events", f"seed {SEED}", "WAVES=1"):
        assert text in done.stdout, f"{text} is not in\n{done.stdout}"
    transfers = json.loads((tmp_path / "interop.json").read_text())["transfers"]
    assert not any(transfer["sha256_equal"] for transfer in transfers)


@pytest.mark.parametrize(
    ("app", "program", "number"),
    [
        ("transfers", "downbeat_tap", signal.SIGINT),
        ("transfers", "downbeat_tap", signal.SIGTERM),
        ("transfers", "downbeat_tap", signal.SIGKILL),
        ("iperf3", "iperf3", signal.SIGKILL),
    ],
)
def test_an_end_by_a_signal_leaves_no_process_and_no_namespace(
    tmp_path: Path, app: str, program: str, number: signal.Signals
) -> None:
    if app == "iperf3" and shutil.which("iperf3") is None:
        pytest.skip("iperf3 is missing; apt install iperf3")
    # A program in the background of a script ignores SIGINT, and its children would too.
    heeds = ["env", "--default-signal=INT"]
    command = [*heeds, *INTEROP, f"--app={app}", "--size=50MB", f"--reports={tmp_path}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not (programs := [pid for pid in children(process.pid) if name(pid) == program]):
            assert process.poll() is None and time.monotonic() < deadline, f"{program} was never started"
            time.sleep(0.05)
        namespace = network_namespace(process.pid)
        assert namespace == network_namespace(programs[0]) != network_namespace(os.getpid())
        process.send_signal(number)
        process.wait(30)
    deadline = time.monotonic() + 10
    while members := [pid for pid in processes() if network_namespace(pid) == namespace]:
        assert time.monotonic() < deadline, f"processes {members} are still in the namespace"
        time.sleep(0.05)


def processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def network_namespace(pid: int) -> str:
    """Its name for the kernel; empty for a process that has ended."""
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""
