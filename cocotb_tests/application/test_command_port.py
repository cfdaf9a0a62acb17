# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The command port: each command where it is done, and an end never before what was written or read before it."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from downbeat_toe.policies import read

from cocotb_tests.bench import Beat, StreamSink, StreamSource, clocks, generator, start, until
from cocotb_tests.bench.layout import FILE, element, layout
from cocotb_tests.bench.runner import run_module

FIELDS = layout()["bundles"]["Command"]["fields"]
KINDS = layout()["enums"]["CommandKind"]
UNKNOWN = [kind for kind in range(1 << FIELDS["kind"]["width"]) if kind not in KINDS.values()]
POLICIES = read(FILE)
ENDS = ("shutdown", "close", "abort")
STARTS = ("start_window", "start_pace", "start_gap", "start_until", "start_roundTrip")


def test_command_port() -> None:
    run_module("CommandPort", __name__)


class Bench:
    def __init__(self, dut: Any, stall: float = 0.0) -> None:
        self.random = generator()
        self.commands = StreamSource(dut, "commands", stall=stall)
        names = ("opens", "listens", "requests", "events", "policies", "refused")
        self.sinks = {name: StreamSink(dut, name, stall=stall) for name in names}

    def command(self, kind: str | int, **fields: int) -> Beat:
        beat = {name: self.random.getrandbits(place["width"]) for name, place in FIELDS.items()}
        beat["parameters_start_pace"] %= len(layout()["enums"]["StartPace"])
        return beat | self.choice() | {"kind": KINDS[kind] if isinstance(kind, str) else kind} | fields

    def choice(self) -> Beat:
        """Policies and arguments, few of them legal."""
        fields: Beat = {}
        for family in POLICIES:
            codes = self.random.choice([len(POLICIES[family]), 1 << FIELDS[f"parameters_{family}"]["width"]])
            number = self.random.randrange(codes)
            bits = self.random.choice([policy.bits for policy in POLICIES[family].values()])
            word = self.random.choice([0, self.random.getrandbits(bits), self.random.getrandbits(8)])
            fields |= {f"parameters_{family}": number, f"parameters_{family}Argument": word}
        return fields


def parameters(command: Beat) -> Beat:
    return {name: value for name, value in command.items() if name.startswith("parameters_")}


def problem(command: Beat) -> str | None:
    """Why its policies are refused, by the layout; None: they are not."""
    reasons = set()
    for family, policies in POLICIES.items():
        of_number = {policy.number: policy for policy in policies.values()}
        policy = of_number.get(command[f"parameters_{family}"])
        if policy is None:
            reasons.add("unknownPolicy")
        elif policy.problem(command[f"parameters_{family}Argument"]):
            reasons.add("policyArgument")
    return max(reasons, default=None)


def expected(command: Beat) -> tuple[str, Beat]:
    """The output of a command, and its form."""
    kind = next(name for name, value in KINDS.items() if value == command["kind"])
    if kind in ("open", "listen", "setPolicies") and (reason := problem(command)):
        return "refused", {"request": command["request"], "reason": element("CloseReason", reason)}
    if kind == "setPolicies":
        names: tuple[str, ...] = ("startup", "steady", "startupArgument", "steadyArgument", "ssthresh", *STARTS)
        return "policies", {"flow": command["flow"], "begins": 0} | {
            name: command[f"parameters_{name}"] for name in names
        }
    if kind == "open":
        names = ("request", "remoteIp", "remotePort", "localPort", "vlan")
        return "opens", {name: command[name] for name in names} | parameters(command)
    if kind in ("listen", "unlisten"):
        port = {"port": command["localPort"], "remove": int(kind == "unlisten")}
        return "listens", {"request": command["request"], **port, **parameters(command)}
    if kind == "receive":
        return "requests", {"flow": command["flow"], "length": command["length"]}
    event = {"kind": element("EventKind", kind), "flow": command["flow"], "length": 0, "memoryError": 0, "urgent": 0}
    if kind == "setTimes":
        event["length"] = command["parameters_userTimeout"] << 16 | command["parameters_keepAlive"]
    return "events", event


