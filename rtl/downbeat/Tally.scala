// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import spinal.core._

/** How often `event` was true at a clock, since reset and modulo 2^bits. */
object Tally {
  def apply(event: Bool, bits: Int): UInt = {
    val count = Reg(UInt(bits bits)) init 0
    when(event)(count := count + 1)
    count
  }
}
