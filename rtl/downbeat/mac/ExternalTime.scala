// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Compares the time base with an external time, in the transmit wire domain, and computes the correction by which it
  * follows.
  *
  * correction = offset / 512 in each clock, at most half a nanosecond. A wire clock that is wrong by 100 ppm leaves a
  * constant offset of 0.4 ns. The error of a single comparison, half a clock at most, is averaged over about 500
  * clocks.
  */
case class ExternalTime() extends Component {
  val io = new Bundle {
    /** The external time when its edge came that is now behind the crossing: 2.5 clocks ago. */
    val sample = slave Flow (Stamp())
    /** Own time at the same instant, a clock after `sample`. */
    val instant = in(Stamp())
    /** Make an event of the next sample. */
    val wanted = in Bool ()
    val event = master Flow (TimeEvent())
    val correction = out SInt (TimeBase.fractionBits bits) // 2^-32 ns
    val alive = out Bool ()
  }
  noIoPrefix()

  private val compares = RegNext(io.sample.valid) init False
  private val reference = RegNext(io.sample.payload)

  private val wanted = RegInit(False) setWhen io.wanted
  private val sequence = Reg(UInt(16 bits)) init 0
  io.event.valid := compares && wanted
  io.event.external := True
  io.event.sequence := sequence
  io.event.stamp := io.instant
  io.event.reference := reference
  when(io.event.valid) {
    sequence := sequence + 1
    wanted := io.wanted
  }

  /** Clocks until the last sample is too old to be followed. */
  private val age = Reg(UInt(9 bits)) init 256
  when(!age.msb)(age := age + 1)
  when(compares)(age := 0)
  io.alive := !age.msb

  // From 2^-16 ns of offset to a 512th of it in 2^-32 ns.
  private val offset = RegNextWhen(reference.asBits.asSInt - io.instant.asBits.asSInt, compares)
  private val fits = offset(63 downto 24).asBools
  private val inRange = RegNext(fits.reduce(_ && _) || !fits.reduce(_ || _))
  private val scaled = RegNext(offset(24 downto 0) << 7)
  private val negative = RegNext(offset.msb)
  private val limit = negative ? S(BigInt(-0x7fffffff), 32 bits) | S(BigInt(0x7fffffff), 32 bits)
  io.correction := RegNext(io.alive ? (inRange ? scaled | limit) | S(0, TimeBase.fractionBits bits)) init 0
}
