// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib.fsm._

/** The application requests received data. */
case class DeliveryRequest(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val length = UInt(32 bits) // bytes
}
