// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.time

import spinal.core._

/** How often time has wrapped since reset, in units of 78 hours: the count comes round after 834 days.
  *
  * Time never jumps by 2^47 ns at once, so a top bit that falls is a wrap.
  */
class Epoch(now: Instant) extends Area {
  private val before = RegNext(now.ns.msb) init False
  private val wrapsBefore = Reg(UInt(Epoch.bits bits)) init 0

  val wraps: UInt = wrapsBefore + (before && !now.ns.msb).asUInt
  wrapsBefore := wraps
  /** The top bit has changed: a clock-gated module must wake to see it. */
  val turns: Bool = before =/= now.ns.msb
}

object Epoch {
  val bits = 8
}
