# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Actions of a lane that are one call, or few, of one thread."""

from __future__ import annotations

import os
import select
import socket

from sw.tests.driver.fuzz import calls, options
from sw.tests.driver.fuzz.calls import call
from sw.tests.driver.fuzz.lane import BACKLOG, BUDGET, CLIENTS, LONG, SHORT, Action, Lane

NEW = [select.POLLOUT | select.POLLHUP, 0, 0]  # a socket before connect and listen, as polled


def make(lane: Lane) -> object:
    slot = lane.place()
    family = lane.random.choice([socket.AF_INET] * 4 + [socket.AF_INET6])
    flags = lane.random.choice([0, 0, socket.SOCK_NONBLOCK])
    lane.say(slot, int(family), flags)
    outcome = call("socket", int(family), socket.SOCK_STREAM | flags, 0)
    if isinstance(outcome, int):
        lane.slots[slot], lane.sent[slot] = outcome, 0
        lane.dress(outcome)
    return isinstance(outcome, int)


def bind(lane: Lane) -> object:
    slot, port = lane.pick(), lane.random.choice([*lane.ports, 0])
    ip = lane.random.choice([lane.address] * 5 + ["0.0.0.0"])
    lane.say(slot, lane.labels[port], ip == lane.address)
    name = calls.encoded(lane.family(slot), ip, port)
    return call("bind", lane.slots[slot], name, len(name))


def listen(lane: Lane) -> object:
    slot = lane.pick()
    lane.say(slot)
    return call("listen", lane.slots[slot], BACKLOG)


def connect(lane: Lane) -> object:
    slot, port = lane.pick(), lane.random.choice(lane.ports)
    heard = [calls.named("getsockname", lane.slots[each]) for each in lane.listening()]
    if heard and lane.random.random() < 0.7:
        name = lane.random.choice(heard)
        port = name[1] if isinstance(name, tuple) and name[1] in lane.ports else port
    own = calls.named("getsockname", lane.slots[slot])
    lane.say(slot, lane.labels[port])
    if sum(lane.clients) >= CLIENTS or (isinstance(own, tuple) and own[1] in lane.ports):
        return None  # TCP connects a port to itself; the core does not
    target = calls.encoded(lane.family(slot), lane.peer, port)
    outcome = call("connect", lane.slots[slot], target, len(target))
    lane.clients[slot] |= outcome in (0, "EINPROGRESS")
    return outcome


def unconnect(lane: Lane) -> object:
    slot = lane.pick()
    lane.say(slot)
    lane.clients[slot] = False
    return call("connect", lane.slots[slot], bytes(16), 16)


def accept(lane: Lane) -> object:
    slot, flags = lane.pick(), lane.random.choice([0, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC])
    if (listening := lane.listening()) and lane.random.random() < 0.8:
        slot = lane.random.choice(listening)
    lane.say(slot, flags)
    outcome, name = calls.accepted(lane.slots[slot], flags)
    if isinstance(outcome, str):
        return outcome
    to = lane.place()
    lane.slots[to], lane.sent[to] = outcome, 0
    return [to, lane.label(name), bool(os.get_inheritable(outcome))]


