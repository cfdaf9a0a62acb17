// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** The Internet checksum's arithmetic (RFC 1071): sum without bound, then bring the carries around, twice. */
object OnesComplement {
  /** One round: at most 17 bits, of a sum of at most 32. */
  def fold(sum: UInt): UInt = sum(15 downto 0) +^ sum(sum.high downto 16)
  /** The second round, which leaves no carry. */
  def foldLast(sum: UInt): UInt = sum(15 downto 0) + sum(sum.high downto 16).resized
}
