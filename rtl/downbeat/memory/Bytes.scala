// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import spinal.core._

/** Eight bytes out of two neighbouring words (the earlier one in the low bits), from byte `first + select` on. */
object ByteWindow {
  def apply(words: Bits, select: UInt, first: Int): Bits = {
    val windows = Vec(Bits(64 bits), 8)
    for ((window, index) <- windows.zipWithIndex) window := words((first + index) * 8, 64 bits)
    windows(select)
  }
}

/** The byte enables of a word from one byte on, or up to one byte; both include it. */
object ByteStrobes {
  def upTo(byte: UInt): Bits = table(byte, index => (2 << index) - 1)
  def from(byte: UInt): Bits = table(byte, index => 0xff & (0xff << index))

  private def table(byte: UInt, strobes: Int => Int): Bits =
    byte.muxList(for (index <- 0 until 8) yield index -> B(strobes(index), 8 bits))
}