@cocotb.test()
@cocotb.parametrize(stall=[0.0, 0.5])
async def random_commands_come_out_where_they_belong_in_order(dut: Any, stall: float) -> None:
    bench = Bench(dut, stall)
    await start(dut, framesBegun=0, framesReported=0, receiveIdle=1)
    kinds = [*(kind for kind in KINDS if kind != "start"), *UNKNOWN]  # a start waits for the engine
    commands = [bench.command(bench.random.choice(kinds)) for _ in range(2000)]
    await bench.commands.send(*commands)
    await until(dut, lambda: dut.idle.value == 1, "an idle port")
    await clocks(dut, 2)
    known = [expected(command) for command in commands if command["kind"] not in UNKNOWN]
    taken = [place for place, _ in known]
    assert all(taken.count(place) > 10 for place in bench.sinks)
    for name, sink in bench.sinks.items():
        assert sink.pending() == [beat for place, beat in known if place == name], name
    assert dut.unknown.value == len(commands) - len(known)


A_BITS, RATE_BITS = 24, 44
MIN_OF_BOTH = 1 << 104 | 1 << 88  # gamma and eps of the logistic window
# Arguments at their bounds and a step beyond: a and b of AIMD (16 fraction bits), A and K of the logistic window (10),
# segments and gap of a paced flight; bits where there is no argument.
LEGAL = {
    "aimd": [0, 1, (1 << A_BITS) - 1, (1 << A_BITS + 16) - 1],
    # K, A, eps, gamma
    "logistic": [0, MIN_OF_BOTH, MIN_OF_BOTH | 1, MIN_OF_BOTH | 1 << RATE_BITS | 1, 620 << 104 | (1 << 104) - 1],
    # fastdrop, full, factor, variance, history
    "carson": [0, 4 << 15 | 1 << 8 | 1 << 2, 32 << 15 | 100 << 8 | 0xFF],
    "paced": [0, 1, (1 << 16) - 1, (1 << 70) - 1],
    "pairs": [0, 1, (1 << 89) - 1],
    "hoe": [0, 1],
    "spm": [0, 1],
    "hstcp": [0, 1],
    "fast": [0, 1 << 16 | 2, 1 << 18 | 2 << 16 | (1 << 16) - 1],  # alpha, every, mi
    "vegas": [0, 1 << 8 | 1, (1 << 17) - 1],  # alpha, beta, round
    "vegasstart": [0, 1, (1 << 9) - 1],  # gamma, round
    "past": [0, 1],
    "astart": [0, 1, 3],  # bwe, slide
    "spmastart": [0, 1, 7],  # bwe, slide, inverted
    "westwood": [0, 1, 3],
    "miss": [1 << 72 | 1, (1 << 88) - 1],  # m, next, maxWindow
    "resume": [1 << 32 | 1 << 16 | 1, (1 << 68) - 1],  # saved, maxJump, rtt
}
ILLEGAL = {
    "aimd": [1 << A_BITS, 1 << A_BITS + 16, 1 << A_BITS + 16 | 1],  # a = 0; b = 1
    # eps or gamma = 0, gamma too large, A above K
    "logistic": [1, 1 << 104, 621 << 104 | 1 << 88, MIN_OF_BOTH | 1 << RATE_BITS, MIN_OF_BOTH | 2 << RATE_BITS | 1],
    "carson": [1, 4 << 15 | 1 << 8, 4 << 15 | 101 << 8 | 4, 3 << 15 | 1 << 8 | 4, 33 << 15 | 1 << 8 | 4, 1 << 21],
    "paced": [1 << 16, 1 << 68, 1 << 70],  # no segment
    "hoe": [2],
    "spm": [2],
    "hstcp": [2],
    "fast": [1 << 16 | 1, 2, 3 << 16 | 2, 1 << 19],
    "vegas": [3 << 8, 1 << 8 | 2, 1 << 17],
    "vegasstart": [1 << 8, 1 << 9],
    "past": [2],
    "astart": [4],
    "spmastart": [8],
    "westwood": [4],
    "miss": [0, 1, 1 << 72, 1 << 88],
    "resume": [0, 1 << 16 | 1, 1 << 32 | 1, 1 << 32 | 1 << 16, 1 << 68],
} | {
    name: [1]
    for name in ("reno", "cubic", "stcp", "bbr", "standard", "ssipp", "lbc", "hystart", "limited", "rapid", "search")
}


