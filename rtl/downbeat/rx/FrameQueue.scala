// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** A beat of a frame, with a note on the whole frame. */
case class NotedBeat[T <: Data](noteType: HardType[T], bytes: Int) extends Bundle {
  val frame = FrameBeat(bytes = bytes)
  /** The same in all beats of a frame. */
  val note = noteType()
}

/** Stores whole frames until they are read. Every frame is written as it comes, and kept or dropped at its end, so the
  * decision may come late. A frame that does not fit is dropped: the wire never waits for the reader.
  *
  * @param noteType what is kept beside each frame
  * @param frames   the most frames at once, a power of two; there is space for at least two of the largest
  * @param bytes    of a beat
  */
case class FrameQueue[T <: Data](
    config: DownbeatConfig, noteType: HardType[T], frames: Int, bytes: Int) extends Component {
  val io = new Bundle {
    val stored = slave Flow (FrameBeat(bytes = bytes))
    /** The frame has ended: its last beat has passed `stored`, or passes now. */
    val end = in Bool ()
    val keep = in Bool () // read with `end`
    val note = in(noteType()) // read with `end`
    val overflow = out Bool () // a frame to be kept did not fit
    val frames = master Stream (NotedBeat(noteType, bytes))
    val idle = out Bool ()
  }
  noIoPrefix()

  private val depth = 2 * config.slotBytes / bytes

  // Byte 0 of a beat is always there: its keep bit says `last` instead, and nine block RAM bits hold a byte.
  private val memory = Mem(Bits(9 * bytes bits), depth).addAttribute("no_rw_check")
  private val written, kept, read = Reg(UInt(log2Up(depth) + 1 bits)) init 0
  private val lost = RegInit(False)
  private val endedNote = RegNextWhen(io.note, io.end)

  // A clock old: one beat more may have come since. But a frame that is forgotten must not take the next one's space.
  private def leavesSpace(end: UInt) = end - read < depth - 1
  private val space = RegInit(True)
  private val write = io.stored.valid && space
  memory.write(written.resized, io.stored.data ## io.stored.keep(bytes - 1 downto 1) ## io.stored.last, write)
  private val writtenNow = written + U(write)
  private val lostNow = lost || (io.stored.valid && !space)

  private val notes = StreamFifo(noteType(), frames)
  private val inside = Reg(UInt(log2Up(frames) + 1 bits)) init 0
  private val fits = !lostNow && !inside.msb
  private val accept = io.end && io.keep && fits
  space := (io.end && !accept) ? leavesSpace(kept) | leavesSpace(written)
  io.overflow := io.end && io.keep && !fits

  written := writtenNow
  lost := lostNow
  when(io.end) {
    lost := False
    written := accept ? writtenNow | kept
  }
  when(accept)(kept := writtenNow)
  notes.io.push.valid := RegNext(accept) init False
  notes.io.push.payload := endedNote

  private val address = Stream(UInt(log2Up(depth) bits))
  address.valid := read =/= kept
  address.payload := read.resized
  when(address.fire)(read := read + 1)

  private val beats = memory.streamReadSync(address).m2sPipe()
  private val last = beats.payload.lsb
  io.frames.valid := beats.valid && notes.io.pop.valid
  beats.ready := io.frames.ready && notes.io.pop.valid
  private val taken = io.frames.fire && last
  notes.io.pop.ready := taken
  when(accept =/= taken)(inside := accept ? (inside + 1) | (inside - 1))
  io.frames.frame.data := beats.payload(9 * bytes - 1 downto bytes)
  io.frames.frame.keep := beats.payload(bytes - 1 downto 1) ## True
  io.frames.frame.last := last
  io.frames.note := notes.io.pop.payload

  io.idle := inside === 0
}
