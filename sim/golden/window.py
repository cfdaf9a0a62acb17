# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The congestion stage's own rules around a connection's two policies.

Below ssthresh the start-up policy grows the window, from ssthresh on the steady policy, which also says what ssthresh a
loss leaves. What lies between loss and recovery is RFC 6582's (3.2), with cwnd = ssthresh + 3 SMSS as it begins; or RFC
6675's, with cwnd = ssthresh, when SACK tells what has left the network. A steady policy may leave ssthresh above cwnd;
then the window stays in place of rising to ssthresh. A timeout in it leaves ssthresh as the loss had set
it, or lower: what is outstanding then is more than the window that the loss was seen with. After every event the
envelope holds:

    2 SMSS <= ssthresh <= 1 GiB,  SMSS <= cwnd <= 1 GiB

Both policies see every event and both states are kept; the windows of one of them count.
When an application changes them, they see `established` and the windows stay.

While less than cwnd is in flight the growth of cwnd is bounded by the largest flight, unless the connection goes
without that. After a reduction that was spurious cwnd, ssthresh and the steady policy's state are what they were. A
steady policy that models the path goes without both: it keeps its state, after idleness its window too, and its
responses count after a loss too. There is none to take back after a handshake that timed out, or after a change of
policies.

A host may give a connection its first window: it counts with `established`, in place of the start-up policy's. A host's
start that is too old makes the start-up policy `standard` and ssthresh the largest.

A connection has one long calculation under way at most. Whether the core took a request depends on the module before
its unit, so the record says that; the response, and whether a loss has made it stale, is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sim.golden.congestion.seam import (
    FRACTION_BITS,
    MAXIMUM_WINDOW,
    Calculated,
    CongestionEvent,
    Kind,
    Policy,
    PolicyResult,
    Window,
    calculator_of,
    of_bytes,
)
from sim.golden.congestion.startup import standard


@dataclass(frozen=True)
class HostStart:
    """The part of a host's start that counts with one event."""

    window: int = 0  # segments; 0: none
    expired: bool = False


NO_START = HostStart()


