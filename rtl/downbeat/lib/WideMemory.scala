// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._
import spinal.lib._

/** A memory of few words of hundreds of bits, in block RAM. An ECP5's LUT RAM would take six LUTs for four bits of
  * sixteen words. The word comes late in its clock, so its first reader is a register. A word is never read while it is
  * written.
  */
object WideMemory {
  def apply[T <: Data](memory: Mem[T]): Mem[T] = memory.addAttribute("ram_style", "block").addAttribute("no_rw_check")
}

/** A queue in a [[WideMemory]]. */
object WideQueue {
  def apply[T <: Data](word: HardType[T], places: Int): StreamFifo[T] = {
    val queue = StreamFifo(word, places, forFMax = true)
    WideMemory(queue.logic.ram)
    queue
  }
}
