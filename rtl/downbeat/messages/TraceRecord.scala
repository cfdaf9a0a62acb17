// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.congestion.{CongestionEvent, DeliverySample, InlineUpdate, Window}
import downbeat.time.Instant
import downbeat.wire.SequenceNumber
import spinal.core._

/** One event and its effect, for the event log and the golden models, in the order in which the engine took the events.
  */
case class TraceRecord(config: DownbeatConfig) extends Bundle {
  val time = Instant()
  val reference = FlowReference(config)
  val kind = EventKind()
  /** The event met a connection; false: stale, nothing changed. */
  val live = Bool()
  val state = TcpState()
  val reason = CloseReason()
  /** The congestion stage's input and policies, and the windows after it. */
  val congestion = CongestionEvent()
  val delivery = DeliverySample()
  val startup = UInt(config.startup.bits bits)
  val steady = UInt(config.steady.bits bits)
  val window = Window()
  /** With a start of the host's: the window that it sets, segments (zero: none); it is too old. */
  val hostWindow = UInt(16 bits)
  val hostExpired = Bool()
  /** A window that is not used is bounded. */
  val growthLimited = Bool()
  /** The start-up policy gives up a window that was not safe. */
  val retreats = Bool()
  val acknowledged = SequenceNumber() // SND.UNA
  val nextSend = SequenceNumber() // SND.NXT
  val highestSent = SequenceNumber() // SND.MAX
  val sendWindow = UInt(32 bits) // bytes, scaled
  val received = SequenceNumber() // RCV.NXT
  /** This event sent a segment with sequence numbers. */
  val sent = Bool()
  val sentSequence = SequenceNumber()
  val sentLength = UInt(14 bits)
  /** It had been sent before. */
  val retransmission = Bool()
  /** A policy has requested a long calculation. */
  val requested = Bool()
  /** The rate estimator has taken this event's ACK. */
  val estimates = Bool()
  val inline = InlineUpdate()
}
