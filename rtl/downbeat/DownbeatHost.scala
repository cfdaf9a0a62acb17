// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.host.HostPorts
import downbeat.lib.PortNotes.Noted
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4, Axi4SpecRenamer}

/** The core for a computer: [[DownbeatAxi]] whose payload memory is the host's, with rings, doorbells and an interrupt
  * for each of `hostPorts` programs (docs/reference/host-interface.md). The application's streams are there too.
  */
case class DownbeatHost(config: DownbeatConfig) extends RegisteredCore(config, withMac = false) {
  require(config.hostPorts > 0, "DownbeatHost: set hostPorts")

  val core_reset =
    out(Bool()).note("The core is in reset: nothing connected to it may stay in the middle of a frame or a burst.")
  core_reset := registers.io.coreReset
  val m_axi = master(Axi4(config.memory.copy(addressWidth = HostPorts.axi.addressWidth))).note(
    s"AXI4 to the payload in the host's memory, from the address that the host has set: " +
      s"${HostPorts.axi.addressWidth} address bits, 64 data bits, INCR bursts of up to 256 beats within 2 KiB. A " +
      "write's response means that the host sees it.")
  Axi4SpecRenamer(m_axi)

  private val inner = memoryPort
  m_axi.ar.arbitrationFrom(inner.ar)
  m_axi.ar.payload.assignSomeByName(inner.ar.payload)
  m_axi.aw.arbitrationFrom(inner.aw)
  m_axi.aw.payload.assignSomeByName(inner.aw.payload)
  for ((outer, own) <- Seq(m_axi.ar.addr -> inner.ar.addr, m_axi.aw.addr -> inner.aw.addr))
    outer.removeAssignments() := hostRegisters.io.payloadBase | own.resize(HostPorts.axi.addressWidth)
  m_axi.w << inner.w
  inner.r << m_axi.r
  inner.b << m_axi.b

  passOthersThrough(memoryPort)
}