@cocotb.test()
@cocotb.parametrize(kind=["open", "listen", "setPolicies"])
async def arguments_are_legal_up_to_their_bounds_and_not_beyond(dut: Any, kind: str) -> None:
    """Numbers that are no policy's are refused as such, whatever the argument is."""
    bench = Bench(dut)
    await start(dut, framesBegun=0, framesReported=0, receiveIdle=1)
    nothing = {f"parameters_{family}{what}": 0 for family in POLICIES for what in ("", "Argument")}
    requested: list[str | None] = []
    for family, policies in POLICIES.items():
        assert policies.keys() <= LEGAL.keys() | ILLEGAL.keys(), "a policy whose bounds are not here"
        widths = {name: FIELDS[f"parameters_{family}{name}"]["width"] for name in ("", "Argument")}
        cases: list[tuple[int, int, str | None]] = []
        for name, policy in policies.items():
            cases += [(policy.number, word, None) for word in LEGAL.get(name, [0])]
            cases += [(policy.number, word, "policyArgument") for word in ILLEGAL.get(name, [])]
        absent = set(range(1 << widths[""])) - {policy.number for policy in policies.values()}
        cases += [(number, 0, "unknownPolicy") for number in sorted(absent)]
        for chosen, word, reason in cases:
            assert not word >> widths["Argument"], "this build cannot say that"
            choice = {f"parameters_{family}": chosen, f"parameters_{family}Argument": word}
            bench.commands.put(bench.command(kind, request=len(requested), **nothing | choice))
            requested.append(reason)
    await until(dut, lambda: dut.idle.value == 1 and bench.commands.idle, "an idle port", 10_000)
    await clocks(dut, 4)
    refused = {beat["request"]: beat["reason"] for beat in bench.sinks["refused"].pending()}
    assert refused == {place: element("CloseReason", reason) for place, reason in enumerate(requested) if reason}
    assert sum(bench.sinks[name].count for name in ("opens", "listens", "policies")) == requested.count(None)


@cocotb.test()
@cocotb.parametrize(kind=ENDS, first=[0, 255])
async def an_end_waits_until_the_engine_knows_of_every_frame_that_had_begun(dut: Any, kind: str, first: int) -> None:
    """And for none that begins later. The counts wrap."""
    bench = Bench(dut)
    await start(dut, framesBegun=(first + 3) % 256, framesReported=first, receiveIdle=1)
    bench.commands.put(bench.command(kind, flow=3), bench.command("receive"))
    await until(dut, lambda: bench.commands.sent == 1, "the command to be taken", 10)
    for known in (first, first + 1, first + 2):
        dut.framesReported.value = known % 256
        dut.framesBegun.value = (known + 9) % 256
        await clocks(dut, 30)
        assert dut.idle.value == 0
        assert bench.sinks["events"].count == 0 and bench.sinks["requests"].count == 0
    dut.framesReported.value = (first + 3) % 256
    await until(dut, lambda: dut.idle.value == 1, "an idle port", 20)
    await clocks(dut, 2)
    assert [beat["flow"] for beat in bench.sinks["events"].pending()] == [3]
    assert bench.sinks["requests"].count == 1


@cocotb.test()
async def a_frame_that_begins_with_the_command_is_behind_it(dut: Any) -> None:
    bench = Bench(dut)
    await start(dut, framesBegun=0, framesReported=0, receiveIdle=1)
    bench.commands.put(bench.command("close"))
    await until(dut, lambda: bench.commands.ports.valid.value == 1, "the command", 10)
    await RisingEdge(dut.clk)  # it is taken
    dut.framesBegun.value = 1
    await until(dut, lambda: bench.sinks["events"].count == 1, "the close", 20)


