// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import spinal.core._
import spinal.lib._

/** A queue of few places and hundreds of bits in block RAM: an ECP5's LUT RAM takes six LUTs for four bits of sixteen words. What is
  * read comes late in its clock, so that its first reader is a register.
  */
object WideQueue {
  def apply[T <: Data](word: HardType[T], places: Int): StreamFifo[T] = {
    val queue = StreamFifo(word, places, forFMax = true)
    queue.logic.ram.addAttribute("ram_style", "block")
    queue.logic.ram.addAttribute("no_rw_check") // it never reads the place that it writes
    queue
  }
}
