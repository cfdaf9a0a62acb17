// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{LaunchMode, SackBlock, SequenceNumber, TcpFlags}
import spinal.core._

/** A segment to build. With `release`: the flow's last frame is behind it in the queue of descriptors. */
case class SegmentDescriptor(config: DownbeatConfig) extends Bundle {
  /** No segment: every frame of this connection is built, the flow goes back to the free list. */
  val release = Bool()
  val reference = FlowReference(config)
  val sequence = SequenceNumber()
  val acknowledgment = SequenceNumber()
  val flags = TcpFlags() // with SYN the builder adds the MSS option
  val windowScaleOffered = Bool() // a SYN carries the window-scale option
  val window = UInt(16 bits) // as on the wire
  /** URG and a pointer go along if the segment begins before `urgentEnd`, low bits of a sequence number (RFC 9293
    * 3.8.5).
    */
  val urgent = Bool()
  val urgentEnd = UInt(config.sendNumberBits bits)
  /** A SYN carries the SACK-permitted option. */
  val sackPermitted = Bool()
  /** It carries timestamps. */
  val timestamped = Bool()
  val timestampValue, timestampEcho = UInt(32 bits)
  /** Blocks of a SACK option, from `acknowledgment` on; as many of the first ones are sent as the header holds. */
  val sack = Vec.fill(DownbeatConfig.ranges)(SackBlock(config.receiveOffsetBits))
  /** The first block came twice and lies at or below `acknowledgment`: offsets modulo their width (RFC 2883). */
  val duplicateBelow = Bool()
  /** Routers may mark it instead of dropping it (RFC 3168 5: ECT(0)). */
  val ecnCapable = Bool()
  val length = UInt(14 bits) // payload bytes, from the send buffer at `sequence`
  val mode = LaunchMode()
  val launch = Stamp()
  /** The departure stamp is to come back. */
  val stamped = Bool()
}
