// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** [[SerialArithmetic]] for a state machine: while a state is active it asks for one product or quotient, and what it does with that happens in
  * the clock in which `result` has it. Registered both ways: what is asked is chosen from among many, and so is what follows.
  */
class ArithmeticSteps extends Area {
  private val arithmetic = SerialArithmetic()
  private val waits = RegInit(False)
  private val asks = False
  private val request = ArithmeticRequest()
  request.assignDontCare()
  arithmetic.io.request.valid := RegNext(asks) init False
  arithmetic.io.request.payload := RegNext(request)
  private val answered = RegNext(arithmetic.io.response.valid) init False
  when(asks)(waits := True)
  when(answered)(waits := False)

  val result: UInt = RegNext(arithmetic.io.response.payload)

  /** a * b; the shorter b is, the sooner. */
  def product(a: UInt, b: UInt)(taken: => Unit): Unit = ask(divides = false, a, b)(taken)
  /** floor(a / b). */
  def quotient(a: UInt, b: UInt)(taken: => Unit): Unit = ask(divides = true, a, b)(taken)

  private def ask(divides: Boolean, a: UInt, b: UInt)(taken: => Unit): Unit = {
    asks := !waits
    request.divides := Bool(divides)
    request.a := a.resized
    request.b := b.resized
    when(answered)(taken)
  }
}
