// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import downbeat.wire.{FrameBeat, ReceivedBeat}
import spinal.core._
import spinal.lib._

/** Eight bytes of a frame as two 32-bit words, first byte of the wire in bits 31 to 24.
  *
  * The words are cut as if two bytes stood in front of the frame, so that what follows the 14 bytes of the Ethernet
  * header is aligned: word n holds the frame's bytes 4n - 2 to 4n + 1. Destination: low half of word 0 and word 1; source: word 2
  * and high half of word 3; EtherType: low half of word 3; IP from word 4 on, or from word 5 behind a tag.
  */
case class FrameWindow(config: DownbeatConfig) extends Bundle {
  val words = Vec.fill(2)(Bits(32 bits))
  /** These are words 2 pair and 2 pair + 1. Stops counting beyond the largest frame. */
  val pair = UInt(config.slotBeatBits + 1 bits)
  /** The frame's last window: of its words only the first two bytes, the last ones of a full beat, may belong to it. */
  val end = Bool()
}

/** What stands at the very start of a frame. */
case class FrameStart() extends Bundle {
  val destinationMac = Bits(48 bits)
  val stamp = Stamp()
}

/** A beat on its way into memory. */
case class StoredBeat(config: DownbeatConfig) extends Bundle {
  val frame = FrameBeat()
  /** Number of the beat in its frame. Stops counting beyond the largest frame. */
  val index = UInt(config.slotBeatBits + 1 bits)
}

/** Cuts beats into aligned windows. A frame of n beats gives n + 1 windows; the last one, which completes two bytes, comes
  * together with the first beat of the next frame, if that is there: window 0 holds nothing but the destination, which
  * goes another way (`start`), so a frame of n beats still takes n clocks.
  */
case class FrameAligner(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val beats = slave Stream (ReceivedBeat())
    val windows = master Stream (FrameWindow(config))
    /** The first beat of a frame passes. */
    val start = master Flow (FrameStart())
    /** The beats that passed, one clock later: a frame's last one at the earliest with its last window. */
    val stored = master Flow (StoredBeat(config))
    /** Read with the last window: length of the frame, whether it is longer than the configuration allows, and whether the MAC
      * found it damaged. A tag's four bytes come on top of the limit (802.3 3.2.7).
      */
    val bytes = out UInt (config.slotBeatBits + 4 bits)
    val oversize, oversizeTagged = out Bool ()
    val error = out Bool ()
  }
  noIoPrefix()

  private val beat = io.beats.payload
  private val ending = RegInit(False)
  private val pair = Reg(UInt(config.slotBeatBits + 1 bits)) init 0
  private val tail = Reg(Bits(16 bits))

  io.windows.valid := io.beats.valid || ending
  io.beats.ready := io.windows.ready
  private val aligned = EndiannessSwap(beat.frame.data(47 downto 0) ## tail)
  io.windows.words(0) := aligned(63 downto 32)
  io.windows.words(1) := aligned(31 downto 0)
  io.windows.pair := pair
  io.windows.end := ending

  private val first = ending || pair === 0
  private val index = first ? U(0, widthOf(pair) bits) | pair
  io.start.valid := io.beats.fire && first
  io.start.destinationMac := EndiannessSwap(beat.frame.data(47 downto 0))
  io.start.stamp := beat.stamp

  when(io.windows.fire) {
    ending := io.beats.valid && beat.frame.last
    when(!io.beats.valid)(pair := 0).elsewhen(!index.msb)(pair := index + 1)
  }
  when(io.beats.fire)(tail := beat.frame.data(63 downto 48))

  private val last = io.beats.fire && beat.frame.last
  io.bytes := RegNextWhen((index @@ U(0, 3 bits)) + CountOne(beat.frame.keep), last)
  private def beyond(limit: Int) =
    RegNextWhen(U(limit / 8) < index || (index === limit / 8 && beat.frame.keep(limit % 8)), last)
  private val limit = config.maximumFrameBytes - 4
  io.oversize := beyond(limit)
  io.oversizeTagged := beyond(limit + 4)
  io.error := RegNextWhen(beat.error, last)

  io.stored.valid := RegNext(io.beats.fire) init False
  io.stored.frame := RegNextWhen(beat.frame, io.beats.fire)
  io.stored.index := RegNextWhen(index, io.beats.fire)
}
