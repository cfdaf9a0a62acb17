// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** The state of inline measurement of a connection's path, and the stream of probes that it wants
  * ([[downbeat.calculation.InlineMeasurement]]).
  */
case class InlineResult() extends Bundle {
  /** A stream is wanted. */
  val valid = Bool()
  /** Every second segment is a probe: the receiver delays ACKs. */
  val alternate = Bool()
  /** From the first segment of the stream to the second, ns; zero: back to back. */
  val gap = UInt(32 bits)
  /** The gap becomes shorter by this after each probe, ns. */
  val step = UInt(32 bits)
  /** The bottleneck's bandwidth K and what is available of it, A, bytes/s of payload. Zero: not known yet. */
  val capacity, available = UInt(32 bits)
}

/** An event for the inline estimator, besides the ACK of a probe. */
case class InlineUpdate() extends Bundle {
  /** There is such an event. */
  val goes = Bool()
  /** The connection is new; its probes are forgotten; a stream has left. */
  val opens, forgets, completes = Bool()
  /** Probes without an ACK of their own. */
  val missed = UInt(2 bits)
}

object InlineUpdate {
  def none: InlineUpdate = {
    val update = InlineUpdate()
    update.assignFromBits(B(0, widthOf(update) bits))
    update
  }
}

object InlineResult {
  val bits: Int = 2 + 4 * 32

  def none: InlineResult = {
    val result = InlineResult()
    result.assignFromBits(B(0, widthOf(result) bits))
    result
  }
}
