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
