# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A short draw of `make policies`: every mix of policies in one core, event by event; and wrong arguments."""

from __future__ import annotations

import ctypes
import os
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from downbeat_toe.device import Device, DeviceError, nanoseconds
from downbeat_toe.library import load
from downbeat_toe.policies import read
from downbeat_toe.structures import Error

from sim.bench.policies.judge import Choice
from sim.bench.policies.record import IP, MAC, PEER_IP, PEER_MAC, Crowd, argument
from sim.bench.policies.situations import OF_CALCULATIONS, wanted
from sim.golden.congestion.seam import CongestionEvent, Kind, Policy, PolicyResult, Window
from sim.golden.congestion.steady.reno import RenoState
from sim.golden.policies import STEADY
from sim.lib import verilated

POLICIES = read(verilated.rtl(verilated.PRESET) / "downbeat_layout.json")
ALL = [policy for policies in POLICIES.values() for policy in policies.values()]
# Only the full draw of make policies is sure to have these.
RARE = {"sequence wrap", "restart from idle", *OF_CALCULATIONS}
EVENTS = 3000 if os.environ.get("SOAK") else 400
KINDS = {"established", "acknowledged", "loss", "timeout", "duplicate", "partial", "recovered", "sent"}


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return load(verilated.library(tap="header") / "libdownbeat_sim.so")


def run(library: ctypes.CDLL, wanted: int) -> Crowd:
    crowd = Crowd(library, POLICIES, seed=2)  # one that meets all situations in few events
    crowd.run(wanted, lambda _: None)
    return crowd


def test_each_mix_of_policies_follows_its_golden_models_event_by_event(library: ctypes.CDLL) -> None:
    crowd = run(library, EVENTS)
    assert [tally.first for tally in crowd.judge.tallies.values() if tally.mismatches] == []
    assert min(tally.events for tally in crowd.judge.tallies.values()) >= EVENTS
    assert crowd.judge.kinds.keys() >= KINDS | {"changed", "none", "paired"}
    happened = sum(crowd.judge.situations.counts.values(), Counter())
    assert [name for name in wanted(calculates=True) if happened[name] == 0 and name not in RARE] == []


