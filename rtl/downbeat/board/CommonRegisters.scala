// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.registers.{RegisterDeclarations, RegisterMap}
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.AxiLite4Config
import spinal.lib.bus.regif._

/** The registers that every board has, from 0 on: which board it is, what it has inside, its time and its PHYs. */
class CommonRegisters(
    declare: RegisterDeclarations, board: Board, contents: String, now: Stamp,
    phys: Vec[SpinalEnumCraft[PhyState.type]],
    mdio: Stream[MdioCommand], mdioResponse: Flow[Bits]) extends Area {
  import declare._

  startAt(0x000)
  constant("boardMagic", CommonRegisters.magic, "\"DnBb\" in ASCII.")
  for ((letters, i) <- board.name.padTo(16, '\u0000').grouped(4).toSeq.zipWithIndex)
    constant(s"boardName$i", BigInt(1, letters.getBytes("ASCII")),
      "Four letters of the board's name, the first one highest; 0: none.")
  constant("boardContents", BigInt(contents.take(4).getBytes("ASCII")), "What is in: \"prob\" or \"traf\" in ASCII.")
  constant("boardClockHz", board.core.toBigDecimal.toBigInt, "The core's clock.")
  constant("boardPorts", board.ports.size, "RGMII ports; the second one captures.")

  startAt(0x040)
  private val low =
    register("boardTimeLow", "The time, ns: its lower 32 bits. A read keeps the rest of the same instant.")
  low.field(UInt(32 bits), AccessType.RO, "ns.")(SymbolName("value")) := now.ns(31 downto 0)
  private val kept = RegNextWhen(now.ns, low.hitDoRead)
  value("boardTimeHigh", 16, AccessType.RO, "ns, bits 47 to 32, of the last read of `boardTimeLow`.") := kept(
    47 downto 32).asBits

  // ---- PHYs

  for ((state, i) <- phys.zipWithIndex)
    value(s"phy$i", 2, AccessType.RO,
      s"PHY of port $i: 0 no response, 1 no link, 2 the other end has no 1000BASE-T, 3 up.") := state.asBits
  private val access = register("mdio", "A write accesses a PHY's register.")
  mdio.data := access.field(Bits(16 bits), AccessType.RW, 0, "To write.")(SymbolName("data"))
  mdio.register := access.field(UInt(5 bits), AccessType.RW, 0, "Register.")(SymbolName("register"))
  mdio.phy := access.field(UInt(5 bits), AccessType.RW, 0, "Address of the PHY.")(SymbolName("phy"))
  mdio.write := access.field(Bool(), AccessType.RW, 0, "1: write. 0: read.")(SymbolName("write"))
  private val requested = RegNext(access.eventW()) init False
  mdio.valid := RegInit(False) clearWhen mdio.fire setWhen requested
  private val busy = RegInit(False) clearWhen mdioResponse.valid setWhen requested
  private val response = register("mdioResponse", "Of the last access.")
  response.field(Bits(16 bits), AccessType.RO, "What was read.")(SymbolName("data")) :=
    RegNextWhen(mdioResponse.payload, mdioResponse.valid)
  response.field(Bool(), AccessType.RO, "It is under way.")(SymbolName("busy")) := busy
}

object CommonRegisters {
  val bus: AxiLite4Config = RegisterMap.bus
  val magic: BigInt = BigInt("DnBb".getBytes("ASCII"))
  /** A board's own registers are in uartbone's region behind the core's. */
  val region = 1
}
