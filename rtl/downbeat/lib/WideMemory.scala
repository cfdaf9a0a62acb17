// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib

import spinal.core._
import spinal.lib._

/** A memory of few places and hundreds of bits, in block RAM: an ECP5's LUT RAM takes six LUTs for four bits of sixteen words. What is
  * read comes late in its clock, so that its first reader is a register. Nobody reads the place that is being written.
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
