# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Between a script's numbers and frames: scapy builds what the core receives and reads what it sends."""

from __future__ import annotations

from dataclasses import dataclass

from scapy.layers.inet import ICMP, IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from sim.adversarial.packetdrill.options import Option
from sim.adversarial.packetdrill.script import FLAGS, MODULUS, USUAL_TTL, NetworkError, Segment

CORE_MAC, PEER_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
CORE_IP, PEER_IP = "10.0.0.1", "10.0.0.2"
CORE_PORT = 8080
# ICMP errors: type and code.
ERRORS = {
    "unreachable net_unreachable": (3, 0),
    "unreachable host_unreachable": (3, 1),
    "unreachable protocol_unreachable": (3, 2),
    "unreachable port_unreachable": (3, 3),
    "unreachable frag_needed": (3, 4),
    "unreachable source_route_failed": (3, 5),
    "source_quench": (4, 0),
    "time_exceeded": (11, 0),
    "parameter_problem": (12, 0),
}
ECN = ("noecn", "ect1", "ect0", "ce")  # in order of the IP header's field
_SCAPY_FLAGS = dict(zip(FLAGS, "FSRPAUEC", strict=True))
_NAMES = {
    "NOP": "nop",
    "EOL": "eol",
    "SAckOK": "sackOK",
    "MSS": "mss",
    "WScale": "wscale",
    "Timestamp": "TS",
    "SAck": "sack",
}
_SCAPY_NAMES = {name: scapy for scapy, name in _NAMES.items()}
_PERIOD = bytes(range(251))  # a prime: data a page or a segment off is other data


class BadFrameError(Exception):
    """The core sent what is no segment to the peer, or a wrong checksum."""


def stream(sequence: int, length: int, salt: int) -> bytes:
    """The bytes of a stream from `sequence` on, the same however they are cut."""
    start = (sequence + salt) % len(_PERIOD)
    return (_PERIOD * (length // len(_PERIOD) + 2))[start : start + length]


OURS, THEIRS = 100, 0  # salts of what the core and the peer send


@dataclass
class Conversation:
    """The connection, or those one after another, with one port of the peer: what the script's zeros are on the
    wire."""

    port: int
    remote_zero: int
    core_port: int = CORE_PORT
    local_zero: int | None = None
    clock_zero: int | None = None  # the core's TSval at that time
    first: int = 1  # the peer's first byte

    def built(self, segment: Segment) -> bytes:
        """The frame of a segment to the core."""
        ecn = ECN.index(segment.ecn or "noecn")
        ip = IP(src=PEER_IP, dst=CORE_IP, tos=4 * (segment.dscp or 0) + ecn, ttl=segment.ttl or USUAL_TTL, flags="DF")
        tcp = TCP(
            sport=self.port,
            dport=self.core_port,
            seq=(segment.sequence + self.remote_zero) % MODULUS,
            ack=self._ours(segment.acknowledgment) if segment.acknowledgment is not None else 0,
            flags="".join(_SCAPY_FLAGS[flag] for flag in segment.flags),
            window=segment.window if segment.window is not None else 65535,
            urgptr=segment.urgent or 0,
        )
        payload = stream(segment.sequence, segment.length, THEIRS)
        options = segment.options or ()
        if any(option.name == "raw" for option in options):
            raw = b"".join(option.raw for option in options)
            raw += bytes(-len(raw) % 4)
            tcp.dataofs = 5 + len(raw) // 4
            payload = raw + payload
        else:
            tcp.options = [(_SCAPY_NAMES[option.name], self._given(option)) for option in options]
        return bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / ip / tcp / Raw(payload))

    def complaint(self, error: NetworkError) -> bytes:
        """The frame of an ICMP error: the network returns the beginning of a segment that the core sent."""
        sent = IP(src=CORE_IP, dst=PEER_IP, flags="DF", len=40 + error.length)
        header = TCP(sport=self.core_port, dport=self.port, seq=self._ours(error.sequence))
        quoted = bytes(sent / header)[:28]
        kind, code = ERRORS[error.kind]
        icmp = ICMP(type=kind, code=code)
        if error.mtu:
            icmp.nexthopmtu = error.mtu
        return bytes(Ether(src=PEER_MAC, dst=CORE_MAC) / IP(src=PEER_IP, dst=CORE_IP) / icmp / Raw(quoted))

    def read(self, packet: Packet) -> Segment:
        """A segment from the core in the script's numbers."""
        tcp = packet[TCP]
        options = tuple(self._taken(name, value) for name, value in tcp.options)
        flags = "".join(ours for ours, scapy in _SCAPY_FLAGS.items() if scapy in str(tcp.flags))
        return Segment(
            ecn=ECN[packet[IP].tos & 3],
            flags=flags,
            sequence=(tcp.seq - (self.local_zero or 0)) % MODULUS,
            length=_payload_length(packet),
            acknowledgment=(tcp.ack - self.remote_zero) % MODULUS if "." in flags else None,
            window=tcp.window,
            urgent=tcp.urgptr if "U" in flags else None,
            options=options,
            dscp=packet[IP].tos >> 2,
            ttl=packet[IP].ttl,
        )

    def _ours(self, number: int) -> int:
        return (number + (self.local_zero or 0)) % MODULUS

    def _given(self, option: Option) -> object:
        values = [value or 0 for value in option.values]
        if option.name == "TS":
            return values[0], ((values[1] + (self.clock_zero or 0)) % MODULUS if values[1] else 0)
        if option.name == "sack":
            return tuple(map(self._ours, values))
        return values[0] if values else (b"" if option.name == "sackOK" else None)

    def _taken(self, name: str | int, value: object) -> Option:
        known = _NAMES.get(str(name))
        if known == "TS" and isinstance(value, tuple):
            return Option("TS", ((value[0] - (self.clock_zero or 0)) % MODULUS, value[1]))
        if known == "sack" and isinstance(value, tuple):
            return Option("sack", tuple((edge - self.remote_zero) % MODULUS for edge in value))
        if known in ("mss", "wscale") and isinstance(value, int):
            return Option(known, (value,))
        if known:
            return Option(known)
        return Option("raw", raw=bytes([int(name)]) + (value if isinstance(value, bytes) else b""))


def parsed(frame: bytes) -> Packet:
    """The frame, its checksums and constant fields judged."""
    packet = Ether(frame)
    if TCP not in packet or packet[IP].src != CORE_IP or packet[IP].dst != PEER_IP or packet.dst != PEER_MAC:
        raise BadFrameError(f"no TCP segment to the peer: {packet.summary()}")
    fresh = packet.copy()
    del fresh[IP].chksum, fresh[TCP].chksum
    fresh = Ether(bytes(fresh))
    if (fresh[IP].chksum, fresh[TCP].chksum) != (packet[IP].chksum, packet[TCP].chksum):
        raise BadFrameError(f"wrong checksum: {packet.summary()}")
    if packet[TCP].reserved:
        raise BadFrameError(f"reserved bits are set: {packet.summary()}")
    return packet


def payload(packet: Packet) -> bytes:
    return bytes(packet[TCP].payload)[: _payload_length(packet)]


def _payload_length(packet: Packet) -> int:
    return int(packet[IP].len - 4 * packet[IP].ihl - 4 * packet[TCP].dataofs)
