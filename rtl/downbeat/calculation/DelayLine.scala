// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** What `value` was so many clocks ago, kept in a memory: where a chain of registers would be long. */
object DelayLine {
  def apply[T <: Data](value: T, clocks: Int): T = {
    require(clocks >= 2, s"clocks = $clocks: use 2 at least, or a register")
    val memory = Mem(HardType(value), clocks)
    // The oldest word is read in the clock before it is written over.
    val oldest = CounterFreeRun(clocks)
    memory.write(RegNext(oldest.value) init clocks - 1, value)
    memory.readSync(oldest.value)
  }
}
