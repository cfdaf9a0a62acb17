// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** What the application may know of a connection; a level, not an edge: a newer one replaces an older one. */
case class FlowStatus(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val state = TcpState()
  val reason = CloseReason()
  /** The send buffer holds [acknowledged, written); it has space up to acknowledged + its size. */
  val acknowledged = SequenceNumber()
  val written = SequenceNumber()
  /** The receive buffer holds [consumed, received). */
  val consumed = SequenceNumber()
  val received = SequenceNumber()
  /** The peer sends no more; `received` is the end of its stream. */
  val peerFinished = Bool()
  /** The peer has said that its data is urgent up to `urgentEnd`, which has not been read yet: RCV.UP, perhaps beyond what has come. */
  val urgent = Bool()
  val urgentEnd = SequenceNumber()
  /** The last ICMP error about a segment in flight, and how many there were, modulo 4: nothing has ended by it (RFC 9293 3.9.1.8). */
  val error = NetworkError()
  val errors = UInt(2 bits)
  /** The oldest segment has been sent again three times (R1, RFC 9293 3.8.3), and is not acknowledged yet. */
  val struggling = Bool()
}
