// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.neighbour

import downbeat.wire.OnesComplement
import spinal.core._
import spinal.lib._

/** Adds the Internet checksum (RFC 1071) over the chosen bytes of a frame. Six clocks after the last word `right` says
  * whether the sum is all ones, as a sum that includes its checksum must be.
  *
  * @param chosen for each byte of the word: it counts; 16-bit words begin at even bytes of the frame
  */
case class BeatSum(words: Flow[ControlWord], chosen: Seq[Bool]) extends Area {
  private val bytes = words.data.subdivideIn(8 bits)
  private val masked: Seq[Bits] = chosen.indices.map(byte => RegNext(bytes(byte).andMask(chosen(byte))))
  private val maskedValid = RegNext(words.valid) init False
  private val first = RegNext(words.index === 0)

  private val halves: Seq[UInt] = masked.grouped(2).map(pair => (pair(0) ## pair(1)).asUInt).toSeq
  private val sum = RegNext((halves(0) +^ halves(1)) +^ (halves(2) +^ halves(3)))
  private val sumValid = RegNext(maskedValid) init False
  private val restart = RegNext(first)

  private val total = Reg(UInt(32 bits)) // 9,018 bytes have 4,509 halves: 29 bits
  when(sumValid)(total := (restart ? U(0, 32 bits) | total) + sum)

  private val folded = RegNext(OnesComplement.fold(total))
  private val foldedLast = RegNext(OnesComplement.foldLast(folded))
  val right: Bool = RegNext(foldedLast.andR)
}