def test_a_model_that_is_off_by_one_is_found(library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        name, state = "reno", RenoState

        def respond(self, event: CongestionEvent, window: Window, policy_state: int) -> PolicyResult:
            result = right.respond(event, window, policy_state)
            if event.kind is not Kind.LOSS:
                return result
            return replace(result, window=replace(result.window, ssthresh=result.window.ssthresh + 1))

    right: Policy = STEADY["reno"]
    monkeypatch.setitem(STEADY, "reno", Wrong())
    crowd = run(library, 300)
    assert crowd.judge.tallies["steady", "reno"].mismatches > 0
    assert crowd.judge.tallies["steady", "aimd"].mismatches == 0


@pytest.fixture
def device(library: ctypes.CDLL) -> Device:
    device = Device(library, MAC, IP)
    device.add_neighbour(PEER_IP, PEER_MAC)
    return device


def test_the_library_takes_and_refuses_what_the_layout_says(device: Device) -> None:
    """Any bits for any policy, and legal arguments; the core's own verdict is test_command_port's."""
    draw, refused = random.Random(1), 0
    for _ in range(500):
        policy = draw.choice(ALL)
        argument_bits = draw.choice(
            [argument(policy, draw), draw.getrandbits(draw.randint(1, 128)), 1 << draw.randrange(128)]
        )
        choice = Choice(
            **{"startup": POLICIES["startup"]["standard"], "steady": POLICIES["steady"]["reno"], policy.family: policy},
            arguments=(argument_bits, 0) if policy.family == "startup" else (0, argument_bits),
        )
        if not policy.problem(argument_bits):
            device.connect(PEER_IP, 80, 0, **choice.parameters)
            continue
        refused += 1
        with pytest.raises(DeviceError) as error:
            device.connect(PEER_IP, 80, 0, **choice.parameters)
        assert error.value.code is Error.POLICY_ARGUMENT
        assert policy.name in str(error.value)
    assert 100 < refused < 400


RATE = 44  # bits of K, below those of A
WRONG = [
    ("steady", "aimd", 1 << 24, r"aimd: a is 0 \(as the bits have it\), use 1 to 16777215"),
    ("steady", "aimd", 1 << 40, "aimd takes an argument of 40 bits"),  # b = 1
    ("steady", "logistic", 1, r"logistic: eps is 0 \(as the bits have it\), use 1 to"),
    ("steady", "logistic", 1 << 104 | 1 << 88 | 2 << RATE | 1, "logistic: A is above K"),
    ("startup", "paced", 1 << 16, r"paced: n is 0 \(as the bits have it\), use 1 to 65535"),
    ("steady", "carson", 1 << 21, "carson takes an argument of 21 bits"),
    ("startup", "hoe", 2, "hoe takes an argument of 1 bits"),
    ("startup", "spm", 2, "spm takes an argument of 1 bits"),
    ("steady", "fast", 1 << 16 | 1, r"fast: alpha is 1 \(as the bits have it\), use 2 to 65535"),
    ("steady", "fast", 2, r"fast: every is 0 \(as the bits have it\), use 1 to 2"),
    ("steady", "vegas", 1 << 8 | 2, "vegas: alpha is above beta"),
    ("steady", "hstcp", 2, "hstcp takes an argument of 1 bits"),
    ("steady", "westwood", 4, "westwood takes an argument of 2 bits"),
    ("startup", "astart", 4, "astart takes an argument of 2 bits"),
    ("startup", "spmastart", 8, "spmastart takes an argument of 3 bits"),
    ("startup", "past", 2, "past takes an argument of 1 bits"),
    ("startup", "vegasstart", 1 << 8, r"vegasstart: gamma is 0 \(as the bits have it\), use 1 to 255"),
    *(("steady", name, 1, f"{name} takes no argument") for name in ("reno", "cubic", "stcp")),
    *(
        ("startup", name, 1, f"{name} takes no argument")
        for name in ("standard", "ssipp", "lbc", "hystart", "limited", "rapid", "search")
    ),
]


@pytest.mark.parametrize(("family", "name", "argument_bits", "said"), WRONG)
def test_a_refusal_names_the_policy_and_what_is_wrong(
    device: Device, family: str, name: str, argument_bits: int, said: str
) -> None:
    given: dict[str, Any] = {
        family: name.encode(),
        f"{family}_argument": (ctypes.c_uint64 * 2)(argument_bits & (1 << 64) - 1, argument_bits >> 64),
    }
    for call in (lambda: device.connect(PEER_IP, 80, **given), lambda: device.listen(80, **given)):
        with pytest.raises(DeviceError, match=said) as error:
            call()
        assert error.value.code is Error.POLICY_ARGUMENT


def test_a_refusal_says_which_number_is_wrong(device: Device) -> None:
    with pytest.raises(DeviceError, match="reno takes no argument"):
        device.listen(80, steady_argument=(ctypes.c_uint64 * 2)(1, 0))
    with pytest.raises(DeviceError, match="no congestion policy of that name"):
        device.listen(80, steady=b"cubist")


def test_policies_of_a_connection_that_is_not_there_cannot_be_changed(device: Device) -> None:
    with pytest.raises(DeviceError) as unknown:
        device.set_policies(77)
    name = device.connect(PEER_IP, 80)
    with pytest.raises(DeviceError) as early:
        device.set_policies(name)  # it has no flow yet
    device.advance(nanoseconds(1_000_000))
    device.set_policies(name, steady=b"aimd")
    assert (unknown.value.code, early.value.code) == (Error.UNKNOWN_CONNECTION, Error.WOULD_BLOCK)
