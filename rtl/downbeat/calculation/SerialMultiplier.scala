// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

case class Factors(leftBits: Int, rightBits: Int) extends Bundle {
  val left = UInt(leftBits bits)
  val right = UInt(rightBits bits)
}

/** One product at a time, a bit of `right` a clock: small, for units with few requests. The product stays until the next request is taken. */
case class SerialMultiplier(leftBits: Int, rightBits: Int) extends Component {
  val io = new Bundle {
    val request = slave(Stream(Factors(leftBits, rightBits)))
    /** Valid for one clock. */
    val product = master(Flow(UInt(leftBits + rightBits bits)))
  }
  noIoPrefix()

  private val left = Reg(UInt(leftBits bits))
  /** High bits: the sum so far. Low bits: what is left of the right factor, replaced by the product's low bits. */
  private val product = Reg(UInt(leftBits + rightBits bits))
  private val busy = RegInit(False)
  private val step = Counter(rightBits)

  private val sum = product(rightBits, leftBits bits) +^ (product.lsb ? left | U(0, leftBits bits))
  io.request.ready := !busy
  when(io.request.fire) {
    left := io.request.left
    product := io.request.right.resized
    busy := True
  }
  when(busy) {
    product := sum @@ product(rightBits - 1 downto 1)
    step.increment()
  }
  when(step.willOverflow)(busy := False)
  io.product.valid := RegNext(step.willOverflow) init False
  io.product.payload := product
}
