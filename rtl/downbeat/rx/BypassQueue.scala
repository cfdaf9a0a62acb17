// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.ReceivedBeat
import spinal.core._
import spinal.lib._

/** Whole frames that are not ours, in memory until they are taken. Every frame is written as it comes and then kept or
  * forgotten, so nothing has to be known of it before its end. When it does not fit it is forgotten: the wire never waits for the
  * reader.
  */
case class BypassQueue(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val start = slave Flow (FrameStart())
    val stored = slave Flow (StoredBeat(config))
    /** The frame has ended: its last beat has passed `stored`, or passes now. */
    val end = in Bool ()
    val keep = in Bool () // read with `end`
    val overflow = out Bool () // a frame to be kept did not fit
    val bypass = master Stream (ReceivedBeat())
    val idle = out Bool ()
  }
  noIoPrefix()

  /** Two largest frames, rounded up. */
  private val depth = 2 << config.slotBeatBits
  private val frames = 32

  // Byte 0 of a beat is always there: its keep bit says `last` instead, and nine block RAM bits hold a byte.
  private val memory = Mem(Bits(72 bits), depth).addAttribute("no_rw_check")
  private val written, kept, read = Reg(UInt(log2Up(depth) + 1 bits)) init 0
  private val lost = RegInit(False)
  private val stamp = RegNextWhen(io.start.stamp, io.start.valid)
  private val endedStamp = RegNextWhen(stamp, io.end)

  // A clock old: one beat more may have come since. But a frame that is forgotten must not take the next one's room.
  private def leavesRoom(end: UInt) = end - read < depth - 1
  private val room = RegInit(True)
  private val write = io.stored.valid && room
  memory.write(written.resized, io.stored.frame.data ## io.stored.frame.keep(7 downto 1) ## io.stored.frame.last, write)
  private val writtenNow = written + U(write)
  private val lostNow = lost || (io.stored.valid && !room)

  private val stamps = StreamFifo(Stamp(), frames)
  private val inside = Reg(UInt(log2Up(frames) + 1 bits)) init 0
  private val fits = !lostNow && !inside.msb
  private val accept = io.end && io.keep && fits
  room := (io.end && !accept) ? leavesRoom(kept) | leavesRoom(written)
  io.overflow := io.end && io.keep && !fits

  written := writtenNow
  lost := lostNow
  when(io.end) {
    lost := False
    written := accept ? writtenNow | kept
  }
  when(accept)(kept := writtenNow)
  stamps.io.push.valid := RegNext(accept) init False
  stamps.io.push.payload := endedStamp

  private val address = Stream(UInt(log2Up(depth) bits))
  address.valid := read =/= kept
  address.payload := read.resized
  when(address.fire)(read := read + 1)

  private val beats = memory.streamReadSync(address).m2sPipe()
  private val last = beats.payload.lsb
  io.bypass.valid := beats.valid && stamps.io.pop.valid
  beats.ready := io.bypass.ready && stamps.io.pop.valid
  private val taken = io.bypass.fire && last
  stamps.io.pop.ready := taken
  when(accept =/= taken)(inside := accept ? (inside + 1) | (inside - 1))
  io.bypass.frame.data := beats.payload(71 downto 8)
  io.bypass.frame.keep := beats.payload(7 downto 1) ## True
  io.bypass.frame.last := last
  io.bypass.stamp := stamps.io.pop.payload
  io.bypass.error := False // damaged frames are not kept

  io.idle := inside === 0
}
