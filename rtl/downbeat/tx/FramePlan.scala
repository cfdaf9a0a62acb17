// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.LaunchMode
import spinal.core._

/** The attributes of a frame in a queue, besides the words of its headers. */
case class FramePlan(config: DownbeatConfig) extends Bundle {
  /** The ones' complement sum of all that TCP sums up, not yet inverted. */
  val tcpSum = UInt(16 bits)
  /** Index of the frame's last byte, padding included. */
  val lastByte = UInt(14 bits)
  val hasPayload = Bool()
  /** The headers, 14 bytes and a multiple of four, end 4 `endInBeat` + 2 bytes into a beat. */
  val endInBeat = UInt(config.beatByteBits - 2 bits)
  /** Its headers leave the line, but nobody sees them. */
  val dropped = Bool()
  val mode = LaunchMode()
  val launch = Stamp()
  val tag = UInt(16 bits) // as in TransmitBeat
  val vlan = UInt(config.vlanBits bits) // likewise
}

object FramePlan {
  def apply(frame: OutgoingFrame): FramePlan = {
    val plan = FramePlan(frame.config)
    plan.assignSomeByName(frame)
    plan.tcpSum := frame.header.tcpSum
    plan.endInBeat := frame.header.endInBeat
    plan.vlan := frame.header.vlan
    plan.dropped := False
    plan
  }
}

/** The same for a frame without payload that goes as soon as possible: a pure ACK or a RST. */
case class ImmediatePlan(config: DownbeatConfig) extends Bundle {
  val tcpSum = UInt(16 bits)
  val lastByte = UInt(7 bits)
  val vlan = UInt(config.vlanBits bits)

  def frame: FramePlan = {
    val plan = FramePlan(config)
    plan.tcpSum := tcpSum
    plan.lastByte := lastByte.resized
    plan.hasPayload := False
    plan.endInBeat := 0 // only payload reads it
    plan.dropped := False
    plan.mode := LaunchMode.asap
    plan.launch := Stamp.zero
    plan.tag := 0
    plan.vlan := vlan
    plan
  }
}

object ImmediatePlan {
  def apply(header: SegmentHeader): ImmediatePlan = {
    val plan = ImmediatePlan(header.config)
    plan.tcpSum := header.tcpSum
    plan.lastByte := header.lastByte.resized
    plan.vlan := header.vlan
    plan
  }
}
