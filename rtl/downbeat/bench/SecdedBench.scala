// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.bench

import downbeat.lib.ecc.Secded
import spinal.core._

/** The code alone, without clocks: a word is encoded, the flips of `flips` are added (check bits on top), and it is
  * decoded.
  */
case class SecdedBench(width: Int) extends Component {
  private val code = Secded(width)
  val io = new Bundle {
    val word = in(Bits(width bits))
    val flips = in(Bits(width + code.checkBits bits))
    val check = out(Bits(code.checkBits bits))
    val read = out(Bits(width bits))
    val corrected, uncorrectable = out(Bool())
  }
  noIoPrefix()

  io.check := code.encode(io.word)
  private val stored = (io.check ## io.word) ^ io.flips
  private val decoded = code.decode(stored.resize(width), stored.dropLow(width))
  io.read := decoded.word
  io.corrected := decoded.corrected
  io.uncorrectable := decoded.uncorrectable
}
