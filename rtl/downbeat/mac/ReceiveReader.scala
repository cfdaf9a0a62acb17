// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import downbeat.wire.ReceivedBeat
import spinal.core._
import spinal.lib._

/** A whole good frame that waits in the memory. */
case class StoredFrame() extends Bundle {
  val length = UInt(14 bits) // bytes, at least one
  val stamp = Stamp()

  def words: UInt = LaunchRequest.words(length)
}

/** Whole frames out of the memory, a beat a clock. */
case class ReceiveReader(pointerBits: Int) extends Component {
  val io = new Bundle {
    val frames = slave Stream (StoredFrame())
    val enable = out Bool ()
    val address = out UInt (pointerBits bits)
    val data = in Bits (64 bits) // a clock after `enable`
    val beats = master Stream (ReceivedBeat())
  }
  noIoPrefix()

  private val address = Reg(UInt(pointerBits bits)) init 0
  private val word = Reg(UInt(11 bits)) init 0

  private case class Requested() extends Bundle {
    val keep = Bits(8 bits)
    val last = Bool()
    val stamp = Stamp()
  }
  private val requested = Stream(Requested())
  requested.valid := io.frames.valid
  requested.last := word + 1 === io.frames.words
  private val rest = io.frames.length(2 downto 0)
  requested.keep := (requested.last && rest =/= 0) ? ((B(1, 8 bits) |<< rest).asUInt - 1).asBits | B(0xff, 8 bits)
  requested.stamp := io.frames.stamp
  io.frames.ready := requested.ready && requested.last
  when(requested.fire) {
    address := address + 1
    word := word + 1
    when(requested.last)(word := 0)
  }
  io.enable := requested.fire
  io.address := address

  private val read = requested.m2sPipe()
  io.beats << read.map { requested =>
    val beat = ReceivedBeat()
    beat.frame.data := io.data
    beat.frame.keep := requested.keep
    beat.frame.last := requested.last
    beat.stamp := requested.stamp
    beat.error := False
    beat
  }
}
