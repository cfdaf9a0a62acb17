// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.messages.{IcmpErrorKind, LocalAddresses, NetworkError, NetworkErrorKind}
import downbeat.wire.{IcmpType, IpProtocol, SequenceNumber}
import spinal.core._
import spinal.lib._

/** An ICMP error about a segment of ours. */
case class IcmpErrorMessage(vlanBits: Int) extends Bundle {
  val vlan = UInt(vlanBits bits)
  val kind = IcmpErrorKind()
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
  val sequence = SequenceNumber() // the segment's
  /** tooBig: payload bytes of a segment that gets through. */
  val segmentSize = UInt(16 bits)
  /** Otherwise: why it did not arrive. */
  val error = NetworkError()
}

/** Parses the packet that an ICMP error quotes: its IP header and eight bytes of TCP, which is all that is certain to
  * be there (RFC 792). Our packets have no IP options.
  *
  * Path MTU (RFC 1191): the MTU of the next hop; for a router that gives none, the largest plateau (7.1) below the
  * packet's length. It must be smaller than the packet (RFC 5927 7.2), and counts as 552 bytes at least, because anyone
  * who sees or guesses a sequence number can claim a small one.
  */
class IcmpErrorReader(frame: FieldGatherer, kind: Bits, local: LocalAddresses, vlan: UInt) extends Area {
  private val code = frame.field(35, 1)
  private val nextHopMtu = frame.number(40, 2)
  private val version = frame.field(42, 1)
  private val length = frame.number(44, 2)
  private val fragment = frame.field(48, 2)
  private val protocol = frame.field(51, 1)
  private val source = frame.number(54, 4)
  private val unreachable = RegNext(kind === IcmpType.unreachable)
  private val tooBig = unreachable && RegNext(code === IcmpErrorReader.fragmentationNeeded)

  private val plateau = UInt(16 bits)
  plateau := IcmpErrorReader.smallestMtu
  for (step <- IcmpErrorReader.plateaus.reverse) when(U(step) < length)(plateau := step)
  private val claimed = RegNext((nextHopMtu === 0) ? plateau | nextHopMtu)
  private val mtu = RegNext((claimed < IcmpErrorReader.smallestMtu) ? U(IcmpErrorReader.smallestMtu, 16 bits) | claimed)
  private val smaller = RegNext(claimed < length)

  /** It is about a TCP segment of ours, and can be true; no type has more than 16 codes. */
  val relevant: Bool = RegNext(version === 0x45 && protocol === IpProtocol.tcp && !fragment(12 downto 0).orR) &&
    RegNext(source === local.ip && !code(7 downto 4).orR) && (smaller || !tooBig)

  val icmpError = IcmpErrorMessage(widthOf(vlan))
  icmpError.vlan := vlan
  icmpError.kind := tooBig ? IcmpErrorKind.tooBig | IcmpErrorKind.unreachable
  icmpError.remoteIp := frame.number(58, 4)
  icmpError.localPort := frame.number(62, 2)
  icmpError.remotePort := frame.number(64, 2)
  icmpError.sequence.value := frame.number(66, 4)
  icmpError.segmentSize := RegNext(mtu - 40)
  icmpError.error.kind := NetworkErrorKind.parameterProblem
  when(RegNext(kind === IcmpType.timeExceeded))(icmpError.error.kind := NetworkErrorKind.timeExceeded)
  when(unreachable)(icmpError.error.kind := NetworkErrorKind.unreachable)
  icmpError.error.code := code(3 downto 0).asUInt
}

object IcmpErrorReader {
  /** Bytes of the shortest packet with an error: IP, ICMP, IP and eight of TCP. */
  val shortest = 56
  val fragmentationNeeded = 4
  /** RFC 1191 7.1, those that a frame of ours may exceed and that are not below the smallest MTU. */
  val plateaus = Seq(8166, 4352, 2002, 1492, 1006)
  val smallestMtu = 552
}
