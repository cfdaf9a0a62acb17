# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Random operations, good and hostile, on the library and on the golden model: each answer must be the same.

`python -m sw.tests.estimator.random_operations SEED COUNT` runs them alone.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, ip_address

from downbeat_toe.estimator.binding import Address, Estimator, Options, Report, Request, Start
from downbeat_toe.estimator.structures import Cause, Method
from downbeat_toe.structures import Phase

from sw.tests.estimator.model import Model

SMALL = {"prefixes": 6, "connections": 24, "endpoints": 3, "initial_window": 2, "maximum_window": 4000}
STEPS = (0, 1, 10**3, 10**6, 10**8, 10**9, 3 * 10**9, 2 * 10**10)  # ns between operations
LIKELY = (2, 1, 1, 3, 6, 3, 1, 0.1)
ABSURD = (0, 1, 255, 256, 65_535, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, (1 << 64) - 1)
WIDTHS = {"cwnd": 32, "ssthresh": 32, "loss_window": 32, "segment_size": 16}
BYTES = ("phase", "losses", "restarts", "retreats", "loss_in_avoidance", "growth")


class Play:
    """One library and one model, and what a driver would know of its connections."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        draw = self.draw.choice
        changed = SMALL | {"cap_to_known": draw((0, 1)), "miss_weight": draw((1, 2)), "spand_shift": draw((0, 1))}
        changed |= {"spand_lower_bound": draw((0, 1)), "spand_reports": draw((1, 3)), "prefix_bits": draw((16, 24, 32))}
        self.changed = changed
        self.library = Estimator(Options(changed=changed))
        self.model = Model(**changed)
        self.refused: Counter[Cause] = Counter()
        self.restarts: Counter[bool] = Counter()  # with and without something saved
        self.now = draw((0, 10**9, 10**18))
        self.last: dict[int, Report] = {}
        self.answers: Counter[tuple[Method, bool]] = Counter()
        self.retreats = 0  # those of connections whose endpoint has saved parameters

    def address(self) -> Address:
        draw = self.draw
        if draw.random() < 0.02:
            return ip_address(
                draw.choice(("0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "::", "::1", "ff02::1"))
            )
        if draw.random() < 0.2:
            return IPv6Address((0x20010DB8 << 96) + (draw.randrange(3) << 64) + draw.randrange(3))
        return IPv4Address((10 << 24) + (draw.randrange(2) << 16) + (draw.randrange(2) << 8) + draw.randrange(3))

    def name(self) -> int:
        return self.draw.choice([*self.last, self.draw.randrange(40)])

    def step(self) -> None:
        self.now += self.draw.choices(STEPS, LIKELY)[0]
        kinds = (self.open, self.report, self.close, self.transfer, self.request, self.restart)
        self.draw.choices(kinds, (2, 10, 1, 1, 6, 0.05))[0]()

    def restart(self) -> None:
        """Another process loads what this one has saved, with a clock of its own."""
        self.count()
        self.model.known.now = max(self.model.known.now, self.now)
        head, *lines = self.library.save(self.now).splitlines()
        wanted = self.model.saved()
        same((head, sorted(lines)), ("downbeat-estimator 1", sorted(wanted)))
        resumes = [line for line in lines if line.startswith("resume")]
        same(resumes, [line for line in wanted if line.startswith("resume")])
        elapsed = self.draw.choice((0, 1, 10**9, 10**10, 10**10 + 1, 10**11, 29 * 10**10, 4 * 10**12))
        self.now = self.draw.choice((self.now + elapsed, self.now + elapsed, 0, 10**10, 10**12))
        self.model = self.model.restarted(
            self.now, elapsed, [line.split()[1] for line in lines if line.startswith("spand")]
        )
        text = "".join(f"{line}\n" for line in (head, *lines))
        self.library = Estimator(Options(changed=self.changed))
        same(self.library.load(self.now, text, elapsed), Cause.NONE)
        self.last.clear()
        self.restarts[bool(lines)] += 1

    def count(self) -> None:
        """Refusals so far."""
        for cause in Cause:
            same((cause, self.library.refused(cause)), (cause, self.model.refused[cause]))
        self.refused.update(self.model.refused)

    def open(self) -> None:
        name, remote = self.draw.randrange(40), self.address()
        cause = same(self.library.open(self.now, name, remote), self.model.open(self.now, name, remote))
        if cause is Cause.NONE:
            self.last[name] = Report(self.now, name, remote, cwnd=2920)

    def close(self) -> None:
        name = self.name()
        same(self.library.close(self.now, name), self.model.close(self.now, name))
        self.last.pop(name, None)

    def transfer(self) -> None:
        draw = self.draw
        window, rtt = (
            draw.choice((0, 256, draw.randrange(1, 40 << 8), 1 << 40)),
            draw.choice((0, 10**7, 10**9, 1 << 50)),
        )
        segments = draw.choice((0, 100, draw.randrange(1, 1000), 1 << 40))
        values = (self.now, self.address(), window, rtt, segments, draw.choice((0, segments // 2, segments + 1)))
        final = draw.random() < 0.5
        same(self.library.transfer(*values, final), self.model.transfer(*values, final))

    def report(self) -> None:
        if not self.last:
            return
        report = self._next(self.draw.choice(list(self.last.values())))
        if good := self.draw.random() > 0.15:
            now = self.now
        else:
            report, now = self._spoilt(report), max(0, self.now - self.draw.choice((0, 0, 5, 10**9)))
        cause = same(self.library.report(report, now), self.model.report(report, now))
        if good or cause is Cause.NONE:
            self.last[report.connection] = report if cause is Cause.NONE else self.last[report.connection]

    def _next(self, before: Report) -> Report:
        """What the connection's state may be a while later."""
        draw, size = self.draw, self.draw.choice((536, 1460, 1460, 8960))
        time = max(before.time, self.now - draw.choice((0, 0, 10**6, 10**10)))
        acked, window = draw.choice((0, size, 20 * size, 400 * size)), draw.choice((1, 3, 20, 100, 3000)) * size
        after = replace(before, time=time, cwnd=window, ssthresh=draw.choice((2, 10, 60)) * size, segment_size=size)
        after = replace(after, phase=draw.choice((Phase.STARTUP, Phase.AVOIDANCE, Phase.AVOIDANCE, Phase.RECOVERY)))
        after = replace(after, acked=before.acked + acked, acks=before.acks + -(-acked // (2 * size)))
        rtt = draw.choice((0, 10**6, 5 * 10**7, 3 * 10**8))
        after = replace(after, smoothed_rtt=rtt, smallest_rtt=draw.choice((0, rtt, rtt // 2)))
        after = replace(after, growth=draw.randrange(16))
        after = replace(after, average_window=draw.choice((0, 0, window << 16, 12345678)))
        if draw.random() < 0.2:
            losses = (before.losses + draw.choice((1, 1, 1, 2, 20))) % 256
            after = replace(after, loss_window=draw.choice((1, 10, 50)) * size, loss_in_avoidance=draw.choice((0, 1)))
            after = replace(after, losses=losses, loss_time=draw.randint(before.time, time))
        if draw.random() < 0.1:
            after = replace(after, restarts=(before.restarts + 1) % 256)
        if draw.random() < 0.12:
            # At times beside a loss, which ends a jump too, and at times the count comes round.
            retreats = (before.retreats + draw.choice((1, 1, 3, 255))) % 256
            after = replace(after, retreats=retreats)
            self.retreats += before.remote in self.model.known.saved
        return after

    def _spoilt(self, report: Report) -> Report:
        """The same with an absurd member."""
        draw = self.draw
        name = draw.choice([*WIDTHS, *BYTES, "time", "connection", "remote", "acked", "acks", "average_window"])
        name = draw.choice((name, name, "loss_time", "smoothed_rtt", "smallest_rtt"))
        width = 8 if name in BYTES else WIDTHS.get(name, 64)
        value = self.address() if name == "remote" else draw.choice([each for each in ABSURD if each < 1 << width])
        return replace(report, **{name: value})  # type: ignore[arg-type]

    def request(self) -> None:
        draw, asker = self.draw, self.last.get(self.name()) if self.draw.random() < 0.5 else None
        remote = asker.remote if asker and draw.random() < 0.9 else self.address()
        request = Request(
            remote,
            draw.choice(list(Method)),
            draw.choice((0, 1, 10_000, 100_000, 10**9, (1 << 64) - 1)),
            draw.choice((0, 1, 10**7, 10**9)) if draw.random() < 0.98 else 10**12,
            asker.connection if asker else draw.choice((0, 0, 39)),
            draw.choice((64, 536, 1460, 65_535)) if draw.random() < 0.95 else draw.choice((0, 63)),
        )
        take = draw.random() < 0.5
        found = (self.library.take if take else self.library.request)(self.now, request)
        wanted = self.model.request(self.now, request, take)
        same(found[0], wanted[0])
        same(silent(found[1]), silent(wanted[1]))
        self.answers[request.method, found[1].known] += 1
        assert found[1].reason


def silent(start: Start) -> Start:
    """Without its words."""
    return replace(start, reason="")


def same(found: object, wanted: object) -> object:
    assert found == wanted, f"the library has {found}, the model {wanted}"
    return found


def run(seed: int, count: int) -> Play:
    """Raises AssertionError at the first difference."""
    play = Play(seed)
    for number in range(count):
        try:
            play.step()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, operation {number}: {error}") from None
    play.count()
    return play


if __name__ == "__main__":
    seed, count = map(int, sys.argv[1:3])
    refused = run(seed, count).refused
    print(f"{count} operations equal; refused: " + ", ".join(f"{cause.name} {n}" for cause, n in refused.items() if n))
