// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** The correction that a slew adds in each clock, for exactly as many clocks as it says. */
case class Slew() extends Component {
  val io = new Bundle {
    val slew = slave Flow (TimeSlew())
    /** Ends the one under way. */
    val cancel = in Bool ()
    val correction = out SInt (TimeBase.fractionBits bits) // 2^-32 ns
    val active = out Bool ()
  }
  noIoPrefix()

  private val left = Reg(SInt(33 bits)) init -1 // clocks after this one; negative: none is under way
  private val perClock = RegNextWhen(io.slew.perClock, io.slew.valid)
  io.active := !left.msb
  io.correction := io.active ? perClock | S(0, TimeBase.fractionBits bits)
  when(io.active)(left := left - 1)
  when(io.slew.valid)(left := (False ## io.slew.clocks).asSInt - 1)
  when(io.cancel)(left := -1)
}
