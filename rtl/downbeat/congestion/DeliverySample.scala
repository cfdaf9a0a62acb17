// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** The delivery rate that an ACK samples (draft-ietf-ccwg-bbr 4.1): that of P, the newest segment that it delivers. Bytes
  * and ns; totals count modulo 2^32.
  */
case class DeliverySample() extends Bundle {
  /** The event has a sample. */
  val valid = Bool()
  /** C.delivered after the event, and P.delivered. */
  val delivered, priorDelivered = UInt(32 bits)
  /** The longer of the sending and the acknowledging; all ones: that or more. */
  val interval = UInt(36 bits)
  /** C.lost after the event, and P.lost. */
  val lost, priorLost = UInt(32 bits)
  /** C.inflight when P left, with P, and after the event. */
  val txInFlight, inFlight = UInt(31 bits)
  /** P.is_app_limited; with P less than a segment of cwnd was left; the peer sends SACK. */
  val appLimited, cwndLimited, selective = Bool()
}

object DeliverySample {
  def none: DeliverySample = {
    val sample = DeliverySample()
    sample.assignFromBits(B(0, widthOf(sample) bits))
    sample
  }
}