@dataclass
class CongestionState:
    """One connection's windows and private words; `see` takes it through one event."""

    startup: Policy
    steady: Policy
    window: Window = field(default_factory=lambda: Window(0, 0))
    startup_policy_state: int = 0
    steady_policy_state: int = 0
    growth_limited: bool = False  # a window that is not used is bounded
    _maximum_flight: int = 0  # maxFS, bytes
    _prior: tuple[Window, int] | None = None  # before the last reduction: windows, the steady policy's state
    _keeps: bool = False
    _under_way: Calculated | None = None
    _units: dict[str, Callable[[int], int]] = field(default_factory=dict)

    def change(
        self,
        startup: Policy,
        steady: Policy,
        startup_policy_state: int,
        steady_policy_state: int,
        *,
        begins: bool = False,
    ) -> None:
        """The application has chosen; the next event is the one that says so. With `begins` its windows count."""
        self.startup, self.steady = startup, steady
        self.startup_policy_state, self.steady_policy_state = startup_policy_state, steady_policy_state
        self._keeps = not begins
        self._prior = None

    def drop_response(self) -> None:
        """Discards the response to a policy that was replaced after its request."""
        self._under_way = None

    def see(self, event: CongestionEvent, requested: bool = False, host: HostStart = NO_START) -> Window:
        """`requested`: the core took a request with this event."""
        if host.expired:
            self.startup = standard.POLICY
        event = replace(
            event,
            starting_up=self.window.cwnd < self.window.ssthresh,
            calculating=self._under_way is not None,
            calculated=self._under_way if event.kind is Kind.CALCULATED else None,
        )
        if event.kind is Kind.CALCULATED and event.calculated is None:
            raise ValueError("a response came without a request")
        if event.kind is Kind.UNDONE and self._prior is None:
            raise ValueError("a reduction is taken back, but these policies saw none")
        before, steady_before = self.window, self.steady_policy_state
        startup = self.startup.respond(event, self.window, self.startup_policy_state)
        steady = self.steady.respond(event, self.window, self.steady_policy_state)
        models = bool(getattr(self.steady, "models_path", False))
        self.startup_policy_state, self.steady_policy_state = startup.policy_state, steady.policy_state
        self._follow(event, self._request(startup, steady) if requested else None)
        chosen = self.window if self._keeps else self._chosen(event, startup, steady.window, models)
        self._keeps = False
        if event.kind is Kind.UNDONE and self._prior is not None and not models:
            self.steady_policy_state = self._prior[1]
        if host.window:
            chosen = replace(chosen, cwnd=of_bytes(host.window * event.segment_size))
        jumps = chosen.cwnd > 2 * before.cwnd  # the policy knows the path from elsewhere
        after = _envelope(chosen, event.segment_size)
        limited = self._limited(event, before, after, models)
        self.window = after if jumps else limited
        if event.kind in (Kind.LOSS, Kind.TIMEOUT):
            self._prior = Window(_whole(before.cwnd), _whole(before.ssthresh)), steady_before
        return self.window

    def _limited(self, event: CongestionEvent, before: Window, after: Window, models: bool) -> Window:
        """draft-ietf-ccwg-ratelimited-increase-11 3: while less than cwnd is in flight, cwnd does not grow beyond what
        a round trip makes of the largest flight since the last reduction."""
        largest = max(self._maximum_flight, event.flight)
        match event.kind:
            case Kind.LOSS | Kind.TIMEOUT | Kind.TIMEOUT_AGAIN:
                self._maximum_flight = 0
            case Kind.ESTABLISHED | Kind.RESTART:
                self._maximum_flight = after.cwnd >> FRACTION_BITS
            case Kind.UNDONE if self._prior is not None:
                self._maximum_flight = self._prior[0].cwnd >> FRACTION_BITS
            case _:
                self._maximum_flight = largest
        grows = event.kind in (Kind.ACKNOWLEDGED, Kind.PAIRED, Kind.CALCULATED, Kind.ESTIMATED, Kind.MEASURED)
        if not self.growth_limited or not grows or event.flight >= before.cwnd >> FRACTION_BITS:
            return after
        of_startup = event.kind is Kind.ESTIMATED or (
            event.calculated.of_startup
            if event.calculated is not None
            else event.starting_up and event.kind is not Kind.MEASURED
        )
        if models and not of_startup:
            return after
        limit = 2 * largest if of_startup else largest + max(event.segment_size, largest // 2)
        if limit >= MAXIMUM_WINDOW:
            return after
        return replace(after, cwnd=min(after.cwnd, max(before.cwnd, of_bytes(limit))))

    def _request(self, startup: PolicyResult, steady: PolicyResult) -> Calculated:
        for policy, result in ((self.startup, startup), (self.steady, steady)):
            calculator = calculator_of(policy)
            if result.calculation is not None and calculator is not None:
                unit = self._units.setdefault(calculator.name, calculator.unit())
                return Calculated(
                    unit(result.calculation.request), result.calculation.note, of_startup=policy is self.startup
                )
        raise ValueError("the core made a request, the golden models do not")

    def _follow(self, event: CongestionEvent, requested: Calculated | None) -> None:
        if requested is not None and (self._under_way is not None or event.kind is Kind.CALCULATED):
            raise ValueError("the core made a second request")
        if requested is not None or event.kind is Kind.CALCULATED:
            self._under_way = requested
        elif self._under_way is not None and event.kind in (Kind.LOSS, Kind.TIMEOUT, Kind.TIMEOUT_AGAIN):
            self._under_way = replace(self._under_way, stale=True)

    def _chosen(self, event: CongestionEvent, result: PolicyResult, steady: Window, models: bool) -> Window:
        startup = result.window
        cwnd, ssthresh = self.window.cwnd, self.window.ssthresh
        segment = of_bytes(event.segment_size)
        match event.kind:
            case Kind.RESTART if models:
                return steady
            case Kind.ESTABLISHED | Kind.RESTART | Kind.ESTIMATED:
                return startup
            case Kind.MEASURED:
                return steady
            case Kind.ACKNOWLEDGED | Kind.PAIRED:
                return startup if event.starting_up else steady
            case Kind.LOSS:
                ssthresh = steady.ssthresh if result.bound is None else min(steady.ssthresh, of_bytes(result.bound))
                return Window(min(cwnd, ssthresh) + (0 if event.uninflated else 3 * segment), ssthresh)
            case Kind.TIMEOUT:
                return Window(segment, steady.ssthresh if event.uninflated else min(ssthresh, steady.ssthresh))
            case Kind.TIMEOUT_AGAIN:
                return Window(segment, ssthresh)
            case Kind.DUPLICATE:
                return Window(cwnd + segment, ssthresh)
            case Kind.PARTIAL:
                return Window(_deflated(cwnd, event), ssthresh)
            case Kind.RECOVERED:
                left = max(event.flight - event.acked_bytes, event.segment_size)
                return Window(min(ssthresh, of_bytes(left) + segment), ssthresh)
            case Kind.CALCULATED if event.calculated is not None:
                if event.calculated.of_startup:
                    return self.window if event.calculated.stale else startup
                return steady if models or not event.calculated.stale else self.window
            case Kind.UNDONE if self._prior is not None:
                prior = self._prior[0]
                return Window(max(cwnd, prior.cwnd), prior.ssthresh)
            case Kind.NONE | Kind.SENT | Kind.CALCULATED | Kind.UNDONE:
                return self.window


def _deflated(cwnd: int, event: CongestionEvent) -> int:
    """RFC 6582 3.2 step 3: less what was acknowledged, one segment more if that was a segment at least."""
    deflated = max(cwnd - of_bytes(event.acked_bytes), 0)
    return deflated + (of_bytes(event.segment_size) if event.acked_bytes >= event.segment_size else 0)


def _whole(window: int) -> int:
    """Without fraction."""
    return of_bytes(window >> FRACTION_BITS)


def _envelope(window: Window, segment_size: int) -> Window:
    ceiling = of_bytes(MAXIMUM_WINDOW)
    return Window(
        cwnd=min(max(window.cwnd, of_bytes(segment_size)), ceiling),
        ssthresh=min(max(window.ssthresh, of_bytes(2 * segment_size)), ceiling),
    )
