# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Segments for the transmitter, and the frame that scapy makes of each."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Dot1Q, Ether

from cocotb_tests.addresses import VLANS

AT, ASAP, AFTER_PREVIOUS = range(3)
FLOWS = 16
LOCAL_MAC, LOCAL_IP = 0x02_00_5E_10_20_30, 0xC0A8_0A01
WINDOW_SCALE = 1  # 64 KiB receive buffers
_FLAGS = {"F": "fin", "S": "syn", "R": "rst", "P": "psh", "A": "ack", "U": "urg", "E": "ece", "C": "cwr"}

_fixed = random.Random(20)
_noise = random.Random(21)
BUFFERS = [_fixed.randbytes(1 << 16) for _ in range(FLOWS)]


@dataclass(frozen=True)
class Peer:
    mac: int
    ip: int
    remote_port: int
    local_port: int
    differentiated_services: int = 0
    time_to_live: int = 64
    vlan: int = 0  # 0 untagged, else its place in the table, from 1 on


def _peer(flow: int) -> Peer:
    fields = (_fixed.getrandbits(bits) for bits in (48, 32, 16, 16, 6, 8))
    return replace(Peer(*fields), vlan={FLOWS - 3: 1, FLOWS - 1: 3}.get(flow, 0))


PEERS = [_peer(flow) for flow in range(FLOWS)]


@dataclass(frozen=True)
class Segment:
    flow: int = 0
    generation: int = 0
    sequence: int = 0
    acknowledgment: int = 0
    flags: str = "A"
    window: int = 0
    length: int = 0
    mode: int = ASAP
    launch: tuple[int, int] = (0, 0)  # ns, fraction
    stamped: bool = False
    window_scale: bool = False
    sack_permitted: bool = False
    timestamps: tuple[int, int] | None = None  # TSval, TSecr
    sack: tuple[tuple[int, int], ...] = ()  # offsets from the acknowledgment
    duplicate_below: bool = False  # the first block's offsets are not above zero
    ecn_capable: bool = False
    urgent_end: int | None = None  # sequence number behind urgent data
    release: bool = False

    @property
    def end(self) -> int:
        """One past the last sequence number."""
        return (self.sequence + self.length + ("S" in self.flags) + ("F" in self.flags)) % (1 << 32)

    @property
    def immediate(self) -> bool:
        return self.mode == ASAP and self.end == self.sequence and not self.release

    @property
    def urgent_pointer(self) -> int:
        """RFC 9293 3.8.5: bytes from the first to one past the urgent data, as far as 16 bits reach; 0: none."""
        if self.urgent_end is None:
            return 0
        distance = (self.urgent_end - self.sequence) % (1 << 32)
        return min(distance, 65535) if distance < 1 << 31 else 0

    def beat(self) -> dict[str, int]:
        """On port `descriptors`. What is not valid is noise."""
        value, echo = self.timestamps or (_noise.getrandbits(32), _noise.getrandbits(32))
        blocks: dict[str, int] = {}
        for number in range(4):
            valid = number < len(self.sack)
            left, right = self.sack[number] if valid else (_noise.getrandbits(17), _noise.getrandbits(17))
            left, right = left % (1 << 17), right % (1 << 17)
            blocks |= {f"sack_{number}_valid": int(valid), f"sack_{number}_left": left, f"sack_{number}_right": right}
        return {
            "release": int(self.release),
            "reference_flow": self.flow,
            "reference_generation": self.generation,
            "sequence_value": self.sequence,
            "acknowledgment_value": self.acknowledgment,
            **{f"flags_{name}": int(flag in self.flags) for flag, name in _FLAGS.items()},
            "windowScaleOffered": int(self.window_scale),
            "sackPermitted": int(self.sack_permitted),
            "timestamped": int(self.timestamps is not None),
            "timestampValue": value,
            "timestampEcho": echo,
            **blocks,
            "duplicateBelow": int(self.duplicate_below),
            "ecnCapable": int(self.ecn_capable),
            "urgent": int(self.urgent_end is not None),
            "urgentEnd": (_noise.getrandbits(32) if self.urgent_end is None else self.urgent_end) % (1 << 18),
            "window": self.window,
            "length": self.length,
            "mode": self.mode,
            "launch_ns": self.launch[0],
            "launch_fraction": self.launch[1],
            "stamped": int(self.stamped),
        }

    def options(self, mss: int = 1460) -> list[tuple[str, Any]]:
        """As Linux lays them out."""
        nop = ("NOP", None)
        timestamps = [("Timestamp", self.timestamps)] if self.timestamps is not None else []
        if "S" in self.flags:
            options: list[tuple[str, Any]] = [("MSS", mss)]
            permitted = [("SAckOK", b"")] if self.sack_permitted else []
            if len(permitted) + len(timestamps) == 1:
                options += [nop, nop]
            options += permitted + timestamps
            return options + ([nop, ("WScale", WINDOW_SCALE)] if self.window_scale else [])
        options = [nop, nop, *timestamps] if timestamps else []
        if self.sack and not self.length and "R" not in self.flags:
            blocks = self.sack[: 3 if timestamps else 4]
            edges = [(self.acknowledgment + offset) % (1 << 32) for block in blocks for offset in block]
            options += [nop, nop, ("SAck", tuple(edges))]
        return options

    def frame(self, mss: int = 1460) -> bytes:
        """As scapy builds it, with padding."""
        return scapy_frame(
            PEERS[self.flow],
            payload(self.flow, self.sequence, self.length),
            tos=2 * self.ecn_capable,
            seq=self.sequence,
            ack=self.acknowledgment,
            flags=self.flags + ("U" if self.urgent_pointer else ""),
            urgptr=self.urgent_pointer,
            window=self.window,
            options=self.options(mss),
        )


