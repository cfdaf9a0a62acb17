# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A script of Google's packetdrill in this runner's words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from downbeat_toe.library import load

from sim.adversarial.packetdrill.google import CAUSES, PARTS, attempt, translated
from sim.lib import verilated

SCRIPT = """// A comment, and what Linux is set to.
`../common/defaults.sh
sysctl -q net.ipv4.tcp_tso_win_divisor=100`

    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
  +.1 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
 +.02 %{
assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd  # of Linux alone
}%
 +.01 write(4, ..., 4000) = 4000
   +0 > P. 1:4001(4000) ack 1
 +.05 < . 1:1(0) ack 1 win 257 <sack 3001:4001,nop,nop>
+.025 > . 1:1001(1000) ack 1
"""


def test_left_out_lines_keep_their_time() -> None:
    lines = translated(SCRIPT).splitlines()
    assert lines[:3] == ["--tolerance_usecs=4000", "--mss=1000", "--open_end=1"]
    assert "+0 listen(startup=standard, steady=cubic)" in lines
    assert "+0.03 write(4000)" in lines and "+0 > p. 1:4001(4000) ack 1" in lines
    assert not any("socket" in line or "assert" in line for line in lines)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "", ""),
        ("+.025 > . 1:1001", "+.125 > . 1:1001", "after the line before"),
        ("> P. 1:4001(4000)", "> P. 1:5001(5000)", "it did not come"),
        ("write(4, ..., 4000) = 4000", "splice(4, ..., 4000) = 4000", "no call splice"),
    ],
)
def test_what_leaves_and_when_is_judged(old: str, new: str, reason: str) -> None:
    library = load(verilated.library() / "libdownbeat_sim.so")
    failure = attempt(SCRIPT.replace(old, new) if old else SCRIPT, Path("made.pkt"), library=library, seed=1)
    assert reason in failure and bool(reason) == bool(failure), failure


def test_each_cause_is_of_a_script_that_is_run() -> None:
    causes = tomllib.loads(CAUSES.read_text())
    assert causes and all(name.split("/")[0] in PARTS and cause for name, cause in causes.items())
