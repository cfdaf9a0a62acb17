# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The corners of what DownbeatConfig allows become Verilog: 16 to 65,536 flows, buffers of 4 KiB to 16 MiB.

What is looked at is what would not scale: the text's length (anything with a register for each flow), and widths.
`make test` looks at what a failed elaboration leaves, `make soak` at every top of every corner.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cocotb_tests.bench import draws

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.xdist_group("sizes")  # so that they share what was elaborated
TOPS = ("HeaderTap", "Downbeat")[: draws(1, 2)]
SMALLEST, LARGEST = (16, 4 << 10), (65536, 16 << 20)
MIXED = ((16, 16 << 20), (1024, 4 << 10))[: draws(0, 2)]  # one size large, the other small
WITH_REGISTERS = ("DownbeatAxi",)[: draws(0, 1)]
CORNERS = {SMALLEST: TOPS, LARGEST: (*TOPS, *WITH_REGISTERS), **dict.fromkeys(MIXED, TOPS)}
# Growth over the smallest build's text: widths and four rounds for each factor of 16 in the trees of pacer and
# timers.
MAX_GROWTH = 1.1


def elaborate(build: str, place: Path, *tops: str) -> subprocess.CompletedProcess[str]:
    """As scripts/rtl.sh does, without its log, which others write too."""
    classes = f"build/maven/classes:{(ROOT / 'build' / 'maven' / 'classpath').read_text().strip()}"
    command = [
        "java",
        "-XX:+UseSerialGC",
        "-cp",
        classes,
        "downbeat.builds.Generate",
        "--out",
        str(place),
        "--preset",
        build,
        *tops,
    ]
    return subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def corners(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], dict[str, str]]:
    """The tops' Verilog, by flows and buffer bytes."""
    texts = {}
    for (flows, buffer), tops in CORNERS.items():
        place = tmp_path_factory.mktemp(f"{flows}-{buffer}")
        build = f"default,flows={flows},sendBufferBytes={buffer},receiveBufferBytes={buffer},externalMemory=true"
        done = elaborate(build, place, *tops)
        assert done.returncode == 0, done.stderr
        texts[flows, buffer] = {top: (place / f"{top}.v").read_text() for top in tops}
    return texts


def port_width(text: str, top: str, port: str) -> int:
    """The width of the top's port."""
    ports = text[text.index(f"module {top} (") :]
    found = re.search(rf"^  (?:input|output)\s+wire\s+\[(\d+):0\]\s+{port},?$", ports, re.MULTILINE)
    assert found, f"{top} has no port {port}"
    return int(found[1]) + 1


@pytest.mark.soak
def test_nothing_grows_with_the_number_of_flows_but_memories(
    corners: dict[tuple[int, int], dict[str, str]],
) -> None:
    for corner, tops in corners.items():
        for top in TOPS:
            assert len(tops[top]) <= MAX_GROWTH * len(corners[SMALLEST][top]), f"{top} of {corner}"


@pytest.mark.soak
def test_addresses_reach_every_byte_of_every_buffer(corners: dict[tuple[int, int], dict[str, str]]) -> None:
    """Send and receive buffers of all flows: up to 2 TiB."""
    for (flows, buffer), tops in corners.items():
        bits = (2 * flows * buffer - 1).bit_length()
        for port in ("m_axi_awaddr", "m_axi_araddr"):
            assert port_width(tops["Downbeat"], "Downbeat", port) == bits
    assert port_width(corners[LARGEST]["DownbeatAxi"], "DownbeatAxi", "m_axi_awaddr") == 41


def test_an_application_names_every_flow(corners: dict[tuple[int, int], dict[str, str]]) -> None:
    for (flows, _), tops in corners.items():
        for top, port in (
            ("HeaderTap", "s_axis_written_tdest"),
            ("Downbeat", "s_axis_tx_tdest"),
            ("Downbeat", "m_axis_rx_tdest"),
        ):
            if top in tops:
                assert port_width(tops[top], top, port) == (flows - 1).bit_length()


@pytest.mark.soak
@pytest.mark.parametrize("top", ["HeaderTap", *WITH_REGISTERS])
def test_the_largest_is_clean_verilog(corners: dict[tuple[int, int], dict[str, str]], top: str, tmp_path: Path) -> None:
    """A truncated width is a warning of Verilator's. DownbeatAxi has Downbeat inside."""
    verilog = tmp_path / f"{top}.v"
    verilog.write_text(corners[LARGEST][top])
    command = ["verilator", "--lint-only", "-Wall", "--top-module", top, "scripts/lint/waivers.vlt", str(verilog)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("build", "advice"),
    [
        ("default,flows=17", "flows = 17: use a power of two, 4 to 65536"),
        ("default,flows=131072", "flows = 131072: use a power of two, 4 to 65536"),
        ("default,flows=many", "flows=many: use a whole number"),
        ("sim,sendBufferBytes=33554432", "sendBufferBytes = 33554432: use a power of two, 4 KiB to 16 MiB"),
        ("sim,receiveBufferBytes=2048", "receiveBufferBytes = 2048: use a power of two, 4 KiB to 16 MiB"),
        ("default,flows=65536", "payload memory of 8192 MiB is no block RAM: set externalMemory"),
        ("sim,externalMemory=yes", "externalMemory = yes: use true or false"),
        ("default,beatBytes=12", "beatBytes = 12: use 8, 16, 32 or 64"),
        ("default,eventSpacing=3", "eventSpacing = 3: use 1 or 8"),
        ("default,timeWaits=1000", "timeWaits = 1000: use a power of two, 2 to 65536"),
        ("sim,depth=3", "no field 'depth' to set; there are: beatBytes, deficitIdle, ecc, eventSpacing"),
        ("board,policies=standard,rapit;reno", "there is no 'rapit' among standard, ssipp"),
        ("board,policies=standard;reno;cubic", "use start-up policies;steady policies"),
        ("board,policies=standard,rapid;cubic,flows=16", "keep reno: a connection that names no policy"),
        ("default,policies=standard;reno", "hostStart needs the policy standard and one that paces: ssipp, paced"),
        ("huge", "no preset 'huge'; there are: board, default"),
    ],
)
def test_what_cannot_be_built_says_so_in_a_line(build: str, advice: str, tmp_path: Path) -> None:
    done = elaborate(build, tmp_path, "PayloadMemory")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("Generate: ") and advice in line]
    assert len(lines) == 1, done.stderr


def test_a_failed_elaboration_leaves_the_build_before_whole(tmp_path: Path) -> None:
    """Two modules, of which the second cannot be built with the new sizes."""
    assert elaborate("default", tmp_path, "LayoutBench").returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = elaborate("default,flows=65536", tmp_path, "LayoutBench", "PayloadMemory")
    assert done.returncode == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
