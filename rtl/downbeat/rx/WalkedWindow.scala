// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.rx

import spinal.core._

/** For each byte of a window: a known option with its proper length begins here. */
case class KnownOptions() extends Bundle {
  val mss, windowScale, sackPermitted, timestamp, sack = Bits(8 bits)
  val sourceRoute = Bits(8 bits) // an option of any length

  def find(byte: Int, kind: Bits, length: UInt): Unit = {
    mss(byte) := kind === 2 && length === 4
    windowScale(byte) := kind === 3 && length === 3
    sackPermitted(byte) := kind === 4 && length === 2
    // One to four blocks of eight bytes; more do not fit the header (RFC 2018 3).
    sack(byte) := kind === 5 && length(2 downto 0) === 2 && length(5 downto 3) =/= 0
    timestamp(byte) := kind === 8 && length === 10
    sourceRoute(byte) := kind === 131 || kind === 137
  }
}

/** A window of eight bytes with the options that were found in it. */
case class WalkedWindow() extends Bundle {
  val first = Bool() // first of its list
  val tcp = Bool() // otherwise IP
  val bytes = Vec.fill(11)(Bits(8 bits)) // with three of the next window
  /** The bytes at which an option begins. */
  val begins = Bits(8 bits)
  /** Read where an option begins. */
  val known = KnownOptions()
}
