// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** Multiplies two numbers of up to 36 bits in each clock, with DSP blocks of 18 x 18 bits: register, block, register. The sums of partial
  * products have stages of their own. Both factors must come from registers.
  */
object Product {
  /** Clocks from the factors to the product. */
  val latency = 3
  private val block = 18

  def apply(left: UInt, right: UInt): UInt = {
    require(getWidths(left, right).forall(_ <= 2 * block), s"factors of ${getWidths(left, right)} bits: use $block or ${2 * block} at most")
    if (widthOf(left) <= block) {
      if (widthOf(right) <= block) RegNext(RegNext(RegNext(left * right))) else ofHalves(left, right)
    } else if (widthOf(right) <= block) ofHalves(right, left)
    else {
      val highs = RegNext(high(left) * high(right))
      val crossed = (RegNext(high(left) * low(right)), RegNext(low(left) * high(right)))
      val lows = RegNext(low(left) * low(right))
      val middle = RegNext(crossed._1 +^ crossed._2)
      sumAt(block, RegNext(highs @@ lows), middle)
    }
  }

  private def getWidths(left: UInt, right: UInt) = Seq(widthOf(left), widthOf(right))
  private def high(value: UInt): UInt = value >> block
  private def low(value: UInt): UInt = value(block - 1 downto 0)

  private def ofHalves(narrow: UInt, wide: UInt): UInt = {
    val upper = RegNext(RegNext(narrow * high(wide)))
    sumAt(block, RegNext(RegNext(low(wide) * narrow)).resize(widthOf(narrow) + widthOf(wide)), upper)
  }

  /** base + (term << position), in a register. The sum fits `base`. */
  private def sumAt(position: Int, base: UInt, term: UInt): UInt = {
    val upper = RegNext((base >> position) + term.resize(widthOf(base) - position))
    upper @@ RegNext(base(position - 1 downto 0))
  }
}
