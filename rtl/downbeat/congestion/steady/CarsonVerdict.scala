// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{LossIntervals, LossIntervalsResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Carson's verdict over the loss intervals (Kannan, thesis, chapter 4), from the response of [[LossIntervals]].
  *
  *   unsteady: 100 |WALI - WALI before| > 10 WALI before, from 32 intervals on, or from 17 when row > 1 and not `full`
  *   steady:   otherwise, with 32 intervals
  *
  * 10 |new - old| > old is 10 new > 11 old or 10 new < 9 old.
  */
class CarsonVerdict(pipe: PolicyPipe, before: Payload[CarsonState]) extends Area {
  import pipe._
  private def view(response: Bits) = response.resize(LossIntervals.responseBits).as(LossIntervalsResponse())

  private val multiply = new s0.Area {
    private val mean = view(calculated.response).mean
    val tenNew = insert((mean << 3).resize(32) + (mean << 1).resize(32))
    val nineOld = insert((before.mean << 3).resize(32) + before.mean.resize(32))
    val count = insert(before.count(5) ? U(32, 6 bits) | (before.count + 1))
  }

  private val compare = new s1.Area {
    val elevenOld = insert(multiply.nineOld + (before.mean << 1).resize(32))
    val lower = insert(multiply.tenNew < multiply.nineOld)
    val full = insert(multiply.count(5))
    val checks = insert(multiply.count(5) || multiply.count > 16 && before.row.orR && !before.needsFull)
  }

  private val judge = new s2.Area {
    private val moved = multiply.tenNew > compare.elevenOld || compare.lower
    val unsteady = insert(moved || before.fastDrop && view(calculated.response).fallen)
  }

  /** Intervals in the history with the new one, at most 32; from the first node on. */
  val count: Payload[UInt] = multiply.count
  /** There are 32, from the second node on. */
  val full: Payload[Bool] = compare.full
  /** There are enough for a verdict, from the second node on. */
  val checks: Payload[Bool] = compare.checks
  /** From the third node on. */
  val unsteady: Payload[Bool] = judge.unsteady

  /** On the last node: the interval is in the history. Enough intervals decide about the row. */
  def applyTo(after: CarsonState, rowAfter: Payload[UInt]): Unit = new s3.Area {
    after.pending := False
    after.place := before.place + 1
    after.count := count
    after.mean := view(calculated.response).mean
    when(checks) {
      when(unsteady) {
        after.restart()
      }.elsewhen(full) {
        after.row := rowAfter
        when(!before.row.andR) {
          after.armed := False
          after.mixed := True
        }
        after.count := 16
        after.mean := view(calculated.response).newest
      }
    }
  }
}
