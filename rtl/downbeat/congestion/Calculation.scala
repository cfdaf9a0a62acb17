// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._
import spinal.lib._

/** What a policy wants to have calculated: more than fits between two of its nodes. `request` is its calculator's, `note` its own: it
  * comes back with the response.
  *
  * A connection has one calculation under way at most. With one event the start-up policy's goes before the steady policy's, one with kind
  * `calculated` is not taken, nor is one for which the unit has no space; a policy is not told. So it asks with each event until
  * `calculating` is seen, and what it needs to know when the response comes is in the note.
  */
case class Calculation(requestBits: Int) extends Bundle {
  val valid = Bool()
  val operands = Bits(requestBits bits)
  val note = Bits(Calculation.noteBits bits)

  /** The same with a request of `bits`, zeros above. */
  def widened(bits: Int): Calculation = {
    val wide = Calculation(bits)
    wide.valid := valid
    wide.operands := operands.resize(bits)
    wide.note := note
    wide
  }
}

object Calculation {
  val noteBits = 48
  val responseBits = 64

  def none(requestBits: Int): Calculation = {
    val calculation = Calculation(requestBits)
    calculation.assignFromBits(B(0, widthOf(calculation) bits))
    calculation
  }
}

/** The response, with kind `calculated`. */
case class Calculated() extends Bundle {
  /** The start-up policy had asked. */
  val ofStartup = Bool()
  /** Something was lost since the request: windows do not count now, only policy states. */
  val stale = Bool()
  /** The calculator's, zeros above it. */
  val response = Bits(Calculation.responseBits bits)
  val note = Bits(Calculation.noteBits bits)
}

object Calculated {
  def none: Calculated = {
    val calculated = Calculated()
    calculated.assignFromBits(B(0, widthOf(calculated) bits))
    calculated
  }
}

/** What of the build a calculator may depend on. */
trait EngineSizes {
  /** Connections at once. */
  def flows: Int
  def flowBits: Int
  /** Clocks from one event of the engine to the next. */
  def eventSpacing: Int
}

/** A kind of long calculation. A build has one unit for each that one of its policies names. */
trait Calculator {
  def name: String
  def requestBits: Int
  /** At most [[Calculation.responseBits]]. */
  def responseBits: Int
  /** Requests that may be in its unit, or answered and not taken; a power of two. A pipelined one has more than it is long. */
  def underWay(config: EngineSizes): Int = 1
  def build(config: EngineSizes): CalculatorUnit
}

/** A request, and whose: what a unit remembers of a connection it addresses by flow. */
case class CalculatorRequest(config: EngineSizes, requestBits: Int) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val operands = Bits(requestBits bits)
}

/** The unit of a calculator. It responses every request that it takes, in the order in which it took them; there is always space for an response.
  */
abstract class CalculatorUnit(config: EngineSizes, calculator: Calculator) extends Component {
  val io = new Bundle {
    val request = slave(Stream(CalculatorRequest(config, calculator.requestBits)))
    val response = master(Flow(Bits(calculator.responseBits bits)))
  }
  noIoPrefix()
}
