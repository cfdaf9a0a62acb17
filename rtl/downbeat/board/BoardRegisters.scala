// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.registers.{RegisterDeclarations, RegisterMap, RegisterPort}
import downbeat.time.Stamp
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.AxiLite4
import spinal.lib.bus.misc.SizeMapping
import spinal.lib.bus.regif._

/** A board's own registers: those that every board has, and behind them a subclass's, which it declares and then closes
  * the list.
  *
  * @param contents what the board has inside, as [[BoardContents.all]] has it
  */
abstract class BoardRegisters(board: Board, contents: String) extends Component {
  val common = new Bundle {
    val bus = slave(AxiLite4(CommonRegisters.bus))
    val now = in(Stamp())
    val phys = in(Vec(PhyState(), board.ports.size))
    val mdio = master(Stream(MdioCommand()))
    val mdioResponse = slave(Flow(Bits(16 bits)))
  }
  private val port = RegisterPort(CommonRegisters.bus)
  port.io.bus << common.bus
  port.io.hold := False
  private val inner = AxiLite4(CommonRegisters.bus)
  inner << port.io.registers
  protected val declare = new RegisterDeclarations(AxiLite4BusInterface(inner, SizeMapping(0, RegisterMap.bytes)))
  new CommonRegisters(declare, board, contents, common.now, common.phys, common.mdio, common.mdioResponse)

  /** All are declared. */
  protected def close(): Unit = {
    port.io.readable := declare.haveField(port.io.address, !_.isWriteOnly())
    port.io.writable := declare.haveField(port.io.address,
      field => !Set[AccessType](AccessType.RO, AccessType.ROV)(field.getAccessType()))
  }
}
