# SPDX-License-Identifier: BSD-2-Clause-Patent
"""docs/reference/figures/league.md: what each start-up and each steady policy does on the same paths."""

from __future__ import annotations

from scripts.figures import text
from scripts.figures.kinds import LEAGUE
from scripts.figures.records import Records
from scripts.figures.text import Value

NOBODY = "nobody"
NS3 = "ns-3's CUBIC", "ns-3's BBR"
AS_QUICK = 1.0005  # times the quickest, as the page's four digits tell
BASE = "standard, reno"  # the one start-up shown before Reno: the others act there as before CUBIC


def page(records: Records) -> str:
    opening = (
        "Start-ups before CUBIC, steady policies behind the standard start, and ns-3's CUBIC and BBR on the same paths."
    )
    return text.page("League of starts", opening, [_choice(records), _league(records)])


def _choice(records: Records) -> str | None:
    entries = records.entries(LEAGUE)
    if not entries:
        return None
    league = entries[-1].figures
    rows: list[list[Value]] = []
    for path, seconds in league.seconds.items():
        keeps = league.cubic_keeps[path]
        minimum = keeps[NS3[0]] or 0
        ours = {name: time for name, time in seconds.items() if time is not None and name not in (NOBODY, *NS3)}
        fair = {name: time for name, time in ours.items() if (keeps[name] or 0) >= minimum}
        rows.append([path, *_quickest(ours), *_quickest(fair)])
    heads = ("path", "quickest", "s", "quickest that is fair", "s")
    shows = (
        "Which start-up and steady policy have 1 MB acknowledged first, alone; then which do so of those that leave a "
        "running CUBIC of ns-3's no less than a second one would."
    )
    return text.tabled("What to choose", entries, shows, heads, rows)


def _quickest(seconds: dict[str, float]) -> tuple[str, float | None]:
    if not seconds:
        return "-", None
    best = min(seconds.values())
    first, *others = (name for name, time in seconds.items() if time <= AS_QUICK * best)
    return f"{first} and {len(others)} more" if len(others) > 1 else "; ".join((first, *others)), best


def _league(records: Records) -> str | None:
    entries = records.entries(LEAGUE)
    if not entries:
        return None
    league = entries[-1].figures
    alike: dict[tuple[str, ...], list[str]] = {}  # by their figures as they are shown
    for name in next(iter(league.seconds.values())):
        if name == NOBODY or (name.endswith(", reno") and name != BASE):
            continue
        kept = [share for path in league.cubic_keeps.values() if (share := path[name]) is not None]
        mean = sum(kept) / len(kept) if kept else None
        figures = (*(path[name] for path in league.seconds.values()), mean)
        alike.setdefault(tuple(map(text.number, figures)), []).append(name)
    rows: list[list[Value]] = [["; ".join(names), *shown] for shown, names in alike.items()]
    heads = ("start-up, steady policy", *league.seconds, "CUBIC keeps")
    shows = (
        "Seconds until 1 MB is acknowledged, alone; a dash: not within 5.5 s. The last column: what a running CUBIC of "
        "ns-3's keeps in the 5 s beside it, as a share, the mean over the paths."
    )
    return text.tabled("Seconds to 1 MB", entries, shows, heads, rows)
