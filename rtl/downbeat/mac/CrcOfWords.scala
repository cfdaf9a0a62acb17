// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** A word of a frame, its first byte lowest. */
case class CrcWord() extends Bundle {
  val data = Bits(64 bits)
  /** The last word has so many, or none; all others have eight. */
  val bytes = UInt(4 bits)
  val last = Bool()
}

/** The FCS of IEEE 802.3 3.2.9 over eight bytes a clock.
  *
  * The CRC is linear: a word's part in it is summed first, and only the 32 bits of the last sum go round. Zeros in front
  * of a sum that is zero change nothing, so the last word, of less than eight bytes, is moved to the end of its word.
  */
case class CrcOfWords() extends Component {
  val io = new Bundle {
    val input = slave Flow (CrcWord())
    /** `CrcOfWords.latency` clocks after the last word. */
    val fcs = out Bits (32 bits)
  }
  noIoPrefix()
  import CrcOfWords._

  private case class Summed() extends Bundle {
    val word = CrcWord()
    val low, high = Bits(32 bits) // sums over the first four bytes and the others
  }
  private val summed = io.input.translateWith {
    val summed = Summed()
    summed.word := io.input.payload
    summed.low := after(io.input.data(31 downto 0), bytesBehind = 4)
    summed.high := after(io.input.data(63 downto 32), bytesBehind = 0)
    summed
  }.stage()
  private val sum = RegNext(summed.low ^ summed.high)
  private val current = summed.translateWith(summed.word).stage()

  private val state = Reg(Bits(32 bits)) init B(32 bits, default -> true)
  when(current.valid) {
    state := sum ^ after(state, bytesBehind = 4)
    when(current.last)(state.setAll())
  }

  private val bytes = RegNext(current.bytes)
  private val before = RegNext(state)
  private val mixed = RegNext(current.data ^ state.resize(64))
  // A last word of less than four bytes leaves the rest of the state as it is.
  private val rest = RegNext((bytes < 4) ? (before |>> (bytes(1 downto 0) << 3)) | B(0, 32 bits))
  private val moved = RegNext(mixed |<< ((U(8, 4 bits) - bytes) << 3))
  private val low = RegNext(after(moved(31 downto 0), bytesBehind = 4))
  private val high = RegNext(after(moved(63 downto 32), bytesBehind = 0) ^ rest)
  io.fcs := RegNext(~(low ^ high))
}

object CrcOfWords {
  val latency: Int = 6

  private def step(state: Long): Long = (0 until 8).foldLeft(state) { (state, _) =>
    state >> 1 ^ (if ((state & 1) == 1) 0xedb88320L else 0L)
  }

  /** The state behind four bytes and `bytesBehind` zeros, if it was zero before. */
  private def after(word: Bits, bytesBehind: Int): Bits = {
    val images = (0 until 32).map(bit => (0 until 4 + bytesBehind).foldLeft(1L << bit)((state, _) => step(state)))
    Vec((0 until 32).map { out =>
      val taken = (0 until 32).filter(bit => (images(bit) >> out & 1) == 1)
      taken.map(word(_)).reduceBalancedTree(_ ^ _)
    }).asBits
  }
}
