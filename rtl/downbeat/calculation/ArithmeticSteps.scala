// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** [[SerialArithmetic]] for a state machine: while a state is active it asks for one product or quotient, and what it does with that happens in
  * the clock in which `result` has it.
  */
class ArithmeticSteps extends Area {
  private val arithmetic = SerialArithmetic()
  private val waits = RegInit(False)
  arithmetic.io.question.valid := False
  arithmetic.io.question.payload.assignDontCare()
  when(arithmetic.io.question.fire)(waits := True)
  when(arithmetic.io.answer.valid)(waits := False)

  def result: UInt = arithmetic.io.answer.payload

  /** a * b; the shorter b is, the sooner. */
  def product(a: UInt, b: UInt)(taken: => Unit): Unit = ask(divides = false, a, b)(taken)
  /** floor(a / b). */
  def quotient(a: UInt, b: UInt)(taken: => Unit): Unit = ask(divides = true, a, b)(taken)

  private def ask(divides: Boolean, a: UInt, b: UInt)(taken: => Unit): Unit = {
    arithmetic.io.question.valid := !waits
    arithmetic.io.question.divides := Bool(divides)
    arithmetic.io.question.a := a.resized
    arithmetic.io.question.b := b.resized
    when(arithmetic.io.answer.valid)(taken)
  }
}
