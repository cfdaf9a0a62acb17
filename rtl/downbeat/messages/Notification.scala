// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** What an application is told, one notification a beat. */
case class Notification(config: DownbeatConfig) extends Bundle {
  /** The command was refused: `request` and `reason` alone are meant. */
  val refused = Bool()
  val reason = CloseReason()
  val addresses = ConnectionAddresses(config)
  val status = FlowStatus(config)
}
