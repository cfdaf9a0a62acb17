// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** A place in the stream of a flow. */
case class FlowPosition(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val sequence = SequenceNumber()
}
