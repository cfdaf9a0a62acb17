# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A design of all kinds of cells: placed by nextpnr, annealed, judged by its placer's rules, routed by both of its
routers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scripts.ecp5.netlist.finish import finish
from scripts.ecp5.placement import annealing
from scripts.ecp5.placement.annealing import anneal
from scripts.ecp5.placement.routing import route
from scripts.ecp5.placement.small import BEL
from scripts.failure import ToolFailed

pytestmark = [pytest.mark.xdist_group("annealing"), pytest.mark.soak]  # the design is placed and annealed once
DEVICE = [
    "--25k",
    "--package",
    "CABGA256",
    "--speed",
    "6",
    "--lpf-allow-unconstrained",
    "--freq",
    "50",
    "--timing-allow-fail",
]
CLOCK = "$glbnet$clk$TRELLIS_IO_IN"
MOVED = ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD")
PERIODS = {CLOCK: 20.0}
TIGHT = 10.75  # ns
LANES = 10

# Lanes with resets and enables of their own, sums, LUT RAM, block RAM and wide selections.
VERILOG = """
module lane(input clk, reset, enable, input [15:0] d, output reg [15:0] q);
  reg [15:0] sum, mix, word, few [0:15], many [0:1023];
  reg [9:0] at;
  always @(posedge clk) begin
    if (enable) begin
      sum <= sum + (d ^ mix);
      few[at[3:0]] <= sum;
      many[at] <= d;
    end
    mix <= few[d[3:0]] + {word[7:0], word[15:8]};
    word <= many[d[9:0]];
    case (mix[2:0])
      1: q <= sum;
      2: q <= word;
      3: q <= ~word;
      4: q <= sum ^ word;
      5: q <= ~sum;
      6: q <= d;
      7: q <= mix;
      default: q <= {sum[7:0], mix[15:8]};
    endcase
    at <= at + 1;
    if (reset) begin
      at <= 0;
      sum <= 0;
    end
  end
endmodule
module top(input clk, input [3:0] in, output reg out);
  localparam N = LANES;
  wire [15:0] q [0:N];
  reg [2*N-1:0] control;
  always @(posedge clk) begin
    control <= {control, in[1] ^ control[N]};
    out <= ^q[N];
  end
  assign q[0] = {control, in};
  genvar i;
  generate
    for (i = 0; i < N; i = i + 1) lane l(clk, control[i], control[N + i], q[i] ^ q[(i * 5) % (i + 1)], q[i + 1]);
  endgenerate
endmodule
"""


