// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import spinal.core._
import spinal.lib._

/** One byte of every word of the block memory, with address registers of its own: one address net for all the block RAMs
  * of the memory would be its slowest path.
  */
case class MemoryLane(words: Int) extends Component {
  val io = new Bundle {
    val write = slave(Flow(MemoryLaneWrite(words)))
    /** Three clocks from address to data, each with its enable. */
    val read = new Bundle {
      val address = in(UInt(log2Up(words) bits))
      val ask, fetch, answer = in(Bool())
      val data = out(Bits(8 bits))
    }
  }
  noIoPrefix()
  // Otherwise Yosys merges the address registers of the lanes into one.
  addAttribute("keep_hierarchy")

  private val memory = Mem(Bits(8 bits), words)
  // Nobody reads a byte before the response of its write.
  memory.addAttribute("no_rw_check")

  private val entry = io.write.m2sPipe(holdPayload = true)
  memory.write(entry.address, entry.data, enable = entry.valid)

  private val address = RegNextWhen(io.read.address, io.read.ask)
  private val word = memory.readSync(address, enable = io.read.fetch)
  io.read.data := RegNextWhen(word, io.read.answer)
}

case class MemoryLaneWrite(words: Int) extends Bundle {
  val address = UInt(log2Up(words) bits)
  val data = Bits(8 bits)
}
