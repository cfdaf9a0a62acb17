# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How two hosts share what they know: not at all, as one host, by one gateway, or by a gateway each and Redis."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from downbeat_toe.gateway import keys
from downbeat_toe.gateway.process import Site, program

from sw.tests.gateway import redis_server

ALONE, OWN, GATEWAY, REDIS = "nothing", "one host", "one gateway", "two gateways over Redis"
LIBRARY = "libdownbeat_site.so"
# A simulated second may take many real ones, and reports come as fast as the simulation runs.
SETTINGS = "[limits]\nmessages_per_second = 1000000\nmessage_burst = 1000000\ndelay_ms = 300000\n"


def ways() -> list[str]:
    """Those that this machine has; OWN first, which the others are compared with."""
    return [OWN, ALONE, GATEWAY, *([REDIS] if redis_server.program() else [])]


@contextmanager
def sites(way: str) -> Iterator[list[str]]:
    """The lines of a plan for its two cores, with fresh gateways that live as long as the block."""
    with ExitStack() as stack:
        gateways: list[Site] = []
        if way == GATEWAY:
            gateways = [stack.enter_context(Site(settings=SETTINGS))] * 2
        elif way == REDIS:
            redis = redis_server.Redis(Path(stack.enter_context(tempfile.TemporaryDirectory())))
            stack.callback(redis.kill)
            redis.start()
            store = f"redis://127.0.0.1:{redis.port}"
            first = stack.enter_context(Site(settings=SETTINGS, store=store))
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            shutil.copy(first.keys, home / "keys")
            gateways = [first, stack.enter_context(Site(settings=SETTINGS, store=store, home=home))]
        library = program(LIBRARY)
        if way == OWN:
            yield []
        elif way == ALONE:
            yield [f"site library={library}"] * 2
        else:
            yield [
                f"site library={library} uri={each.uri} key={keys.issue(each.keys, number).replace(' ', ',')}"
                for number, each in enumerate(gateways, 1)
            ]
