// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._

/** A flow and which of its successive connections is meant. */
case class FlowReference(config: DownbeatConfig) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val generation = UInt(config.generationBits bits)
}
