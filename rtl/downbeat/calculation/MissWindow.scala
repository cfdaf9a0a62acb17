// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** A request for the window that fits before the next expected drop. */
case class MissWindowRequest() extends Bundle {
  /** m = gamma / delta, 8 fraction bits. */
  val rate = UInt(24 bits)
  /** t_next - now, ns; zero: the drop is overdue. */
  val untilDrop = UInt(40 bits)
  /** R, ns; zero: not known. */
  val roundTrip = UInt(36 bits)
  /** The largest window, segments. */
  val maxWindow = UInt(16 bits)
}

/** The response: zero segments where nothing can be said. */
case class MissWindowResponse() extends Bundle {
  val window = UInt(16 bits) // segments
  val gap = UInt(44 bits) // R / n: ns, 8 fraction bits
}

/** n = floor(m (t_next - now) / R) segments, a gap of R / n apart (MISS: Yu, thesis, p. 27). A request takes about 400
  * clocks.
  */
object MissWindow extends ProgrammedCalculator {
  val name = "misswindow"
  val requestBits: Int = 116
  val responseBits = 60

  def write(program: RowProgram, state: Seq[Row]): Unit = {
    import program._
    val Seq(rate, untilDrop, roundTrip, maxWindow) = takeAll(MissWindowRequest())
    val Seq(window, gap) = Seq.fill(2)(row())
    val none = new Label
    move(gap, 0)
    jumpIfLess(roundTrip, 1)(none)
    multiply(roundTrip, roundTrip, 1 << 8)
    multiply(window, untilDrop, rate)
    divide(window, window, roundTrip)
    atMost(window, maxWindow)
    jumpIfLess(window, 1)(none)
    divide(gap, roundTrip, window)
    multiply(gap, gap, 1 << 16)
    add(gap, gap, window)
    place(none)
    respond(0, gap)
    end()
  }
}
