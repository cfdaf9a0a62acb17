// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** Shifts a value left until its top bit is set, and another value by as much. */
object Normalized {
  private def levels(bits: Int) = log2Up(bits)

  /** Clocks from a value of so many bits to its response. */
  def latency(bits: Int): Int = levels(bits)

  /** `value` and `along` shifted left by `zeros`, the zeros above the value's top bit: a power of two a clock, the largest first. `along` must
    * have space for the shift. A value of zero stays, and its `zeros` are all ones.
    */
  def apply(value: UInt, along: UInt): (UInt, UInt, UInt) = {
    val start = (value, along, U(0, 0 bits))
    (levels(widthOf(value)) - 1 to 0 by -1).foldLeft(start) { case ((shifted, other, zeros), level) =>
      val distance = 1 << level
      val empty = !shifted.takeHigh(distance).orR
      (RegNext(empty ? (shifted |<< distance) | shifted), RegNext(empty ? (other |<< distance) | other), next(zeros, empty))
    }
  }

  def apply(value: UInt): (UInt, UInt) = {
    val (shifted, _, zeros) = apply(value, U(0, 1 bits))
    (shifted, zeros)
  }

  private def next(zeros: UInt, empty: Bool): UInt = RegNext(zeros @@ empty)
}

/** value >> distance in three clocks: two bits of the distance a clock, of six. */
object ShiftedRight {
  val latency = 3
  val distanceBits = 6

  def apply(value: UInt, distance: UInt): UInt = {
    require(widthOf(distance) == distanceBits, s"a distance of ${widthOf(distance)} bits: use $distanceBits")
    val low = distance(1 downto 0)
    val middle = RegNext(distance(3 downto 2))
    val high = RegNext(RegNext(distance(5 downto 4)))
    val byLow = RegNext(value |>> low)
    val byMiddle = RegNext(byLow |>> (middle @@ U(0, 2 bits)))
    RegNext(byMiddle |>> (high @@ U(0, 4 bits)))
  }
}
