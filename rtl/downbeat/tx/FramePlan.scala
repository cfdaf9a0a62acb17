// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.LaunchMode
import spinal.core._

/** What a line keeps of a frame beside the words of its headers. */
case class FramePlan(config: DownbeatConfig) extends Bundle {
  /** The ones' complement sum of all that TCP sums up, not yet inverted. */
  val tcpSum = UInt(16 bits)
  /** Index of the frame's last byte, padding included. */
  val lastByte = UInt(14 bits)
  val hasPayload = Bool()
  /** The headers end 6 bytes into a word, not 2: they are 14 bytes and a multiple of four. */
  val endsAtSix = Bool()
  /** Its headers leave the line, but nobody sees them. */
  val dropped = Bool()
  val mode = LaunchMode()
  val launch = Stamp()
  val tag = UInt(16 bits) // as in TransmitBeat
}

object FramePlan {
  def apply(frame: OutgoingFrame): FramePlan = {
    val plan = FramePlan(frame.config)
    plan.assignSomeByName(frame)
    plan.tcpSum := frame.header.tcpSum
    plan.endsAtSix := frame.header.endsAtSix
    plan.dropped := False
    plan
  }
}

/** The same of one that carries nothing and goes as soon as possible: a pure ACK, a RST. */
case class ImmediatePlan() extends Bundle {
  val tcpSum = UInt(16 bits)
  val lastByte = UInt(7 bits)

  def frame(config: DownbeatConfig): FramePlan = {
    val plan = FramePlan(config)
    plan.tcpSum := tcpSum
    plan.lastByte := lastByte.resized
    plan.hasPayload := False
    plan.endsAtSix := False // of interest to payload only
    plan.dropped := False
    plan.mode := LaunchMode.asap
    plan.launch := Stamp.zero
    plan.tag := 0
    plan
  }
}

object ImmediatePlan {
  def apply(header: SegmentHeader): ImmediatePlan = {
    val plan = ImmediatePlan()
    plan.tcpSum := header.tcpSum
    plan.lastByte := header.lastByte.resized
    plan
  }
}
