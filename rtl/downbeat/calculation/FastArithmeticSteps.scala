// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** As [[ArithmeticSteps]], for units with many requests: products with DSP blocks, quotients in 36 clocks. Factors and
  * denominators have up to 32 bits. A quotient is at most 2^32 - 1.
  */
class FastArithmeticSteps extends Area {
  private val waits = RegInit(False)
  private val multiplies, divides = False
  private val left = Reg(UInt(64 bits))
  private val right = Reg(UInt(32 bits))
  private val nextLeft = UInt(64 bits)
  private val nextRight = UInt(32 bits)
  nextLeft.assignDontCare()
  nextRight.assignDontCare()
  when(multiplies || divides) {
    waits := True
    left := nextLeft
    right := nextRight
  }

  private val divider = Divider(numeratorBits = 64, denominatorBits = 32, quotientBits = 32, single = true)
  divider.io.request.valid := RegNext(divides) init False
  divider.io.request.numerator := left
  divider.io.request.denominator := right
  private val product = Product(left.resize(36), right.resize(36))
  private val multiplied = Delay(multiplies, Product.latency + 1, init = False)
  private val divided = divider.io.response.valid
  private val responds = RegNext(multiplied || divided) init False
  when(responds)(waits := False)

  val result: UInt = RegNext(divided ? divider.io.response.payload.resize(64) | product.resize(64))

  /** a * b. */
  def product(a: UInt, b: UInt)(taken: => Unit): Unit = perform(multiplies, a, b)(taken)
  /** min(floor(a / b), 2^32 - 1). */
  def quotient(a: UInt, b: UInt)(taken: => Unit): Unit = perform(divides, a, b)(taken)

  private def perform(starts: Bool, a: UInt, b: UInt)(taken: => Unit): Unit = {
    starts := !waits
    nextLeft := a.resized
    nextRight := b.resized
    when(responds)(taken)
  }
}
