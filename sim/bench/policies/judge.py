# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Each event of each connection through the golden models as it comes, and what differs."""

from __future__ import annotations

import ctypes
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from downbeat_toe.policies import Policy
from downbeat_toe.structures import Event

from sim.bench.policies.situations import Key, Situations, Watched
from sim.golden.congestion.seam import MAXIMUM_WINDOW, Window, of_bytes
from sim.golden.replay import DELIVERY, replay

Policies = Mapping[str, Mapping[str, Policy]]  # by family and name
Reference = tuple[int, int]  # flow, generation
Row = dict[str, str | int]


@dataclass(frozen=True)
class Choice:
    """The policies and arguments that a connection is opened with, or changed to."""

    startup: Policy
    steady: Policy
    arguments: tuple[int, int]

    @property
    def policies(self) -> tuple[Key, Key]:
        return (self.startup.family, self.startup.name), (self.steady.family, self.steady.name)

    @property
    def parameters(self) -> dict[str, object]:
        """For the device."""
        return {
            "startup": self.startup.name.encode(),
            "steady": self.steady.name.encode(),
            "startup_argument": _words(self.arguments[0]),
            "steady_argument": _words(self.arguments[1]),
        }


@dataclass
class Tally:
    """The comparison of one policy."""

    events: int = 0
    mismatches: int = 0
    first: str = ""


class Followed:
    """One connection's golden models, a row at a time."""

    def __init__(self, choice: Choice) -> None:
        self.choices = deque([choice])
        self.begun = False  # before that windows mean nothing
        self.wrong = False
        self.watched = Watched()
        self.window = Window(0, 0)  # after the last event
        self._rows: deque[Row] = deque()
        self._windows: Iterator[Window] = replay(self._feed(), *choice.arguments)

    @property
    def policies(self) -> tuple[Key, Key]:
        return self.choices[0].policies

    def after(self, row: Row) -> Window:
        self._rows.append(row)
        return next(self._windows)

    def _feed(self) -> Iterator[Row]:
        while True:
            yield self._rows.popleft()


