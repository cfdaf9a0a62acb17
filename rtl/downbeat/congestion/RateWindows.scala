// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** A connection's estimated rates over its smallest round trip, bytes: BWE x RTTmin, ERE x RTTmin by the
  * thesis's rule, and by the Astart slides' ([[downbeat.calculation.RateEstimate]]). Zero: no estimate yet.
  */
case class RateWindows() extends Bundle {
  val bwe, ere, sliding = UInt(32 bits)

  /** The estimate that the flags choose. */
  def chosen(flagBwe: Bool, flagSlide: Bool): UInt = flagBwe ? bwe | (flagSlide ? sliding | ere)
}

object RateWindows {
  /** Which of a connection's estimates a policy takes: two flags of its argument. */
  val arguments: Seq[Argument] = Seq(Argument("bwe", 1), Argument("slide", 1))

  def none: RateWindows = {
    val windows = RateWindows()
    windows.bwe := 0
    windows.ere := 0
    windows.sliding := 0
    windows
  }
}
