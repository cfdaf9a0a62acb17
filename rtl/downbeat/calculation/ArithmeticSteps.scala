// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** [[SerialArithmetic]] for a state machine. An active state requests one product or quotient, and acts in the clock in which `result` has it.
  * Requests and results are registered, because operands and next states are chosen from among many.
  */
class ArithmeticSteps extends Area {
  private val arithmetic = SerialArithmetic()
  private val waits = RegInit(False)
  private val requests = False
  private val request = ArithmeticRequest()
  request.assignDontCare()
  arithmetic.io.request.valid := RegNext(requests) init False
  arithmetic.io.request.payload := RegNext(request)
  private val responds = RegNext(arithmetic.io.response.valid) init False
  when(requests)(waits := True)
  when(responds)(waits := False)

  val result: UInt = RegNext(arithmetic.io.response.payload)

  /** a * b. The shorter b is, the sooner. */
  def product(a: UInt, b: UInt)(taken: => Unit): Unit = perform(divides = false, a, b)(taken)
  /** floor(a / b). */
  def quotient(a: UInt, b: UInt)(taken: => Unit): Unit = perform(divides = true, a, b)(taken)

  private def perform(divides: Boolean, a: UInt, b: UInt)(taken: => Unit): Unit = {
    requests := !waits
    request.divides := Bool(divides)
    request.a := a.resized
    request.b := b.resized
    when(responds)(taken)
  }
}