def nextpnr(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = ["nextpnr-ecp5", *DEVICE, "-q", *options]
    return subprocess.run(words, cwd=folder, text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the design, as all netlists are, placed by nextpnr, and annealed."""
    folder = tmp_path_factory.mktemp("anneal")
    (folder / "top.v").write_text(VERILOG.replace("LANES", str(LANES)))
    subprocess.run(
        ["yosys", "-q", "-p", "read_verilog top.v; synth_ecp5 -top top -json top.json"], cwd=folder, check=True
    )
    finish(folder / "top.json")
    placing = ["--json", "top.json", "--seed", "1", "--no-route", "--write", "placed.json", "--log", "placing.log"]
    nextpnr(folder, *placing, *annealing.PLACING, "--router", "router2").check_returncode()
    for result in ("annealed.json", "again.json"):
        lines = anneal(folder / "placed.json", folder / result, "6", PERIODS, 1, annealing.SETTINGS)
        (folder / "lines").write_text("\n".join(lines))
    return folder


def modules(path: Path) -> Any:
    return json.loads(path.read_text())["modules"]


def bels(path: Path) -> dict[str, str]:
    return {name: cell["attributes"][BEL] for name, cell in modules(path)["top"]["cells"].items()}


def test_most_cells_move_and_no_two_are_in_one_place(folder: Path) -> None:
    before, after = bels(folder / "placed.json"), bels(folder / "annealed.json")
    assert before.keys() == after.keys()
    assert len(set(after.values())) == len(after)
    kinds = {name: cell["type"] for name, cell in modules(folder / "placed.json")["top"]["cells"].items()}
    moved = {
        kind: sum(before[name] != after[name] for name in before if kinds[name] == kind) for kind in set(kinds.values())
    }
    print(moved)
    assert moved["TRELLIS_FF"] > 100
    assert moved["TRELLIS_COMB"] > 100
    assert moved["TRELLIS_IO"] == 0


def test_nothing_but_places_and_settings_changes(folder: Path) -> None:
    before, after = modules(folder / "placed.json"), modules(folder / "annealed.json")
    for cells in (before["top"]["cells"], after["top"]["cells"]):
        for cell in cells.values():
            del cell["attributes"][BEL]
    before["top"]["settings"] |= annealing.SETTINGS
    assert before == after


def test_wires_are_shorter(folder: Path) -> None:
    print((folder / "lines").read_text())
    placed, annealed = (length(folder / name) for name in ("placed.json", "annealed.json"))
    assert annealed < 0.95 * placed


def length(path: Path) -> int:
    """The length of all nets by half-perimeter."""
    ends: dict[int, list[tuple[int, int]]] = {}
    for cell in modules(path)["top"]["cells"].values():
        where = re.match(r"X(\d+)/Y(\d+)/", cell["attributes"][BEL])
        assert where is not None
        for port, bits in cell["connections"].items():
            if bits and port not in ("CLK", "CLKA", "CLKB", "WCK"):
                ends.setdefault(bits[0], []).append((int(where[1]), int(where[2])))
    return sum(
        max(x for x, _ in at) - min(x for x, _ in at) + max(y for _, y in at) - min(y for _, y in at)
        for at in ends.values()
    )


def test_the_same_seed_makes_the_same_placement(folder: Path) -> None:
    assert bels(folder / "annealed.json") == bels(folder / "again.json")


def constrained(folder: Path, *exchanged: str) -> subprocess.CompletedProcess[str]:
    """nextpnr's placer with all logic and block RAM where it has been moved to, as constraints: those it checks."""
    design = json.loads((folder / "annealed.json").read_text())
    design["modules"]["top"]["settings"]["placer"] = "heap"  # the other one goes on where a cell may not be
    cells = design["modules"]["top"]["cells"]
    for cell in cells.values():
        if cell["type"] in MOVED:
            cell["attributes"]["BEL"] = cell["attributes"].pop(BEL)
    if exchanged:
        one, other = (cells[name]["attributes"] for name in exchanged)
        one["BEL"], other["BEL"] = other["BEL"], one["BEL"]
    (folder / "constrained.json").write_text(json.dumps(design))
    return nextpnr(folder, "--json", "constrained.json", "--no-pack", "--no-route", "--write", "kept.json")


def test_nextpnrs_placer_finds_every_cell_where_it_may_be(folder: Path) -> None:
    done = constrained(folder)
    assert done.returncode == 0, done.stderr[-2000:]
    kinds = {name: cell["type"] for name, cell in modules(folder / "annealed.json")["top"]["cells"].items()}
    kept, annealed = bels(folder / "kept.json"), bels(folder / "annealed.json")
    assert all(kept[name] == annealed[name] for name in annealed if kinds[name] in MOVED)


def test_nextpnrs_placer_refuses_a_register_beside_those_of_another_reset(folder: Path) -> None:
    """So that the test before this one says something."""
    cells = modules(folder / "annealed.json")["top"]["cells"]
    registers = {name: cell for name, cell in cells.items() if cell["type"] == "TRELLIS_FF"}
    reset = next(name for name, cell in registers.items() if cell["connections"]["LSR"])
    free = next(
        name
        for name, cell in registers.items()
        if not cell["connections"]["LSR"] and cell["parameters"]["SD"].strip() == "0"
    )
    done = constrained(folder, reset, free)
    assert done.returncode != 0
    assert "is not valid for cell" in done.stderr


@pytest.fixture(scope="module")
def routed(folder: Path) -> tuple[Path, Path]:
    """The report, of periods that router2 misses, and router1's log."""

    def run(log: Path, *options: str | Path, rounds: int | None = None) -> None:
        words = [*DEVICE, "--router", "router2", "-q", "--log", log, *options]
        # Relative to the folder: a WebAssembly nextpnr has a /tmp of its own, and pytest's folders are in ours.
        subprocess.run(
            ["nextpnr-ecp5", *(str(word).removeprefix(f"{folder}/") for word in words)], cwd=folder, check=True
        )
        assert rounds

    (folder / "clocks.sdc").write_text(f"create_clock -period {TIGHT} [get_nets {{{CLOCK}}}]\n")
    log, design, report = folder / "routing.log", folder / "annealed.json", folder / "report.json"
    route(run, log, folder / "clocks.sdc", design, [], ["--report", report])
    return report, folder / "routing.late.log"


def test_what_router2_leaves_late_router1_has_up_again(routed: tuple[Path, Path], folder: Path) -> None:
    report, log = routed
    first = re.findall(r"Max frequency for clock .*: ([\d.]+) MHz", (folder / "routing.log").read_text())
    clock = json.loads(report.read_text())["fmax"][CLOCK]
    assert clock["constraint"] == pytest.approx(1000 / TIGHT)
    assert float(first[-1]) < clock["constraint"] <= clock["achieved"]
    assert "arcs ripped up due to negative slack" in log.read_text()
    assert not [*folder.glob("*.routed"), *folder.glob("*.opened")]


WIRE, CORE = "$glbnet$rgmii_0_rx_clk$TRELLIS_IO_IN", "$glbnet$inside_1.CLKOS"
LOG = f"""\
Info: Max frequency for clock '{WIRE}': 164.29 MHz (PASS at 125.00 MHz)
Warning: Max frequency for clock          '{CORE}': 59.31 MHz (FAIL at 62.50 MHz)
Info: Max delay <async> -> posedge {CORE}: 1.47 ns
"""


def test_clocks_are_routed_for_so_many_times_what_they_were_placed_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def anneal(*arguments: Any) -> list[str]:
        calls.append(arguments)
        return ["placed", "annealed"]

    monkeypatch.setattr(annealing, "anneal", anneal)
    log, placed = tmp_path / "placed.log", tmp_path / "board.unrouted"
    log.write_text(LOG)
    clocks, design = annealing.annealed(placed, log, ["--45k", "--speed", "6"], 7, longer=1.5)
    assert design == tmp_path / "board.annealed.json"
    assert calls == [(placed, design, "6", {WIRE: 8.0, CORE: 16.0}, 7, annealing.SETTINGS)]
    assert clocks.read_text().splitlines() == [
        f"create_clock -period 12 [get_nets {{{WIRE}}}]",
        f"create_clock -period 24 [get_nets {{{CORE}}}]",
    ]


@pytest.mark.parametrize(
    ("options", "grade"),
    [(["--85k", "--speed", "8"], "8"), (["--um5g-85k", "--speed", "8"], "8_5G"), (["--45k", "--speed", "6"], "6")],
)
def test_the_grade_is_the_databases(options: list[str], grade: str) -> None:
    assert annealing.grade(options) == grade


def test_a_clock_that_is_not_there_is_one_line(folder: Path) -> None:
    with pytest.raises(ToolFailed, match=r"^anneal: no net is named tango$"):
        anneal(folder / "placed.json", folder / "none.json", "6", {"tango": 8.0}, 1)


def test_settings_go_to_the_router(folder: Path) -> None:
    anneal(folder / "placed.json", folder / "set.json", "6", PERIODS, 1, {"router2/bbMargin/x": "0110"})
    assert modules(folder / "set.json")["top"]["settings"]["router2/bbMargin/x"] == "0110"
