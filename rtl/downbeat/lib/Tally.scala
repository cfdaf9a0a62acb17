// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._

/** Counts the clocks in which `event` was true, since reset and modulo 2^bits. The count is a clock late, because
  * events are late in their clock.
  */
object Tally {
  def apply(event: Bool, bits: Int): UInt = {
    val count = Reg(UInt(bits bits)) init 0
    when(RegNext(event) init False)(count := count + 1)
    count
  }
}
