// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** A beat of a frame on its way to the core. */
case class ArrivingBeat() extends Bundle {
  val data = Bits(64 bits)
  val last = Bool()
  val bytes = UInt(3 bits) // in the last beat, less one
  val error = Bool() // with `last`: the frame is not to be used
}

/** Passes a received frame on while it comes, in the receive clock's domain: its FCS stays here, so it holds two words
  * back. A frame that turns out to be damaged, or that meets a full queue, ends with `error`; of one that ends before
  * its third word nothing is passed on.
  */
case class ReceiveIntake(stampWord: Int) extends Component {
  val io = new Bundle {
    val word = slave Flow (Bits(64 bits))
    val stays = in Bool () // with a frame's third word: nothing of it is passed on
    /** With the last word or after it; of a good frame two clocks before the next one's first, of others one. */
    val end = slave Flow (ReceivedEnd())
    val stamp = in(Stamp()) // from the clock behind word `stampWord` on, counted from 0, until `end`
    /** Both queues have places for a frame's beginning, and four more beats. */
    val space = in Bool ()
    /** Taken when offered. */
    val beats = master Flow (ArrivingBeat())
    val stamps = master Flow (Stamp()) // one of each frame that is passed on
    // One clock for each good frame.
    val accepted, overflow = out Bool ()
  }
  noIoPrefix()

  private val ends = RegNext(io.end.valid) init False
  private val end = RegNextWhen(io.end.payload, io.end.valid)
  private val held = Reg(UInt(2 bits)) init 0
  private val older, newer = Reg(Bits(64 bits))
  private val number = Reg(UInt(log2Up(stampWord + 2) bits)) init 0 // the next word's; stops
  private val begun, stamped, lost = RegInit(False)
  private val full = held === 2

  private val passes = io.word.valid && full && !ends
  private val fits = io.space && !lost && (begun || !io.stays)
  when(io.word.valid) {
    older := newer
    newer := io.word.payload
    when(!full)(held := held + 1)
    when(number <= stampWord)(number := number + 1)
  }
  when(passes && fits)(begun := True)
  when(passes && !fits)(lost := True)

  // The newest word is the FCS's alone, or has bytes of the frame.
  private val lengthOfLast = end.length(2 downto 0)
  private val ofFcs = lengthOfLast === 0 || lengthOfLast > 4
  private val good = end.good && fits
  /** The last beat goes a clock later: the one before it is in its place. */
  private val tail = RegInit(False)
  tail := ends && good && !ofFcs
  io.accepted := ends && good
  io.overflow := ends && end.good && !fits

  private val sent = io.beats
  sent.valid := passes && fits || ends && begun || tail
  sent.data := older
  sent.last := ends && !(good && !ofFcs) || tail
  sent.bytes := lengthOfLast - 1
  sent.error := ends && !good
  when(tail)(sent.data := newer)

  private val marks = begun && !stamped && (number > stampWord || ends)
  io.stamps.valid := RegNext(marks) init False
  io.stamps.payload := RegNext(io.stamp)
  when(marks)(stamped := True)
  when(ends) {
    held := io.word.valid.asUInt.resized
    number := io.word.valid.asUInt.resized
    for (of <- Seq(begun, stamped, lost)) of := False
  }
}
