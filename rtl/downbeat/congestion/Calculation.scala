// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.congestion

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib._

/** What a policy wants to have calculated: more than fits between two of its nodes. `question` is its calculator's, `note` its own: it
  * comes back with the answer.
  *
  * A connection has one calculation under way at most. With one event the start-up policy's goes before the steady policy's, one with kind
  * `calculated` is not taken, nor is one for which the unit has no room; a policy is not told. So it asks with each event until
  * `calculating` is seen, and what it needs to know when the answer comes is in the note.
  */
case class Calculation(questionBits: Int) extends Bundle {
  val valid = Bool()
  val question = Bits(questionBits bits)
  val note = Bits(Calculation.noteBits bits)

  /** The same with a question of `bits`, zeros above. */
  def widened(bits: Int): Calculation = {
    val wide = Calculation(bits)
    wide.valid := valid
    wide.question := question.resize(bits)
    wide.note := note
    wide
  }
}

object Calculation {
  val noteBits = 48
  val answerBits = 64

  def none(questionBits: Int): Calculation = {
    val calculation = Calculation(questionBits)
    calculation.assignFromBits(B(0, widthOf(calculation) bits))
    calculation
  }
}

/** The answer, with kind `calculated`. */
case class Calculated() extends Bundle {
  /** The start-up policy had asked. */
  val ofStartup = Bool()
  /** Something was lost since the question: windows do not count now, only words. */
  val stale = Bool()
  /** The calculator's, zeros above it. */
  val answer = Bits(Calculation.answerBits bits)
  val note = Bits(Calculation.noteBits bits)
}

object Calculated {
  def none: Calculated = {
    val calculated = Calculated()
    calculated.assignFromBits(B(0, widthOf(calculated) bits))
    calculated
  }
}

/** A kind of long calculation. A build has one unit for each that one of its policies names. */
trait Calculator {
  def name: String
  def questionBits: Int
  /** At most [[Calculation.answerBits]]. */
  def answerBits: Int
  /** Questions that may be in its unit, or answered and not taken; a power of two. A pipelined one has more than it is long. */
  def underWay(config: DownbeatConfig): Int = 1
  def build(config: DownbeatConfig): CalculatorUnit
}

/** A question, and whose: what a unit remembers of a connection it addresses by flow. */
case class CalculatorQuestion(config: DownbeatConfig, questionBits: Int) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val question = Bits(questionBits bits)
}

/** The unit of a calculator. It answers every question that it takes, in the order in which it took them; there is always room for an answer.
  */
abstract class CalculatorUnit(config: DownbeatConfig, calculator: Calculator) extends Component {
  val io = new Bundle {
    val question = slave(Stream(CalculatorQuestion(config, calculator.questionBits)))
    val answer = master(Flow(Bits(calculator.answerBits bits)))
  }
  noIoPrefix()
}
