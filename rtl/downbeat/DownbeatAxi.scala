// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat

import downbeat.config.DownbeatConfig
import spinal.core._

/** The core with its registers, for a MAC that is there already: the ports of [[Downbeat]], under the same names, but for those
  * that registers drive, and `s_axil_*`.
  */
case class DownbeatAxi(config: DownbeatConfig) extends RegisteredCore(config, withMac = false) {
  /** The core is in reset, and what is connected to it must not be left in the middle of a frame or a burst. */
  val core_reset = out(Bool())
  core_reset := registers.io.coreReset

  passOthersThrough()
}
