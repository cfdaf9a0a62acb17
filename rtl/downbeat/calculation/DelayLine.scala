// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.calculation

import spinal.core._
import spinal.lib._

/** `value` of so many clocks ago, from a memory: for delays that would need a long chain of registers. */
object DelayLine {
  def apply[T <: Data](value: T, clocks: Int): T = {
    require(clocks >= 3, s"clocks = $clocks: use 3 at least, or registers")
    val places = clocks - 1
    val memory = Mem(HardType(value), places)
    // The oldest word is read in the clock before it is overwritten.
    val oldest = CounterFreeRun(places)
    memory.write(RegNext(oldest.value) init places - 1, value)
    RegNext(memory.readSync(oldest.value)) // a block RAM takes half a clock
  }
}
