// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** Shifts a value left until its top bit is set, and another along with it. */
object Normalized {
  private def levels(bits: Int) = log2Up(bits)

  /** Clocks from a value of so many bits to its response. */
  def latency(bits: Int): Int = levels(bits)

  /** `value` and `along` (its bits above those of `value` must be free for the shift) shifted left by `zeros`, the zeros above the value's
    * top bit. A value of zero stays; its `zeros` are all ones. A power of two a clock, the largest first.
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

/** value >> distance in three clocks, of a distance of 6 bits: two of them a clock. */
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
