// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion.steady

import downbeat.calculation.{LossIntervals, LossIntervalsResponse}
import downbeat.congestion._
import spinal.core._
import spinal.lib.misc.pipeline._

/** Carson's verdict over the loss intervals (Kannan, thesis, chapter 4), from the response of [[LossIntervals]].
  *
  *   unsteady: 100 |WALI - WALI before| > variance WALI before, with a full history, or with more than half of it when
  *             row > 1 and not `full`
  *   steady:   otherwise, with a full history
  */
class CarsonVerdict(pipe: PolicyPipe, before: Payload[CarsonState]) extends Area {
  import pipe._
  private def view(response: Bits) = response.resize(LossIntervals.responseBits).as(LossIntervalsResponse())

  private val add = new s0.Area {
    private val sum = before.count +^ U(1, 6 bits)
    val next = insert(sum.resize(6))
    val wasFull = insert(before.count >= before.history)
    val full = insert(sum >= before.history.resize(7))
    val overHalf = insert(sum > (before.history >> 1).resize(7))
  }

  private val choose = new s1.Area {
    val count = insert(Mux[UInt](add.wasFull, before.history, add.next))
    val checks = insert(add.full || add.overHalf && before.row.orR && !before.needsFull)
    val noArgument = insert(!before.variance.orR)
  }

  private val judge = new s2.Area {
    private val result = view(calculated.response)
    val unsteady = insert(result.moved || before.fastDrop && result.fallen)
  }

  /** Intervals in the history with the new one, at most as many as it has; from the second node on. */
  val count: Payload[UInt] = choose.count
  /** It is full, from the first node on. */
  val full: Payload[Bool] = add.full
  /** There are enough for a verdict, from the second node on. */
  val checks: Payload[Bool] = choose.checks
  /** All is as usual, from the second node on. */
  val noArgument: Payload[Bool] = choose.noArgument
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
        after.count := (before.history >> 1).resized
        after.mean := view(calculated.response).newest
      }
    }
  }
}