def pair(lane: Lane) -> object:
    """A listener, which may stay, and a connection to it."""
    port, family = lane.random.choice(lane.ports), int(lane.random.choice([socket.AF_INET, socket.AF_INET6]))
    stays = lane.random.random() < 0.3
    lane.say(lane.labels[port], family, stays)
    if sum(lane.clients) >= CLIENTS:
        return None
    listener, client = (call("socket", family, socket.SOCK_STREAM, 0) for _ in range(2))
    for each in (listener, client):
        lane.dress(int(each))
    name = calls.encoded(family, lane.address, port)
    outcomes = [call("bind", listener, name, len(name)), call("listen", listener, BACKLOG)]
    name = calls.encoded(family, lane.peer, port)
    outcomes.append(call("connect", client, name, len(name)))
    calls.set_option(int(listener), socket.SOL_SOCKET, socket.SO_RCVTIMEO, calls.seconds(LONG))
    accepted = calls.accepted(int(listener), 0)[0] if outcomes == [0, 0, 0] else "none"
    for end in (client, accepted, *([listener] if stays else [])):
        if isinstance(end, str):
            outcomes.append(end)
            continue
        slot = lane.place()
        calls.set_option(end, socket.SOL_SOCKET, socket.SO_RCVTIMEO, calls.seconds(SHORT))
        lane.slots[slot], lane.sent[slot] = int(end), 0
        lane.clients[slot] = end == client
    if not stays:
        call("close", listener)
    return outcomes


def send(lane: Lane) -> object:
    slot, how = lane.pick_connected(), lane.random.choice(calls.SENDS)
    data = lane.data(slot, lane.random.choice([0, 1, 700, 1460, 3000]))
    flags = lane.random.choice([0, 0, socket.MSG_NOSIGNAL, socket.MSG_DONTWAIT, socket.MSG_OOB])
    lane.say(slot, how, len(data), flags)
    outcome = calls.sent(how, lane.slots[slot], data, flags)
    if isinstance(outcome, int):
        # Bytes behind a mark are not seen to come: FIONREAD ends there.
        lane.sent[slot] = BUDGET if flags & socket.MSG_OOB else lane.sent[slot] + outcome
    return outcome


def receive(lane: Lane) -> object:
    slot, how = lane.pick_connected(), lane.random.choice(calls.RECEIVES)
    size = lane.random.choice([1, 500, 4000])
    flags = lane.random.choice([0, 0, socket.MSG_PEEK, socket.MSG_DONTWAIT, socket.MSG_WAITALL, socket.MSG_OOB])
    lane.say(slot, how, size, flags)
    return calls.received(how, lane.slots[slot], size, flags)


def shut(lane: Lane) -> object:
    slot, how = lane.pick_connected(), lane.random.choice([0, 1, 2, 3])
    if (
        how in (1, 2) and lane.slots[slot] >= 0 and calls.polled(lane.slots[slot]) == NEW
    ):  # driver.md: FIN at its connect
        how = 0
    lane.say(slot, how)
    return call("shutdown", lane.slots[slot], how)


def close(lane: Lane) -> object:
    slot = lane.pick()
    lane.say(slot)
    return lane.drop(slot)


def name(lane: Lane) -> object:
    slot, which = lane.pick(), lane.random.choice(["getsockname", "getpeername"])
    lane.say(slot, which)
    found = calls.named(which, lane.slots[slot])
    if (
        isinstance(found, tuple)
        and found[1] not in lane.ports
        and calls.named("getpeername", lane.slots[slot]) == "ENOTCONN"
    ):
        return "of an open that failed, or drawn"  # driver.md
    return lane.label(found)


def set_option(lane: Lane) -> object:
    slot, (text, level, option, values) = lane.pick(), lane.random.choice(options.SET)
    value = lane.random.choice(values)
    lane.say(slot, text, value.hex())
    return calls.set_option(lane.slots[slot], level, option, value)


def get_option(lane: Lane) -> object:
    slot, (text, level, option, size) = lane.pick(), lane.random.choice(options.GET)
    lane.say(slot, text)
    return calls.get_option(lane.slots[slot], level, option, size)


CALLS: dict[str, tuple[int, Action]] = {
    "socket": (5, make), "bind": (4, bind), "listen": (5, listen), "connect": (8, connect), "pair": (9, pair),
    "connect to none": (1, unconnect), "accept": (8, accept), "send": (16, send), "receive": (14, receive),
    "shutdown": (3, shut), "close": (4, close), "name": (4, name), "setsockopt": (5, set_option),
    "getsockopt": (5, get_option),
}  # fmt: skip
