// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** The numbers of a connection that has sent and received all, without which TIME-WAIT could not answer. */
case class TimeWaitNumbers() extends Bundle {
  val next = SequenceNumber() // SND.NXT
  val received = SequenceNumber() // RCV.NXT: behind the peer's FIN
  /** The connection has timestamps. */
  val timestamped = Bool()
  val recent = UInt(32 bits) // TS.Recent
}

/** A connection ends on its flow: from the engine, before the flow's release. */
case class ConnectionEnd(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  /** It is in TIME-WAIT, which goes on without the flow. */
  val waits = Bool()
  /** Read when `waits`. */
  val numbers = TimeWaitNumbers()
}
