// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import spinal.core._
import spinal.lib._

/** Eight bytes of a control frame, numbered. */
case class ControlWord() extends Bundle {
  val data = Bits(64 bits) // as in FrameBeat
  /** Number of the beat; stops counting where no header reaches. */
  val index = UInt(11 bits)
  val last = Bool()
}

/** Gathers fields of the passing frame into registers, by their position. */
class FieldGatherer(words: Flow[ControlWord]) {
  /** Bytes `first` to `first + count - 1`, the first one uppermost. */
  def field(first: Int, count: Int): Bits = {
    val bytes = (first until first + count).map { position =>
      RegNextWhen(words.data(8 * (position % 8), 8 bits), words.valid && words.index === position / 8)
    }
    Cat(bytes.reverse)
  }

  def number(first: Int, count: Int): UInt = field(first, count).asUInt
}
