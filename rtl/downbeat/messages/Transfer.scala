// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** A range of a flow's buffer. Its bytes lie at their sequence numbers modulo the buffer's size.
  *
  * @param lengthBits 14 for a segment's payload; more where a whole buffer may move at once
  */
case class Transfer(config: DownbeatConfig, lengthBits: Int = 14) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val sequence = SequenceNumber() // the first byte's
  val length = UInt(lengthBits bits) // bytes
}
