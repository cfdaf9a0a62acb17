// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** A notification to the application, one a beat. */
case class Notification(config: DownbeatConfig) extends Bundle {
  /** The command was refused: only `request` and `reason` are valid. */
  val refused = Bool()
  val reason = CloseReason()
  val addresses = ConnectionAddresses(config)
  val status = FlowStatus(config)
}
