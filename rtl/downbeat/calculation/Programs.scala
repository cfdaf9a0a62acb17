// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import downbeat.congestion.{Calculator, CalculatorRequest, CalculatorUnit, EngineSizes}
import spinal.core._
import spinal.lib._

/** A calculator whose unit is a program. All such of a build share one [[RowMachine]] (`Programs`), because requests
  * are rare and each unit's own arithmetic would take more than a program does.
  */
trait ProgrammedCalculator extends Calculator {
  final override def shares: Boolean = true
  /** Rows that it keeps of a connection. */
  def kept: Int = 0
  /** Adds its instructions: from the fields of the request to the response, in one row, and `end`.
    *
    * @param state the kept rows
    */
  def write(program: RowProgram, state: Seq[Row]): Unit
  final def build(config: EngineSizes): CalculatorUnit = Programs(Seq(this)).build(config)
}

/** Calculators that share a machine. Above a request stands the index of its calculator, and its first field is at the
  * top of the rest.
  */
case class Programs(calculators: Seq[ProgrammedCalculator]) extends Calculator {
  val name = "programs"
  val indexBits: Int = log2Up(calculators.size)
  val requestBits: Int = indexBits + calculators.map(_.requestBits).max
  val responseBits: Int = calculators.map(_.responseBits).max
  def build(config: EngineSizes): CalculatorUnit = new ProgramsUnit(config, this)
}

/** The unit of [[Programs]]: one request at a time. */
class ProgramsUnit(config: EngineSizes, programs: Programs) extends CalculatorUnit(config, programs) {
  import programs.{calculators, indexBits}
  private val program = new RowProgram
  private val states = calculators.scanLeft(0)(_ + _.kept)
  private val entries = for ((calculator, first) <- calculators.zip(states)) yield {
    program.startOver()
    val entry = new program.Label
    program.place(entry)
    calculator.write(program, Seq.tabulate(calculator.kept)(i => Row(first + i)))
    U(entry.at)
  }

  private val flow = Reg(UInt(config.flowBits bits))
  private val busy = RegInit(False)
  private val operands = io.request.operands
  private val entry = if (indexBits == 0) entries.head else Vec(entries)(operands.takeHigh(indexBits).asUInt)
  private val machine = new RowMachine(program, config, kept = RowProgram.groups(states.last), flow,
    operands.dropHigh(indexBits), entry, fields = Seq(64))

  io.request.ready := !busy
  machine.starts := io.request.fire
  when(io.request.fire) {
    flow := io.request.flow
    busy := True
  }
  when(machine.ends)(busy := False)
  io.response.valid := RegNext(machine.ends) init False
  io.response.payload := machine.response.head.asBits.resized
}
