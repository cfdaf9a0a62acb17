// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.Window
import spinal.core._

/** A request for the segments that fit into a round trip, a gap apart. Gap and round trip are ns. */
case class GapWindowRequest() extends Bundle {
  val gap, roundTrip = UInt(36 bits)
  val segmentSize = UInt(16 bits)
}

/** The window of a gap (Hoe 1996): floor(R / gap) segments in bytes, at most 1 GiB. A request takes about 260 clocks.
  */
object GapWindow extends ProgrammedCalculator {
  val name = "gapwindow"
  val requestBits: Int = 88
  val responseBits = 31

  def request(gap: UInt, roundTrip: UInt, segmentSize: UInt): GapWindowRequest = {
    val request = GapWindowRequest()
    request.gap := gap
    request.roundTrip := roundTrip
    request.segmentSize := segmentSize
    request
  }

  def write(program: RowProgram, state: Seq[Row]): Unit = {
    import program._
    val Seq(gap, roundTrip, segmentSize) = takeAll(GapWindowRequest())
    val window = row()
    GapWindow.compute(program, window, gap, roundTrip, segmentSize)
    respond(0, window)
    end()
  }

  /** The window of a gap; of no gap as of a very small one. */
  def compute(program: RowProgram, window: Row, gap: Row, roundTrip: Row, segmentSize: Row): Unit = {
    import program._
    val largest = Literal(Window.maximumBytes)
    divide(window, roundTrip, gap)
    ifLess(window, 0)(move(window, largest))
    atMost(window, largest)
    multiply(window, window, segmentSize)
    atMost(window, largest)
  }
}
