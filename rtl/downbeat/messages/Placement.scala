// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import downbeat.wire.SequenceNumber
import spinal.core._

/** The fate of a received payload: part of it is written to the receive buffer, or it is discarded. There is one for
  * each segment that holds a slot; it frees the slot.
  */
case class Placement(config: DownbeatConfig) extends Bundle {
  val reference = FlowReference(config)
  val payload = PayloadReference(config) // `offset` already skips what is not wanted
  /** Nothing is written and no `placed` returns. */
  val discard = Bool()
  val sequence = SequenceNumber() // the first byte's; it lies at this number modulo the buffer's size
  val length = UInt(14 bits) // may be zero with `fin`
  val fin = Bool()
}

object Placement {
  /** Frees a slot that nothing is taken from. */
  def discard(config: DownbeatConfig, slot: UInt): Placement = {
    val placement = Placement(config).allowOverride()
    placement.assignFromBits(B(0, placement.getBitsWidth bits))
    placement.payload.held := True
    placement.payload.slot := slot
    placement.discard := True
    placement
  }
}
