// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.engine

import downbeat.DownbeatConfig
import downbeat.time.Instant
import downbeat.wire.SequenceNumber
import spinal.core._

/** What protocol keeps of a connection (RFC 9293 3.3.1, in its terms where it has one). */
case class ProtocolState(config: DownbeatConfig) extends Bundle {
  val inUse = Bool()
  val generation = UInt(config.generationBits bits)
  /** The application has been told of the connection, so it is the one to close it; it has closed it. */
  val announced, applicationClosed = Bool()
  val state = TcpState()
  val reason = CloseReason()

  // Sending: SND.UNA, SND.MAX, one past the last byte written; FIN follows it when `finishing`
  val unacknowledged, highestSent, written = SequenceNumber()
  val finishing = Bool()
  val sendWindow = UInt(32 bits) // bytes
  val windowSequence, windowAcknowledgment = SequenceNumber() // SND.WL1, SND.WL2
  val scaling = Bool()
  val windowScale = UInt(4 bits)
  val segmentSize = UInt(16 bits) // bytes

  // Receiving: [consumed, received) is in memory, [received, expected) on its way there; RCV.NXT is `received`
  val consumed, received, expected = SequenceNumber()
  /** `consumed` when the peer last learned our window. */
  val consumedAnnounced = SequenceNumber()
  /** The peer's FIN is counted in `expected`; in `received`. */
  val finExpected, finReceived = Bool()

  // TIME-WAIT, and FIN-WAIT-2 when nobody will read
  val armed = Bool()
  val deadline = Instant()
}
