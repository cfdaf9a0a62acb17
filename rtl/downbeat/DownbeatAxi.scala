// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import downbeat.lib.PortNotes.Noted
import spinal.core._

/** The core with its registers, for a MAC that is there already: the ports of [[Downbeat]], under the same names, but
  * for those that registers drive, and `s_axil_*`.
  */
case class DownbeatAxi(config: DownbeatConfig) extends RegisteredCore(config, withMac = false) {
  val core_reset =
    out(Bool()).note("The core is in reset: nothing connected to it may stay in the middle of a frame or a burst.")
  core_reset := registers.io.coreReset

  passOthersThrough()
}

