// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import downbeat.mac.TimeControl
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._

/** Sets and disciplines the time base: docs/reference/time.md.
  *
  * `mayJump`: the core is held in reset, and will be for as long as a jump takes after this has gone.
  */
class TimeControlRegisters(declare: RegisterDeclarations, time: TimeControl, mayJump: Bool) extends Area {
  import declare._

  private def flag(register: RegInst, name: String, doc: String)(bit: Bool): Unit =
    register.field(Bool(), AccessType.RO, doc)(SymbolName(name)) := bit

  /** A command whose value is in registers, handed over by `write`. */
  private def command[T <: Data](stream: Stream[T], write: Bool): Unit =
    stream.valid := RegInit(False) clearWhen stream.fire setWhen write

  private val status = register("timeStatus", "")
  private val refused = RegInit(False)
  flag(status, "slewing", "A slew is under way.")(time.slewing)
  flag(status, "jumpRefused", "The last jump was asked for while the core was not in reset: nothing happened.")(refused)
  flag(status, "pulsing", "There are pulses, or will be from `pulseStart` on.")(time.pulsing)
  flag(status, "pulsesMissed", "The last plan's start was past: there are no pulses.")(time.pulsesMissed)
  flag(status, "externalAlive", "The external time came during the last 256 clocks of the wire.")(time.externalAlive)

  // ---- jumps and slews

  private val jumpHigh = value("jumpHigh", 16, AccessType.RW, "Of a jump: ns, bits 47 to 32.")
  private val jumpLow = value("jumpLow", 32, AccessType.RW, "Of a jump: ns, bits 31 to 0.")
  private val jumpFraction = value("jumpFraction", 32, AccessType.RW, "Of a jump: 2^-32 ns.")
  private val jump = register("jump", "Jumps while `control.enable` is 0; otherwise refused. Ends slew and pulses.")
  private val set = jump.field(Bool(), AccessType.W1P, 0, "1: the time is `jump...`.")(SymbolName("set"))
  private val step =
    jump.field(Bool(), AccessType.W1P, 0, "1: the time moves by `jump...`, two's complement of all 80 bits.")(
      SymbolName("step"))
  private val requested = set || step
  command(time.jump, requested && mayJump)
  when(requested)(refused := !mayJump)
  time.jump.relative := RegNextWhen(step, requested)
  time.jump.value := (jumpHigh ## jumpLow ## jumpFraction).asUInt

  time.slew.perClock :=
    value("slewPerClock", 32, AccessType.RW,
      "Of a slew: what a clock of the wire lasts more, two's complement, 2^-32 ns.").asSInt
  private val slewClocks =
    register("slewClocks", "A write starts a slew, in the place of one that is under way; 0 ends it.")
  time.slew.clocks := slewClocks.field(UInt(32 bits), AccessType.RW, 0, "Clocks of the wire.")(SymbolName("value"))
  command(time.slew, slewClocks.eventW())

  // ---- pulses

  private val startHigh =
    value("pulseStartHigh", 16, AccessType.RW, "Time of the first rising edge: ns, bits 47 to 32.")
  private val startLow = value("pulseStartLow", 32, AccessType.RW, "ns, bits 31 to 0.")
  time.pulses.start := (startHigh ## startLow).asUInt
  private val half = register("pulseHalfPeriod", "A write starts pulses; less than 1,024 ends them.")
  time.pulses.halfPeriod := half.field(UInt(32 bits), AccessType.RW, 0, "ns.")(SymbolName("value"))
  command(time.pulses, half.eventW())

  // ---- external time, and the log

  private val external = register("externalTime", "")
  time.follow := external.field(Bool(), AccessType.RW, 0, "1: the time base follows it, and no slew.")(
    SymbolName("follow"))
  time.sample :=
    external.field(Bool(), AccessType.W1P, 0, "1: the next comparison goes to the log.")(SymbolName("sample"))

  private val event = register("timeEvent", "The oldest event of the log; the registers behind show its times.")
  flag(event, "valid", "There is one.")(time.events.valid)
  flag(event, "external", "A comparison with the external time; 0: an edge of the pulse input.")(time.events.external)
  private val next = event.field(Bool(), AccessType.W1P, 0, "1: forget it, show the next one.")(SymbolName("next"))
  event.field(UInt(16 bits), AccessType.RO, "Of its kind; lost ones count too.")(
    SymbolName("sequence")) := time.events.sequence
  time.events.ready := next
  for ((name, stamp, what) <-
      Seq(("event", time.events.stamp, "Own time"), ("reference", time.events.reference, "External time"))) {
    shown(s"${name}Ns", stamp.ns.asBits, s"$what of the event: ns.")
    shown(s"${name}Fraction", stamp.fraction.asBits, s"$what of the event: 2^-16 ns.")
  }
  shown("pulsesLost", time.pulsesLost.asBits, "Edges of the pulse input that the log had no space for, modulo 2^32.")
  shown("samplesLost", time.samplesLost.asBits, "Comparisons that the log had no space for, modulo 2^32.")
}
