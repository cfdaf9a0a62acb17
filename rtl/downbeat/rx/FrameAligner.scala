// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Eight bytes of a frame as two 32-bit words, first byte of the wire in bits 31 to 24.
  *
  * The words are cut as if two bytes stood in front of the frame, so that what follows the 14 bytes of the Ethernet
  * header is aligned: word n holds the frame's bytes 4n - 2 to 4n + 1. Destination: low half of word 0 and word 1;
  * source: word 2 and high half of word 3; EtherType: low half of word 3; IP from word 4 on, or from word 5 behind a
  * tag.
  */
case class FrameWindow(config: DownbeatConfig) extends Bundle {
  val words = Vec.fill(2)(Bits(32 bits))
  /** These are words 2 pair and 2 pair + 1. Stops counting beyond the largest frame. */
  val pair = UInt(log2Up(config.slotBytes / 8) + 1 bits)
  /** The frame before has ended. */
  val end = Bool()
  /** No whole word of it belongs to a header. */
  val empty = Bool()
  /** A TCP header without options, if its word 3 is the first word here. Known a clock ahead, for wide beats alone. */
  val isShort = Bool()
  /** It may hold options. For wide beats alone. */
  val mayHaveOptions = Bool()
}

/** The destination address of a frame, in its first beat. */
case class FrameStart() extends Bundle {
  val destinationMac = Bits(48 bits)
  val stamp = Stamp()
}

/** Cuts beats of eight bytes into aligned windows. A frame of n beats gives n + 1 windows; the last one, which completes
  * two bytes, is its end. It comes together with the first beat of the next frame, if that is there: window 0 holds
  * nothing but the destination, which goes another way (`start`), so a frame of n beats still takes n clocks.
  */
case class FrameAligner(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val beats = slave Stream (HeadBeat(config))
    val windows = master Stream (FrameWindow(config))
    /** The first beat of a frame passes. */
    val start = master Flow (FrameStart())
    /** Read with the last window. */
    val end = out(FrameEnd(config))
  }
  noIoPrefix()

  private val beat = io.beats.payload
  private val ending = RegInit(False)
  private val pair = Reg(cloneOf(io.windows.pair)) init 0
  private val tail = Reg(Bits(16 bits))

  io.windows.valid := io.beats.valid || ending
  io.beats.ready := io.windows.ready
  private val aligned = EndiannessSwap(beat.data(47 downto 0) ## tail)
  io.windows.words(0) := aligned(63 downto 32)
  io.windows.words(1) := aligned(31 downto 0)
  io.windows.pair := pair
  io.windows.end := ending
  io.windows.empty := ending
  io.windows.isShort := False
  io.windows.mayHaveOptions := True

  private val first = ending || pair === 0
  private val index = first ? U(0, widthOf(pair) bits) | pair
  io.start.valid := io.beats.fire && first
  io.start.destinationMac := EndiannessSwap(beat.data(47 downto 0))
  io.start.stamp := beat.stamp

  when(io.windows.fire) {
    ending := io.beats.valid && beat.last
    when(!io.beats.valid)(pair := 0).elsewhen(!index.msb)(pair := index + 1)
  }
  when(io.beats.fire)(tail := beat.data(63 downto 48))

  io.end := RegNextWhen(beat.end, io.beats.fire && beat.last)
}
