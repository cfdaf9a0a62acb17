# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The other end of one connection, a segment at a time: the test says what it sends, scapy builds and takes apart."""

from __future__ import annotations

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from cocotb_tests.core.core import CORE_IP, CORE_MAC, PEER_IP, PEER_MAC, Core


class Peer:
    """Keeps the numbers of an honest TCP that acknowledges what it has been sent in order."""

    def __init__(self, core: Core, *, port: int, core_port: int = 0, sequence: int = 1_000_000, vlan: int = 0) -> None:
        self.core = core
        self.port = port
        self.core_port = core_port
        self.vlan = vlan  # VID; 0: untagged
        self.mac = PEER_MAC
        self.sequence = sequence  # SND.NXT
        self.expected = 0  # RCV.NXT
        self.window = 65535
        self.received = bytearray()
        self.departed: list[int] = []  # stamps that went back to the core, 2^-16 ns
        self.fraction = 0  # their low bits, 2^-16 ns
        self.launches: list[float] = []  # ns: when the data segments received were to leave

    def send(
        self,
        flags: str,
        data: bytes = b"",
        *,
        sequence: int | None = None,
        acknowledgment: int | None = None,
        options: list[tuple[str, object]] | None = None,
        advance: bool = True,
    ) -> None:
        """Puts a segment on the wire. SND.NXT moves unless `advance` is false or a sequence number is given."""
        tcp = TCP(
            sport=self.port,
            dport=self.core_port,
            flags=flags,
            seq=self.sequence if sequence is None else sequence,
            ack=(self.expected if acknowledgment is None else acknowledgment) if "A" in flags else 0,
            window=self.window,
            options=options or [],
        )
        self.put(tcp / Raw(data), self.core.stamp)
        if advance and sequence is None:
            self.sequence = (self.sequence + len(data) + ("S" in flags) + ("F" in flags)) % 2**32

    def put(self, tcp: TCP, stamp: int) -> None:
        """Puts a segment of the test's own making on the wire, with the stamp of its SFD, 2^-16 ns."""
        packet = IP(src=PEER_IP, dst=CORE_IP, flags="DF") / tcp
        frame: Packet = Ether(src=self.mac, dst=CORE_MAC)
        frame /= Dot1Q(vlan=self.vlan, prio=2) / packet if self.vlan else packet
        self.core.wire_in.put(bytes(frame).ljust(60, b"\0"), user=stamp)

    async def receive(self, clocks: int = 20_000) -> TCP:
        """The next segment of the core, whose checksums scapy finds right; its departure stamp goes back to the
        core."""
        frame = await self.core.wire_out.receive(clocks)
        user = frame.extras["user"]
        tag = user >> 66 & 0xFFFF
        if tag:
            self.launches.append((user & (1 << 64) - 1) / 2**16)
            self.departed.append(self.core.stamp + self.fraction)
            self.core.departures.put({"data": self.departed[-1] << 16 | tag})
        packet = Ether(frame.data)
        assert packet[IP].src == CORE_IP and packet[IP].dst == PEER_IP
        assert packet.src == CORE_MAC and packet.dst == self.mac
        assert (packet[Dot1Q].vlan if Dot1Q in packet else 0) == self.vlan
        wanted = Ether(frame.data)
        del wanted[IP].chksum, wanted[TCP].chksum
        rebuilt = Ether(bytes(wanted))
        assert rebuilt[IP].chksum == packet[IP].chksum, "IP checksum"
        assert rebuilt[TCP].chksum == packet[TCP].chksum, "TCP checksum"
        segment = packet[TCP]
        length = packet[IP].len - 4 * packet[IP].ihl - 4 * segment.dataofs
        segment.data = bytes(segment.payload)[:length]
        return segment

    def accept(self, segment: TCP) -> None:
        """Takes what the segment brings in order."""
        if segment.seq == self.expected:
            self.received += segment.data
            self.expected = (self.expected + len(segment.data) + ("F" in segment.flags)) % 2**32

    async def accept_connection(self, options: list[tuple[str, object]] | None = None) -> TCP:
        """Answers the core's SYN; returns it. The connection is established on this side."""
        syn = await self.receive()
        assert syn.flags == "S"
        self.core_port = syn.sport
        self.expected = (syn.seq + 1) % 2**32
        self.send("SA", options=options)
        acknowledgment = await self.receive()
        assert acknowledgment.flags == "A"
        assert acknowledgment.ack == self.sequence
        return syn

    async def connect(self, options: list[tuple[str, object]] | None = None) -> TCP:
        """Opens a connection to the core; returns its SYN-ACK."""
        self.send("S", options=options)
        reply = await self.receive()
        assert reply.flags == "SA"
        assert reply.ack == self.sequence
        self.expected = (reply.seq + 1) % 2**32
        self.send("A")
        return reply
