// SPDX-License-Identifier: BSD-2-Clause-Patent
package downbeat.memory

import downbeat.DownbeatConfig
import spinal.core._
import spinal.lib._

/** Reads a beat of a stored frame. It is there one clock after `enable` and stays until the next `enable`. */
case class SlotReadPort(config: DownbeatConfig) extends Bundle with IMasterSlave {
  val enable = Bool()
  val slot = UInt(config.slotBits bits)
  val beat = UInt(log2Up(config.slotBytes / config.beatBytes) bits)
  val data = Bits(64 bits)

  override def asMaster(): Unit = {
    out(enable, slot, beat)
    in(data)
  }
}