@cocotb.test()
async def the_frame_count_may_wrap_while_a_close_waits_for_reads(dut: Any) -> None:
    """The application takes its time over what it requested; others write 300 frames meanwhile."""
    bench = Bench(dut)
    await start(dut, framesBegun=1, framesReported=0, receiveIdle=0)
    bench.commands.put(bench.command("close"))
    for known in range(300):
        dut.framesReported.value = known % 256
        dut.framesBegun.value = (known + 2) % 256
        await clocks(dut, 2)
    assert bench.sinks["events"].count == 0
    dut.receiveIdle.value = 1
    await until(dut, lambda: bench.sinks["events"].count == 1, "the close", 20)


@cocotb.test()
@cocotb.parametrize(kind=ENDS)
async def an_end_waits_until_an_earlier_receive_is_done_but_for_a_shutdown(dut: Any, kind: str) -> None:
    """A shutdown is about what is sent. The buffer is busy a clock after it took the request."""
    bench = Bench(dut)
    bench.sinks["requests"].stall = 1
    await start(dut, framesBegun=0, framesReported=0, receiveIdle=1)
    bench.commands.put(bench.command("receive"), bench.command(kind))
    waits = kind != "shutdown"
    await clocks(dut, 30)
    assert bench.sinks["events"].count == (not waits)
    bench.sinks["requests"].stall = 0
    while bench.sinks["requests"].count == 0:
        await RisingEdge(dut.clk)
    dut.receiveIdle.value = 0
    await clocks(dut, 30)
    assert bench.sinks["events"].count == (not waits)
    dut.receiveIdle.value = 1
    await until(dut, lambda: bench.sinks["events"].count == 1, kind, 20)


@cocotb.test()
async def an_end_stays_behind_an_earlier_change_of_policies(dut: Any) -> None:
    bench = Bench(dut)
    bench.sinks["policies"].stall = 1
    await start(dut, framesBegun=0, framesReported=0, receiveIdle=1)
    legal = {f"parameters_{family}{tail}": 0 for family in POLICIES for tail in ("", "Argument")}
    bench.commands.put(bench.command("setPolicies", **legal), bench.command("abort"))
    await clocks(dut, 50)
    assert bench.sinks["events"].count == 0
    bench.sinks["policies"].stall = 0
    await until(dut, lambda: bench.sinks["events"].count == 1, "the abort", 20)
    assert bench.sinks["policies"].count == 1


@cocotb.test()
@cocotb.parametrize(accepted=[0, 1])
async def a_start_waits_for_earlier_frames_and_later_ones_for_its_answer(dut: Any, accepted: int) -> None:
    bench = Bench(dut)
    await start(dut, framesBegun=2, framesReported=0, receiveIdle=1, started_valid=0)
    legal = {f"parameters_{family}{tail}": 0 for family in POLICIES for tail in ("", "Argument")}
    bench.commands.put(bench.command("start", flow=5, request=7, **legal), bench.command("start", **legal))
    await until(dut, lambda: bench.commands.sent == 1, "the command to be taken", 10)
    dut.framesBegun.value = 4
    dut.framesReported.value = 1
    await clocks(dut, 30)
    assert bench.sinks["policies"].count == 0 and dut.holds.value == 0
    dut.framesReported.value = 2
    await until(dut, lambda: bench.sinks["policies"].count == 1, "the start", 20)
    await clocks(dut, 30)
    assert dut.holds.value == 1 and dut.idle.value == 0 and bench.sinks["policies"].count == 1
    beat = bench.sinks["policies"].pending()[0]
    assert (beat["flow"], beat["begins"]) == (5, 1)
    dut.started_valid.value = 1
    dut.started_payload_accepted.value = accepted
    await RisingEdge(dut.clk)
    dut.started_valid.value = 0
    await until(dut, lambda: dut.holds.value == 0, "the frames behind it", 10)
    dut.framesReported.value = 4
    await until(dut, lambda: bench.sinks["policies"].count == 2, "the next start", 30)
    refused = bench.sinks["refused"].pending()
    assert [(beat["request"], beat["reason"]) for beat in refused] == (
        [] if accepted else [(7, element("CloseReason", "inFlight"))]
    )
