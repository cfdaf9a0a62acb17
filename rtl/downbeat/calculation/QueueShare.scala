// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** A request for the part of a window that waits in the path's queues. */
case class QueueShareRequest() extends Bundle {
  val window = UInt(32 bits) // bytes
  /** Sum of round trips, ns, and their number. */
  val total = UInt(48 bits)
  val count = UInt(12 bits)
  /** The unloaded round trip, ns. */
  val base = UInt(36 bits)
}

/** How much of a window waits in queues (Brakmo and Peterson 1995, their Diff in bytes): w (RTT - base) / RTT, for FAST
  * and Vegas.
  *
  * RTT is the mean total / count, so the share is w (total - count base) / total. Both are shifted right until total
  * has 32 bits. A mean below the base counts as the base. The response is rounded down, at most 2^32 - 1. A request
  * takes about 500 clocks.
  */
object QueueShare extends ProgrammedCalculator {
  val name = "queueshare"
  val requestBits: Int = 32 + 48 + 12 + 36
  val responseBits = 32

  /** Units are those of [[QueueShareRequest]]. */
  def request(window: UInt, total: UInt, count: UInt, base: UInt): QueueShareRequest = {
    val request = QueueShareRequest()
    request.window := window
    request.total := total
    request.count := count
    request.base := base
    request
  }

  def write(program: RowProgram, state: Seq[Row]): Unit = {
    import program._
    val Seq(window, total, count, base) = takeAll(QueueShareRequest())
    val Seq(excess, share) = Seq.fill(2)(row())
    multiply(excess, base, count)
    subtract(excess, total, excess)
    atLeast(excess, 0)
    narrow(share, total, 32)(total, excess)
    multiply(share, window, excess)
    divide(share, share, total) // all ones for a total of zero
    respond(0, share)
    end()
  }
}
