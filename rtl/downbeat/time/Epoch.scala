// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.time

import spinal.core._

/** How often time has wrapped since reset, modulo 16: with an instant's 48 bits it tells 52 days apart.
  *
  * Time never jumps by 2^47 ns at once, so a top bit that falls is a wrap.
  */
class Epoch(now: Instant) extends Area {
  private val before = RegNext(now.ns.msb) init False
  private val wrapsBefore = Reg(UInt(4 bits)) init 0

  val wraps: UInt = wrapsBefore + (before && !now.ns.msb).asUInt
  wrapsBefore := wraps
  /** The top bit has changed: a clock-gated module must wake to see it. */
  val turns: Bool = before =/= now.ns.msb
}
