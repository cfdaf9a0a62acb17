// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.registers

import downbeat.time.Stamp
import spinal.core._
import spinal.lib._
import spinal.lib.bus.regif._

/** Shows the time, whole. */
class TimeRegisters(declare: RegisterDeclarations, now: Stamp) extends Area {
  import declare._

  startAt(0x480)
  private val low = register("timeLow", "The time, ns: its lower 32 bits. A read keeps the rest of the same instant.")
  low.field(UInt(32 bits), AccessType.RO, "ns.")(SymbolName("value")) := now.ns(31 downto 0)
  private val kept = RegNextWhen(now, low.hitDoRead)
  value("timeHigh", 16, AccessType.RO, "ns, bits 47 to 32, of the last read of `timeLow`.") := kept.ns(
    47 downto 32).asBits
  value("timeFraction", 16, AccessType.RO, "2^-16 ns, of the last read of `timeLow`.") := kept.fraction.asBits
}
