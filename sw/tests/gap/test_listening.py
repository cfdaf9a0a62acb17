# SPDX-License-Identifier: BSD-2-Clause-Patent
"""When a listener takes the wire for silent."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from downbeat_toe.gap import listening


def test_frames_that_came_while_the_listener_was_held_up_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waiting = [0.0], [b"first", b"second"]

    def arrival(*_: Any) -> tuple[bytes, int]:
        if not waiting:
            clock[0] += listening.POLL
            raise TimeoutError
        clock[0] += 1.0  # the process stands still after each frame
        return waiting.pop(0), 1

    monkeypatch.setattr(listening, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    raw = SimpleNamespace(settimeout=lambda _: None)
    stamping = SimpleNamespace(receiver=lambda *_: nullcontext(raw), arrival=arrival, dropped=lambda _: 0)
    monkeypatch.setattr(listening, "stamping", stamping)
    frames = SimpleNamespace(find=lambda *_: True, select=lambda _, packets: packets)
    monkeypatch.setattr(listening, "frames", frames)
    heard: Any = listening.listen("x", "a clock", "probe", lambda _, silence: silence > 0.5)  # type: ignore[arg-type]
    assert len(heard.frames) == 2
