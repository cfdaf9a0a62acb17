# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each kind of mutant on a few lines of Verilog, and what is no mutant."""

from __future__ import annotations

import pytest

from scripts.mutants.expressions import NotUnderstood, Signal, number, parse
from scripts.mutants.kinds import KINDS, changes
from scripts.mutants.verilog import Module, modules

PORTS = """module Small (
  input  wire [7:0]    a,
  input  wire [7:0]    b,
  input  wire          c,
  input  wire          d,
  input  wire          clk,
  input  wire          reset
);
  wire       [7:0]    sum;
  wire                flag;
  reg        [7:0]    kept;
  (* keep , syn_keep *) wire [3:0] nibble /* synthesis syn_keep = 1 */ ;
  reg [7:0] words [0:3];
"""


LOST_BITS = ("((4'b1100) & 4'hb)", "((4'b1100) & 4'h7)")


def small(body: str) -> Module:
    [module] = modules(f"{PORTS}{body}\nendmodule\n")
    return module


def texts(body: str, kind: str) -> list[str]:
    """What the kind makes of the last statement."""
    module = small(body)
    return [change.text for change in changes(module, module.statements[-1]) if change.kind == kind]


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("comparison", "  assign flag = (a < b);", ["(a <= b)"]),
        ("comparison", "  assign flag = (a == b);", ["(a != b)"]),
        ("comparison", "  if((a <= b)) begin", ["(a < b)"]),
        ("constant", "  assign sum = 8'hff;", ["8'h0", "8'hfe"]),
        ("constant", "  assign flag = 1'b0;", []),
        ("constant", "  assign sum = {4'b0000,a[3 : 0]};", []),  # a mere widening, and bounds
        ("constant", "  assign sum = 8'bxxxxxxxx;", []),
        ("condition", "  assign flag = (c && (! d));", ["c", "(! d)"]),
        ("condition", "  assign flag = (c || c);", ["c", "c"]),
        ("arms", "  assign sum = (c ? a : b);", ["(c ? b : a)"]),
        ("arms", "  assign sum = (c ? a : a);", []),
        ("stale", "      kept <= a;", ["kept"]),
        ("stale", "      kept[3 : 0] <= nibble;", ["kept[3 : 0]"]),
        ("stale", "  assign sum = a;", []),
        ("stale", "      words[2] <= a;", []),
        ("width", "  assign nibble = 4'b1100;", ["((4'b1100) | 4'h1)", "((4'b1100) | 4'h2)", *LOST_BITS]),
        ("width", "  assign flag = c;", []),
    ],
)  # fmt: skip
def test_a_kind_makes_these_changes(kind: str, body: str, expected: list[str]) -> None:
    assert texts(body, kind) == expected


def test_a_lost_carry_is_taken_away_from_the_sum() -> None:
    found = texts("  assign sum = (a + b);", "wrap")
    assert len(found) == 7
    assert found[3] == "(((a) + (b)) - (((a) ^ (b) ^ ((a) + (b))) & 8'h10))"
    for a, b in ((0x0F, 0x01), (0x8F, 0x7F), (0x12, 0x34)):
        without = (a + b - ((a ^ b ^ (a + b)) & 0x10)) & 0xFF
        assert without == ((a & 0xF) + (b & 0xF) & 0xF) | ((a & 0xF0) + (b & 0xF0) & 0xFF)


def test_a_signed_expression_stays_signed() -> None:
    assert texts("  assign sum = ($signed(a) + $signed(b));", "wrap")[0].endswith("8'sh2))")
    assert texts("  assign sum = ($signed(a) >>> 2'd1);", "width")[0] == "((($signed(a) >>> 2'd1)) & 8'shfe)"


def test_a_register_in_reset_is_not_stale() -> None:
    body = """  always @(posedge clk) begin
    if(reset) begin
      kept <= 8'h0;
    end else begin
      kept <= sum;
    end
  end"""
    module = small(body)
    stale = [[change for change in changes(module, each) if change.kind == "stale"] for each in module.statements]
    assert [len(each) for each in stale] == [0, 1]


def test_what_only_the_simulator_reads_is_no_statement() -> None:
    body = """  `ifndef SYNTHESIS
  assign flag = (a < b);
  `endif
  initial begin
    kept = 8'h3;
  end
  assign sum = a;"""
    assert [statement.target for statement in small(body).statements] == ["sum"]


def test_every_change_stays_within_its_expression() -> None:
    module = small("  assign sum = (((a < b) && c) ? (a + 8'h01) : {b[3 : 0],nibble});")
    [statement] = module.statements
    found = list(changes(module, statement))
    assert {change.kind for change in found} == set(KINDS) - {"stale"}
    for change in found:
        changed = statement.text[: change.start] + change.text + statement.text[change.end :]
        assert changed != statement.text
        parse(changed, module.signals)


def test_widths_of_expressions() -> None:
    signals = {"a": Signal(8), "m": Signal(12, memory=True), "c": Signal(1)}
    widths = {
        "{a,c}": 9,
        "{2{a}}": 16,
        "a[5 : 2]": 4,
        "a[3]": 1,
        "m[a]": 12,
        "(a == a)": 1,
        "(c ? a : 4'h3)": 8,
        "(|a)": 1,
    }
    assert {text: parse(text, signals).width for text in widths} == widths


def test_what_is_no_expression_is_refused() -> None:
    assert number("12'hff0") == (12, 0xFF0)
    for text in ("(a", "a b", "@(a)"):
        with pytest.raises(NotUnderstood):
            parse(text, {})
