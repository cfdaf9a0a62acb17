# SPDX-License-Identifier: BSD-2-Clause-Patent
"""litex_downbeat_gen: a Verilog for each of five boards, elaborated by Yosys with the vendors' cells, and one line for
what it refuses. The core stands here as its ports alone. `make litex` runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from downbeat_litex.verilog import ports_of

from sim.lib.cache import ROOT

TOP = "DownbeatHostGmii"
ELABORATED = [ROOT / "build" / place / f"{TOP}.v" for place in ("sim/rtl-litex", "rtl")]  # by make litex, make test
ECP5, XILINX = "+/ecp5/cells_sim.v +/ecp5/cells_bb.v", "+/xilinx/cells_sim.v +/xilinx/cells_xtra.v"
BOARDS = {
    "gsd_butterstick": ECP5,
    "lattice_versa_ecp5": ECP5,
    "trellisboard": ECP5,
    "digilent_nexys_video": XILINX,
    "xilinx_kc705": XILINX,
}


@pytest.fixture
def verilog(tmp_path: Path) -> Path:
    ports = ports_of(next(path for path in ELABORATED if path.exists()), TOP).items()
    head = ",\n".join(f"  {port.direction} wire [{port.width - 1}:0] {name}" for name, port in ports)
    (tmp_path / f"{TOP}.v").write_text(f"module {TOP} (\n{head}\n);\nendmodule\n")
    return tmp_path / f"{TOP}.v"


def run(place: Path, text: str, output: str = "made.v") -> subprocess.CompletedProcess[str]:
    (place / "core.yml").write_text(text)
    command = [sys.executable, "-m", "downbeat_litex.gen", str(place / "core.yml"), "--output", str(place / output)]
    return subprocess.run(command, text=True, capture_output=True, check=False)


@pytest.mark.parametrize("board", BOARDS)
def test_a_board_s_verilog_elaborates(board: str, tmp_path: Path, verilog: Path) -> None:
    bus = "axi-lite" if board == "trellisboard" else "wishbone"
    done = run(tmp_path, f"board: {board}\nbus: {bus}\nverilog: {verilog}\n")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    made = (tmp_path / "made.v").read_text()
    assert made.count(f"\nmodule {TOP} (") == 1 and "bus_" in made and "interrupt" in made
    # By a relative path: Yosys as WebAssembly has a /tmp of its own.
    script = f"read_verilog -lib {BOARDS[board]}; read_verilog made.v; hierarchy -check -top made"
    checked = subprocess.run(["yosys", "-q", "-p", script], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "board: gsd_buterstick",
            "board gsd_buterstick: litex-boards has no such platform; do you mean gsd_butterstick",
        ),
        ("board: digilent_arty", "the pins of eth 0 are MII, and the core's MAC wants RGMII or GMII"),
        ("board: xilinx_kc705\nphy: rgmii", "the pins of eth 0 are GMII, not RGMII"),
        ("board: xilinx_kc705\nphy: gmi", "phy gmi: use rgmii or gmii; do you mean gmii"),
        ("board: radiona_ulx3s", "it has no Ethernet pins eth 0"),
        ("board: gsd_butterstick\nport: 7", "it has no Ethernet pins eth 7"),
        ("board: gsd_butterstick\nprt: 1", "prt: no such key; do you mean port?"),
        ("board: gsd_butterstick\nport: one", "port: 'one' is no whole number"),
        ("board: gsd_butterstick\nbus: axi", "bus axi: use wishbone or axi-lite"),
        ("board: gsd_butterstick\nmemory_bytes: 5000", "memory_bytes 5000: use a power of two, 4096 or more"),
        ("board: gsd_butterstick\nverilog: none.v", "none.v: no such file; make rtl PRESET=board,hostPorts=2"),
        ("phy: gmii", "no board; name a platform of litex-boards"),
        ("[", "no YAML"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_line(text: str, says: str, tmp_path: Path, verilog: Path) -> None:
    done = run(tmp_path, text if "verilog" in text else f"{text}\nverilog: {verilog}\n")
    assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "made.v").exists()
