// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._

/** The bytes that a connection of SEARCH has sent, and those acknowledged, when a bin is over. Times are ns. */
case class SearchBinsRequest() extends Bundle {
  /** The round trip with which the bins began. */
  val initial = UInt(36 bits)
  /** Since the end of the bin. */
  val late = UInt(36 bits)
  /** The bin that is over: its number, and from 32 on, modulo 32, plus 32. */
  val index = UInt(6 bits)
  /** Bytes acknowledged and sent so far, in units of 256. */
  val acked, sent = UInt(24 bits)
  /** The first bin begins. Then late and index mean nothing. */
  val begins = Bool()
}

case class SearchBinsResponse() extends Bundle {
  /** From the end of the last bin to that of the next one; with `begins` from now. ns */
  val step = UInt(40 bits)
  val index = UInt(6 bits)
  /** Slow start has reached the capacity of the path. */
  val exits = Bool()
  /** More than ten bins have passed: the bins must begin again. */
  val restarts = Bool()
}

/** The bins of SEARCH (Chung, Kachooei, Li, Claypool, draft-chung-ccwg-search) and their comparison.
  *
  * A bin is floor(35 initial / 100) ns, a tenth of the window of 3.5 round trips. Bins that passed without an ACK
  * repeat the values before. With i the bin that is over and p the place of one round trip before:
  * {{{
  * delivered = acked[i] - acked[i - 10]
  * sent      = sent[p] - sent[p - 10], interpolated between bins in 256ths
  * exits     when (sent - delivered) / sent >= 0.26
  * }}}
  * p is where sent[p] = acked[i]: what is acknowledged now was sent then. So the round trip is that of this very ACK,
  * which the draft takes from its sample. There is no comparison before p > 10, nor where the round trip is more than
  * 15 bins. The constants are the draft's.
  *
  * The unit keeps 32 bins of 48 bits for each flow. A request takes less than 500 clocks.
  */
object SearchBins extends Calculator {
  val name = "searchbins"
  val requestBits: Int = 2 * 36 + 6 + 2 * 24 + 1
  val responseBits: Int = 40 + 6 + 2
  val bins = 32
  /** W of the draft, in bins, and how many bins a round trip may take. */
  val window = 10
  val maxBins = 15
  def build(config: EngineSizes): CalculatorUnit = new SearchBinsUnit(config)
}
