// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.messages.LocalAddresses
import downbeat.wire.{ArpFrame, EtherType}
import spinal.core._
import spinal.lib._

/** The fields of an ARP packet for IPv4 on Ethernet with a valid sender. */
case class ArpPacket() extends Bundle {
  val senderMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  /** Zero: a probe (RFC 5227 2.1.1), whose sender has no address yet. */
  val senderIp = UInt(32 bits)
  /** A request for our address. */
  val isRequestForUs = Bool()
  /** Another station claims our address (RFC 5227 2.4). */
  val conflicts = Bool()
  /** Its sender may be learnt: it has an address, which is not ours. */
  val namesSender = Bool()
}

/** Parses ARP packets (RFC 826). The packet is checked when its frame has passed. */
case class ArpParser() extends Component {
  val io = new Bundle {
    val local = in(LocalAddresses())
    val words = slave(Flow(ControlWord()))
    /** Read with `judge`, which comes two clocks or more after the frame's last word. */
    val bytes = in UInt (14 bits)
    val judge = in Bool ()
    val packets = master(Flow(ArpPacket()))
    val malformed = out Bool ()
  }
  noIoPrefix()

  private val frame = new FieldGatherer(io.words)
  private val hardware = frame.number(14, 2)
  private val protocol = frame.number(16, 2)
  private val lengths = frame.field(18, 2)
  private val operation = frame.number(20, 2)
  private val senderMac = frame.field(22, 6)
  private val senderIp = frame.number(28, 4)
  private val targetIp = frame.number(38, 4)

  // All registered: the fields stand while they are judged.
  private val isRequest = RegNext(operation === ArpFrame.request)
  private val isArp = RegNext(hardware === 1 && protocol === EtherType.ipv4 && lengths === 0x0604) &&
    (isRequest || RegNext(operation === ArpFrame.reply)) && RegNext(!(io.bytes < 42))
  private val network = senderIp(31 downto 24)
  private val goodSender = RegNext(!senderMac(40) && senderMac.orR) && RegNext(network =/= 127 && network < 224)
  private val fromUs = RegNext(senderMac === io.local.mac)
  private val isOurIp = RegNext(senderIp === io.local.ip)
  private val targetIsUs = RegNext(targetIp === io.local.ip)
  private val hasAddress = RegNext(senderIp.orR)

  io.packets.valid := io.judge && isArp && goodSender && !fromUs
  io.packets.senderMac := senderMac
  io.packets.senderIp := senderIp
  io.packets.isRequestForUs := isRequest && targetIsUs && !isOurIp
  io.packets.conflicts := isOurIp
  io.packets.namesSender := hasAddress && !isOurIp
  io.malformed := io.judge && !(isArp && goodSender)
}
