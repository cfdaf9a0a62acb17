// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.mac

import spinal.core._
import spinal.lib._

/** The MAC's clock domains. `Hard` ones are reset with the core (time, counters), `Soft` ones also by a soft reset (all
  * that holds frames).
  *
  * The wire's resets are asynchronous: they come even while the PHY has stopped its clock, and go two clocks after the
  * core's.
  */
case class MacDomains(
    core: ClockDomain, receiveClock: Bool, transmitClock: Bool, externalClock: Bool, softReset: Bool) extends Area {
  private val count = Reg(UInt(log2Up(EthernetMac.softResetClocks) bits)) init 0
  when(count =/= 0)(count := count - 1)
  when(softReset)(count := EthernetMac.softResetClocks - 1)

  /** The memories of frames are or are about to be in reset. */
  val resetting: Bool = count =/= 0
  /** The last clock of a soft reset was the one before: all crossings have settled. */
  val settled: Bool = RegNext(count === 1) init False

  /** Every domain is in reset for the first three quarters. */
  private val always = core.withoutReset()
  private val held = count >= EthernetMac.softResetClocks / 4
  // One register for those who take it at a clock, and one for those who do not.
  private val coreReset = always(RegNext(core.isResetActive || held))
  private val hard = always(RegNext(core.isResetActive))
  private val soft = always(RegNext(core.isResetActive || held))

  private def wire(clock: Bool, reset: Bool): ClockDomain = {
    val domain = ClockDomain(clock, config = core.config.copy(resetKind = ASYNC, resetActiveLevel = HIGH))
    domain.copy(reset = ResetCtrl.asyncAssertSyncDeassert(reset, domain))
  }
  val coreSoft: ClockDomain = core.copy(reset = coreReset)
  val receiveHard: ClockDomain = wire(receiveClock, hard)
  val receiveSoft: ClockDomain = wire(receiveClock, soft)
  val transmitHard: ClockDomain = wire(transmitClock, hard)
  val transmitSoft: ClockDomain = wire(transmitClock, soft)
  /** Domain of an external time; its clock may stand. */
  val externalHard: ClockDomain = wire(externalClock, hard)
}
