# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The gateway's protocol in Python, from its page (docs/reference/gateway-protocol.md) and from nothing of the C++
code.

Keyed hashes are hashlib's BLAKE2b (RFC 7693); the gateway's are libsodium's.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
import struct
from dataclasses import dataclass, field

MAGIC, VERSION, MOST_BYTES, TAG = 0x4442, 1, 1200, 16
HELLO, WELCOME, REPORT, QUERY, RESPONSE, REFUSAL, RELAY, CHALLENGE = range(1, 9)
TRANSFER, STATE, SAVED = 1, 2, 3
HEADER = struct.Struct(">HBBBBHIIQQ")
ITEM = struct.Struct(">BBBB16s")
RESPONSE_ITEM = struct.Struct(">BBBB16sIHHHHI7d")


def derive(site: bytes, reporter: int) -> bytes:
    """A host's key of 32 bytes, from the site's."""
    return hashlib.blake2b(b"downbeat-gateway" + struct.pack(">I", reporter), key=site, digest_size=32).digest()


def tag(key: bytes, message: bytes) -> bytes:
    return hashlib.blake2b(message, key=key, digest_size=TAG).digest()


def prefix_item(prefix: str, kind: int = 0) -> bytes:
    """20 bytes."""
    network = ipaddress.ip_network(prefix)
    address = network.network_address.packed.ljust(16, b"\0")
    return ITEM.pack(network.version, network.prefixlen, kind, 0, address)


def transfer(prefix: str, window: float, rtt: float = 0.05, acked: float = 2.0) -> bytes:
    """A report of SPAND: window in bytes, round trip in seconds, segments per ACK."""
    return prefix_item(prefix, TRANSFER) + struct.pack(">4d", window, rtt, acked, 0)


def state(prefix: str, steady: float, slow: float, oldest: float) -> bytes:
    """A report of LISS: connections, bytes, bytes."""
    return prefix_item(prefix, STATE) + struct.pack(">4d", steady, slow, oldest, 0)


def saved(prefix: str, window: float, rtt: float) -> bytes:
    """A report of Careful Resume: bytes, seconds."""
    return prefix_item(prefix, SAVED) + struct.pack(">4d", window, rtt, 0, 0)


@dataclass
class Response:
    """State of a prefix at the gateway."""

    prefix: str
    lifetime_ms: int
    reporters: tuple[int, int, int]  # behind transfer, state, saved
    transfers: int
    window: float  # bytes
    rtt: float  # seconds
    acked: float
    oldest: float  # bytes
    connections: float
    saved_window: float  # bytes
    saved_rtt: float  # seconds


def responses(body: bytes) -> list[Response]:
    found = []
    for family, length, _, _, address, lifetime, spand, liss, resume, _, count, *numbers in RESPONSE_ITEM.iter_unpack(
        body
    ):
        network = ipaddress.ip_network((address[: 4 if family == 4 else 16], length))
        found.append(Response(str(network), lifetime, (spand, liss, resume), count, *numbers))
    return found


@dataclass
class Host:
    """One reporter: seals what it sends, counts its sequence numbers."""

    site: bytes
    reporter: int
    key_id: int = 1
    session: int = 0
    sequence: int = 0
    stamp: int = 0  # ms
    nonce: int = 0  # of the newest hello
    key: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.key = derive(self.site, self.reporter)

    def message(self, kind: int, body: bytes, *, sequence: int | None = None, version: int = VERSION) -> bytes:
        if sequence is None:
            self.sequence += kind != HELLO
            sequence = self.sequence if kind != HELLO else 0
        session = 0 if kind == HELLO else self.session
        length = HEADER.size + len(body) + TAG
        head = HEADER.pack(
            MAGIC, version, kind, self.key_id, 0, length, self.reporter, self.stamp & 0xFFFFFFFF, session, sequence
        )
        return head + body + tag(self.key, head + body)

    def hello(self, nonce: int | None = None, cookie: int = 0) -> bytes:
        self.nonce = secrets.randbits(64) if nonce is None else nonce
        return self.message(HELLO, struct.pack(">QQ", self.nonce, cookie))

    def opened(self, datagram: bytes) -> tuple[int, bytes]:
        """Type and body of what the gateway sent; a wrong tag or length is an AssertionError."""
        magic, version, kind, key_id, zero, length, reporter, *_ = HEADER.unpack_from(datagram)
        assert (magic, version, key_id, zero, reporter) == (MAGIC, VERSION, self.key_id, 0, self.reporter)
        assert length == len(datagram) <= MOST_BYTES
        assert datagram[-TAG:] == tag(self.key, datagram[:-TAG]), "the gateway's tag"
        return kind, datagram[HEADER.size : -TAG]

    def challenged(self, datagram: bytes) -> bytes:
        """The hello that has the cookie."""
        kind, body = self.opened(datagram)
        assert kind == CHALLENGE
        echoed, cookie = struct.unpack(">QQ", body)
        assert echoed == self.nonce
        return self.hello(self.nonce, cookie)

    def welcomed(self, datagram: bytes) -> None:
        kind, body = self.opened(datagram)
        assert kind == WELCOME
        echoed, self.session = struct.unpack(">QQ", body)
        assert echoed == self.nonce
        self.sequence = 0

    def report(self, *items: bytes) -> bytes:
        return self.message(REPORT, b"".join(items))

    def query(self, *prefixes: str) -> bytes:
        return self.message(QUERY, b"".join(prefix_item(prefix) for prefix in prefixes))
