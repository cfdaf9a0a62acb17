// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.tx

import spinal.core._
import spinal.lib._

/** Gathers a frame's header words of eight bytes into words as wide as a beat. One leaves while the next one begins. */
case class HeaderGathering(bytes: Int) extends Component {
  val io = new Bundle {
    val words = slave(Stream(HeaderWord()))
    val gathered = master(Stream(HeaderWord(bytes)))
  }
  noIoPrefix()

  private val parts = Vec.fill(bytes / 8)(Reg(Bits(64 bits)))
  private val place = Reg(UInt(log2Up(parts.size) bits)) init 0
  private val full = RegInit(False)
  private val last = RegNextWhen(io.words.last, io.words.fire)

  io.words.ready := !full || io.gathered.ready
  when(io.gathered.fire)(full := False)
  when(io.words.fire) {
    for ((part, number) <- parts.zipWithIndex) {
      when(place === number)(part := io.words.data).elsewhen(place === 0)(part := 0)
    }
    val fills = io.words.last || place.andR
    place := fills ? U(0) | place + 1
    full := fills
  }
  io.gathered.valid := full
  io.gathered.data := parts.asBits
  io.gathered.last := last
}

object HeaderGathering {
  /** Words of the next header that are ready when a frame ends, so that none waits for its parts. */
  private val ahead = 4

  def apply(words: Stream[HeaderWord], bytes: Int): Stream[HeaderWord] =
    if (bytes == 8) words
    else {
      val gathering = HeaderGathering(bytes)
      gathering.io.words << words
      // A header of 66 bytes is in two words of 64, and the second is ready in time.
      if (bytes == 64) gathering.io.gathered else gathering.io.gathered.queue(ahead, latency = 1)
    }
}
