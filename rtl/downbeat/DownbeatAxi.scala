// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.registers.RegisterMap
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4SpecRenamer}

/** The core with its registers on AXI4-Lite: the ports of [[Downbeat]], under the same names, but for those that registers
  * drive, and `s_axil_*`.
  *
  * One clock `clk`, one synchronous active-high `reset` for both. Software resets the core alone; `core_reset` says so, for
  * what is connected to the core and must not be left in the middle of a frame or a burst.
  */
case class DownbeatAxi(config: DownbeatConfig) extends Component {
  /** Registers, 32 bits wide, byte addresses; docs/registers.md. */
  val s_axil = slave(AxiLite4(RegisterMap.bus))
  AxiLite4SpecRenamer(s_axil)
  /** The core is in reset. */
  val core_reset = out(Bool())

  private val registers = RegisterMap(config)
  registers.io.s_axil << s_axil
  core_reset := registers.io.coreReset

  private val resettable = new ResetArea(reset = registers.io.coreReset, cumulative = false) {
    val core = Downbeat(config)
  }
  private val core = resettable.core

  /** Ports of the core that registers drive. A new address or table of the core gets its register and a line here. */
  private val driven: Seq[(Data, Data)] = Seq(
    core.io.local_mac -> registers.io.local_mac,
    core.io.local_ip -> registers.io.local_ip,
    core.io.local_netmask -> registers.io.local_netmask,
    core.io.local_gateway -> registers.io.local_gateway,
    core.io.secret -> registers.io.secret)
  for ((pin, register) <- driven) pin.assignFromBits(register.asBits)

  registers.io.trace << core.io.trace
  registers.io.counters := core.io.counters
  registers.io.coreIdle := core.io.idle

  for (inner <- core.io.elements.map(_._2).filterNot(port => driven.exists(_._1 eq port)); leaf <- inner.flatten) {
    val outer = cloneOf(leaf).asInstanceOf[BaseType].copyDirectionOfImpl(leaf)
    // The core's ports get their last names when it is finished.
    addPrePopTask(() => outer.setName(leaf.getName()))
    if (leaf.isInput) leaf.assignFrom(outer) else outer.assignFrom(leaf)
  }
}
