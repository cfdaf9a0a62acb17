// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine.protocol

import downbeat.config.DownbeatConfig
import downbeat.messages.{CloseReason, TcpState}
import downbeat.time.NearInstant
import downbeat.wire.{NearNumber, SequenceNumber}
import spinal.core._

/** A window of the peer as it came: at most 65,535 << 14 bytes. */
case class PeerWindow() extends Bundle {
  val field = UInt(16 bits)
  /** By the connection's window scale. The window of a SYN is not scaled. */
  val scaled = Bool()

  def bytes(windowScale: UInt): UInt = scaled ? (field.resize(31) |<< windowScale) | field.resize(31)
}

/** The protocol stage's state of a connection (RFC 9293 3.3.1). Each part of protocol writes its own fields. */
case class ProtocolState(config: DownbeatConfig) extends Bundle {
  val inUse = Bool()
  val generation = UInt(config.generationBits bits)
  /** The application knows the connection, and must close it. The application has closed it. */
  val announced, applicationClosed = Bool()
  val state = TcpState()
  val reason = CloseReason()

  // Sending: SND.UNA, SND.MAX, and one past the last byte written, which FIN follows if `finishing`
  val unacknowledged = SequenceNumber()
  val highestSent, written = NearNumber(config.sendNumberBits)
  val hole = HoleState(config)
  val finishing = Bool()
  val sendWindow, largestWindow = PeerWindow() // SND.WND, MAX.SND.WND (RFC 5961 5.2)
  val windowSequence = NearNumber(config.receiveNumberBits) // SND.WL1
  val scaling, selective = Bool()
  val windowScale = UInt(4 bits)
  val segmentSize = UInt(config.segmentBits bits) // bytes
  val urgency = UrgencyState(config)
  val softErrors = SoftErrorState()

  // Receiving: [consumed, received) is in memory and not read; RCV.NXT is `received`
  val consumed = NearNumber(config.receiveNumberBits)
  val received = SequenceNumber()
  /** Placements on their way to memory. */
  val placing = UInt(ProtocolState.placingBits(config) bits)

  val reassembly = ReassemblyState(config)
  val acknowledgments = AcknowledgmentState(config)
  val timestamps = TimestampState()
  val congestionEcho = CongestionEchoState()
  val challenges = ChallengeState()
  val keepAlive = KeepAliveState()

  /** `deadline` ends TIME-WAIT, or FIN-WAIT-2 after the application has closed. Otherwise it is the delayed ACK's, if
    * one waits.
    */
  val waiting = Bool()
  val deadline = NearInstant(config.deadlineBits, config.deadlineUnit)
}

/** The part of a connection's state without which it cannot be ended. With `ecc` it is kept twice, so that two flips of
  * one word leave it.
  */
case class ConnectionIdentity(config: DownbeatConfig) extends Bundle {
  val inUse = Bool()
  val generation = UInt(config.generationBits bits)
  val announced, applicationClosed = Bool()
  val placing = UInt(ProtocolState.placingBits(config) bits)
}

object ProtocolState {
  /** Slots, the placement writer's queue (which outlives them), and the steps between. */
  def placingBits(config: DownbeatConfig): Int = log2Up(config.payloadSlots + 64)
}