def payload(flow: int, sequence: int, length: int) -> bytes:
    """The contents of the flow's send buffer."""
    start = sequence % (1 << 16)
    return (BUFFERS[flow] + BUFFERS[flow])[start : start + length]


def scapy_frame(peer: Peer, data: bytes, *, tos: int = 0, **tcp: Any) -> bytes:
    service = {"tos": 4 * peer.differentiated_services + tos, "ttl": peer.time_to_live}
    packet = (
        Ether(src=LOCAL_MAC.to_bytes(6, "big"), dst=peer.mac.to_bytes(6, "big"))
        / IP(src=_dotted(LOCAL_IP), dst=_dotted(peer.ip), id=0, flags="DF", **service)
        / TCP(sport=peer.local_port, dport=peer.remote_port, **tcp)
        / data
    )
    untagged = bytes(packet).ljust(60, b"\0")
    return tagged(untagged, peer.vlan) if peer.vlan else untagged


def tagged(frame: bytes, vlan: int) -> bytes:
    """The frame as scapy tags it (802.1Q 9.3)."""
    identifier, priority = VLANS[vlan - 1]
    ether = Ether(frame[:14])
    tag = Dot1Q(prio=priority, vlan=identifier, type=ether.type)
    return bytes(Ether(src=ether.src, dst=ether.dst) / tag) + frame[14:]


def _dotted(address: int) -> str:
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def any_blocks(rng: random.Random) -> tuple[tuple[int, int], ...]:
    """One to four, up to the end of a receive buffer of 64 KiB."""
    return tuple((rng.randrange(1 << 16), rng.randrange((1 << 16) + 1)) for _ in range(rng.randint(1, 4)))


def random_segment(rng: random.Random, **fixed: object) -> Segment:
    """Any segment that the engine might send."""
    flags = rng.choice(["A", "A", "PA", "PA", "PA", "FA", "S", "SA", "RA", "R", "PAE", "PAC"])
    length = rng.choice([0, rng.randint(1, 64), rng.randint(1, 1460)]) if "P" in flags else 0
    # Timestamps take twelve bytes of a full segment.
    timestamped = rng.random() < 0.5 and fixed.get("length", length) <= 1448  # type: ignore[operator]
    values = {
        "flow": rng.randrange(FLOWS),
        "generation": rng.getrandbits(8),
        "sequence": rng.getrandbits(32),
        "acknowledgment": rng.getrandbits(32),
        "flags": flags,
        "window": rng.getrandbits(16),
        "length": length,
        "mode": rng.choice([AT, ASAP, ASAP, AFTER_PREVIOUS]),
        "launch": (rng.getrandbits(48), rng.getrandbits(16)),
        "stamped": rng.random() < 0.5,
        "window_scale": "S" in flags and rng.random() < 0.5,
        "sack_permitted": rng.random() < 0.5,
        "timestamps": (rng.getrandbits(32), rng.getrandbits(32)) if timestamped else None,
        "sack": any_blocks(rng) if rng.random() < 0.3 else (),
        "ecn_capable": rng.random() < 0.5,
        "urgent_end": None,
    }
    if rng.random() < 0.3:
        begin: Any = fixed.get("sequence", values["sequence"])
        ahead = rng.choice([-70_000, -1, 0, 1, length, 65_534, 65_535, 65_536, 70_000])
        values["urgent_end"] = (begin + ahead) % (1 << 32)
    if values["sack"] and rng.random() < 0.3:
        right = rng.choice([0, -rng.randrange(1 << 16)])
        values["sack"] = ((right - rng.randint(1, 1460), right), *any_blocks(rng)[:3])
        values["duplicate_below"] = "sack" not in fixed
    segment = Segment(**(values | fixed))  # type: ignore[arg-type]
    return replace(segment, stamped=segment.stamped and segment.end != segment.sequence)
