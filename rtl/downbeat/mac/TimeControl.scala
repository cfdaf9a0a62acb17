// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._

/** Sets the time base or moves it at once. Connections must not live: docs/reference/time.md. */
case class TimeJump() extends Bundle {
  /** Add `value`, which is then two's complement; otherwise take it. */
  val relative = Bool()
  val value = UInt(TimeBase.bits bits) // 48.32 ns
}

/** Moves the time base without a jump: `perClock` more in each of `clocks` wire clocks. Takes the place of one that is
  * under way.
  */
case class TimeSlew() extends Bundle {
  val perClock = SInt(TimeBase.fractionBits bits) // 2^-32 ns
  val clocks = UInt(32 bits)
}

/** A square wave on the pulse output, whose rising edges are `halfPeriod` twice apart. */
case class PulsePlan() extends Bundle {
  val start = UInt(48 bits) // ns: of the first rising edge
  val halfPeriod = UInt(32 bits) // ns; less than 1,024: no pulses
}

/** An entry of the offset log. */
case class TimeEvent() extends Bundle {
  /** A comparison with the external time; otherwise a rising edge of the pulse input. */
  val external = Bool()
  /** Number of the stamp among those of its kind, modulo 2^16: lost ones count too. */
  val sequence = UInt(16 bits)
  /** Own time. */
  val stamp = Stamp()
  /** External time at the same instant; zero for a pulse. */
  val reference = Stamp()
}

/** How a host sets and disciplines the time base: a master is the host's side. All in the core's domain. */
case class TimeControl() extends Bundle with IMasterSlave {
  val jump = Stream(TimeJump())
  val slew = Stream(TimeSlew())
  val pulses = Stream(PulsePlan())
  /** Correct the time base by the external time, and by no slew. */
  val follow = Bool()
  /** For one clock: put the next comparison with the external time into the log. */
  val sample = Bool()
  val events = Stream(TimeEvent())
  /** Events that the log had no space for, modulo 2^32. */
  val pulsesLost, samplesLost = UInt(32 bits)
  val slewing = Bool()
  val pulsing = Bool()
  /** The last plan's start was not in the future: there are no pulses. */
  val pulsesMissed = Bool()
  /** The external time came during the last 256 wire clocks. */
  val externalAlive = Bool()

  override def asMaster(): Unit = {
    master(jump, slew, pulses)
    out(follow, sample)
    slave(events)
    in(pulsesLost, samplesLost, slewing, pulsing, pulsesMissed, externalAlive)
  }
}
