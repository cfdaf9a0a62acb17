// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** Does for beats of 16 bytes and more what FrameAligner does for those of eight: gives the windows of the headers, while
  * the payload passes.
  *
  * The beats of the largest headers (VLAN, IPv4 and TCP with all options: 138 bytes) gather in a register. A clock before
  * a window passes it is read into a register, from the gathered beats or from the beat that comes. There is no window
  * 0, which has the destination only, and none behind the header. The frame's end follows its last window and its last
  * beat, and comes with window 1 of the next frame, if that is there.
  *
  * The next frame's first beat passes together with the last window. So a frame takes a clock for each beat and one
  * more, and a clock for each window: at least the six of a header without options, of which those behind the end of a
  * shorter frame are empty.
  */
case class WideAligner(config: DownbeatConfig) extends Component {
  val io = new Bundle {
    val beats = slave Stream (HeadBeat(config))
    val windows = master Stream (FrameWindow(config))
    /** With the first window. */
    val start = master Flow (FrameStart())
    /** Read with `windows.end`. */
    val end = out(FrameEnd(config))
    /** The header ends in the window that passes. */
    val headerEnds = in Bool ()
    val idle = out Bool ()
  }
  noIoPrefix()

  private val largest = 18 + 60 + 60 // bytes: Ethernet with a tag, IPv4 and TCP with all options
  private val lastPair = (largest + 7) / 8 - 1
  private val firstOptions = (14 + 20 + 2) / 8
  private val smallestPair = (14 + 20 + 20 + 7) / 8 - 1
  private val gatheredBeats = (largest + config.beatBytes - 1) / config.beatBytes

  private val beat = io.beats.payload
  private val active = RegInit(False) // from a frame's first beat until its last window
  private val begins = io.beats.fire && beat.first
  private val ended = RegInit(False) // its last beat has passed
  // Beyond the largest headers it does not matter how far.
  private val lastWord = RegNextWhen(beat.lastWord.sat(widthOf(beat.lastWord) - 5), io.beats.fire && beat.last)
  private val endReached = RegNextWhen(beat.end, io.beats.fire && beat.last)

  // ---- the beats

  private val gathered = Reg(Vec.fill(gatheredBeats)(Bits(config.beatBits bits)))
  private val taken = Reg(UInt(log2Up(gatheredBeats + 1) bits)) init 0
  private val tail = RegNextWhen(beat.data.takeHigh(16), io.beats.fire) // the beat before ended with it
  when(io.beats.fire) {
    for ((place, number) <- gathered.zipWithIndex) {
      when(if (number == 0) beat.first else !beat.first && taken === number)(place := beat.data)
    }
    when(beat.first)(taken := 1).elsewhen(taken =/= gatheredBeats)(taken := taken + 1)
  }

  // ---- the window

  private val held = RegInit(False)
  private val pair = Reg(UInt(5 bits))
  private val empty, isShort, mayHaveOptions = Reg(Bool())
  private val words = Reg(Bits(64 bits))
  private val passes = held && io.windows.ready
  // The first window in which a header may end, or one behind it; the frame ends, or the largest header. Both are known
  // a clock ahead.
  private val mayBeLast, isLast = Reg(Bool())
  private val complete = RegInit(False)
  private val completes = complete || passes && (isLast || mayBeLast && io.headerEnds)
  private val finishes = ended && completes
  io.beats.ready := !ended || completes

  private val next = Reg(UInt(5 bits))
  private val nextBeat = next >> (config.beatByteBits - 3)
  // Windows leave in order: the first of a beat is the only one that can be waited for.
  private val comes = nextBeat === taken
  private val isHere = ended || nextBeat < taken || (comes && io.beats.valid && !beat.first)
  private val aligned = Vec((0 to lastPair).map(number => gathered.asBits(8 * (8 * number - 2 max 0), 64 bits)))
  private val following = comes ? (beat.data(47 downto 0) ## tail) | aligned(next)
  private val vacant = passes || !held
  when(vacant) {
    held := active && !completes && isHere
    pair := next
    mayHaveOptions := !(next < firstOptions)
    mayBeLast := !(next < smallestPair)
    isLast := next === lastPair || !(next < smallestPair) && ended && !(next < lastWord)
    empty := ended && lastWord < next
    when(active && isHere)(next := next + 1)
    words := (!active || completes) ? beat.data(8 * 6, 64 bits) | following
    isShort := !(U(5) < following(7 downto 4).asUInt)
  }
  complete := completes && !ended
  when(finishes) {
    active := False
    ended := False
  }
  when(io.beats.fire && beat.last)(ended := True)
  when(begins) {
    active := True
    held := True
    pair := 1
    mayHaveOptions := False
    mayBeLast := False
    isLast := False
    empty := beat.last && beat.lastWord === 0
    next := 2
  }

  private val ending = RegNext(finishes) init False
  private val inOrder = EndiannessSwap(words)
  io.windows.valid := held || ending
  io.windows.words(0) := inOrder(63 downto 32)
  io.windows.words(1) := inOrder(31 downto 0)
  io.windows.pair := pair.resized
  io.windows.end := ending
  io.windows.empty := empty || !held
  io.windows.isShort := isShort
  io.windows.mayHaveOptions := mayHaveOptions

  io.start.valid := RegNext(begins) init False
  io.start.destinationMac := RegNextWhen(EndiannessSwap(beat.data(47 downto 0)), begins)
  io.start.stamp := RegNextWhen(beat.stamp, begins)
  // The next frame's last beat may be its first, so it may be here.
  io.end := RegNextWhen(endReached, finishes)
  io.idle := !active
}
