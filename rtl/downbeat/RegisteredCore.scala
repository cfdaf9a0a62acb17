// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.host.{HostRegisters, PageSwitch}
import downbeat.lib.PortNotes
import downbeat.lib.PortNotes.Noted
import downbeat.memory.AxiDrain
import downbeat.messages.StaticNeighbour
import downbeat.registers.{CounterBank, RegisterMap}
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.Axi4
import spinal.lib.bus.amba4.axilite.{AxiLite4, AxiLite4SpecRenamer}
import spinal.lib.bus.regif.RegInst

/** The core with its registers on AXI4-Lite, which drive its addresses and its reset: what the tops have in common.
  *
  * One clock `clk`, one synchronous active-high `reset` for both. Software resets the core, and the MAC where there is
  * one, but not the registers.
  */
abstract class RegisteredCore(config: DownbeatConfig, withMac: Boolean) extends Component {
  private def registerBus = if (config.hostPorts > 0) HostRegisters.bus(config) else RegisterMap.bus

  val s_axil = slave(AxiLite4(registerBus)).note(
    s"AXI4-Lite to the registers: ${registerBus.addressWidth} address bits, in bytes, 32 data bits; " +
      "docs/reference/registers.md.")
  AxiLite4SpecRenamer(s_axil)

  /** The core inside counts with as many bits as the registers add up. */
  protected val counted: DownbeatConfig = config.copy(counterBits = CounterBank.countBits)
  protected val registers = RegisterMap(counted, withMac)
  def ownRegisters: Seq[RegInst] = registers.registerMaps("downbeat")
  /** Behind the core's page of registers. */
  protected val hostRegisters = (config.hostPorts > 0) generate HostRegisters(counted)
  if (config.hostPorts > 0) {
    val pages = PageSwitch(config)
    pages.io.bus << s_axil
    registers.io.s_axil << pages.io.core
    hostRegisters.io.s_axil << pages.io.host
    hostRegisters.io.coreReset := registers.io.coreReset
  } else registers.io.s_axil << s_axil

  private val resettable = new ResetArea(reset = registers.io.coreReset, cumulative = false) {
    val core = Downbeat(counted)
  }
  protected val core: Downbeat = resettable.core

  // Outside the core's reset: its bursts end before it begins.
  private val drained: Seq[(Axi4, Axi4, Bool)] = Seq(core.io.m_axi, core.io.m_axi_host).filter(_ != null).map { port =>
    val (outer, done) = AxiDrain(port, registers.io.drains)
    (port, outer, done)
  }
  if (config.externalMemory) {
    registers.io.drained := drained.map(_._3).andR
    registers.io.now.ns := core.io.now(63 downto 16)
  }
  /** The payload memory's port, if that is outside. */
  protected def memoryPort: Axi4 = drained.head._2

  /** Ports of the core that registers drive. A new address or table of the core gets its register and a line here. */
  private val driven: Seq[(Data, Data)] = Seq(
    core.io.local_mac -> registers.io.local_mac,
    core.io.local_ip -> registers.io.local_ip,
    core.io.local_netmask -> registers.io.local_netmask,
    core.io.local_gateway -> registers.io.local_gateway,
    core.io.secret -> registers.io.secret) ++
    (if (config.vlans > 0) Seq(core.io.local_vlans -> registers.io.local_vlans) else Nil)
  private val hostPins: Seq[Data] =
    if (config.hostPorts > 0) Seq(core.io.host_set_up, core.io.host_shown, core.io.host_doorbells) else Nil
  if (config.hostPorts > 0) {
    core.io.host_set_up := hostRegisters.io.setUp
    hostRegisters.io.shown := core.io.host_shown
    core.io.host_doorbells << hostRegisters.io.doorbells
  }
  for ((pin, register) <- driven) pin.assignFromBits(register.asBits)

  core.io.s_axis_neighbour.fromStream(registers.io.neighbour) { entry: StaticNeighbour =>
    core.io.s_axis_neighbour.tdata := entry.asBits.resized
  }
  registers.io.addressConflict := core.io.address_conflict
  registers.io.trace << core.io.trace
  registers.io.counters := core.io.counters
  registers.io.coreIdle := core.io.idle

  /** Makes all other ports of the core ports of the top, under the same names, but for those that the top connects
    * itself.
    */
  protected def passOthersThrough(connected: Data*): Unit = {
    val own = driven.map(_._1) ++ hostPins ++ connected ++ Seq(core.io.s_axis_neighbour, core.io.address_conflict)
    val ports = core.io.elements.map(_._2).map(port => drained.find(_._1 eq port).fold[Data](port)(_._2))
    for (inner <- ports.filterNot(port => own.exists(_ eq port)); leaf <- inner.flatten) {
      val outer = cloneOf(leaf).asInstanceOf[BaseType].copyDirectionOfImpl(leaf)
      // The core's ports get their last names when it is finished.
      addPrePopTask(() => outer.setName(leaf.getName()))
      PortNotes.copy(leaf, outer)
      if (leaf.isInput) leaf.assignFrom(outer) else outer.assignFrom(leaf)
    }
  }
}

