// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.messages.{FlowReference, LocalAddresses, ServiceParameters}
import downbeat.time.Stamp
import downbeat.wire.{IpProtocol, LaunchMode, SequenceNumber, TcpFlags}
import spinal.core._

/** The Ethernet, IPv4 and TCP headers of one segment, with both sums.
  *
  * IPv4 (RFC 791): no options; DF is set and the identification is zero (RFC 6864: it has no meaning in an atomic
  * datagram). Time to live and differentiated services are the connection's; the ECN field is ECT(0) or zero (RFC 3168
  * 5). TCP as in RFC 9293 3.1, with options as HeaderOptions lays them out.
  */
case class SegmentHeader(config: DownbeatConfig) extends Bundle {
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  /** Its tag is neither in `words` nor in the lengths. */
  val vlan = UInt(config.vlanBits bits)
  val remoteIp = UInt(32 bits)
  val remotePort, localPort = UInt(16 bits)
  val sequence, acknowledgment = SequenceNumber()
  val flags = TcpFlags()
  val service = ServiceParameters()
  val ecnCapable = Bool()
  val window = UInt(16 bits) // as on the wire
  val urgentPointer = UInt(16 bits) // zero without URG
  val ipLength = UInt(14 bits) // bytes from the IPv4 header on
  /** TCP options, 32 bits each; zero beyond `optionWords`. */
  val options = Vec.fill(SegmentHeader.maxOptionWords)(Bits(32 bits))
  val optionWords = UInt(4 bits)
  /** Ones' complement sums, not yet inverted. */
  val ipSum, tcpSum = UInt(16 bits)

  /** Bytes before the payload: 14 + 20 + 20 and the options. */
  private def length: UInt = U(SegmentHeader.plainBytes, 7 bits) + (optionWords << 2).resized
  /** Index of the last byte, padding included, if there is no payload. */
  def lastByte: UInt = ((optionWords < 2) ? U(59, 7 bits) | length - 1).resize(14)
  /** Index of the last one of `words` that is not empty: the headers end 6 or 2 bytes into it. */
  def lastWord: UInt = length(6 downto 3)
  /** As in FramePlan. */
  def endInBeat: UInt = length(config.beatByteBits - 1 downto 2)

  /** The headers in order of the wire, eight bytes a word, first byte lowest; zero beyond their length, and in place of
    * the TCP checksum.
    */
  def words(local: LocalAddresses): Seq[Bits] = {
    val fields = Seq[Bits](
      remoteMac, local.mac, B(0x0800, 16 bits),
      B(0x45, 8 bits), service.differentiatedServices.asBits ## ecnCapable ## False, ipLength.resize(16).asBits,
      B(0x00004000, 32 bits), service.timeToLive.asBits ## B(IpProtocol.tcp, 8 bits), (~ipSum).asBits,
      local.ip.asBits, remoteIp.asBits,
      localPort.asBits, remotePort.asBits, sequence.value.asBits, acknowledgment.value.asBits,
      (U(5, 4 bits) + optionWords).asBits ## B(0, 4 bits), flags.asBits, window.asBits, B(0, 16 bits),
      urgentPointer.asBits) ++ options
    val bytes = fields.flatMap(_.subdivideIn(8 bits).reverse)
    bytes.grouped(8).map(word => word.reverse.reduce(_ ## _).resize(64)).toSeq
  }
}

object SegmentHeader {
  val plainBytes = 54
  val maxOptionWords = 10
  /** Words of eight bytes. */
  val maxWords: Int = (plainBytes + 4 * maxOptionWords + 7) / 8
  /** Byte at which the TCP checksum begins. */
  val checksum = 50
  /** Kind 2, length 4, our MSS. */
  def mssOption(config: DownbeatConfig): BigInt = (BigInt(0x0204) << 16) + config.ownMss
  /** NOP, kind 3, length 3, shift. */
  def windowScaleOption(config: DownbeatConfig): BigInt = 0x01030300 + config.receiveWindowScale
}

/** A frame without its payload. */
case class OutgoingFrame(config: DownbeatConfig) extends Bundle {
  val header = SegmentHeader(config)
  val hasPayload = Bool()
  /** Index of the frame's last byte, padding included. */
  val lastByte = UInt(14 bits)
  val mode = LaunchMode()
  val launch = Stamp()
  val tag = UInt(16 bits) // as in TransmitBeat
}

object OutgoingFrame {
  /** One that carries nothing and goes as soon as possible: a pure ACK, a RST. */
  def immediate(config: DownbeatConfig, header: SegmentHeader): OutgoingFrame = {
    val frame = OutgoingFrame(config)
    frame.header := header
    frame.hasPayload := False
    frame.lastByte := header.lastByte
    frame.mode := LaunchMode.asap
    frame.launch := Stamp.zero
    frame.tag := 0
    frame
  }
}

/** An entry of the data queue: a frame, or the word that all frames of a flow are built. */
case class DataEntry[T <: Data](config: DownbeatConfig, frameType: HardType[T]) extends Bundle {
  val release = Bool()
  val reference = FlowReference(config)
  val frame = frameType()

  def withFrame[U <: Data](other: U): DataEntry[U] = {
    val entry = DataEntry(config, HardType(other))
    entry.release := release
    entry.reference := reference
    entry.frame := other
    entry
  }
}
