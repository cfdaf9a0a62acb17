// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import spinal.core._
import spinal.lib._

/** A policy's request for a calculation that takes longer than its steps.
  *
  * A connection has one calculation under way at most. If both policies make a request with one event, the start-up
  * policy's is taken. A request with kind `calculated` is not taken, nor is one for which the unit has no space. The
  * policy gets no notice of that. So it repeats the request with each event until it sees `calculating`.
  */
case class Calculation(requestBits: Int) extends Bundle {
  val valid = Bool()
  /** In the form of the policy's calculator. */
  val operands = Bits(requestBits bits)
  /** The policy's own. It comes back with the response. */
  val note = Bits(Calculation.noteBits bits)

  /** Assigns all fields.
    *
    * @param operands in the form of the policy's calculator
    */
  def assign(valid: Bool, operands: Bundle, note: Bits = B(0, Calculation.noteBits bits)): Unit = {
    this.valid := valid
    this.operands := operands.asBits
    this.note := note
  }

  /** The same with a request of `bits`, zeros below. */
  def widened(bits: Int): Calculation = {
    val wide = Calculation(bits)
    wide.valid := valid
    wide.operands := operands ## B(0, bits - requestBits bits)
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
  /** To a request of the start-up policy. */
  val ofStartup = Bool()
  /** Something was lost since the request: the policy's windows do not count, unless it `modelsPath`; its policy state
    * does.
    */
  val stale = Bool()
  /** In the form of the calculator, with zeros above. */
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

/** The sizes of a build that a calculator may depend on. */
trait EngineSizes {
  /** Connections at once. */
  def flows: Int
  def flowBits: Int
  /** Clocks from one event of the engine to the next. */
  def eventSpacing: Int
  /** Memories of flows' state have check bits. */
  def ecc: Boolean
}

/** A kind of long calculation. A build has one unit for each that one of its policies names, and one for all that
  * share.
  */
trait Calculator {
  def name: String
  def requestBits: Int
  /** At most [[Calculation.responseBits]]. */
  def responseBits: Int
  /** Requests in its unit and responses that wait behind it; a power of two. A pipelined unit allows more than its
    * latency.
    */
  def underWay(config: EngineSizes): Int = 1
  /** Its unit is that of all calculators which share. */
  def shares: Boolean = false
  def build(config: EngineSizes): CalculatorUnit
}

/** A request, and the flow that addresses what a unit keeps of a connection. */
case class CalculatorRequest(config: EngineSizes, requestBits: Int) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val operands = Bits(requestBits bits)
}

/** The unit of a calculator. It responds to every request that it takes, in order. There is always space for a
  * response.
  */
abstract class CalculatorUnit(config: EngineSizes, calculator: Calculator) extends Component {
  val io = new Bundle {
    val request = slave(Stream(CalculatorRequest(config, calculator.requestBits)))
    val response = master(Flow(Bits(calculator.responseBits bits)))
  }
  noIoPrefix()
}
