// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.DownbeatConfig
import downbeat.flow.{FlowReference, LocalAddresses}
import downbeat.wire.{LaunchMode, SequenceNumber, TcpFlags}
import downbeat.time.Stamp
import spinal.core._

/** What the Ethernet, IPv4 and TCP headers of one segment say, with both sums done.
  *
  * IPv4 (RFC 791): no options; DF is set and the identification is zero (RFC 6864: an atomic datagram's means
  * nothing); time to live 64. TCP (RFC 9293 3.1): a SYN carries MSS (3.7.1) and, if `windowScale`, NOP and window scale
  * (RFC 7323 2.2); no other segment has options so far.
  */
case class SegmentHeader(config: DownbeatConfig) extends Bundle {
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  val remoteIp = UInt(32 bits)
  val remotePort, localPort = UInt(16 bits)
  val sequence, acknowledgment = SequenceNumber()
  val flags = TcpFlags()
  /** A SYN that carries the window-scale option. */
  val windowScale = Bool()
  val window = UInt(16 bits) // as on the wire
  val ipLength = UInt(14 bits) // bytes from the IPv4 header on
  /** Ones' complement sums, not yet inverted. */
  val ipSum, tcpSum = UInt(16 bits)

  /** 32-bit words of TCP options. */
  def optionWords: UInt = U(flags.syn) +^ U(flags.syn && windowScale)
  /** Bytes before the payload: 14 + 20 + 20 and the options. */
  def length: UInt = U(SegmentHeader.plainBytes, 7 bits) + (optionWords << 2).resized

  /** The headers in order of the wire, eight bytes a word, first byte lowest; zero beyond their length.
    * Timestamps or SACK will lengthen this list and nothing else.
    */
  def words(local: LocalAddresses): Seq[Bits] = {
    def masked(present: Bool, option: BigInt) = present ? B(option, 32 bits) | B(0, 32 bits)
    val fields = Seq[Bits](
      remoteMac, local.mac, B(0x0800, 16 bits),
      B(0x4500, 16 bits), ipLength.resize(16).asBits, B(0x00004000, 32 bits), B(0x4006, 16 bits), (~ipSum).asBits,
      local.ip.asBits, remoteIp.asBits,
      localPort.asBits, remotePort.asBits, sequence.value.asBits, acknowledgment.value.asBits,
      (U(5, 4 bits) + optionWords).asBits ## B(0, 4 bits), flags.asBits, window.asBits, (~tcpSum).asBits, B(0, 16 bits),
      masked(flags.syn, SegmentHeader.mssOption(config)),
      masked(flags.syn && windowScale, SegmentHeader.windowScaleOption(config)))
    val bytes = fields.flatMap(_.subdivideIn(8 bits).reverse)
    bytes.grouped(config.beatBytes).map(word => word.reverse.reduce(_ ## _).resize(8 * config.beatBytes)).toSeq
  }
}

object SegmentHeader {
  val plainBytes = 54
  /** Kind 2, length 4, our MSS. */
  def mssOption(config: DownbeatConfig): BigInt = (BigInt(0x0204) << 16) + config.ownMss
  /** NOP, kind 3, length 3, shift. */
  def windowScaleOption(config: DownbeatConfig): BigInt = 0x01030300 + config.receiveWindowScale
}

/** A frame ready to be serialised, but for its payload. */
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
    frame.lastByte := 59
    frame.mode := LaunchMode.asap
    frame.launch := Stamp.zero
    frame.tag := 0
    frame
  }
}

/** An entry of the data line: a frame, or the word that the flow's frames are all built. */
case class DataEntry(config: DownbeatConfig) extends Bundle {
  val release = Bool()
  val reference = FlowReference(config)
  val frame = OutgoingFrame(config)
}
