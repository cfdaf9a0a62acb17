# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver and the real host half: TCP between two devices on one wire, in virtual time."""

from __future__ import annotations

import os
import random

import pytest
from downbeat_toe.driver import DriverError, Error, State

from sim.host.conftest import IPS, Wire

SIZE = 2_000_000 if os.environ.get("SOAK") else 150_000
SEED = int(os.environ.get("SEED", "1"))


def test_bytes_are_equal_both_ways(wire: Wire) -> None:
    draw = random.Random(SEED)
    ends = wire.pair()
    sent = [draw.randbytes(SIZE) for _ in ends]
    written, got = [0, 0], [b"", b""]

    def through() -> bool:
        for side in (0, 1):
            piece = sent[side][written[side] :][: draw.choice((1, 100, 1460, 20_000))]
            written[side] += ends[side].send(piece) if piece else 0
            if draw.random() < 0.8:
                got[side] += ends[side].receive(draw.choice((1, 1000, 65_536))) or b""
        return all(len(each) == SIZE for each in got)

    wire.until(through)
    assert got == [sent[1], sent[0]]
    assert wire.client.statistics.errors == wire.server.statistics.errors == 0


def test_orderly_end(wire: Wire) -> None:
    out, peer = wire.pair()
    out.send(b"question")
    assert out.shutdown()
    wire.until(lambda: peer.info.peer_finished)
    assert peer.receive() == b"question" and peer.receive() == b""
    peer.send(b"answer")
    peer.close()
    wire.until(lambda: out.info.peer_finished)
    assert out.receive() == b"answer" and out.receive() == b""
    wire.until(lambda: out.info.state in (State.TIME_WAIT, State.CLOSED))
    assert out.info.error == Error.OK


def test_abort_resets_the_peer(wire: Wire) -> None:
    out, peer = wire.pair()
    out.abort()
    wire.until(lambda: peer.info.state == State.CLOSED)
    assert peer.info.error == Error.RESET
    with pytest.raises(DriverError, match="reset"):
        peer.send(b"x")


def test_refused(wire: Wire) -> None:
    out = wire.client.connect(IPS[1], 9)
    wire.until(lambda: out.info.state == State.CLOSED)
    assert out.info.error == Error.REFUSED


def test_flows_are_free_again(wire: Wire) -> None:
    """More connections, one after another, than the core has flows."""
    listener = wire.server.listen(5001)
    wire.until(lambda: listener.ready)
    for _ in range(wire.client.info.flows + 2):
        out = wire.client.connect(IPS[1], 5001)
        peer = wire.accepted(listener)
        out.abort()
        wire.ended(peer)
        peer.close()
    assert wire.client.statistics.errors == wire.server.statistics.errors == 0
