// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.host.HostPorts
import downbeat.lib.PortNotes.Noted
import downbeat.memory.MemoryPort
import spinal.core._
import spinal.lib._
import spinal.lib.bus.amba4.axi.{Axi4, Axi4SpecRenamer}

/** A top whose payload memory is the host's: `m_axi`, from the address that the host has set. */
trait HostMemory { this: RegisteredCore =>

  /** Makes the port and connects the core's to it. Call it once, with the top's configuration. */
  protected def toHost(config: DownbeatConfig): Axi4 = {
    val outer = master(Axi4(config.memory.copy(addressWidth = HostPorts.axi.addressWidth))).note(
      s"AXI4 to the payload in the host's memory, from the address that the host has set: " +
        s"${HostPorts.axi.addressWidth} address bits, ${config.beatBits} data bits, INCR bursts of up to " +
        s"${MemoryPort.pageBytes / config.beatBytes} beats within 2 KiB. A " +
        "write's response means that the host sees it.")
    Axi4SpecRenamer(outer)
    val inner = memoryPort
    outer.ar.arbitrationFrom(inner.ar)
    outer.ar.payload.assignSomeByName(inner.ar.payload)
    outer.aw.arbitrationFrom(inner.aw)
    outer.aw.payload.assignSomeByName(inner.aw.payload)
    for ((address, own) <- Seq(outer.ar.addr -> inner.ar.addr, outer.aw.addr -> inner.aw.addr))
      address.removeAssignments() := hostRegisters.io.payloadBase | own.resize(HostPorts.axi.addressWidth)
    outer.w << inner.w
    inner.r << outer.r
    inner.b << outer.b
    outer
  }
}
