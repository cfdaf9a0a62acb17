// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes, Window}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

/** A request for the segments that fit into a round trip, a gap apart. Gap and round trip are ns. */
case class GapWindowRequest() extends Bundle {
  val gap, roundTrip = UInt(36 bits)
  val segmentSize = UInt(16 bits)
}

/** The window of a gap (Hoe 1996): floor(R / gap) segments in bytes, at most 1 GiB. A request takes 64 clocks, and as
  * many as the number of segments has bits.
  */
object GapWindow extends Calculator {
  val name = "gapwindow"
  val requestBits: Int = 88
  val responseBits = 31
  def build(config: EngineSizes): CalculatorUnit = new GapWindowUnit(config)

  def request(gap: UInt, roundTrip: UInt, segmentSize: UInt): GapWindowRequest = {
    val request = GapWindowRequest()
    request.gap := gap
    request.roundTrip := roundTrip
    request.segmentSize := segmentSize
    request
  }

  /** Bytes of a window, at most the largest there is. */
  def bounded(bytes: UInt): UInt =
    (bytes < Window.maximumBytes) ? bytes.resize(responseBits) | U(Window.maximumBytes, responseBits bits)
}

/** The unit of [[GapWindow]]: one request at a time. */
class GapWindowUnit(config: EngineSizes) extends CalculatorUnit(config, GapWindow) {
  private val taken = Reg(GapWindowRequest())
  private val segments = Reg(UInt(36 bits))
  private val arithmetic = new ArithmeticSteps

  io.response.valid := False
  io.response.payload := GapWindow.bounded(arithmetic.result).asBits
  io.request.ready := False

  private val steps: StateMachine = new StateMachine {
    val rest, divide, multiply = new State
    setEntry(rest)
    rest.whenIsActive {
      io.request.ready := True
      taken.assignFromBits(io.request.operands)
      when(io.request.valid)(goto(divide))
    }
    divide.whenIsActive(arithmetic.quotient(taken.roundTrip, taken.gap) {
      segments := arithmetic.result.resized
      goto(multiply)
    })
    multiply.whenIsActive(arithmetic.product(taken.segmentSize, segments) {
      io.response.valid := True
      goto(rest)
    })
  }
}
