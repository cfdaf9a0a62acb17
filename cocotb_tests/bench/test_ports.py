# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The ports that a bench finds in Verilog, as SpinalHDL writes them and as people do."""

import pytest

from cocotb_tests.bench.ports import top_ports


@pytest.mark.parametrize(
    ("header", "ports"),
    [
        ("\n  input  wire          clk,\n  output reg  [7:0]    data\n", {"clk": 1, "data": 8}),
        (
            "\n  input wire clk, reset,\n  input wire [3:0] a, b, output wire c\n",
            {"clk": 1, "reset": 1, "a": 4, "b": 4, "c": 1},
        ),
        ("\n  // the MAC's, 8 bits\n  (* keep *) inout [1:0] pad // open drain\n", {"pad": 2}),
    ],
)
def test_each_port_is_found_with_its_width(header: str, ports: dict[str, int]) -> None:
    assert top_ports(f"module other (\n  input x\n);\nmodule top ({header});\nendmodule", "top") == ports


def test_a_width_that_only_a_parameter_tells_is_refused() -> None:
    with pytest.raises(ValueError, match=r"top: port 'input wire \[N-1:0\] data' is not read"):
        top_ports("module top (\n  input wire [N-1:0] data\n);", "top")


def test_a_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no module other"):
        top_ports("module top (\n  input clk\n);", "other")
