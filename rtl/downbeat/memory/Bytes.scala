// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import spinal.core._

/** Moves bytes by a number of places, three bits of it a step, the upper ones first: in each step every bit has eight
  * sources at most.
  */
object ByteShift {
  private val step = 3 // bits of the number

  /** The `bytes` bytes from byte `select` * `unit` on; `words` has as many as the largest `select` reaches. */
  def window(words: Bits, select: UInt, bytes: Int, unit: Int = 1): Bits = {
    val low = (widthOf(select) - 1) / step * step
    val digit = select(widthOf(select) - 1 downto low)
    val rest = bytes + unit * ((1 << low) - 1) // those that the steps below need
    val windows = Vec((0 until 1 << widthOf(digit)).map(place => words((place << low) * unit * 8, rest * 8 bits)))
    val chosen = windows(digit)
    if (low == 0) chosen else window(chosen, select(low - 1 downto 0), bytes, unit)
  }
}

/** The byte enables of a word from one byte on, or up to one byte; both include it. */
object ByteStrobes {
  def upTo(byte: UInt): Bits = table(byte, (index, _) => (BigInt(2) << index) - 1)
  def from(byte: UInt): Bits = table(byte, (index, all) => all & (all << index))

  private def table(byte: UInt, strobes: (Int, BigInt) => BigInt): Bits = {
    val bytes = 1 << widthOf(byte)
    byte.muxList(for (index <- 0 until bytes) yield index -> B(strobes(index, (BigInt(1) << bytes) - 1), bytes bits))
  }
}
