// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** The end of a frame in the memory: its words are kept, or dropped. */
case class FrameEnd() extends Bundle {
  val keep = Bool()
  val words = UInt(11 bits)
}

/** A ring of 64-bit words that takes frames from one clock domain to another.
  *
  * The writer writes while `space`, and says at the end of a frame what to keep. The reader hears of a frame by another
  * path, which must be later than the frame's last word, and says how far it has read. Pointers have one bit more than
  * an address.
  */
case class FrameMemory(words: Int, from: ClockDomain, to: ClockDomain) extends Component {
  require(isPow2(words), s"words = $words: use a power of two")
  private val pointerBits = log2Up(words) + 1

  val io = new Bundle {
    // In clock domain `from`.
    val write = slave Flow (Bits(64 bits))
    val end = slave Flow (FrameEnd()) // with no `write`
    val space = out Bool () // for a word in this clock
    // In clock domain `to`.
    val enable = in Bool ()
    val address = in UInt (pointerBits bits)
    val data = out Bits (64 bits) // a clock after `enable`
    val read = in UInt (pointerBits bits) // all before it is done with
  }
  noIoPrefix()

  private val ring = Mem(Bits(64 bits), words).addAttribute("no_rw_check")
  private val freed = new NewestCopy(io.read, to, from, U(0, pointerBits bits))

  private val writer = new ClockingArea(from) {
    val kept, written = Reg(UInt(pointerBits bits)) init 0
    ring.write(written.resized, io.write.payload, io.write.valid)
    when(io.write.valid)(written := written + 1)
    val keptNext = io.end.keep ? (kept + io.end.words.resized) | kept
    when(io.end.valid) {
      kept := keptNext
      written := keptNext
    }
    val used = written - freed.value // negative where a frame was dropped before its end
    // A clock old, hence the two words of reserve.
    io.space := RegNext(used < words - 2 || used > words) init False
  }

  private val reader = new ClockingArea(to) {
    io.data := ring.readSync(io.address.resized, io.enable, clockCrossing = true)
  }
}
