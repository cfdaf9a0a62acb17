// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._

/** A connection's estimated rates over its smallest round trip, bytes: BWE x RTTmin and ERE x RTTmin
  * ([[downbeat.calculation.RateEstimate]]). Zero: no estimate yet.
  */
case class RateWindows() extends Bundle {
  val bwe, ere = UInt(32 bits)
}

object RateWindows {
  def none: RateWindows = {
    val windows = RateWindows()
    windows.bwe := 0
    windows.ere := 0
    windows
  }
}
