// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.wire

import spinal.core._

/** The arithmetic of the Internet checksum (RFC 1071): add without wrapping, then add the carries to the low bits,
  * twice.
  */
object OnesComplement {
  /** One round: at most 17 bits, of a sum of at most 32. */
  def fold(sum: UInt): UInt = sum(15 downto 0) +^ sum(sum.high downto 16)
  /** The second round, which leaves no carry. */
  def foldLast(sum: UInt): UInt = sum(15 downto 0) + sum(sum.high downto 16).resized
}
