// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import scala.math.{floor, log, pow}

/** The table of RFC 3649 Appendix B, from the RFC's equations.
  *
  * With Low_Window 38, High_Window 83000, High_Decrease 0.1 and p(w) = 0.078 / w^1.2:
  * {{{
  * b(w) = (0.1 - 0.5) (ln w - ln 38) / (ln 83000 - ln 38) + 0.5
  * a(w) = w^2 p(w) 2 b(w) / (2 - b(w))
  * }}}
  * Row 1 begins at w = 38. The next row begins at the first w with a(w) > a(begin of the row) + 1.
  */
object HighspeedTable {
  /** Rows are 1 to this one; row n has a = n. */
  val rows = 73

  /** @param from first window of the row, segments
    * @param decrease b, in 256ths
    */
  case class Row(from: Int, decrease: Int)

  private val (low, high) = (38.0, 83000.0)
  private def b(w: Double): Double = (0.1 - 0.5) * (log(w) - log(low)) / (log(high) - log(low)) + 0.5
  private def a(w: Double): Double = w * w / (12.8 * pow(w, 1.2)) * 2 * b(w) / (2 - b(w))

  /** Row n is at n - 1. */
  val all: Seq[Row] = {
    def after(from: Int, reached: Double): LazyList[Row] = {
      val next = LazyList.from(from + 1).find(a(_) > reached + 1).get
      Row(from, floor(256 * b(from)).toInt) #:: after(next, a(next))
    }
    after(low.toInt, 1).take(rows).toList
  }
}
