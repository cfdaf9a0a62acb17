// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._

/** How often `event` was true at a clock, since reset and modulo 2^bits; told a clock later, for events come late in a clock. */
object Tally {
  def apply(event: Bool, bits: Int): UInt = {
    val count = Reg(UInt(bits bits)) init 0
    when(RegNext(event) init False)(count := count + 1)
    count
  }
}
