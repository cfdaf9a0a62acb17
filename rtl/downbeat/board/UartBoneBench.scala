// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.board

import downbeat.registers.RegisterMap
import spinal.core._
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4SpecRenamer}
import spinal.lib.com.uart.Uart
import spinal.lib.master

/** Test-only module: the bridge on a core of 62.5 MHz with one region, at a 16th of its clock. */
case class UartBoneBench() extends Component {
  val uart = master(Uart())
  val m_axil = master(AxiLite4(RegisterMap.bus))
  AxiLite4SpecRenamer(m_axil)
  private val board = Board.simulated
  private val timed = new ClockingArea(ClockDomain.current.copy(frequency = ClockDomain.FixedFrequency(board.core))) {
    val bone = UartBone(board.baud, RegisterMap.bus, regions = 1)
  }
  timed.bone.io.uart <> uart
  timed.bone.io.regions(0) >> m_axil
}
