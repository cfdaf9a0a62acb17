// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.messages

import downbeat.config.DownbeatConfig
import spinal.core._
import spinal.lib._

/** Reads a slot of the payload store: a beat each clock. */
case class SlotReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val slot = UInt(config.slotBits bits)
  val beat = UInt(config.slotBeatBits bits)
  /** One clock after `enable`, straight from block RAM: the reader registers it. Byte 0 of the wire in bits 7 to 0. */
  val data = Bits(config.beatBits bits)

  override def asMaster(): Unit = {
    out(enable, slot, beat)
    in(data)
  }
}
