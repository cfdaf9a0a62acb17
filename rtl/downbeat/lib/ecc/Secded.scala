// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.lib.ecc

import spinal.core._

/** Single error correction, double error detection for a word of `width` bits: the code of M. Y. Hsiao, "A Class of
  * Optimal Minimum Odd-weight-column SEC-DED Codes", IBM J. Res. Dev. 14 (1970).
  *
  * Each bit of the word has a column of odd weight from 3 on, the lightest first and then in order of value; check bit
  * i has the unit column of i. The syndrome is the sum of the columns of all flipped bits. So it is zero without a
  * flip, a column of the code and odd after one flip, and even and not zero after two.
  *
  * sim/golden/secded.py is the same code in Python.
  */
case class Secded(width: Int) {
  require(width >= 1, s"width = $width: use 1 or more")
  val checkBits: Int = Iterator.from(4).find(bits => (1 << (bits - 1)) - bits >= width).get

  /** The columns of the word's bits. */
  val columns: Seq[Int] =
    (0 until (1 << checkBits)).filter(column => Integer.bitCount(column) % 2 == 1 && Integer.bitCount(column) >= 3)
      .sortBy(column => (Integer.bitCount(column), column)).take(width)

  /** The check bits of a word. */
  def encode(word: Bits): Bits = Vec((0 until checkBits).map { row =>
    val members = columns.zipWithIndex.collect { case (column, bit) if (column >> row & 1) == 1 => BigInt(1) << bit }
    (word & B(members.sum, width bits)).xorR
  }).asBits

  /** A word as the memory has it. */
  def decode(word: Bits, check: Bits): Decoded[Bits] = {
    val syndrome = encode(word) ^ check
    val flips = Bits(width bits)
    for ((column, bit) <- columns.zipWithIndex) flips(bit) := syndrome === column
    Decoded(word ^ flips, syndrome.xorR, syndrome.orR && !syndrome.xorR)
  }
}

/** A word without its flip; whether it had one; whether it has two, which stay. */
case class Decoded[T <: Data](word: T, corrected: Bool, uncorrectable: Bool)
