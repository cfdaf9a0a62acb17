// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** A stretch of a flow's buffer, which lies at its sequence number modulo the buffer's size.
  *
  * @param lengthBits 14 for a segment's payload; more where a whole buffer may move at once
  */
case class Transfer(config: DownbeatConfig, lengthBits: Int = 14) extends Bundle {
  val flow = UInt(config.flowBits bits)
  val sequence = SequenceNumber() // of the first byte
  val length = UInt(lengthBits bits) // bytes
}
