// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.time.Instant
import spinal.core._

/** The earliest instant at which the flow needs a `timer` event; `armed` false: none. */
case class Deadline(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val armed = Bool()
  val at = Instant()
}
