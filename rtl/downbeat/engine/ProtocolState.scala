// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.time.Instant
import downbeat.wire.SequenceNumber
import spinal.core._

/** What protocol keeps of a connection (RFC 9293 3.3.1, in its terms where it has one). Each part writes its own. */
case class ProtocolState(config: DownbeatConfig) extends Bundle {
  val inUse = Bool()
  val generation = UInt(config.generationBits bits)
  /** The application has been told of the connection, so it is the one to close it; it has closed it. */
  val announced, applicationClosed = Bool()
  val state = TcpState()
  val reason = CloseReason()

  // Sending: SND.UNA, SND.MAX, one past the last byte written; FIN follows it when `finishing`
  val unacknowledged, highestSent, written = SequenceNumber()
  val hole = HoleState(config)
  val finishing = Bool()
  val sendWindow, largestWindow = UInt(31 bits) // bytes; 65,535 << 14 at most. MAX.SND.WND (RFC 5961 5.2)
  val windowSequence, windowAcknowledgment = SequenceNumber() // SND.WL1, SND.WL2
  val scaling, selective = Bool()
  val windowScale = UInt(4 bits)
  val segmentSize = UInt(16 bits) // bytes
  val urgency = UrgencyState(config)
  val softErrors = SoftErrorState()

  // Receiving: [consumed, received) is in memory; RCV.NXT is `received`
  val consumed, received = SequenceNumber()
  /** Placements on their way to memory. */
  val placing = UInt(ProtocolState.placingBits(config) bits)

  val reassembly = ReassemblyState(config)
  val acknowledgments = AcknowledgmentState()
  val timestamps = TimestampState()
  val congestionEcho = CongestionEchoState()
  val challenges = ChallengeState()
  val keepAlive = KeepAliveState()

  /** The end of TIME-WAIT, and of FIN-WAIT-2 when nobody will read, is `deadline`; otherwise that is the delayed ACK's, if one waits. */
  val waiting = Bool()
  val deadline = Instant()
}

object ProtocolState {
  /** Slots, the placement writer's queue, which outlives them, and the steps between. */
  def placingBits(config: DownbeatConfig): Int = log2Up(config.payloadSlots + 64)
}
