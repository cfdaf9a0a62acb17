// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import spinal.core._
import spinal.lib._

/** One byte lane of the block memory, with its own address registers. One address net for all block RAMs would be the
  * slowest path of the memory.
  */
case class MemoryLane(words: Int) extends Component {
  val io = new Bundle {
    val write = slave(Flow(MemoryLaneWrite(words)))
    /** The address of a word. */
    val read = slave(Flow(UInt(log2Up(words) bits)))
    /** The response, `readClocks` after its address. */
    val data = out(Bits(8 bits))
  }
  noIoPrefix()
  // Otherwise Yosys merges the address registers of the lanes into one.
  addAttribute("keep_hierarchy")

  private val memory = Mem(Bits(8 bits), words)
  // A byte is never read before the response of its write.
  memory.addAttribute("no_rw_check")

  private val entry = io.write.m2sPipe(holdPayload = true)
  memory.write(entry.address, entry.data, enable = entry.valid)

  private val requested = io.read.m2sPipe(holdPayload = true)
  private val word = memory.readSync(requested.payload, enable = requested.valid)
  io.data := RegNextWhen(word, RegNext(requested.valid) init False)
}

object MemoryLane {
  /** Address register, block RAM, data register. */
  val readClocks: Int = 3
}

case class MemoryLaneWrite(words: Int) extends Bundle {
  val address = UInt(log2Up(words) bits)
  val data = Bits(8 bits)
}
