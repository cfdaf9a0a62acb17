# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Actions of a lane in which a socket has several descriptors, threads or processes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import socket
import sys
import threading
import time
import zlib
from typing import Any

from sw.tests.driver.fuzz import calls
from sw.tests.driver.fuzz.calls import call
from sw.tests.driver.fuzz.lane import LIMIT, LONG, SHORT, TRANSFER, Action, Lane
from sw.tests.driver.fuzz.single import CALLS, close, connect, send, shut

INTERRUPT = signal.SIGUSR1
BEGUN = 0.02  # seconds until a thread is in its call
CHILD_CALLS = 4


def duplicate(lane: Lane) -> object:
    slot = lane.pick()
    to = lane.place()
    lane.say(slot, to)
    outcome = call("dup", lane.slots[slot])
    if isinstance(outcome, int):
        lane.slots[to], lane.sent[to] = outcome, lane.sent[slot]
    return isinstance(outcome, int) or outcome


def replace(lane: Lane) -> object:
    """dup2 onto a descriptor that another socket may have."""
    slot, to = lane.pick(), lane.pick()
    lane.say(slot, to)
    if lane.slots[to] < 0:
        return None
    lane.unwatch(lane.slots[to])
    outcome = call("dup2", lane.slots[slot], lane.slots[to])
    if isinstance(outcome, int):
        lane.sent[to] = lane.sent[slot]
    return isinstance(outcome, int) or outcome


def hand_over(lane: Lane) -> object:
    """Through a local socket (SCM_RIGHTS); it is closed while it is on its way."""
    slot = lane.pick()
    lane.say(slot)
    if lane.slots[slot] < 0:
        return None
    here, there = socket.socketpair()
    with here, there:
        socket.send_fds(here, [b"!"], [lane.slots[slot]])
        lane.drop(slot)
        lane.slots[slot] = socket.recv_fds(there, 1, 1)[1][0]
    return True


def watch(lane: Lane) -> object:
    slot = lane.pick()
    events = lane.random.choice([select.EPOLLIN, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP])
    change = lane.random.choice([lane.epoll.register, lane.epoll.modify])
    lane.say(slot, change.__name__, events)
    try:
        change(lane.slots[slot], events)
    except OSError as error:
        return error.errno
    except ValueError:
        return "closed"
    return None


def wait_events(lane: Lane) -> object:
    slots = {each: slot for slot, each in enumerate(lane.slots)}
    expected, end = lane.expects(), time.monotonic() + LIMIT
    while True:
        seen = sorted([slots.get(each, -1), events] for each, events in lane.epoll.poll(0))
        if expected is None or seen == expected or time.monotonic() > end:
            return seen
        time.sleep(0.001)


def interrupted(lane: Lane) -> object:
    """A thread waits in a call. This one does another, and then interrupts the thread by a signal if it must."""
    accepts = lane.random.random() < 0.4
    slot = lane.pick() if accepts else lane.pick_connected()
    other = lane.random.choice([connect if accepts else send, shut, close, None])
    descriptor = lane.slots[slot]
    calls.set_option(descriptor, socket.SOL_SOCKET, socket.SO_RCVTIMEO, calls.seconds(0))
    found: list[Any] = []

    def waits() -> None:
        if accepts:
            outcome, _ = calls.accepted(descriptor, 0)
            if isinstance(outcome, int):
                call("close", outcome)
                outcome = "accepted"
            found.append(outcome)
        else:
            found.extend(calls.received("recv", descriptor, 500, 0))

    thread = threading.Thread(target=waits)
    thread.start()
    time.sleep(BEGUN)
    done = other(lane) if other and lane.slots[slot] == descriptor else None
    lane.say(slot, accepts, other.__name__ if other else "", *lane.said)
    expected = lane.expects()
    thread.join(BEGUN if expected is None or expected[0] == ["EINTR"] else LIMIT)
    while thread.is_alive():
        with contextlib.suppress(ProcessLookupError):
            signal.pthread_kill(thread.ident or 0, INTERRUPT)
        thread.join(0.01)
    for each in lane.slots:  # a copy of it, too
        calls.set_option(each, socket.SOL_SOCKET, socket.SO_RCVTIMEO, calls.seconds(SHORT))
    return [found, done]


def child(lane: Lane) -> object:
    """A forked child calls on, with the same sockets; the parent may close one of them meanwhile."""
    seed, dropped = lane.random.random(), lane.random.random() < 0.3
    slot = lane.pick()
    lane.say(seed, dropped, slot)
    expected = lane.expects()
    reads, writes = os.pipe()
    number = os.fork()
    if number == 0:
        _be_child(lane, seed, expected, writes)
    os.close(writes)
    if dropped:
        lane.drop(slot)
    with os.fdopen(reads, "rb") as reported:
        records = json.loads(reported.read() or b"null")
    return [records[0] if records else None, os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])]


def _be_child(lane: Lane, seed: float, expected: Any, writes: int) -> None:
    code = 1
    try:
        lane.random = random.Random(seed)
        wanted = expected[0] if expected is not None else None
        records = lane.run(CHILD_CALLS, wanted, CALLS)
        os.write(writes, json.dumps([records]).encode())
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)


def transfer(lane: Lane) -> object:
    """Many bytes, of which a thread sends and this one reads."""
    pairs = lane.pairs()
    if not pairs:
        return None
    one, other = lane.random.choice(pairs)
    how = lane.random.choice(calls.RECEIVES)
    data = lane.random.randbytes(TRANSFER)
    lane.say(one, other, how)
    sender = threading.Thread(target=_send_all, args=(lane.slots[one], data))
    sender.start()
    equal, count, end = True, 0, time.monotonic() + LONG
    while count < TRANSFER and time.monotonic() < end:
        outcome, *crc = calls.received(how, lane.slots[other], 1000, 0)
        if outcome == "EAGAIN":
            continue
        if isinstance(outcome, str) or outcome == 0:
            return [count, outcome]
        equal &= crc == [zlib.crc32(data[count : count + outcome])]
        count += outcome
    sender.join()
    return [count, equal]


def _send_all(descriptor: int, data: bytes) -> None:
    while data:
        outcome = calls.sent("send", descriptor, data, socket.MSG_NOSIGNAL)
        if isinstance(outcome, str) and outcome != "EAGAIN":
            return
        data = data[outcome:] if isinstance(outcome, int) else data


THREADS: dict[str, tuple[int, Action]] = CALLS | {
    "dup": (2, duplicate), "SCM_RIGHTS": (1, hand_over), "epoll_ctl": (4, watch), "epoll_wait": (3, wait_events),
    "interrupted": (2, interrupted), "transfer": (4, transfer),
}  # fmt: skip
PROCESSES: dict[str, tuple[int, Action]] = THREADS | {"fork": (4, child), "dup2": (2, replace)}
