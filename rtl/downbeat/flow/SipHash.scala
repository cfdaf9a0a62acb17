// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.flow

import spinal.core._
import spinal.lib._

/** SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) of a message of three words, the last
  * of which has the message's length in its top byte. A round has two halves:
  * {{{
  *   v0 += v1; v1 = rotl(v1, 13) ^ v0; v0 = rotl(v0, 32);    v2 += v1; v1 = rotl(v1, 17) ^ v2; v2 = rotl(v2, 32);
  *   v2 += v3; v3 = rotl(v3, 16) ^ v2;                       v0 += v3; v3 = rotl(v3, 21) ^ v0;
  * }}}
  * A clock does one half, and between words one clock puts them in. v1 and v3 change places with each half, so that the
  * adders stand still: two of 64 bits.
  */
case class SipHash() extends Component {
  import SipHash._

  val io = new Bundle {
    val key = in Bits (128 bits) // first byte lowest
    /** Stands until it is taken, 25 clocks after it came. */
    val message = slave(Stream(Vec.fill(words)(UInt(64 bits))))
    /** Read in the clock in which the message is taken. */
    val hash = out UInt (64 bits)
  }
  noIoPrefix()

  private val step = Reg(UInt(5 bits)) init 0
  io.message.ready := step === lastStep
  when(io.message.valid)(step := step + 1)
  when(io.message.fire)(step := 0)

  private val begins = step === 0
  // A clock ahead: after the four half rounds of each word.
  private val wordEnds = RegNext(absorptions.map(step + 1 === _).orR) init False
  private val second = RegInit(False) // half of a round
  second := !begins && !wordEnds && !second

  private val key = io.key.subdivideIn(64 bits).map(_.asUInt)
  private val state = Vec.fill(4)(Reg(UInt(64 bits)))
  /** The word that goes into v3 before its rounds: a step lies five behind the one before, so its low bits count words.
    */
  private val word = Vec(io.message.payload :+ U(0, 64 bits))(step(1 downto 0))
  /** It goes into v0 behind them. */
  private val absorbed = RegNextWhen(word, begins || wordEnds)
  private val closes = step === absorptions.last

  private val sum0 = state(0) + state(1)
  private val sum2 = state(2) + state(3)
  state(0) := second ? sum0 | sum0.rotateLeft(32)
  state(2) := second ? sum2.rotateLeft(32) | sum2
  state(3) := (second ? state(1).rotateLeft(21) | state(1).rotateLeft(13)) ^ sum0
  state(1) := (second ? state(3).rotateLeft(17) | state(3).rotateLeft(16)) ^ sum2
  when(wordEnds) {
    state(0) := state(0) ^ absorbed
    state(1) := state(1)
    state(2) := state(2) ^ (closes ? U(0xff, 64 bits) | U(0, 64 bits))
    state(3) := state(3) ^ word
  }
  when(begins) {
    for (index <- 0 until 3) state(index) := key(index % 2) ^ constants(index)
    state(3) := key(1) ^ constants(3) ^ word
  }
  io.hash := state.reduce(_ ^ _)
}

object SipHash {
  val words = 3
  /** The steps that put a word in behind its two rounds, and the next word before its own. */
  private val absorptions = Seq.tabulate(words)(index => 5 * (index + 1))
  private val lastStep = absorptions.last + 1 + 8 // four rounds to finish
  private def constants =
    Seq("736f6d6570736575", "646f72616e646f6d", "6c7967656e657261", "7465646279746573").map(digits =>
      U(BigInt(digits, 16), 64 bits))
}
