// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.time

import spinal.core._

/** A point in time: 48 bits of nanoseconds, which wrap after 78 hours.
  *
  * Two instants compare by the sign of their difference, so they must be less than 2^47 ns (39 hours) apart.
  */
case class Instant() extends Bundle {
  val ns = UInt(48 bits)

  def isBefore(that: Instant): Bool = (ns - that.ns).msb
  def hasReached(that: Instant): Bool = !isBefore(that)
  def +(duration: UInt): Instant = Instant(ns + duration.resize(48))
  /** Nanoseconds since `that`, which must not be later. */
  def since(that: Instant): UInt = ns - that.ns
}

object Instant {
  def apply(ns: UInt): Instant = {
    val instant = Instant()
    instant.ns := ns
    instant
  }

  /** A duration of the configuration in whole nanoseconds. */
  def nanoseconds(duration: TimeNumber): BigInt = (duration.toBigDecimal * 1000000000).toBigInt
}

/** An instant with 16 fraction bits (2^-16 ns): what crosses the core's edge as `now`, stamps and launch times. */
case class Stamp() extends Bundle {
  val fraction = UInt(16 bits)
  val ns = UInt(48 bits)

  def instant: Instant = Instant(ns)
}

object Stamp {
  def zero: Stamp = {
    val stamp = Stamp()
    stamp.ns := 0
    stamp.fraction := 0
    stamp
  }
}
