// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._

/** Shifts a value left until its top bit is set, and another value by as much. A value of zero stays, and its `zeros`
  * are all ones. `along` must have space for the shift.
  *
  * Either values may come in each clock: then a stage shifts by a power of two, the largest first. Or there is a
  * `single` value at a time, which is shifted by a place a clock, in a sixth of the LUTs.
  */
object Normalized {
  private def levels(bits: Int) = log2Up(bits)

  /** Clocks from a value of so many bits to its response. */
  def latency(bits: Int, single: Boolean): Int = if (single) 1 << levels(bits) else levels(bits)

  /** `value` and `along` shifted left by `zeros`, the zeros above the value's top bit.
    *
    * @param arrives a single value is there; none: a value in each clock
    */
  def apply(value: UInt, along: UInt, arrives: Option[Bool]): (UInt, UInt, UInt) =
    arrives.fold(inStages(value, along))(inPlace(value, along, _))

  private def inStages(value: UInt, along: UInt): (UInt, UInt, UInt) = {
    val start = (value, along, U(0, 0 bits))
    (levels(widthOf(value)) - 1 to 0 by -1).foldLeft(start) { case ((shifted, other, zeros), level) =>
      val distance = 1 << level
      val empty = !shifted.takeHigh(distance).orR
      (RegNext(empty ? (shifted |<< distance) | shifted), RegNext(empty ? (other |<< distance) | other),
        next(zeros, empty))
    }
  }

  private def inPlace(value: UInt, along: UInt, arrives: Bool): (UInt, UInt, UInt) = {
    val (shifted, other) = (Reg(cloneOf(value)), Reg(cloneOf(along)))
    val zeros = Reg(UInt(levels(widthOf(value)) bits))
    when(!shifted.msb && !zeros.andR) {
      shifted := shifted |<< 1
      other := other |<< 1
      zeros := zeros + 1
    }
    when(arrives) {
      shifted := value
      other := along
      zeros := 0
    }
    (shifted, other, zeros)
  }

  private def next(zeros: UInt, empty: Bool): UInt = RegNext(zeros @@ empty)
}

/** value >> distance, of six bits. Values may come in each clock, which takes two bits of the distance a clock; or there
  * is a `single` one at a time, which is shifted by a place a clock.
  */
object ShiftedRight {
  val distanceBits = 6

  /** Clocks from a value to its response. */
  def latency(single: Boolean): Int = if (single) 1 << distanceBits else distanceBits / 2

  /** @param arrives a single value is there; none: a value in each clock */
  def apply(value: UInt, distance: UInt, arrives: Option[Bool]): UInt = {
    require(widthOf(distance) == distanceBits, s"a distance of ${widthOf(distance)} bits: use $distanceBits")
    arrives.fold(inStages(value, distance))(inPlace(value, distance, _))
  }

  private def inStages(value: UInt, distance: UInt): UInt = {
    val low = distance(1 downto 0)
    val middle = RegNext(distance(3 downto 2))
    val high = RegNext(RegNext(distance(5 downto 4)))
    val byLow = RegNext(value |>> low)
    val byMiddle = RegNext(byLow |>> (middle @@ U(0, 2 bits)))
    RegNext(byMiddle |>> (high @@ U(0, 4 bits)))
  }

  private def inPlace(value: UInt, distance: UInt, arrives: Bool): UInt = {
    val shifted = Reg(cloneOf(value))
    val left = Reg(UInt(distanceBits bits))
    when(left.orR) {
      shifted := shifted |>> 1
      left := left - 1
    }
    when(arrives) {
      shifted := value
      left := distance
    }
    shifted
  }
}
