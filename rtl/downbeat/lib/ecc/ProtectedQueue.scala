// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.ecc

import spinal.core._
import spinal.lib._

/** A queue of flows' state: with `ecc` its words have check bits ([[Secded]]), and what leaves it is corrected. */
case class ProtectedQueue[T <: Data](ecc: Boolean, word: HardType[T], places: Int) extends Area {
  private val code = Secded(widthOf(word()))
  private val queue = StreamFifo(Bits(widthOf(word()) + (if (ecc) code.checkBits else 0) bits), places)
  if (ecc) queue.logic.ram.setName("codewords")
  val push: Stream[T] = Stream(word)
  val pop: Stream[T] = Stream(word)
  val occupancy: UInt = queue.io.occupancy

  queue.io.push << push.map(data => if (ecc) code.encode(data.asBits) ## data.asBits else data.asBits)
  if (ecc) {
    val stored = queue.io.pop.payload
    val read = code.decode(stored.resize(widthOf(word())), stored.dropLow(widthOf(word())))
    FlipCounts.countCorrected(read.corrected && queue.io.pop.fire)
    FlipCounts.countUncorrectable(read.uncorrectable && queue.io.pop.fire)
    pop << queue.io.pop.map(_ => read.word.as(word))
  } else pop << queue.io.pop.map(_.as(word))
}
