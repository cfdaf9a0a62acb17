// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.wire.FrameBeat
import spinal.core._
import spinal.lib._

/** One word of a run of bytes that begins and ends anywhere in a word. */
case class RunWord(bytes: Int) extends Bundle {
  val data = Bits(8 * bytes bits)
  /** Byte of its first word at which the run begins; the same in all words of a run. */
  val start = UInt(log2Up(bytes) bits)
  /** Byte of its last word at which the run ends; read with `last`. */
  val stop = UInt(log2Up(bytes) bits)
  val last = Bool()
}

/** Moves a run of bytes to byte 0: words in, frame beats out, one a clock.
  *
  * A beat is cut from two neighbouring words, so a word waits here for the next one of its run. A run whose last word
  * ends before byte `start` has one beat less than it has words. Bytes beyond `keep` are undefined.
  */
case class Realigner(bytes: Int) extends Component {
  val io = new Bundle {
    val words = slave(Stream(RunWord(bytes)))
    val beats = master(Stream(FrameBeat(bytes = bytes)))
    val idle = out(Bool())
  }
  noIoPrefix()

  /** A word with what its end means for the beats, decided one register ahead. */
  private case class Prepared() extends Bundle {
    val data = Bits(8 * bytes bits)
    val start = UInt(log2Up(bytes) bits)
    val last = Bool()
    /** The last word holds bytes that no earlier beat has. */
    val rest = Bool()
    val keep = Bits(bytes bits)
  }

  private val next = io.words.map { word =>
    val prepared = Prepared()
    prepared.data := word.data
    prepared.start := word.start
    prepared.last := word.last
    prepared.rest := !(word.stop < word.start)
    val bytesLessOne = word.stop - word.start // modulo a word's bytes
    prepared.keep := ByteStrobes.upTo(bytesLessOne)
    prepared
  }.m2sPipe(holdPayload = true)
  private val held = Reg(Prepared())
  private val holding = RegInit(False)

  private val beats = Stream(FrameBeat(bytes = bytes))
  beats.valid := holding && (held.last ? held.rest | next.valid)
  beats.data := ByteShift.window(next.data ## held.data, held.start, bytes)
  beats.last := held.last || (next.last && !next.rest)
  beats.keep.setAll()
  when(held.last) {
    beats.keep := held.keep
  } elsewhen (beats.last) {
    beats.keep := next.keep
  }

  private val leaves = held.last ? (beats.ready || !held.rest) | (beats.ready && next.valid)
  next.ready := !holding || leaves
  when(next.ready)(holding := next.valid)
  when(next.fire)(held := next.payload)

  io.beats << beats.pipelined(StreamPipe.FULL)
  io.idle := !next.valid && !holding && !io.beats.valid
}
