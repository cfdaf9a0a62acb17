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
  /** The low bits of an instant, for a place that knows an instant near it. */
  def low(lowBits: Int, zeroBits: Int = 0): NearInstant = {
    val near = NearInstant(lowBits, zeroBits)
    near.units := ns(lowBits - 1 downto zeroBits)
    near
  }
  /** The last multiple of 2^zeroBits ns that is not behind it. */
  def whole(zeroBits: Int): Instant = Instant(ns(47 downto zeroBits) @@ U(0, zeroBits bits))
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

/** The low bits of an instant. They tell the distance to any instant that is less than 2^(lowBits - 1) ns away. It is a
  * multiple of 2^zeroBits ns.
  */
case class NearInstant(lowBits: Int, zeroBits: Int = 0) extends Bundle {
  val units = UInt(lowBits - zeroBits bits)

  /** Nanoseconds from `that` up to this one: 48 bits, signed. */
  def since(that: Instant): UInt = ((units << zeroBits) - that.ns.resize(lowBits)).asSInt.resize(48).asUInt
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