@dataclass
class Judge:
    library: ctypes.CDLL
    policies: Policies
    tallies: dict[Key, Tally] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    situations: Situations = field(default_factory=Situations)

    def __post_init__(self) -> None:
        self.tallies = {(family, name): Tally() for family, names in self.policies.items() for name in names}
        self._followed: dict[Reference, Followed] = {}
        self._early: defaultdict[Reference, list[Event]] = defaultdict(list)  # before the application knew
        self._texts: dict[tuple[str, int], str] = {}

    def fewest(self) -> int:
        return min(tally.events for tally in self.tallies.values())

    def opened(self, reference: Reference, choice: Choice) -> None:
        self._followed[reference] = Followed(choice)
        self.hears(self._early.pop(reference, []))

    def changed(self, reference: Reference, choice: Choice) -> None:
        self._followed[reference].choices.append(choice)

    def befell(self, reference: Reference, situation: str) -> None:
        """On the path of a connection."""
        if reference in self._followed:
            self.situations.happened(self._followed[reference].policies, situation)

    def hears(self, events: Iterable[Event]) -> None:
        for event in filter(lambda event: event.live, events):
            reference = (event.flow, event.generation)
            if self._text("event", event.kind) == "open" and self._begun(reference):
                del self._followed[reference]  # the generations have come round
            followed = self._followed.get(reference)
            if followed is None:
                self._early[reference].append(event)
            elif not followed.wrong:
                self._compare(event, followed)

    def _begun(self, reference: Reference) -> bool:
        return reference in self._followed and self._followed[reference].begun

    def _compare(self, event: Event, followed: Followed) -> None:
        row = self._row(event)
        kind, name = str(row["kind"]), str(row["event"])
        followed.begun = followed.begun or (kind == "established" and name != "setPolicies")
        if not followed.begun:
            return
        for situation in followed.watched.after(event, kind, name):
            self.situations.happened(followed.policies, situation)
        if name == "setPolicies":
            if len(followed.choices) > 1:
                followed.choices.popleft()
            row["startup_argument"], row["steady_argument"] = followed.choices[0].arguments
        self.kinds["changed" if name == "setPolicies" else kind] += 1
        core, before = Window(event.cwnd, event.ssthresh), followed.window
        followed.window = core
        try:
            expected = followed.after(row)
            difference = "" if core == expected else f"  expected  {_bytes(expected)}\n  got       {_bytes(core)}"
            if not _within_bounds(core, event.segment_size):
                difference += f"  got       {_bytes(core)}: below its least or above its limit"
        except ValueError as error:  # a request of the core that the models refuse
            difference = f"  expected  {error}\n  got       {_bytes(core)}"
        for key in followed.policies:
            tally = self.tallies[key]
            tally.events += 1
            if difference:
                tally.mismatches += 1
                state = f"{_bytes(before)}, given {_given(followed.choices[0])}"
                tally.first = tally.first or f"  event     {row}\n  state     {state}\n{difference}"
        followed.wrong = bool(difference)  # later responses differ too

    def _row(self, event: Event) -> Row:
        """As golden.replay takes it."""
        probe = ""
        if event.probe_answered:
            probe = "begins" if event.probe_begins else "disturbed" if event.probe_disturbed else "whole"
        return {
            "event": self._text("event", event.kind),
            "time": event.time,
            "kind": self._text("congestion", event.congestion_kind),
            "requested": event.requested,
            "estimates": event.estimates,
            "growth_limited": event.growth_limited,
            "rtt_full": event.rtt_full,
            "rtt_first": event.rtt_first,
            "arrival": event.arrival,
            "repeated": event.repeated,
            "bwe": event.bwe,
            "ere": event.ere,
            "sliding": event.sliding,
            **{name: getattr(event, name) if event.delivery_valid else "" for name in DELIVERY},
            "inline_updated": event.inline_updated,
            "inline_opens": event.inline_opens,
            "inline_forgets": event.inline_forgets,
            "inline_completes": event.inline_completes,
            "inline_missed": event.inline_missed,
            "capacity": event.capacity,
            "available": event.available,
            "uninflated": event.uninflated,
            "recovering": event.recovering,
            "acked": event.acked,
            "flight": event.flight,
            "mss": event.segment_size,
            "rtt": event.rtt if event.rtt_valid else "",
            "initial_window": event.initial_window,
            "initial_ssthresh": event.initial_ssthresh,
            "startup": self._text("startup", event.startup),
            "steady": self._text("steady", event.steady),
            "sent_probe": event.sent_probe,
            "sent_ahead": event.sent_ahead,
            "probe": probe,
            "departure_gap": event.departure_gap,
            "arrival_gap": event.arrival_gap,
            "probe_round_trip": event.probe_round_trip,
        }

    def _text(self, what: str, number: int) -> str:
        if (what, number) not in self._texts:
            self._texts[what, number] = getattr(self.library, f"downbeat_sim_{what}_text")(number).decode()
        return self._texts[what, number]


def _within_bounds(window: Window, segment_size: int) -> bool:
    """One segment and two at least, 1 GiB at most; no model has a say in that."""
    limit = of_bytes(MAXIMUM_WINDOW)
    return of_bytes(segment_size) <= window.cwnd <= limit and of_bytes(2 * segment_size) <= window.ssthresh <= limit


def _bytes(window: Window) -> str:
    return f"cwnd {window.cwnd / 65536:.10g}, ssthresh {window.ssthresh / 65536:.10g} bytes"


def _given(choice: Choice) -> str:
    return f"{choice.startup.name} {choice.arguments[0]:#x}, {choice.steady.name} {choice.arguments[1]:#x}"


def _words(argument: int) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * 2)(argument & (1 << 64) - 1, argument >> 64)
