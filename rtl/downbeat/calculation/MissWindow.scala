// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._
import spinal.lib.fsm._

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

/** n = floor(m (t_next - now) / R) segments, a gap of R / n apart (MISS: Yu, thesis, p. 27). A request takes about 170
  * clocks.
  */
object MissWindow extends Calculator {
  val name = "misswindow"
  val requestBits: Int = 116
  val responseBits = 60
  def build(config: EngineSizes): CalculatorUnit = new MissWindowUnit(config)
}

/** The unit of [[MissWindow]]: one request at a time. */
class MissWindowUnit(config: EngineSizes) extends CalculatorUnit(config, MissWindow) {
  private val taken = Reg(MissWindowRequest())
  private val value = Reg(UInt(64 bits))
  private val arithmetic = new ArithmeticSteps
  private val response = MissWindowResponse()
  private val known = RegInit(False)
  response.window := known ? value.resize(16) | U(0, 16 bits)
  response.gap := known ? arithmetic.result.resize(44) | U(0, 44 bits)

  io.response.valid := False
  io.response.payload := response.asBits
  io.request.ready := False

  private val steps: StateMachine = new StateMachine {
    val rest, multiply, divide, bound, spread = new State
    setEntry(rest)
    rest.whenIsActive {
      io.request.ready := True
      taken.assignFromBits(io.request.operands)
      when(io.request.valid)(goto(multiply))
    }
    multiply.whenIsActive(arithmetic.product(taken.untilDrop, taken.rate) {
      value := arithmetic.result
      goto(divide)
    })
    divide.whenIsActive(arithmetic.quotient(value, taken.roundTrip << 8) {
      value := arithmetic.result
      goto(bound)
    })
    bound.whenIsActive {
      when((value >> 16).orR || value.resize(16) > taken.maxWindow)(value := taken.maxWindow.resized)
      known := taken.roundTrip.orR && value.orR && taken.maxWindow.orR
      goto(spread)
    }
    spread.whenIsActive(arithmetic.quotient(taken.roundTrip << 8, value) {
      io.response.valid := True
      goto(rest)
    })
  }
}
