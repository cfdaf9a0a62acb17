// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{SequenceNumber, TcpFlags}
import spinal.core._

/** The place of a received payload: the frame is in `slot`, the payload begins at byte `offset`. A segment without
  * payload and FIN holds no slot.
  */
case class PayloadReference(config: DownbeatConfig) extends Bundle {
  val held = Bool()
  val slot = UInt(config.slotBits bits)
  /** Bytes from the first byte of the frame. */
  val offset = UInt(14 bits)
}

/** A TCP segment to our address, with correct checksums, consistent lengths and valid options.
  *
  * It may be an ICMP error about a segment of ours instead ([[WindowField]] says what `window` holds then). Of an ICMP
  * error only the addresses, `sequence` and `window` are valid; flags, lengths and all valid bits are zero.
  */
case class ReceivedSegment(config: DownbeatConfig) extends Bundle {
  val icmpError = IcmpErrorKind()
  val remoteMac = Bits(48 bits) // first byte of the wire in bits 47 to 40
  val vlan = UInt(config.vlanBits bits)
  val remoteIp = UInt(32 bits)
  val remotePort = UInt(16 bits)
  val localPort = UInt(16 bits)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val flags = TcpFlags()
  val window = UInt(16 bits) // as on the wire, not scaled
  val urgentPointer = UInt(16 bits) // read with URG
  val options = TcpOptions(config)
  val length = UInt(14 bits) // payload bytes, without SYN and FIN
  val payload = PayloadReference(config)
  /** A queue on its way was about to overflow (RFC 3168 5: CE). */
  val congestionExperienced = Bool()
  val stamp = Stamp()
}

object ReceivedSegment {
  /** A report whose addresses, `sequence` and `window` are still to be said. What only counts where something is there
    * is anything.
    */
  def ofIcmpError(config: DownbeatConfig, kind: IcmpErrorKind.C): ReceivedSegment = {
    val segment = ReceivedSegment(config).allowOverride()
    segment.assignDontCare()
    segment.icmpError := kind
    segment.flags.assignFromBits(B(0, widthOf(segment.flags) bits))
    segment.length := 0
    segment.payload.held := False
    segment.congestionExperienced := False
    segment.stamp.assignFromBits(B(0, widthOf(segment.stamp) bits))
    val options = segment.options
    for (valid <- Seq(options.mssValid, options.windowScaleValid, options.sackPermitted, options.timestampValid,
        options.duplicateSack))
      valid := False
    for (block <- options.sack) block.valid := False
    segment
  }
}
