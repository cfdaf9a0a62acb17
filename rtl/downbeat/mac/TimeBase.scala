// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._

/** The one clock of all stamps: 48 bits of nanoseconds and 32 of fraction, in the transmit wire domain. Only `reset` sets it back. */
case class TimeBase() extends Component {
  val io = new Bundle {
    /** Nanoseconds that a clock lasts, 8.32 fixed point; a host may change it at any time, time stays monotone. */
    val increment = in UInt (TimeBase.incrementBits bits)
    /** 48.32, of the clock edge that has just been. */
    val time = out UInt (TimeBase.bits bits)
  }
  noIoPrefix()

  private val time = Reg(UInt(TimeBase.bits bits)) init 0
  time := time + io.increment
  io.time := time
}

object TimeBase {
  val bits = 80
  val fractionBits = 32
  val incrementBits = 40
  /** 125 MHz. */
  val nominalIncrement: BigInt = BigInt(8) << fractionBits

  /** 48.32 to what the core sees, 48.16. */
  def stamp(time: UInt): Stamp = {
    val stamp = Stamp()
    stamp.assignFromBits(time(bits - 1 downto fractionBits - 16).asBits)
    stamp
  }
  def fromStamp(stamp: Stamp): UInt = (stamp.asBits ## B(0, fractionBits - 16 bits)).asUInt
}
