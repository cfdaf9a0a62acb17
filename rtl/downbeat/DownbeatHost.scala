// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.PortNotes.Noted
import spinal.core._
import spinal.lib.bus.amba4.axi.Axi4

/** The core for a computer: [[DownbeatAxi]] whose payload memory is the host's, with rings, doorbells and an interrupt
  * for each of `hostPorts` programs (docs/reference/host-interface.md). The application's streams are there too.
  */
case class DownbeatHost(config: DownbeatConfig) extends RegisteredCore(config, withMac = false) with HostMemory {
  require(config.hostPorts > 0, "DownbeatHost: set hostPorts")

  val core_reset =
    out(Bool()).note("The core is in reset: nothing connected to it may stay in the middle of a frame or a burst.")
  core_reset := registers.io.coreReset
  val m_axi: Axi4 = toHost(config)

  passOthersThrough(memoryPort)
}
